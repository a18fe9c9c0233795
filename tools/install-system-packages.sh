#!/bin/sh
# Installs the Debian or Ubuntu packages that are missing, as root; says plainly what to install otherwise.
# Which they are, and what for, stands in porter/system/needs.py.
set -eu

is_installed() {
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'
}

is_available() {
    apt-cache show "$1" >/dev/null 2>&1
}

if ! command -v python3 >/dev/null; then
    echo "python3 is missing: install Python 3.10 or newer with venv (Debian, Ubuntu: python3-venv) and run make again" >&2
    exit 1
fi
wanted=$(python3 -I "$(dirname "$0")/../porter/system/needs.py")

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian or Ubuntu: docs/needs.md says what to install. What is missing is skipped, and said so."
    exit 0
fi

missing=""
for package in $wanted; do
    is_installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "Missing packages:$missing"
    echo "Install them with:  sudo apt-get install$missing"
    echo "Going on without them: what needs them is skipped and says so."
    exit 0
fi

log=$(mktemp "${TMPDIR:-/tmp}/porter-packages-XXXXXX.log")
echo "Installing packages:$missing"
apt-get update -q >"$log" 2>&1 || echo "apt-get update failed ($log); trying with the package lists at hand"
offered=""
for package in $missing; do
    if is_available "$package"; then
        offered="$offered $package"
    else
        echo "$package: not offered by this machine's package sources; what needs it is skipped and says so"
    fi
done

install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >>"$log" 2>&1
}

# All at once is faster; one that cannot be installed must not keep the others out.
# shellcheck disable=SC2086
if [ -n "$offered" ] && ! install $offered; then
    for package in $offered; do
        install "$package" || echo "$package: could not be installed ($log); what needs it is skipped and says so"
    done
fi

#!/bin/sh
# Installs the Debian or Ubuntu packages that are missing, as root; says plainly what to install otherwise.
# The port itself needs python3-venv alone; compilers and headers are for the tests that check ported code.
set -eu

needed="python3-venv"
for_tests="clang-19 lld-19 libamdhip64-dev hipcc rocm-device-libs g++ git chromium cmake make"

is_installed() {
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'
}

is_available() {
    apt-cache show "$1" >/dev/null 2>&1
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian or Ubuntu. Install Python >= 3.10 with venv; for the compiling tests also clang >= 17" \
        "with the AMDGPU target, HIP's headers and ROCm's device libraries."
    exit 0
fi

missing=""
for package in $needed $for_tests; do
    is_installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "Missing packages:$missing"
    echo "Install them with:  sudo apt-get install$missing"
    echo "Going on without them: tests that need a compiler are skipped and say so."
    exit 0
fi

apt-get update -q || echo "apt-get update failed; trying with the package lists at hand"
for package in $missing; do
    if ! is_available "$package"; then
        echo "$package: not offered by this machine's package sources; tests that need it are skipped and say so"
    elif ! DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$package"; then
        echo "$package: could not be installed; tests that need it are skipped and say so"
    fi
done

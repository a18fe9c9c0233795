#!/bin/sh
# Both commands of the README on a machine that has nothing: a minimal root of this distribution, made from its own
# packages, with git, make and python3-venv; from the host come the commit that is checked out, the settings of apt and
# pip, certificates and the network. As root; `make fresh` calls it. FRESH_DIR=DIR keeps root and logs there.
set -eu

# In namespaces of its own: what is mounted, and whatever still runs, is gone when it ends.
if [ "${PORTER_FRESH:-}" != inside ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "make fresh has to run as root" >&2
        exit 1
    fi
    command -v mmdebstrap >/dev/null || {
        echo "make fresh needs mmdebstrap: apt install mmdebstrap" >&2
        exit 1
    }
    work=${FRESH_DIR:-$(mktemp -d /var/tmp/porter-fresh-XXXXXX)}
    mkdir -p "$work"
    code=0
    trap : INT TERM # the inner one ends; what it leaves is still tidied up
    PORTER_FRESH=inside unshare --mount --pid --fork --kill-child sh "$0" "$(cd "$work" && pwd)" || code=$?
    [ -n "${FRESH_DIR:-}" ] || rm -rf --one-file-system "$work/root"
    echo "the logs are in $work"
    exit "$code"
fi

trap 'exit 130' INT TERM
work=$1
root=$work/root
here=$(cd "$(dirname "$0")/.." && pwd)
. /etc/os-release

# Of apt's sources those that name the release itself, not what other vendors have added.
distribution_sources() {
    rm -rf "$work/packages"
    mkdir "$work/packages"
    cat /dev/null /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        awk -v name="$VERSION_CODENAME" '/^deb / && $0 ~ " " name "([ -]|$)"' >"$work/packages/lines.list"
    cat /dev/null /etc/apt/sources.list.d/*.sources 2>/dev/null |
        awk -v RS= -v name="$VERSION_CODENAME" '$0 ~ "(^|\n)Suites:([^\n]* )?" name "([ \n-]|$)" { print $0 "\n" }' \
            >"$work/packages/stanzas.sources"
    find "$work/packages" -empty -delete
}

pip_settings() {
    for file in "${PIP_CONFIG_FILE:-}" /etc/xdg/pip/pip.conf /etc/pip.conf; do
        [ ! -f "$file" ] || echo "$file"
    done
}

# Variables about package indexes, proxies and certificates.
passed_on() {
    env | grep -iE '^(PIP_|[A-Z_]*(SSL_CERT|CA_BUNDLE|CAINFO)|https?_proxy|no_proxy|all_proxy)' || true
}

# Every absolute path that these settings name: wheels, local indexes, lists of constraints, certificates.
named_paths() {
    { passed_on; cat /dev/null $(pip_settings) "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf" 2>/dev/null; } |
        grep -oE '(^|[[:space:]=]|file://)/[^[:space:],]+' | sed -E 's,^[^/]*(//)?/,/,; s,/simple/?$,,' |
        grep -v '^/etc/ssl/certs' | sort -u
}

bind() {
    [ -e "$1" ] || return 0
    if [ -d "$1" ]; then mkdir -p "$root$1"; else mkdir -p "$root$(dirname "$1")" && : >>"$root$1"; fi
    mount --bind -o ro "$1" "$root$1"
    left_out="$left_out --exclude=$root$1"
}

# $1: user, $2: home, $3: command
inside() {
    user=$1 home=$2 words=$3
    set -f
    IFS='
'
    # shellcheck disable=SC2046
    set -- $(passed_on)
    unset IFS
    set +f
    chroot --userspec="$user" "$root" /usr/bin/env -i HOME="$home" LANG=C.UTF-8 TERM=dumb "$@" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "cd $home/porter && $words"
}

# In MB, without what is only mounted there.
size() {
    # shellcheck disable=SC2086
    du -sxm $left_out "$1" | cut -f1
}

# $1: user, $2: home, $3: command
step() {
    log="$work/$(echo "$1-$3" | tr -c 'a-z\n' -).log"
    began=$(date +%s)
    code=0
    inside "$1" "$2" "$3" >"$log" 2>&1 || code=$?
    echo "$3, as $1: exit code $code after $(($(date +%s) - began)) s; root $(size "$root") MB, of it .venv $(size "$root$2/porter/.venv") MB"
    tail -n "${4:-3}" "$log" | sed 's/^/    /'
    failed=$((failed + (code != 0)))
}

left_out="" failed=0
commit=$(git -c safe.directory="$here" -C "$here" rev-parse --short HEAD)
git -c safe.directory="$here" -C "$here" diff --quiet HEAD || echo "what is not committed is not in the clone"
echo "$PRETTY_NAME, $(uname -m), $(nproc) cores; $(date -u '+%Y-%m-%d %H:%M') UTC; commit $commit"

began=$(date +%s)
distribution_sources
mmdebstrap --quiet --variant=minbase --include=git,make,python3-venv,ca-certificates \
    "$VERSION_CODENAME" "$root" "$work"/packages/* >"$work/root.log" 2>&1 || {
    tail "$work/root.log" >&2
    exit 1
}
echo "a root with git, make and python3-venv: $(($(date +%s) - began)) s, $(size "$root") MB"

mount -t proc proc "$root/proc"
mkdir -p "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
[ -e "$root/dev/ptmx" ] || ln -s pts/ptmx "$root/dev/ptmx"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
# Links in the root lead to its own files only from inside; so they go before anything is written in their place.
(cd /etc/ssl/certs && find . -maxdepth 1 -not -type d -print0 | tar --null -T - -chf -) |
    tar -C "$root/etc/ssl/certs" --unlink-first -xf -
for path in /usr/local/share/ca-certificates $(pip_settings) $(named_paths); do
    mountpoint -q "$root$path" || bind "$path"
done
apt-config dump | grep '^Acquire::' | grep -iE 'proxy|verify|retries|timeout' >"$root/etc/apt/apt.conf.d/90fresh" || true

chroot "$root" useradd --create-home ordinary
for home in /root /home/ordinary; do
    for file in .config/pip/pip.conf .pip/pip.conf; do
        [ ! -f "$HOME/$file" ] || { mkdir -p "$root$home/${file%/*}" && cp "$HOME/$file" "$root$home/$file"; }
    done
    git -c safe.directory="$here/.git" -c safe.directory="$here" clone --quiet --no-hardlinks "$here" "$root$home/porter"
done
chroot "$root" chown -R ordinary: /home/ordinary

step root /root "make demo" 6
step root /root "make test"
step ordinary /home/ordinary "make demo" 6
exit "$failed"

#!/bin/sh
# The whole way over samples/: port, build for gfx942, run original and port against each other, and a report of it all.
set -eu
porter="$1/bin/porter"
out=out/demo

# Work that is left gives exit code 1; anything above is a failure.
step() {
    echo
    echo "\$ porter $*"
    code=0
    "$porter" "$@" || code=$?
    [ "$code" -le 1 ] || exit "$code"
}

# The same again as JSON, from what is kept.
document() {
    name=$1
    shift
    code=0
    "$porter" "$@" --format json >"$out-$name.json" 2>/dev/null || code=$?
    [ "$code" -le 1 ] || exit "$code"
}

mkdir -p out
step port samples -o "$out"
step build "$out"
step validate samples
document port port samples -o "$out"
document build build "$out"
document validate validate samples
step report "$out-port.json" "$out-build.json" "$out-validate.json" -o "$out-report.html"
echo
echo "The ported tree is in $out, the report in $out-report.html."

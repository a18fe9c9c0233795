#!/bin/sh
# The whole way over samples/: port, build for gfx942, run original and port against each other - kernels, a whole program, an extension's tests -, and a report of it all.
set -eu
porter="$1/bin/porter"
PATH="$1/bin:$PATH" # the Python that has PyTorch
out=out/demo

# Work that is left gives exit code 1; anything above is a failure.
step() {
    echo
    echo "\$ porter $*"
    code=0
    "$porter" --quiet "$@" || code=$?
    [ "$code" -le 1 ] || exit "$code"
}

# The same again as JSON, from what is kept.
document() {
    name=$1
    shift
    code=0
    "$porter" --quiet "$@" --format json >"$out-$name.json" 2>/dev/null || code=$?
    [ "$code" -le 1 ] || exit "$code"
}

mkdir -p out
step port samples -o "$out"
step build "$out"
step validate samples
step run --compare --source samples
document port port samples -o "$out"
document build build "$out"
document validate validate samples

# The first actions of the report; the rest of it is for a browser.
echo
"$porter" report "$out-port.json" "$out-build.json" "$out-validate.json" | sed -n '/^do next/,/^  4\. /p' | sed '$d'
"$porter" --quiet report "$out-port.json" "$out-build.json" "$out-validate.json" -o "$out-report.html"
echo
echo "The ported tree:  $PWD/$out"
echo "The report:       $PWD/$out-report.html   (open it in a browser)"
echo "Your own code:    $porter all path/to/project -o out/mine"

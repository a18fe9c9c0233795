#!/bin/sh
# The whole way over samples/: port, build for gfx942, run original and port against each other - kernels, a whole program, an extension's tests -, and a report of it all.
set -eu
porter="$1/bin/porter"
PATH="$(cd "$1/bin" && pwd):$PATH" # the Python that has PyTorch, from wherever a program is built
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
step run --compare --source samples --format json -o "$out-programs.json"
document port port samples -o "$out"
document build build "$out"
document validate validate samples

# Of the report the whole programs and the first actions; the rest of it is for a browser.
set -- "$out-port.json" "$out-build.json" "$out-validate.json" "$out-programs.json"
echo
"$porter" report "$@" >"$out-report.txt"
sed -n '/^whole programs/,/^$/p' "$out-report.txt"
sed -n '/^do next/,/^  4\. /p' "$out-report.txt" | sed '$d'
"$porter" --quiet report "$@" -o "$out-report.html"
echo
echo "The ported tree:  $PWD/$out"
echo "The report:       $PWD/$out-report.html   (open it in a browser)"
echo "Your own code:    $porter all path/to/project -o out/mine"

#!/bin/sh
# Makes or updates the virtual environment: porter as it stands here, its tests' tools, the CPU build of torch, and nvcc
# where there is none. $1: its folder; the others: requirements that pin versions.
set -eu
venv=$1
shift
python=$venv/bin/python
log=$venv/setup.log

if [ ! -x "$python" ]; then
    echo "Making $venv"
    python3 -m venv "$venv" || {
        echo "python3 -m venv failed: install python3-venv (Debian, Ubuntu) and run make again" >&2
        exit 1
    }
fi
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
    echo "porter needs Python 3.10 or newer" >&2
    exit 1
}
constraints=$(mktemp)
trap 'rm -f "$constraints"' EXIT
printf '%s\n' "$@" >"$constraints"

# What pip says is of use only when it fails.
install() {
    "$python" -m pip install --disable-pip-version-check -c "$constraints" "$@" >>"$log" 2>&1
}

: >"$log"
echo "Installing porter, torch and what the tests use"
install -e '.[dev,validation]' || {
    tail -n 20 "$log" >&2
    echo "pip failed; all that it said is in $log" >&2
    exit 1
}
has_nvcc='from porter.validation.toolchain.programs import Program, find; assert isinstance(find("nvcc"), Program)'
if ! "$python" -I -c "$has_nvcc" 2>/dev/null; then
    echo "Fetching NVIDIA's compiler, for the original's side (130 MB; there is no nvcc here)"
    install -e '.[dev,validation,cuda]' || echo "going on without: the port alone is run, and tests of the original are skipped ($log)"
fi
"$(dirname "$0")/fetch-test-schemas.sh" "$venv" >>"$log" 2>&1 || echo "tests of SARIF and JUnit output are skipped ($log)"
echo "Fetching ROCm's headers"
"$venv/bin/porter" headers >>"$log" 2>&1 || {
    tail -n 3 "$log"
    echo "going on without: samples that use ROCm's libraries are not built, and tests of them are skipped ($log)"
}
echo "Fetching the headers of CUDA's libraries"
"$venv/bin/porter" headers --cuda >>"$log" 2>&1 || echo "going on without: tests of programs that use them are skipped ($log)"

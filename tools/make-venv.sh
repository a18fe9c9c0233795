#!/bin/sh
# Makes or updates the virtual environment: porter as it stands here, its tests' tools, and the CPU build of torch.
set -eu
venv=$1
torch=$2

if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv" || {
        echo "python3 -m venv failed: install python3-venv (Debian, Ubuntu) and run make again" >&2
        exit 1
    }
fi
"$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
    echo "porter needs Python 3.10 or newer" >&2
    exit 1
}
constraints=$(mktemp)
trap 'rm -f "$constraints"' EXIT
echo "$torch" >"$constraints"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -c "$constraints" -e '.[dev,validation]'
"$(dirname "$0")/fetch-test-schemas.sh" "$venv" || echo "tests of SARIF and JUnit output are skipped"
"$venv/bin/porter" headers || echo "going on without: samples that use ROCm's libraries are not built, and tests of them are skipped"

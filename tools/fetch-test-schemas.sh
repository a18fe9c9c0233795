#!/bin/sh
# Puts the schemas that the tests of SARIF and JUnit output need beside the virtual environment: $1/share/porter-tests.
# They come out of published packages; where a package is not to be had, those tests are skipped and say so.
set -eu

venv="${1:-.venv}"
target="$venv/share/porter-tests"
mkdir -p "$target"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

if [ ! -s "$target/sarif-2.1.0.json" ] && command -v npm >/dev/null; then
    if (cd "$scratch" && npm pack --silent @microsoft/jest-sarif@1.0.0-beta.0 >/dev/null && tar xzf ./*.tgz); then
        cp "$scratch/package/lib/schemas/sarif-2.1.0-rtm.5.json" "$target/sarif-2.1.0.json"
    else
        echo "the SARIF schema could not be fetched"
    fi
fi

if [ ! -s "$target/junit-10.xsd" ]; then
    if "$venv/bin/python" -m pip download -q --no-deps --no-binary pytest -d "$scratch" "pytest==9.2.0" &&
        tar xzf "$scratch"/pytest-*.tar.gz -C "$scratch"; then
        cp "$scratch"/pytest-*/testing/example_scripts/junit-10.xsd "$target/"
    else
        echo "the JUnit schema could not be fetched"
    fi
fi

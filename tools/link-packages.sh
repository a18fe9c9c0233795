#!/bin/sh
# Links the source folders below DIR under their import names: DIR/porter, DIR/porter/rules, DIR/porter/validation.
set -eu
dir=$1
rm -rf "$dir/porter"
mkdir -p "$dir/porter"
for path in porter/*; do
    case $path in */__pycache__) continue ;; esac
    ln -s "../../$path" "$dir/$path"
done
ln -s ../../rules "$dir/porter/rules"
ln -s ../../validation "$dir/porter/validation"

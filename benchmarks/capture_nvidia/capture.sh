#!/bin/sh
# Captures what an NVIDIA GPU computes: ./capture.sh [FILE.capture] [--blocks N ...]; needs nvcc, gzip and the GPU (sm_80 or newer).
# Without options all 2^32 inputs of 18 instructions are summed up, and every 64th block of 4,096 is kept in full.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=nvidia.capture
case ${1-} in ''|--*) ;; *) out=$1; shift ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -O2 -gencode arch=compute_80,code=compute_80 -o "$work/capture" "$here/capture.cu"
${CAPTURE_RUN:-} "$work/capture" "$out" "$@"
gzip -9 -f "$out"
ls -l "$out.gz"

#!/bin/sh
# Captures what an NVIDIA GPU computes: ./capture.sh [FILE.capture] [--blocks N ...]; needs nvcc, gzip, the GPU (sm_80 or newer).
# CAPTURE_ARCH=89 or more also captures matrices of 8-bit floats.
# Without options all 2^32 inputs of 18 instructions are summed up, and every 64th block of 4,096 is kept in full.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=nvidia.capture
case ${1-} in ''|--*) ;; *) out=$1; shift ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
arch=${CAPTURE_ARCH:-80}
fp8=; [ "$arch" -lt 89 ] || fp8=-DWITH_FP8
nvcc -std=c++17 -O2 $fp8 -gencode "arch=compute_$arch,code=compute_$arch" -o "$work/capture" "$here/capture.cu"
${CAPTURE_RUN:-} "$work/capture" "$out" "$@"
gzip -9 -f "$out"
ls -l "$out.gz"

#!/bin/sh
# Captures what an MI300X (gfx942) computes: ./capture.sh [FILE.capture] [--blocks N ...]; needs hipcc, gzip and the GPU.
# Without options all 2^32 inputs of 18 instructions are summed up, and every 64th block of 4,096 is kept in full.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=gfx942.capture
case ${1-} in ''|--*) ;; *) out=$1; shift ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HIP_PLATFORM="${HIP_PLATFORM:-amd}" # hipcc takes an nvcc that is there for the compiler that is meant
hipcc --offload-arch=gfx942 -O2 -I "$here" "$here/capture.hip" -o "$work/capture"
${CAPTURE_RUN:-} "$work/capture" "$out" "$@"
gzip -9 -f "$out"
ls -l "$out.gz"

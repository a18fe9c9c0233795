"""Barriers, fences and waits taken out of machine code, one at a time: `python -m benchmarks.devices.waits`.

A few kernels are compiled for gfx942; each instruction that orders something is left out once, and the rest runs under
several schedules with all checks on. Prints how many removals a fault, a note or another result tells, by instruction.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator

import numpy as np
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.gfx942 import Device, open_device
from porter.validation.toolchain.clang import Assembled, assemble_text

SOURCE = """
#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(256) void tree(const int* in, int* out, int* ticket) {
  __shared__ int part[256];
  part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int step = 128; step; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
extern "C" __global__ __launch_bounds__(256) void product(const int* in, int* out, int* ticket) {
  __shared__ int a[16][16], b[16][17];
  int x = threadIdx.x % 16, y = threadIdx.x / 16, sum = 0;
  for (int k = 0; k < 4; k++) {
    a[y][x] = in[y * 64 + k * 16 + x];
    b[y][x] = in[(k * 16 + y) * 16 + x];
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += a[y][i] * b[i][x];
    __syncthreads();
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
extern "C" __global__ __launch_bounds__(256) void last_block(const int* in, int* out, int* ticket) {
  __shared__ bool last;
  out[blockIdx.x * 256 + threadIdx.x] = 3 * in[blockIdx.x * 256 + threadIdx.x];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(ticket, 1) == gridDim.x - 1;
  __syncthreads();
  if (last) {
    __threadfence();
    int sum = 0;
    for (int i = threadIdx.x; i < gridDim.x * 256; i += 256) sum += out[i];
    out[gridDim.x * 256 + threadIdx.x] = sum;
  }
}
"""
KERNELS = ("tree", "product", "last_block")
ORDERING = re.compile(r"^\s+(s_barrier|s_waitcnt|buffer_wbl2|buffer_inv)\b.*$", re.MULTILINE)
BLOCKS = 3


def told(device: Device, text: str, kernel: str) -> tuple[str, list[np.ndarray]]:
    """What a run says of itself, and its results under each schedule."""
    module = device.compile(text)
    if isinstance(module, NotRun):
        raise SystemExit(module.reason)
    results = []
    for schedule in (None, 1, 2, 3):
        numbers = np.random.default_rng(5).integers(0, 100, 1024).astype(np.int32)
        arrays = [numbers, np.zeros((BLOCKS + 1) * 256, np.int32), np.zeros(1, np.int32)]
        options = Options(schedule=schedule, races=True, global_races=True, threads=1)
        done = module.launch(kernel, BLOCKS, 256, arrays, options=options)
        if not isinstance(done, Ran):
            return "fault", results
        if done.notes:
            return "note", results
        results.append(done.output(1))
    return "", results


def removals(text: str, kernel: str) -> Iterator[tuple[str, str]]:
    """The instructions of a kernel that order something, and the text without each."""
    start = text.index(f"\n{kernel}:")
    for match in ORDERING.finditer(text, start, text.index("s_endpgm", start)):
        yield match[1], text[: match.start()] + text[match.end() :]


def main() -> None:
    """Prints the table."""
    device, made = open_device(), assemble_text(SOURCE)
    if isinstance(device, NotRun) or not isinstance(made, Assembled):
        raise SystemExit(str(device if isinstance(device, NotRun) else made))
    device.level = 0
    counts: dict[str, collections.Counter[str]] = {}
    for kernel in KERNELS:
        said, right = told(device, made.text, kernel)
        if said:
            raise SystemExit(f"{kernel} as it is: {said}")
        for name, text in removals(made.text, kernel):
            said, results = told(device, text, kernel)
            same = all(np.array_equal(a, b) for a, b in zip(results, right, strict=False))
            counts.setdefault(name, collections.Counter())[said or ("nothing" if same else "other result")] += 1
    print("| removed | times | fault | note | other result | nothing |\n|---|---|---|---|---|---|")
    for name, found in counts.items():
        cells = (found[kind] for kind in ("fault", "note", "other result", "nothing"))
        print(f"| `{name}` | {found.total()} | {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()

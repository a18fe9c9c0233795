"""Speed of the virtual 32-lane device: run as `python -m benchmarks.devices.ptx`.

Prints lane-instructions per second (active lanes summed over vector instructions) on one thread, checks on, for an
arithmetic kernel with all lanes on, the same under a scattered set of lanes and under data-dependent branches, and
memory-bound kernels; and the time to translate and build a large kernel. CPU time, best of several runs.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.ptx import Module, open_device
from porter.validation.toolchain.nvcc import ptx
from porter.validation.toolchain.result import Assembled

from benchmarks.devices.gfx942 import KERNELS, LARGE

BRANCHES = """
extern "C" __global__ void branches(float* out, int rounds) {
  float a = threadIdx.x, b = blockIdx.x + 1.0f;
  unsigned x = threadIdx.x * 2654435761u, y = blockIdx.x + 12345u;
  for (int i = 0; i < rounds; i++) {
    x = x * 1664525u + 1013904223u;
    if (x >> 31) {
      a = a * 0.999f + b; b = b * 0.5f - 0.25f; y ^= x >> 7; y += x << 3; y = (y & x) | (y ^ 0x55u);
      a = fmaf(a, 0.5f, b); b = b - a * 0.001f; y = y * 69069u + 1u; y ^= y >> 3; b = fminf(a, b);
    } else {
      b = b * 0.999f + a; a = a * 0.5f - 0.25f; y ^= x >> 5; y -= x << 2; y = (y | x) & (y ^ 0x33u);
      b = fmaf(b, 0.5f, a); a = a - b * 0.001f; y = y * 69069u + 7u; y ^= y >> 5; a = fmaxf(a, b);
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + x + y;
}
"""


def load(code: str) -> Module:
    """Compile and load, or stop with the reason."""
    device = open_device()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "code.cu"
        source.write_text(code)
        made = ptx(source)
    if not isinstance(made, Assembled):
        raise SystemExit(str(made))
    module = device.compile(made.text)  # type: ignore[union-attr]
    if not isinstance(module, Module):
        raise SystemExit(str(module))
    return module


def best(module: Module, kernel: str, grid: int, args: list[object], options: Options, times: int = 5) -> Ran:
    """The quickest of several launches of 256-thread blocks."""
    done = [module.launch(kernel, grid, 256, args, options=options) for _ in range(times)]
    for outcome in done:
        if not isinstance(outcome, Ran):
            raise SystemExit(f"{kernel}: {outcome}")
    return min((d for d in done if isinstance(d, Ran)), key=lambda d: d.cpu_seconds)


def rates(module: Module) -> None:
    """The lane-instruction rates."""
    rng = np.random.default_rng(1)
    n = 1 << 20
    a, b = rng.random((2, n), np.float32)
    where = rng.permutation(n).astype(np.int32)
    out = np.zeros(16 * 256, np.float32)
    cases: dict[str, tuple[int, list[object]]] = {
        "arithmetic": (16, [out, 2000]),
        "scattered": (16, [out, 2000]),
        "branches": (16, [out, 2000]),
        "triad": (64, [a, b, np.zeros(n, np.float32), n]),
        "gather": (64, [a, where, np.zeros(n, np.float32), n]),
        "sum": (64, [a, np.zeros(1, np.float32), n]),
    }
    for name, (grid, args) in cases.items():
        for label, uninitialised in (("", True), (" unchecked", False)):
            done = best(module, name, grid, args, Options(threads=1, uninitialised=uninitialised))
            lanes, issued = done.counters.lane_instructions, 32 * done.counters.vector_instructions
            rate, slots = lanes / done.cpu_seconds / 1e9, issued / done.cpu_seconds / 1e9
            print(f"{name + label:20s} {rate:7.2f} G active lane-instr/s {slots:7.2f} G lane slots/s")


def large() -> None:
    """Translation and build time of a long kernel."""
    body = "\n".join(f"x = x * {1 + i / 1000}f + {i}.0f; y = y * {2 * i + 1}u ^ (y >> {i % 31});" for i in range(2000))
    module = load(LARGE % body)
    start = time.perf_counter()
    module.translate("large")
    print(f"large: {time.perf_counter() - start:.1f} s to translate and build (0 when cached)")


if __name__ == "__main__":
    rates(load(KERNELS + BRANCHES))
    large()

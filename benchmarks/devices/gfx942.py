"""Speed of the virtual gfx942 device: run as `python benchmarks/devices/gfx942.py`.

Prints lane-instructions per second (active lanes summed over vector instructions) on one thread, checks on, for an
arithmetic kernel with all lanes on, the same under scattered EXEC masks, memory-bound kernels and a product in LDS,
each also with uninitialised values followed and with accesses counted; the time of a block sum; what a second core
brings; and the time to translate and build a large kernel.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable

import numpy as np
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module, open_device
from porter.validation.toolchain.clang import Assembled, assemble_text

KERNELS = """
extern "C" __global__ void arithmetic(float* out, int rounds) {
  float a = threadIdx.x, b = blockIdx.x + 1.0f, c = 0.5f, d = 1.5f;
  unsigned x = threadIdx.x * 2654435761u, y = blockIdx.x + 12345u;
  for (int i = 0; i < rounds; i++) {
    a = a * 0.999f + b; b = b * c - 0.25f; c = fmaf(c, 0.5f, d); d = d - a * 0.001f;
    x = x * 1664525u + y; y ^= x >> 7; x += y << 3; y = (y & x) | (y ^ 0x55u);
    a = x & 1 ? a : -a; d = fminf(d, b); c = fmaxf(c, -2.0f); x ^= x >> 13;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d + x + y;
}
extern "C" __global__ void scattered(float* out, int rounds) {
  float a = threadIdx.x, b = blockIdx.x + 1.0f, c = 0.5f, d = 1.5f;
  unsigned x = threadIdx.x * 2654435761u, y = blockIdx.x + 12345u;
  if ((0x5a3c96f1u >> (threadIdx.x & 31)) & 1)
  for (int i = 0; i < rounds; i++) {
    a = a * 0.999f + b; b = b * c - 0.25f; c = fmaf(c, 0.5f, d); d = d - a * 0.001f;
    x = x * 1664525u + y; y ^= x >> 7; x += y << 3; y = (y & x) | (y ^ 0x55u);
    a = x & 1 ? a : -a; d = fminf(d, b); c = fmaxf(c, -2.0f); x ^= x >> 13;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d + x + y;
}
extern "C" __global__ void triad(const float* a, const float* b, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] * 3.0f + b[i];
}
extern "C" __global__ void gather(const float* a, const int* where, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[where[i]];
}
extern "C" __global__ void sum(const float* a, float* out, int n) {
  __shared__ float s[256];
  float v = 0;
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) v += a[k];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int o = 128; o > 0; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, s[0]);
}
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float x[16][17], y[16][17];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int row = blockIdx.x / (n / 16) * 16 + ty, column = blockIdx.x % (n / 16) * 16 + tx;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    x[ty][tx] = a[row * n + k + tx];
    y[ty][tx] = b[(k + ty) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += x[ty][i] * y[i][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
"""
LARGE = """
extern "C" __global__ void large(float* a, const unsigned* u, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i];
  unsigned y = u[i];
  %s
  a[i] = x + y;
}
"""


def load(code: str) -> Module:
    """Compile and load, or stop with the reason."""
    device = open_device()
    made = assemble_text(code)
    if not isinstance(made, Assembled):
        raise SystemExit(str(made))
    module = device.compile(made.text)  # type: ignore[union-attr]
    if not isinstance(module, Module):
        raise SystemExit(str(module))
    return module


def best(run: Callable[[], Ran], times: int = 7) -> tuple[float, Ran]:
    """Median CPU seconds inside the device, after one warm-up: wall time means nothing on a busy machine."""
    run()
    done = [run() for _ in range(times)]
    return statistics.median(d.cpu_seconds for d in done), done[0]


def launch(module: Module, kernel: str, grid: int, args: list[object], options: Options) -> Ran:
    """One launch of 256-thread blocks that must succeed."""
    done = module.launch(kernel, grid, 256, args, options=options)
    if not isinstance(done, Ran):
        raise SystemExit(f"{kernel}: {done}")
    return done


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
        "triad": (64, [a, b, np.zeros(n, np.float32), n]),
        "gather": (64, [a, where, np.zeros(n, np.float32), n]),
        "tiled": (64, [a, b, np.zeros(n, np.float32), 128]),
    }
    for name, (grid, args) in cases.items():
        for label, options in (("", Options(threads=1)), (" +poison", Options(threads=1, uninitialised=True)),
                               (" +counts", Options(threads=1, count_memory=True))):  # fmt: skip
            seconds, done = best(lambda g=grid, r=args, o=options, k=name: launch(module, k, g, r, o), 5)  # type: ignore[misc]
            lanes, issued = done.counters.lane_instructions, 64 * done.counters.vector_instructions
            print(f"{name + label:20s} {lanes / seconds / 1e9:7.2f} G active lane-instr/s"
                  f"  ({issued / seconds / 1e9:.2f} G with idle lanes) {seconds * 1e3:8.2f} ms")  # fmt: skip


def block_sum(module: Module) -> None:
    """64 blocks x 256 threads summing 262,144 floats; and what two threads bring."""
    values = np.random.default_rng(2).random(262_144).astype(np.float32)
    zero = np.zeros(1, np.float32)
    for threads in (1, 2):
        seconds, _ = best(
            lambda t=threads: launch(module, "sum", 64, [values, zero, values.size], Options(threads=t)), 15
        )  # type: ignore[misc]
        print(f"sum of 262144, {threads} thread(s): {seconds * 1e3:.3f} ms CPU")
    out = np.zeros(64 * 256, np.float32)
    one, two = (
        min(launch(module, "arithmetic", 64, [out, 2000], Options(threads=t)).seconds for _ in range(5)) for t in (1, 2)
    )
    print(f"two threads: {one / two:.2f} times one (wall, best of 5; needs an idle machine)")
    for blocks in (16, 64, 256):
        seconds, _ = best(
            lambda g=blocks: launch(module, "arithmetic", g, [np.zeros(g * 256, np.float32), 500], Options(threads=1)),
            3,
        )  # type: ignore[misc]
        print(f"{blocks:4d} blocks: {seconds / blocks * 1e6:.1f} us a block")


def cpu_time() -> float:
    """CPU seconds of this process and the compilers it ran."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def build_time() -> None:
    """Translate and build a kernel of some 500 instructions, cold and cached."""
    rng = np.random.default_rng(3)
    lines = []
    for k in range(60):
        lines.append(f"x = x * {rng.random():.3f}f + (float)(y & {int(rng.integers(1, 255))});")
        lines.append(f"y = y * {int(rng.integers(3, 99))}u ^ (y >> {k % 13 + 1});")
        lines.append(f"if (y & {1 << k % 8}) x = fmaxf(x, {k}.0f);")
    made = assemble_text(LARGE % "\n".join(lines))
    if not isinstance(made, Assembled):
        raise SystemExit(str(made))
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("PORTER_CACHE_DIR")
        os.environ["PORTER_CACHE_DIR"] = folder
        for label in ("cold", "cached"):
            device = open_device()
            start = cpu_time()
            module = device.compile(made.text)  # type: ignore[union-attr]
            image = module.translate("large")  # type: ignore[union-attr]
            seconds = cpu_time() - start
            print(f"translate and build {len(image.sites)} instructions, {label}: {seconds:.3f} s CPU")  # type: ignore[union-attr]
        if before is None:
            del os.environ["PORTER_CACHE_DIR"]
        else:
            os.environ["PORTER_CACHE_DIR"] = before


def main() -> None:
    """Everything."""
    module = load(KERNELS)
    print(module.device.compiler.version)
    rates(module)
    block_sum(module)
    build_time()


if __name__ == "__main__":
    main()

"""Estimates beside published measurements of an MI300X: `python -m benchmarks.estimate [-v]`; `--cost`: of counting.

The kernels are ours, written after what the sources say of theirs; `estimate_published.csv` holds the figures. The
streams are what the model's latencies and bandwidths were fitted on, the other classes were not fitted.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from porter.validation.devices.core.launch import Options, Sample
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.gfx942 import Module, open_device
from porter.validation.estimate.chip import Chip, load
from porter.validation.estimate.compare import Time, compared
from porter.validation.estimate.model import Estimate, estimate
from porter.validation.estimate.work import Launched
from porter.validation.toolchain.clang import Assembled, assemble_text

PUBLISHED = Path(__file__).with_name("estimate_published.csv")
CODE = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
typedef float f4 __attribute__((ext_vector_type(4)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
#define ID (threadIdx.x + blockDim.x * blockIdx.x)
extern "C" __global__ void init(double *a, const double *b, int n) { if (ID < n) a[ID] = 0.25; }
extern "C" __global__ void read(double *a, const double *b, int n) {
    if (ID >= n) return;
    double t = b[ID];
    if (t == 0.123) a[ID] = t;
}
extern "C" __global__ void scatter(double *a, const double *b, int n) { a[(ID * 40503u) % n] = b[(ID * 2654435u) % n]; }
extern "C" __global__ void bins(float *a, const double *b, int n) { atomicAdd(&a[(ID * 40503u) % n], 1.0f); }
extern "C" __global__ void sum(f4 *a, const f4 *b, int n) { /* the same n f4 in every block, round and round */
    f4 s = 0;
    int at = threadIdx.x % n, over = 1024 < n ? n : (1023 / n + 1) * n, loads = n < 1024 ? 32 : 8 * ((n + 1023) / 1024);
    for (int i = 0; i < loads; i += 4) {
        f4 v[4];
        for (int k = 0; k < 4; k++) {
            v[k] = b[at];
            at += 1024;
            at -= at >= n ? over : 0;
            at += at < 0 ? n : 0;
        }
        for (int k = 0; k < 4; k++) s += v[k];
    }
    if (s.x == 0.123f) a[ID] = s;
}
template <class T> __device__ void fma_loop(T *a, T x) {
    T r[8];
    for (int k = 0; k < 8; k++) r[k] = x + (T)k;
    for (int i = 0; i < 64; i++)
#pragma unroll
        for (int k = 0; k < 8; k++) r[k] = __builtin_elementwise_fma(r[k], x, r[k]);
    T s = r[0];
    for (int k = 1; k < 8; k++) s += r[k];
    a[ID] = s;
}
extern "C" __global__ void fma_f32(float *a, float *b, int n) { fma_loop(a, b[0]); }
extern "C" __global__ void fma_f64(double *a, double *b, int n) { fma_loop(a, b[0]); }
extern "C" __global__ void pk_fma_f16(h2 *a, h2 *b, int n) {
    h2 r[8], x = b[0];
    for (int k = 0; k < 8; k++) r[k] = x + (_Float16)k;
    for (int i = 0; i < 64; i++)
#pragma unroll
        for (int k = 0; k < 8; k++) r[k] = __builtin_elementwise_fma(r[k], x, r[k]);
    h2 s = r[0];
    for (int k = 1; k < 8; k++) s += r[k];
    a[ID] = s;
}
extern "C" __global__ void mfma_f16(f4 *a, h4 *b, int n) {
    f4 c[4] = {};
    h4 x = b[threadIdx.x];
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < 4; k++) c[k] = __builtin_amdgcn_mfma_f32_16x16x16f16(x, x, c[k], 0, 0, 0);
    a[ID] = c[0] + c[1] + c[2] + c[3];
}
extern "C" __global__ void mfma_fp8(f4 *a, long *b, int n) {
    f4 c[4] = {};
    long x = b[threadIdx.x];
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < 4; k++) c[k] = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, x, c[k], 0, 0, 0);
    a[ID] = c[0] + c[1] + c[2] + c[3];
}
template <class T> __device__ void lds_loop(T *a, T *b) {
    __shared__ T buffer[2][256];
    T x = b[threadIdx.x], s = {};
    for (int i = 0; i < 64; i++) {
        buffer[i & 1][threadIdx.x] = x;
        __builtin_amdgcn_s_barrier();
        x = buffer[i & 1][(threadIdx.x + 64) & 255];
    }
    a[ID] = x;
}
extern "C" __global__ void lds_b32(float *a, float *b, int n) { lds_loop(a, b); }
extern "C" __global__ void lds_b64(float2 *a, float2 *b, int n) { lds_loop(a, b); }
extern "C" __global__ void lds_b128(float4 *a, float4 *b, int n) { lds_loop(a, b); }
"""
STREAM = 268435456
"""Elements of the published streams; ours are shorter, with the same blocks."""
LOOPS = {
    "fma_f32": 2,
    "fma_f64": 2,
    "pk_fma_f16": 4,
    "mfma_f16": 16 * 16 * 16 * 2 / 64,
    "mfma_fp8": 16 * 16 * 32 * 2 / 64,
}
COSTED = (
    ("init", 8192, 256, 1 << 21),
    ("read", 8192, 256, 1 << 21),
    ("scatter", 8192, 256, 1 << 21),
    ("bins", 8192, 256, 100),
    ("fma_f32", 512, 256, 0),
    ("mfma_f16", 64, 256, 0),
    ("lds_b32", 512, 256, 0),
    ("lds_b128", 512, 256, 0),
)
"""Kernel, blocks, threads, n."""
LDS = {"lds_b32": 4, "lds_b64": 8, "lds_b128": 16}


@dataclass(frozen=True)
class Point:
    """One published figure, and ours."""

    group: str
    name: str
    published: float
    estimated: float
    naive: float
    """What bytes or operations over the peak alone give."""
    estimate: Estimate

    @property
    def error(self) -> float:
        """Relative."""
        return self.estimated / self.published - 1


def run(module: Module, kernel: str, blocks: int, threads: int, chip: Chip, n: int, sample: Sample | None) -> Ran:
    """Run some blocks, counting."""
    arrays = [np.zeros(1 << 21), np.zeros(max(1 << 21, 2 * n if kernel == "sum" else 0))]
    options = Options(uninitialised=False, caches=chip.caches, count_memory=True, sample=sample)
    outcome = module.launch(kernel, blocks, threads, [*arrays, n], options=options)
    if not isinstance(outcome, Ran):
        raise SystemExit(f"{kernel}: {outcome}")
    return outcome


def stream(module: Module, chip: Chip, kernel: str, block: int, per_cu: int) -> tuple[Estimate, float, float]:
    """(estimate, GB/s, GB/s of a roofline)."""
    n = 1 << 21
    blocks = n // block
    ran = run(module, kernel, blocks, block, chip, n, Sample(128, max(1, blocks // 128)))
    launched = Launched(STREAM // block, block, ran.counters, 128, 65536 // per_cu if per_cu else 0)
    found = estimate(chip, launched)
    return found, STREAM * 8 / found.nanoseconds, 5300.0


def cache(module: Module, chip: Chip, kilobytes: int) -> tuple[Estimate, float, float]:
    """Every block reads the same set, one block to a CU."""
    n = kilobytes * 1024 // 16
    sample = None if kilobytes <= 128 else Sample(16, 1)
    ran = run(module, "sum", chip.cus, 1024, chip, n, sample)
    launched = Launched(chip.cus, 1024, ran.counters, 16 if sample else chip.cus, 40 << 10)
    found = estimate(chip, launched)
    moved = sum(one.bytes for one in ran.counters.executed if one.site.text.startswith("global_load")) * launched.scale
    return found, moved / found.nanoseconds, 5300.0


def arithmetic(module: Module, chip: Chip, kernel: str) -> tuple[Estimate, float, float]:
    """Loops of independent operations, a full GPU."""
    ran = run(module, kernel, 64, 256, chip, 0, None)
    blocks = chip.cus * 64
    found = estimate(chip, Launched(blocks, 256, ran.counters, 64, 0))
    operations = LOOPS[kernel] * 64 * (4 if kernel.startswith("mfma") else 8)
    peak = {"fma_f32": 163400, "fma_f64": 81700, "pk_fma_f16": 163400, "mfma_f16": 1307400, "mfma_fp8": 2614900}
    return found, operations * blocks * 256 / found.nanoseconds, peak[kernel]


def lds(module: Module, chip: Chip, kernel: str) -> tuple[Estimate, float, float]:
    """A store and a load a turn."""
    ran = run(module, kernel, 64, 256, chip, 0, None)
    blocks = chip.cus * 64
    found = estimate(chip, Launched(blocks, 256, ran.counters, 64, LDS[kernel] * 512))
    return found, 2 * LDS[kernel] * 64 * blocks * 256 / found.nanoseconds, 81700.0


def compiled() -> Module:
    """The kernels on the virtual device."""
    device, made = open_device(), assemble_text(CODE)
    if isinstance(device, NotRun) or not isinstance(made, Assembled):
        raise SystemExit(str(device if isinstance(device, NotRun) else made))
    module = device.compile(made.text)
    if isinstance(module, NotRun):
        raise SystemExit(str(module))
    return module


def points(largest: int) -> list[Point]:
    """Every published figure with its estimate; sets that are read round and round up to so many KiB."""
    chip, module = load("mi300x"), compiled()
    found: list[Point] = []
    for row in csv.DictReader(PUBLISHED.open()):
        kernel, size = row["kernel"], int(row["size"])
        if row["class"] == "cache" and size > largest:
            continue
        if row["class"] == "stream":
            one = stream(module, chip, kernel, size, int(row["blocks_per_cu"]))
        elif row["class"] == "cache":
            one = cache(module, chip, size)
        else:
            one = lds(module, chip, kernel) if row["class"] == "lds" else arithmetic(module, chip, kernel)
        name = f"{kernel} {size}" + (f", {row['blocks_per_cu']} per CU" if row["class"] == "stream" else "")
        found.append(Point(row["class"], name, float(row["value"]), one[1], one[2], one[0]))
    return found


def costs() -> None:
    """Processor time with every counter on over that of a plain run, one host thread both times."""
    chip, module = load("mi300x"), compiled()
    for kernel, blocks, threads, n in COSTED:
        arrays = [np.zeros(1 << 21), np.zeros(1 << 21)]
        plain = Options(uninitialised=False, threads=1)
        counting = Options(uninitialised=False, caches=chip.caches, count_memory=True)
        seconds: dict[str, float] = {}
        for name, options in (("plain", plain), ("counting", counting), ("plain", plain), ("counting", counting)):
            outcome = module.launch(kernel, blocks, threads, [*arrays, n], options=options)
            if not isinstance(outcome, Ran):
                raise SystemExit(f"{kernel}: {outcome}")
            seconds[name] = min(outcome.cpu_seconds, seconds.get(name, outcome.cpu_seconds))
        before, after = seconds["plain"], seconds["counting"]
        print(f"{kernel:12} {before:7.3f} s {after:7.3f} s  x {after / before:.2f}")


def directions(found: list[Point]) -> str:
    """Of all pairs of a kernel: where the bands let a direction be said, and how often it is the published one."""
    stated = right = pairs = 0
    for one, two in itertools.combinations(found, 2):
        if one.name.split()[0] != two.name.split()[0] or one.published == two.published:
            continue
        pairs += 1
        times = [Time(1 / p.estimated, p.estimate.band, p.estimate.limit, p.estimate.tested) for p in (one, two)]
        direction = compared("", "", ("", ""), (times[0], times[1])).direction
        stated += direction != "open"
        right += direction == ("less" if two.published > one.published else "more")
    return f"{pairs:,} pairs, {stated:,} directions stated, {right:,} as published"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-v", action="store_true", help="every point")
    parser.add_argument("--cost", action="store_true", help="what counting costs instead")
    parser.add_argument("--largest", type=int, default=8192, help="KiB of the largest set of the class cache")
    wanted = parser.parse_args()
    if wanted.cost:
        costs()
        return
    groups: defaultdict[str, list[Point]] = defaultdict(list)
    for point in points(wanted.largest):
        groups[point.group].append(point)
        if wanted.v:
            figures = f"{point.published:10.0f} {point.estimated:10.0f} {point.error:+.0%}"
            print(f"{point.name:28} {figures}  {point.estimate.limit}")
    print("| class | points | mean error | 90 % within | worst | roofline's mean error |\n|---|---|---|---|---|---|")
    for group, found in groups.items():
        errors = np.abs([point.error for point in found])
        naive = np.abs([point.naive / point.published - 1 for point in found])
        worst = max(found, key=lambda point: abs(point.error))
        print(
            f"| {group} | {len(found)} | {errors.mean():.1%} | {np.quantile(errors, 0.9):.1%} | "
            f"{worst.error:+.1%} ({worst.name}) | {naive.mean():.0%} |"
        )
    for group, found in groups.items():
        print(f"{group}: {directions(found)}")


if __name__ == "__main__":
    main()

"""What a program takes to start, to launch and to run on the virtual devices: `python -m benchmarks.program_times`.

Builds small programs for `ptx` and their ports for `gfx942`, and runs each by `porter run`: cold, with an empty cache
(the drop-in library is built, every kernel translated), then warm. Processor time of the whole run with all that it
starts, and by the clock; of launches and kernels the processor time that the program itself read off, on one thread.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.validation.programs.building import build
from porter.validation.programs.compare import port_tree
from porter.validation.programs.sides import CUDA, HIP, Side
from porter.validation.toolchain.result import Missing

from benchmarks.devices.gfx942 import KERNELS

VECTOR_ADD = """
#include <cstdio>
#include <vector>
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() {
  const int n = 50000;
  std::vector<float> host(n, 1.5f);
  float *a, *b, *c;
  int bad = 0;
  cudaMalloc(&a, n * sizeof(float)), cudaMalloc(&b, n * sizeof(float)), cudaMalloc(&c, n * sizeof(float));
  cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(a, b, c, n);
  cudaMemcpy(host.data(), c, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (float value : host) bad += value != 3.0f;
  return puts(bad ? "FAIL" : "PASS"), bad;
}
"""
THRUST = """
#include <algorithm>
#include <cstdio>
#include <vector>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
int main() {
  std::vector<int> host(100000);
  unsigned x = 1;
  long sum = 0;
  for (int& value : host) x = x * 1664525u + 1013904223u, value = x >> 12, sum += value;
  thrust::device_vector<int> numbers(host.begin(), host.end());
  thrust::sort(numbers.begin(), numbers.end());
  long got = thrust::reduce(numbers.begin(), numbers.end(), 0L, thrust::plus<long>());
  std::sort(host.begin(), host.end());
  std::vector<int> sorted(host.size());
  thrust::copy(numbers.begin(), numbers.end(), sorted.begin());
  int bad = sorted != host || got != sum;
  return puts(bad ? "FAIL" : "PASS"), bad;
}
"""
CLOCK = """
#include <cstdio>
#include <ctime>
static double processor() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
"""
LAUNCHES = (
    CLOCK
    + """
__global__ void count(int* at) { atomicAdd(at, 1); }
int main() {
  int *at, host = 0;
  const int many = 20000;
  cudaMalloc(&at, sizeof(int)), cudaMemset(at, 0, sizeof(int));
  double least = 1;
  for (int turn = 0; turn < 5; turn++) {
    double start = processor();
    for (int i = 0; i < many; i++) count<<<1, 32>>>(at);
    cudaDeviceSynchronize();
    double took = (processor() - start) / many;
    least = took < least ? took : least;
  }
  cudaMemcpy(&host, at, sizeof(int), cudaMemcpyDeviceToHost);
  printf("launch of one block: %.2f us\\n", 1e6 * least);
  return host != 5 * many * 32;
}
"""
)
RATES = (
    CLOCK
    + KERNELS
    + """
template <class F> static void best(const char* name, F launch) {
  double least = 1e9;
  for (int turn = 0; turn < 7; turn++) {
    double start = processor();
    launch();
    cudaDeviceSynchronize();
    double took = processor() - start;
    least = took < least ? took : least;
  }
  printf("%s: %.6f s\\n", name, least);
}
int main() {
  const int n = 1 << 20;
  float *a, *b, *c;
  int *where, *host = new int[n];
  for (int i = 0; i < n; i++) host[i] = (int)((i * 2654435761ul) % n);
  cudaMalloc(&a, 4 * n), cudaMalloc(&b, 4 * n), cudaMalloc(&c, 4 * n), cudaMalloc(&where, 4 * n);
  cudaMemset(a, 0, 4 * n), cudaMemset(b, 0, 4 * n), cudaMemcpy(where, host, 4 * n, cudaMemcpyHostToDevice);
  best("arithmetic", [&] { arithmetic<<<16, 256>>>(c, 20000); });
  best("triad", [&] { for (int i = 0; i < 8; i++) triad<<<64, 256>>>(a, b, c, n); });
  best("gather", [&] { for (int i = 0; i < 8; i++) gather<<<64, 256>>>(a, where, c, n); });
  return 0;
}
"""
)
PROGRAMS = {"vectorAdd": VECTOR_ADD, "thrust": THRUST, "launches": LAUNCHES, "rates": RATES}
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
TURNS = 7  # of each kernel in RATES
KERNELS_OF_RATES = ("arithmetic", "triad", "gather")


@dataclass(frozen=True)
class Took:
    """One run of a command and of all that it started."""

    processor: float
    clock: float
    output: str


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=PROGRAMS, help="can be repeated")
    parser.add_argument("--side", choices=("cuda", "hip"), help="one of them")
    parser.add_argument("--warm", type=int, default=5, help="runs after the first, of which the least counts")
    given = parser.parse_args()
    for side in (CUDA, HIP):
        for name in given.only or PROGRAMS:
            if given.side in (None, side.name):
                measure(side, name, given.warm)


def measure(side: Side, name: str, warm: int) -> None:
    """Build one, run it cold and warm, print what it took."""
    with tempfile.TemporaryDirectory(prefix="porter-times-") as folder:
        program = built(side, name, Path(folder))
        caches = {"PORTER_CACHE_DIR": str(Path(folder, "cache"))}
        words: list[str] = []
        if name == "rates":
            words, caches["PORTER_RUN_THREADS"] = ["--every-launch"], "1"
        command = [sys.executable, "-m", "porter", "run", *words, "--", str(program)]
        cold = took(command, caches)
        again = [took(command, caches) for _ in range(warm)]
        least = min(run.processor for run in again)
        print(
            f"{side.device} {name}: cold {cold.processor:.2f} s of processor time ({cold.clock:.1f} by the clock)",
            end="",
        )
        print(f", warm {least:.3f} ({min(run.clock for run in again):.3f})", flush=True)
        if name == "launches":
            print("  " + min(run.output.partition("\n")[0] for run in again))
        if name == "rates":
            print(rates([run.output for run in again]))


def built(side: Side, name: str, folder: Path) -> Path:
    """The program of one side, or SystemExit with why not."""
    original, port = folder / "original", folder / "port"
    original.mkdir()
    (original / f"{name}.cu").write_text(PROGRAMS[name])
    step, where = ["nvcc", "-O2", f"{name}.cu", "-o", name], original
    if side is HIP:
        port_tree(original, port)
        step, where = ["hipcc", "-O2", f"{name}.hip", "-o", name], port
    done = build(side, where, [step], 600)
    if isinstance(done, Missing):
        raise SystemExit(done.reason)
    if done.failed is not None:
        raise SystemExit(done.said)
    return shutil.copy(where / name, folder / name)


def took(command: list[str], variables: Mapping[str, str]) -> Took:
    """Run it; SystemExit where it fails. Python keeps what it compiled, as in an installed package.

    A translator outlives its program by a moment: this process inherits it, so that its time counts.
    """
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, env={**environment, **variables}, capture_output=True, text=True, check=False)
    clock = time.monotonic() - start
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(processor, clock, done.stdout + done.stderr)


def rates(outputs: list[str]) -> str:
    """Lane-instructions of a kernel's launch, which the run counted, over the least time that the program read off."""
    lines: list[str] = []
    for kernel in KERNELS_OF_RATES:
        least = min(float(re.findall(rf"^{kernel}: ([\d.]+) s", text, re.M)[0]) for text in outputs)
        number, unit = re.findall(rf"x {kernel}(?:\(.*\))?: ([\d.,]+)( [MG])?$", outputs[0], re.M)[0]
        counted = float(number.replace(",", "")) * {"": 1, " M": 1e6, " G": 1e9}[unit]
        lines.append(f"  {kernel}: {counted / TURNS / least / 1e9:.2f} G lane-instructions/s")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

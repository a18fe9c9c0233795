"""Kernels compiled for gfx942, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Compile
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran

OPTIMISATION = pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])

ADD = """
extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void cube(unsigned* out) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  unsigned w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
  out[(z * h + y) * w + x] = x | y << 8 | z << 16;
}
"""

SUM = """
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
"""

CALLS = """
__device__ int table[4] = {1, 2, 3, 4};
__constant__ float weights[3] = {1.f, 2.f, 3.f};
extern __shared__ float dynamic[];
__device__ __noinline__ float plus(float x, int k) { return x + table[k & 3]; }
__device__ __noinline__ float times(float x, int k) { return x * weights[k % 3]; }
typedef float (*function)(float, int);
__device__ function functions[2] = {plus, times};
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void calls(float* a, int n, int* f) {
  int i = threadIdx.x;
  dynamic[i] = a[i];
  __syncthreads();
  float local[16];
  for (int k = 0; k < 16; k++) local[k] = a[(k + i) & 63];
  float s = 0;
  for (int k = 0; k < n; k++) s += local[(k * i) & 15];
  f[i] = fibonacci(i % 9);
  a[i] = functions[i & 1](s, i) + dynamic[(i + 1) & 63];
}
"""


@OPTIMISATION
@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 63, 64, 65, 1000, 1024])
def test_add_stops_at_the_end(compile_hip: Compile, level: str, n: int) -> None:
    module = compile_hip(ADD, level)
    a, b = np.random.default_rng(n).random((2, max(n, 1)), np.float32)
    done = module.launch("add", 4, 256, [a, b, np.full(1024, 7, np.float32), n])
    assert isinstance(done, Ran), done
    assert np.array_equal(done.output(2)[:n], (a + b)[:n])
    assert np.all(done.output(2)[n:] == 7)


@OPTIMISATION
def test_three_dimensions(compile_hip: Compile, level: str) -> None:
    done = compile_hip(ADD, level).launch("cube", (2, 3, 2), (4, 5, 6), [np.zeros((12, 15, 8), np.uint32)])
    assert isinstance(done, Ran), done
    z, y, x = np.indices((12, 15, 8))
    assert np.array_equal(done.output(0), x | y << 8 | z << 16)


@OPTIMISATION
@pytest.mark.parametrize("schedule", [None, 1, 2])
def test_sum(compile_hip: Compile, level: str, schedule: int | None) -> None:
    a = np.random.default_rng(0).random(10_000).astype(np.float32)
    done = compile_hip(SUM, level).launch(
        "sum",
        8,
        256,
        [a, np.zeros(1, np.float32), a.size],
        options=Options(schedule=schedule, races=True, uninitialised=True),
    )
    assert isinstance(done, Ran), done
    assert done.output(1)[0] == pytest.approx(a.sum(dtype=np.float64), rel=1e-6)


@OPTIMISATION
def test_calls_globals_scratch_and_dynamic_lds(compile_hip: Compile, level: str) -> None:
    a = np.random.default_rng(1).random(64).astype(np.float32)
    done = compile_hip(CALLS, level).launch("calls", 1, 64, [a, 5, np.zeros(64, np.int32)], shared=256)
    assert isinstance(done, Ran), done
    i = np.arange(64)
    s = np.zeros(64, np.float32)
    for k in range(5):
        s += a[(((k * i) & 15) + i) & 63]
    weights = np.array([1, 2, 3], np.float32)
    expected = np.where(i & 1, s * weights[i % 3], s + (i & 3) + 1).astype(np.float32) + a[(i + 1) & 63]
    assert np.array_equal(done.output(0), expected)
    assert np.array_equal(done.output(2), np.array([0, 1, 1, 2, 3, 5, 8, 13, 21])[i % 9])

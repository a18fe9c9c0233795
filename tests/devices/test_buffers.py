"""Buffer resources (MUBUF): bounds, structured buffers, atomics; against numpy."""

from __future__ import annotations

import numpy as np
from conftest import Compile
from porter.validation.devices.core.result import Ran

CODE = """
typedef int v4i __attribute__((ext_vector_type(4)));
__device__ int load(v4i, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.i32");
__device__ v4i load4(v4i, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.v4i32");
__device__ short load16(v4i, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.i16");
__device__ void store(int, v4i, int, int, int) __asm("llvm.amdgcn.raw.buffer.store.i32");
__device__ int add(int, v4i, int, int, int) __asm("llvm.amdgcn.raw.buffer.atomic.add.i32");
__device__ int item(v4i, int, int, int, int) __asm("llvm.amdgcn.struct.buffer.load.i32");
__device__ v4i resource(int* p, int stride, int records) {
  unsigned long long a = (unsigned long long)p;
  return v4i{(int)a, (int)(a >> 32) | stride << 16, records, 0x27000};
}
__device__ v4i scalar4(v4i, int, int) __asm("llvm.amdgcn.s.buffer.load.v4i32");
__device__ int scalar(v4i, int, int) __asm("llvm.amdgcn.s.buffer.load.i32");
extern "C" __global__ void uniform(int* a, int* o, int n, int at) {
  v4i from = resource(a, 0, n * 4);
  v4i x = scalar4(from, at * 4, 0);
  o[threadIdx.x] = threadIdx.x == 0 ? x.x : threadIdx.x == 1 ? x.y : threadIdx.x == 2 ? x.z : x.w;
  if (threadIdx.x == 4) o[4] = scalar(from, 8, 0);
}
extern "C" __global__ void onto_its_address(int* a, int* o, int n) {
  v4i from = resource(a, 0, n * 4);
  register int at __asm("v2") = threadIdx.x * 8;
  register int next __asm("v3");
  __asm volatile("buffer_load_dwordx2 v[2:3], v2, %2, 0 offen\\n s_waitcnt vmcnt(0)"
                 : "+v"(at), "=v"(next) : "s"(from) : "memory");
  o[2 * threadIdx.x] = at;
  o[2 * threadIdx.x + 1] = next;
}
extern "C" __global__ void k(int* a, int* o, int* four, int* half, int* items, int n, int s) {
  int i = threadIdx.x;
  v4i from = resource(a, 0, n * 4);
  o[i] = load(from, i * 4, 0, 0);
  v4i x = load4(from, i * 4, s * 4, 0);
  four[4 * i] = x.x; four[4 * i + 1] = x.y; four[4 * i + 2] = x.z; four[4 * i + 3] = x.w;
  half[i] = load16(from, i * 2, 0, 0);
  v4i to = resource(o, 0, 128 * 4);
  store(i, to, (64 + i) * 4, 0, 0);
  store(-1, to, (128 + i) * 4, 0, 0);
  add(5, to, (64 + 2 * i) * 4, 0, 0);
  items[i] = item(resource(a, 8, n / 2), i, 4, 0, 0);
}
"""


def test_buffers_end_where_they_say(compile_hip: Compile) -> None:
    n, s, i = 50, 2, np.arange(64)
    a = np.random.default_rng(5).integers(1, 1 << 30, 64).astype(np.int32)
    seen = np.append(np.where(np.arange(64) < n, a, 0), np.zeros(64, np.int32))
    o = np.full(192, 7, np.int32)
    outputs = [np.zeros(256, np.int32), np.zeros(64, np.int32), np.zeros(64, np.int32)]
    done = compile_hip(CODE).launch("k", 1, 64, [a, o, *outputs, n, s])
    assert isinstance(done, Ran), done
    assert np.array_equal(done.output(1)[:64], seen[:64])
    assert np.array_equal(done.output(2).reshape(64, 4), seen[i[:, None] + s + np.arange(4)])
    assert np.array_equal(done.output(3), seen.view(np.int16)[:64])
    assert np.array_equal(done.output(1)[64:128], i + np.where(i % 2 == 0, 5, 0))
    assert np.all(done.output(1)[128:] == 7)
    assert np.array_equal(done.output(4), np.where(i < n // 2, seen[2 * i % 64 + 1], 0))


def test_scalar_loads_end_there_too(compile_hip: Compile) -> None:
    a = np.arange(100, 120, dtype=np.int32)
    done = compile_hip(CODE).launch("uniform", 1, 5, [a, np.zeros(5, np.int32), 10, 8])
    assert isinstance(done, Ran), done
    assert done.output(1).tolist() == [108, 109, 0, 0, 102]


def test_a_result_may_lie_on_its_address(compile_hip: Compile) -> None:
    """Compilers load two words into the address's register and the next one."""
    a = np.random.default_rng(5).integers(1, 1 << 30, 128).astype(np.int32)
    done = compile_hip(CODE).launch("onto_its_address", 1, 64, [a, np.zeros(128, np.int32), 121])
    assert isinstance(done, Ran), done
    assert np.array_equal(done.output(1), np.where(np.arange(128) < 121, a, 0))

"""libcu++'s atomics, barriers, pipelines and copies, ported and run on the virtual gfx942."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran

from porter.engine.file import port
from porter.model import Effort
from porter.source import SourceFile
from tests.warp.execution import context, module

Array = npt.NDArray[Any]

ATOMICS = """
#include <cuda/atomic>
struct Pair { short a, b; };
template <class T> __device__ void all(cuda::atomic<T, cuda::thread_scope_device> *a) {
  a[0].fetch_add(T(threadIdx.x), cuda::memory_order_relaxed);
  a[1].fetch_max(T(threadIdx.x + blockIdx.x * 256), cuda::std::memory_order_relaxed);
  a[2].fetch_min(T(1000 - int(threadIdx.x)));
  ++a[3];
  a[3] += T(2);
  a[4]--;
}
template <class T> using on_device = cuda::atomic<T, cuda::thread_scope_device>;
__global__ void k(on_device<int> *i, on_device<unsigned long long> *u, on_device<float> *f, unsigned *bits, Pair *pair,
                  unsigned char *bytes) {
  all(i);
  all(u);
  f->fetch_add(0.5f);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> one(bits[0]), two(bits[1]);
  one.fetch_or(1u << (threadIdx.x & 31), cuda::memory_order_relaxed);
  two ^= 1u << (threadIdx.x & 7);
  cuda::atomic_ref<Pair, cuda::thread_scope_system> both(*pair);
  Pair known = both.load();
  while (!both.compare_exchange_weak(known, Pair{short(known.a + 1), short(known.b - 1)}, cuda::memory_order_acq_rel)) {
  }
  cuda::atomic_ref<unsigned char, cuda::thread_scope_device> byte(bytes[threadIdx.x & 3]);
  byte.fetch_add(1);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}
"""

BARRIER = """
#include <cuda/barrier>
#include <cooperative_groups.h>
__global__ void k(int *out, const int *in) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s[256];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  for (int round = 0; round < 3; ++round) {
    cuda::memcpy_async(block, s, in + round * 256, sizeof(int) * block.size(), bar);
    bar.arrive_and_wait();
    int mine = s[255 - threadIdx.x];
    auto token = bar.arrive();
    out[round * 256 + threadIdx.x] = mine;
    bar.wait(std::move(token));
  }
}
"""

PIPELINES = """
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *out, const int *in, int n) {
  auto block = cg::this_thread_block();
  __shared__ int s[2 * 256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope::thread_scope_block, 2> state;
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, s, in, sizeof(int) * 256, pipe);
  pipe.producer_commit();
  for (int b = 1; b < n; ++b) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, s + b % 2 * 256, in + b * 256, cuda::aligned_size_t<16>(sizeof(int) * 256), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[(b - 1) * 256 + threadIdx.x] = s[(b - 1) % 2 * 256 + 255 - threadIdx.x];
    pipe.consumer_release();
  }
  pipe.consumer_wait();
  out[(n - 1) * 256 + threadIdx.x] = s[(n - 1) % 2 * 256 + 255 - threadIdx.x];
  pipe.consumer_release();
  __syncthreads();
  cuda::pipeline<cuda::thread_scope_thread> own = cuda::make_pipeline();
  own.producer_acquire();
  cuda::memcpy_async(&s[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<4>(sizeof(int)), own);
  own.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(own);
  __syncthreads();
  out[n * 256 + threadIdx.x] = s[255 - threadIdx.x];
  __syncthreads();
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[(n + 1) * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
"""


def run(text: str, grid: int, arguments: list[Any]) -> tuple[Array, ...]:
    """What the arguments are after the port ran, in blocks of 256."""
    ported = port(SourceFile("a.cu", text.encode()), context("preserve"), "a.cu")
    assert [finding.message for finding in ported.findings if finding.effort is Effort.MANUAL] == []
    loaded = module("#include <utility>\n" + ported.data.decode())
    done = loaded.launch(loaded.kernels[0], (grid,), (256,), arguments, 0, Options(uninitialised=False))
    if isinstance(done, NotRun):
        pytest.skip(done.reason)
    assert isinstance(done, Ran), str(done)
    return tuple(output.reshape(-1) for output in done.outputs if output is not None)


def test_atomics() -> None:
    start = [0, 0, 5000, 0, 0]
    begun = [np.array(start, np.int32), np.array([*start[:4], 10000], np.uint64), np.zeros(1, np.float32)]
    i, u, f, bits, pair, small = run(
        ATOMICS, 3, [*begun, np.zeros(2, np.uint32), np.zeros(2, np.int16), np.zeros(4, np.uint8)]
    )
    added = 3 * 255 * 128
    assert i.tolist() == [added, 767, 745, 3 * 3 * 256, -768]
    assert u.tolist() == [added, 767, 745, 3 * 3 * 256, 10000 - 768]
    assert f.tolist() == [384.0]
    assert bits.tolist() == [0xFFFFFFFF, 0]
    assert pair.tolist() == [768, -768]
    assert small.tolist() == [192] * 4


def test_barrier() -> None:
    given = np.arange(768, dtype=np.int32)
    out, _ = run(BARRIER, 1, [np.zeros(768, np.int32), given])
    np.testing.assert_array_equal(out, given.reshape(3, 256)[:, ::-1].reshape(-1))


def test_pipelines() -> None:
    given = np.arange(256 * 5, dtype=np.int32)
    out = run(PIPELINES, 1, [np.zeros(256 * 7, np.int32), given, np.int32(5)])[0]
    rows = given.reshape(5, 256)[:, ::-1]
    np.testing.assert_array_equal(out, np.concatenate([rows, rows[:1], rows[:1]]).reshape(-1))

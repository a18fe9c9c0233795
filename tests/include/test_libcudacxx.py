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

LARGE = """
#include <cuda/atomic>
struct Row { unsigned long long sum; int count, largest; float half[3]; };
using Large = cuda::atomic<Row, cuda::thread_scope_device>;
__global__ void k(Large *row, int *odd) {
  __shared__ cuda::atomic<Row, cuda::thread_scope_block> mine;
  if (threadIdx.x == 0) new (&mine) cuda::atomic<Row, cuda::thread_scope_block>(Row{});
  __syncthreads();
  int const i = threadIdx.x;
  Row known = mine;
  for (Row next; !mine.compare_exchange_weak(known, next);) {
    next = Row{known.sum + i, known.count + 1, i > known.largest ? i : known.largest, {0.5f * known.count, 0, 0}};
  }
  __syncthreads();
  Row add = mine.load(), seen = row->load(cuda::memory_order_acquire);
  if (i < 70) {
    do {
      known = Row{seen.sum + add.sum, seen.count + add.count, add.largest, {seen.half[0] + add.half[0], 1.0f, 2.0f}};
    } while (!row->compare_exchange_strong(seen, known, cuda::memory_order_acq_rel));
  }
  if (sizeof(Row) == sizeof(Large) || row->is_lock_free()) odd[0] = 1;
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

STD = """
#include <cuda/std/tuple>
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda/std/complex>
#include <cuda/std/type_traits>
#include <cuda/functional>
template <class T, class = cuda::std::enable_if_t<cuda::std::is_floating_point_v<T>>>
__device__ T half_of(T v) { return cuda::std::min(v / T(2), cuda::std::numeric_limits<T>::max()); }
__device__ cuda::std::tuple<int, float> both(int i) { return cuda::std::make_tuple(i + 1, half_of(float(i))); }
template <class Op> __device__ int folded(cuda::std::array<int, 3> const &a, Op op) { return op(op(a[0], a[1]), a[2]); }
__global__ void k(int *out, float *real) {
  int const i = threadIdx.x;
  int first;
  float second;
  cuda::std::tie(first, second) = both(i);
  cuda::std::pair<int, int> p = cuda::std::make_pair(i, first), q{7, 8};
  cuda::std::swap(p, q);
  auto [seven, eight] = p;
  cuda::std::tuple<int, float> t, u(3, 4.0f);
  t = u;
  int const old = cuda::std::exchange(cuda::std::get<0>(t), seven + eight);
  cuda::std::array<int, 3> a{i, 5, first};
  cuda::std::complex<float> z(second, 1.0f);
  z = z * z;
  out[i] = q.first + 1000 * q.second + old + cuda::std::get<0>(t) + folded(a, cuda::std::plus<int>()) +
           folded(a, cuda::maximum<>{}) + cuda::ceil_div(i, 3) + cuda::std::popcount(unsigned(i));
  real[i] = cuda::std::real(z) + cuda::std::bit_cast<float>(0x3f800000) + cuda::std::fabs(-cuda::std::get<1>(t));
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


def test_what_is_larger_than_the_hardwares_atomics() -> None:
    """Read, change and write by a lock: nothing is lost, within a wavefront, a block and a grid."""
    row, odd = run(LARGE, 3, [np.zeros(12, np.uint32), np.zeros(1, np.int32)])
    assert row[:2].view(np.uint64).tolist() == [3 * 70 * 255 * 128]
    assert row[2:4].tolist() == [3 * 70 * 256, 255]
    assert row[4:7].view(np.float32).tolist() == [3 * 70 * 0.5 * 255, 1.0, 2.0]
    assert odd.tolist() == [0]


def test_barrier() -> None:
    given = np.arange(768, dtype=np.int32)
    out, _ = run(BARRIER, 1, [np.zeros(768, np.int32), given])
    np.testing.assert_array_equal(out, given.reshape(3, 256)[:, ::-1].reshape(-1))


def test_pipelines() -> None:
    given = np.arange(256 * 5, dtype=np.int32)
    out = run(PIPELINES, 1, [np.zeros(256 * 7, np.int32), given, np.int32(5)])[0]
    rows = given.reshape(5, 256)[:, ::-1]
    np.testing.assert_array_equal(out, np.concatenate([rows, rows[:1], rows[:1]]).reshape(-1))


def test_the_standard_library() -> None:
    out, real = run(STD, 1, [np.zeros(256, np.int32), np.zeros(256, np.float32)])
    i = np.arange(256)
    largest, bits = np.maximum(i + 1, 5), np.array([bin(n).count("1") for n in i])
    expected = i + 1000 * (i + 1) + 3 + 15 + (i + 5 + i + 1) + largest + -(-i // 3) + bits
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(real, (i / 2.0) ** 2 - 1 + 1 + 4)

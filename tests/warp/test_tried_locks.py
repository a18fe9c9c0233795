"""A lock that is a bit of a word, tried by a member of a class: the port ends, and loses no addition."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran

from porter.engine.file import port
from porter.model import Effort
from porter.source import SourceFile
from tests.warp.execution import context, module

CLASS = """
struct Lock {
  unsigned *words; int place;
  __device__ bool set(bool on) {
    unsigned bit = 1u << (place % 32);
    unsigned old = on ? atomicOr(&words[place / 32], bit) : atomicAnd(&words[place / 32], ~bit);
    return old & bit;
  }
  __device__ bool try_lock() { return !set(true); }
  __device__ void unlock() { set(false); }
};
struct Locks { unsigned *words; __device__ Lock operator[](int i) const { return Lock{words, i}; } };
template <class F> __device__ void convergent(F f) { f(); }
"""
KERNEL = """
__global__ void k(unsigned *words, int *sum, int n) {
  Locks locks{words};
  int i = threadIdx.x;
  bool done = false;
  convergent([&]() {
    while (!done) {
      if (locks[i % n].try_lock()) {
        sum[i % n] = sum[i % n] + i; __threadfence(); done = true;
        locks[i % n].unlock();
      }
    }
  });
}
"""
BODIES = {
    "if (locks[i].try_lock()) { sum[i]++; locks[i].unlock(); }": None,
    "while (!locks[i].try_lock()) {} sum[i]++; locks[i].unlock();": Effort.MANUAL,
    "while (true) { if (locks[i].try_lock()) { sum[i]++; locks[i].unlock(); break; } }": Effort.MANUAL,
    "for (int r = 0; r < 9; r++) if (locks[i].try_lock()) { sum[i]++; locks[i].unlock(); }": None,
    "if (threadIdx.x == 0) { while (!locks[i].try_lock()) {} sum[i]++; locks[i].unlock(); }": None,
}


def test_the_end_of_the_loop_may_be_set_by_address() -> None:
    text = KERNEL.replace("done = true;", "tell(&done);")
    done = port(SourceFile("a.cu", (CLASS + text).encode()), context("preserve"), "a.hip")
    assert "S102" in {finding.code for finding in done.findings if finding.edits}


@pytest.mark.slow
def test_every_lane_gets_its_turn() -> None:
    done = port(SourceFile("a.cu", (CLASS + KERNEL).encode()), context("preserve"), "a.hip")
    loaded = module(done.data.decode())
    arguments = [np.zeros(4, np.uint32), np.zeros(40, np.int32), np.int32(40)]
    result = loaded.launch(next(iter(loaded.kernels)), (1,), (128,), arguments, 0, Options(uninitialised=False))
    if isinstance(result, NotRun):
        pytest.skip(result.reason)
    assert isinstance(result, Ran), str(result)
    expected = [sum(range(place, 128, 40)) for place in range(40)]
    np.testing.assert_array_equal(result.outputs[1], expected)


@pytest.mark.parametrize("body", BODIES)
def test_what_is_told(body: str) -> None:
    text = CLASS + f"__global__ void k(Locks locks, int *sum, int i) {{ {body} }}"
    done = port(SourceFile("a.cu", text.encode()), context("preserve"), "a.hip")
    left = [finding.effort for finding in done.findings if finding.code == "S102" and finding.effort is not Effort.NONE]
    assert left == ([BODIES[body]] if BODIES[body] else [])

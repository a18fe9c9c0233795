"""Cooperative launches: all blocks are alive together, and a grid barrier holds them."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Compile
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Fault, FaultKind, Ran
from porter.validation.devices.gfx942 import Module

CODE = """
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void relax(const float* a, float* b, float* c, int n, int rounds) {
  cg::grid_group grid = cg::this_grid();
  const float* from = a;
  float* to = b;
  for (int r = 0; r < rounds; r++) {
    for (int i = grid.thread_rank(); i < n; i += grid.size())
      to[i] = 0.5f * (from[i > 0 ? i - 1 : 0] + from[i < n - 1 ? i + 1 : n - 1]);
    grid.sync();
    from = to;
    to = to == b ? c : b;
  }
}
extern "C" __global__ void spin(int* flag, int* out) {  // a barrier by hand: the last block opens it
  if (threadIdx.x == 0) {
    atomicAdd(flag, 1);
    while (atomicAdd(flag, 0) < gridDim.x) {}
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = flag[0];
}
"""


@pytest.fixture(scope="module")
def module(compile_hip: Compile) -> Module:
    """The kernels above."""
    return compile_hip(CODE)


@pytest.mark.parametrize("schedule", [None, 1, 2])
def test_grid_sync(module: Module, schedule: int | None) -> None:
    n, rounds = 1000, 4
    a = np.random.default_rng(1).random(n).astype(np.float32)
    expected = a
    for _ in range(rounds):
        left, right = np.append(expected[:1], expected[:-1]), np.append(expected[1:], expected[-1:])
        expected = np.float32(0.5) * (left + right)
    done = module.launch(
        "relax", 3, 128, [a, np.zeros(n, np.float32), np.zeros(n, np.float32), n, rounds],
        options=Options(cooperative=True, schedule=schedule),
    )  # fmt: skip
    assert isinstance(done, Ran), done
    assert np.array_equal(done.output(2), expected)


def test_blocks_wait_for_each_other(module: Module) -> None:
    arguments = [np.zeros(1, np.int32), np.zeros(4 * 64, np.int32)]
    done = module.launch("spin", 4, 64, arguments, options=Options(cooperative=True, quantum=1000))
    assert isinstance(done, Ran), done
    assert np.all(done.output(1) == 4)
    alone = module.launch("spin", 4, 64, arguments, options=Options(threads=1, budget=50_000, quantum=1000))
    assert isinstance(alone, Fault)
    assert alone.kind is FaultKind.BUDGET

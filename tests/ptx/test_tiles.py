"""Tiles of several warps (cooperative groups): they meet in shared memory of the system, by atomics and flags."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran

from tests.ptx.conftest import CompileCuda

CODE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiles(const int* in, int* sum, int* turned) {
  __shared__ cg::block_tile_memory<256> room;
  __shared__ int held[256];
  extern __shared__ int more[];
  auto block = cg::this_thread_block(room);
  auto tile = cg::tiled_partition<64>(block);
  int i = threadIdx.x;
  held[i] = in[i];
  more[i] = -in[i];
  tile.sync();
  turned[i] = held[i ^ 63] + more[i ^ 32] + tile.any(in[i] == 5);
  sum[i] = cg::reduce(tile, in[i], cg::plus<int>());
}
"""


@pytest.mark.parametrize("schedule", [None, 3, 4])
def test_tiles_of_two_warps(compile_cuda: CompileCuda, schedule: int | None) -> None:
    values = np.random.default_rng(2).integers(0, 99, 256).astype(np.int32)
    values[70] = 5
    zero = np.zeros(256, np.int32)
    done = compile_cuda(CODE).launch(
        "tiles", 1, 256, [values, zero, zero], shared=1024, options=Options(schedule=schedule, races=True)
    )
    assert isinstance(done, Ran), done
    lane = np.arange(256)
    tiles = values.reshape(4, 64)
    assert np.array_equal(done.output(1).reshape(4, 64), np.broadcast_to(tiles.sum(1)[:, None], (4, 64)))
    any_five = np.repeat((tiles == 5).any(1), 64)
    assert np.array_equal(done.output(2), values[lane ^ 63] - values[lane ^ 32] + any_five)
    assert not done.notes

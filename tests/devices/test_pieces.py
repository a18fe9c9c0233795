"""Kernels cut into pieces: where the cuts fall, and that they change no result."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from porter.validation.devices.core import pieces
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import translate

from tests.devices.conftest import Compile

CODE = r"""
#include <hip/hip_runtime.h>
__device__ __attribute__((noinline)) int step(int n, int salt) { return n & 1 ? 3 * n + 1 + salt : n / 2; }
extern "C" __global__ void walk(int* out, const int* in, int n) {
  __shared__ int s[256];
  int i = threadIdx.x, v = in[i], steps = 0;
  while (v != 1 && steps < 100) { v = step(v, n); if (v % 7 == 3) { steps += 2; continue; } steps++; }
  s[i] = steps;
  __syncthreads();
  for (int o = 128; o > 0; o >>= 1) { if (i < o) s[i] += s[i + o]; __syncthreads(); }
  switch (in[i] & 3) { case 0: v += s[0]; break; case 1: v -= s[0]; break; case 2: v ^= s[0]; default: v += 5; }
  out[i] = v + steps;
}
"""


def block(number: int, lines: int, *targets: int) -> pieces.Block:
    return pieces.Block(
        number, (f"B{number}:", *(f"goto B{t};" for t in targets), *["x;"] * (lines - 1 - len(targets)))
    )


def test_cuts_fall_between_loops() -> None:
    code = [block(0, 10), block(1, 10), block(2, 10, 1), block(3, 10), block(4, 10), block(5, 10, 4), block(6, 10)]
    found = pieces.cut(code, least=15, most=30)
    assert [[b.number for b in piece] for piece in found] == [[0, 1, 2], [3, 4, 5], [6]]
    assert pieces.loops_across(code) == [0, 0, 1, 0, 0, 1, 0]


def test_a_loop_longer_than_a_piece_is_cut_at_its_inner_loops() -> None:
    inner = [block(0, 10), block(1, 10), block(2, 10, 1), block(3, 10), block(4, 10, 3), block(5, 10, 0)]
    found = [[b.number for b in piece] for piece in pieces.cut(inner, least=15, most=40)]
    assert found == [[0, 1, 2], [3, 4, 5]]


def test_a_long_block_stands_alone_and_nothing_is_lost() -> None:
    code = [block(0, 5), block(3, 500), block(9, 5)]
    found = pieces.cut(code, least=2, most=50)
    assert [b.number for piece in found for b in piece] == [0, 3, 9]
    assert [b.number for b in found[1]] == [3]


@pytest.mark.parametrize("schedule", [None, 5])
def test_pieces_change_no_result(compile_hip: Compile, monkeypatch: pytest.MonkeyPatch, schedule: int | None) -> None:
    check_pieces(lambda: compile_hip(CODE), translate, monkeypatch, schedule)


def check_pieces(
    compiled: Callable[[], Any], translate: ModuleType, monkeypatch: pytest.MonkeyPatch, schedule: int | None
) -> None:
    """A device computes and counts the same with a piece for each block as with long ones."""
    values = np.random.default_rng(3).integers(1, 1 << 20, 256).astype(np.int32)
    outputs = []
    for least, most in ((1, 1), (600, 2000)):
        monkeypatch.setattr(translate, "assemble", functools.partial(pieces.assemble, least=least, most=most))
        done = compiled().launch(
            "walk", 2, 256, [np.zeros(256, np.int32), values, 4], options=Options(schedule=schedule, races=True)
        )
        assert isinstance(done, Ran), done
        outputs.append((done.output(0), done.counters.lane_instructions))
    assert np.array_equal(outputs[0][0], outputs[1][0])
    assert outputs[0][1] == outputs[1][1]
    assert outputs[0][0].any()

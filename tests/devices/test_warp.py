"""HIP's warp functions on 64 lanes, under divergence, against a model in numpy.

Source lanes are kept below the width: HIP 5.2's __shfl does not wrap them, later ones do.
"""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import Compile
from numpy.typing import NDArray
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran

SOURCE = """
#define SHUFFLES(T, N) \\
extern "C" __global__ void shuffles_##N(const T* in, const int* where, T* out, unsigned long long mask) { \\
  int t = threadIdx.x; T v = in[t]; \\
  for (int k = 0; k < 4; k++) for (int w = 0; w < 4; w++) out[(k * 4 + w) * 64 + t] = (T)0; \\
  if (mask >> t & 1) { \\
    int s = where[t]; \\
    out[0 * 64 + t] = __shfl(v, s & 63, 64); out[1 * 64 + t] = __shfl(v, s & 31, 32); \\
    out[2 * 64 + t] = __shfl(v, s & 15, 16); out[3 * 64 + t] = __shfl(v, s & 3, 4); \\
    out[4 * 64 + t] = __shfl_up(v, 3, 64); out[5 * 64 + t] = __shfl_up(v, 3, 32); \\
    out[6 * 64 + t] = __shfl_up(v, 1, 16); out[7 * 64 + t] = __shfl_up(v, 2, 4); \\
    out[8 * 64 + t] = __shfl_down(v, 3, 64); out[9 * 64 + t] = __shfl_down(v, 3, 32); \\
    out[10 * 64 + t] = __shfl_down(v, 1, 16); out[11 * 64 + t] = __shfl_down(v, 2, 4); \\
    out[12 * 64 + t] = __shfl_xor(v, 33, 64); out[13 * 64 + t] = __shfl_xor(v, 17, 32); \\
    out[14 * 64 + t] = __shfl_xor(v, 5, 16); out[15 * 64 + t] = __shfl_xor(v, 1, 4); \\
  } }
SHUFFLES(int, int) SHUFFLES(float, float) SHUFFLES(double, double) SHUFFLES(long long, long)
extern "C" __global__ void votes(const int* in, unsigned long long* out, unsigned long long mask) {
  int t = threadIdx.x;
  if (mask >> t & 1) {
    out[t] = __ballot(in[t] & 1); out[64 + t] = __any(in[t] > 90); out[128 + t] = __all(in[t] >= 0);
    out[192 + t] = __activemask_like(); out[256 + t] = __lane_id();
  }
}
extern "C" __global__ void dpp(const int* in, int* out, unsigned long long mask) {
  int t = threadIdx.x, v = in[t];
  if (mask >> t & 1) {
#define D(k, control, rows, banks, bound) out[k * 64 + t] = __builtin_amdgcn_update_dpp(-1, v, control, rows, banks, bound);
    D(0, 0x111, 0xf, 0xf, false) D(1, 0x111, 0xf, 0xf, true) D(2, 0x103, 0xf, 0xf, false) D(3, 0x124, 0xf, 0xf, true)
    D(4, 0x1b, 0xf, 0xf, false) D(5, 0x140, 0xf, 0xf, false) D(6, 0x141, 0xf, 0xf, true) D(7, 0x142, 0xa, 0xf, false)
    D(8, 0x143, 0xc, 0xf, false) D(9, 0x138, 0xf, 0xf, true) D(10, 0x130, 0xf, 0xf, false) D(11, 0xe4, 0x5, 0x3, false)
    D(12, 0x13c, 0xf, 0xf, false) D(13, 0x157, 0xf, 0xf, true)
    out[14 * 64 + t] = __builtin_amdgcn_ds_swizzle(v, 0x041f); out[15 * 64 + t] = __builtin_amdgcn_ds_swizzle(v, 0x801b);
    out[16 * 64 + t] = __builtin_amdgcn_ds_permute((t * 5 + 64) * 4, v);
    out[17 * 64 + t] = __builtin_amdgcn_ds_bpermute((t * 7 + 130) * 4 + 2, v);
    out[18 * 64 + t] = __builtin_amdgcn_readfirstlane(v); out[19 * 64 + t] = __builtin_amdgcn_readlane(v, 37);
  }
}
"""
MASKS = [
    2**64 - 1,
    0x00000000FFFFFFFF,
    0xFFFFFFFF00000000,
    0x5555555555555555,
    0x123456789ABCDEF0,
    1 << 63,
    0x8000000000000001,
]


def active(mask: int) -> NDArray[np.bool_]:
    return np.array([mask >> i & 1 for i in range(64)], bool)


def read(values: NDArray[Any], source: NDArray[Any], on: NDArray[np.bool_]) -> NDArray[Any]:
    """Other lanes' values; a lane that is off gives 0."""
    return np.where(on[source], values[source], 0)


def shuffled(values: NDArray[Any], where: NDArray[Any], on: NDArray[np.bool_]) -> list[NDArray[Any]]:
    """The sixteen results in order, as CUDA defines them for a warp of 64."""
    lane = np.arange(64)
    out = []
    for width in (64, 32, 16, 4):
        base = lane & ~(width - 1)
        out.append(read(values, base + (where & (width - 1)), on))
    for delta, width in ((3, 64), (3, 32), (1, 16), (2, 4)):
        source = np.where(lane % width - delta < 0, lane, lane - delta)
        out.append(read(values, source, on))
    for delta, width in ((3, 64), (3, 32), (1, 16), (2, 4)):
        source = np.where(lane % width + delta >= width, lane, lane + delta)
        out.append(read(values, source, on))
    for bits, width in ((33, 64), (17, 32), (5, 16), (1, 4)):
        source = lane ^ bits
        out.append(read(values, np.where(source >= (lane & ~(width - 1)) + width, lane, source), on))
    return out


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("kind", ["int", "float", "double", "long"])
def test_shuffles(compile_hip: Compile, kind: str, level: str) -> None:
    module = compile_hip(SOURCE.replace("__activemask_like()", "__ballot(1)"), level)
    dtype = {"int": np.int32, "float": np.float32, "double": np.float64, "long": np.int64}[kind]
    rng = np.random.default_rng(3)
    values = rng.integers(-(2**30), 2**30, 64).astype(dtype)
    where = rng.integers(0, 128, 64).astype(np.int32)
    for mask in MASKS:
        done = module.launch(f"shuffles_{kind}", 1, 64, [values, where, np.zeros((16, 64), dtype), mask])
        assert isinstance(done, Ran), done
        on = active(mask)
        for index, want in enumerate(shuffled(values, where, on)):
            assert np.array_equal(done.output(2)[index][on], want[on]), (hex(mask), index)
            assert not done.output(2)[index][~on].any()


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_votes(compile_hip: Compile, level: str) -> None:
    module = compile_hip(SOURCE.replace("__activemask_like()", "__ballot(1)"), level)
    values = np.random.default_rng(4).integers(0, 100, 64).astype(np.int32)
    for mask in MASKS:
        done = module.launch("votes", 1, 64, [values, np.zeros((5, 64), np.uint64), mask])
        assert isinstance(done, Ran), done
        on = active(mask)
        ballot = sum(1 << i for i in range(64) if on[i] and values[i] & 1)
        want = [ballot, int((values[on] > 90).any()), int((values[on] >= 0).all()), mask, 0]
        for index in range(4):
            assert np.all(done.output(1)[index][on] == want[index])
        assert np.array_equal(done.output(1)[4][on], np.arange(64)[on])


def dpp_model(
    values: NDArray[Any], on: NDArray[np.bool_], source: NDArray[Any], rows: int, banks: int, bound: bool
) -> NDArray[Any]:
    """-1 in what is not written; a source of -1 is outside."""
    out = np.full(64, -1)
    for lane in range(64):
        if not (rows >> lane // 16 & 1 and banks >> lane // 4 % 4 & 1):
            continue
        valid = source[lane] >= 0 and on[source[lane]]
        if valid:
            out[lane] = values[source[lane]]
        elif bound:
            out[lane] = 0
    return out


def test_dpp_swizzles_and_permutes(compile_hip: Compile) -> None:
    module = compile_hip(SOURCE.replace("__activemask_like()", "__ballot(1)"))
    values = np.random.default_rng(5).integers(0, 1 << 30, 64).astype(np.int32)
    lane = np.arange(64)
    in_row, row = lane % 16, lane & ~15
    quad = np.array([3, 2, 1, 0])
    cases: list[tuple[NDArray[Any], int, int, bool]] = [
        (np.where(in_row >= 1, lane - 1, -1), 15, 15, False), (np.where(in_row >= 1, lane - 1, -1), 15, 15, True),
        (np.where(in_row < 13, lane + 3, -1), 15, 15, False), (row | ((in_row - 4) & 15), 15, 15, True),
        ((lane & ~3) | quad[lane & 3], 15, 15, False), (row | (15 - in_row), 15, 15, False),
        ((lane & ~7) | (7 - lane % 8), 15, 15, True), (row - 1, 0xA, 15, False),
        (np.where(lane >= 32, 31, -1), 0xC, 15, False), (lane - 1, 15, 15, True),
        (np.where(lane < 63, lane + 1, -1), 15, 15, False), (lane, 5, 3, False),
        ((lane - 1) & 63, 15, 15, False), (row | 7, 15, 15, True),
    ]  # fmt: skip
    for mask in MASKS:
        # lane 37 may be off where it is read: undefined, and reported when that is asked for
        done = module.launch(
            "dpp", 1, 64, [values, np.zeros((20, 64), np.int32), mask], options=Options(uninitialised=False)
        )
        assert isinstance(done, Ran), done
        on, got = active(mask), done.output(1)
        for index, (source, rows, banks, bound) in enumerate(cases):
            want = dpp_model(values, on, source, rows, banks, bound)
            assert np.array_equal(got[index][on], want[on]), (hex(mask), index)
        assert np.array_equal(got[14][on], read(values, lane ^ 1, on)[on])
        assert np.array_equal(got[15][on], read(values, (lane & ~3) | np.array([3, 2, 1, 0])[lane & 3], on)[on])
        permuted = np.zeros(64, np.int32)
        for i in np.flatnonzero(on):
            permuted[(i * 5 + 64) % 64] = values[i]
        assert np.array_equal(got[16][on], permuted[on])
        assert np.array_equal(got[17][on], read(values, (lane * 7 + 130) % 64, on)[on])
        assert np.all(got[18][on] == values[np.flatnonzero(on)[0]])
        assert not on[37] or np.all(got[19][on] == values[37])


VOTES_OF_BLOCKS = """
extern "C" __global__ void k(int* out, int odd) {
  int t = threadIdx.x;
  out[t] = __syncthreads_and(t != odd) + 2 * __syncthreads_or(t == odd) + 4 * __syncthreads_count(t != odd);
}
"""


@pytest.mark.parametrize("threads", [5, 32, 64, 65, 96, 97, 200])
@pytest.mark.parametrize("odd", [3, 1000])
def test_votes_of_partial_blocks(compile_hip: Compile, threads: int, odd: int) -> None:
    """The device library reads a lane that is not there and drops what it read: no uninitialised value."""
    done = compile_hip(VOTES_OF_BLOCKS).launch(
        "k", 1, threads, [np.zeros(threads, np.int32), odd], options=Options(races=True, uninitialised=True)
    )
    assert isinstance(done, Ran), done
    there = odd < threads
    assert set(done.output(0).tolist()) == {(not there) + 2 * there + 4 * (threads - there)}

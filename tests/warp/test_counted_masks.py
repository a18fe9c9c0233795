"""W112's way back from an exchange to a shift: that it ends, and what it finds where many functions call each other."""

from __future__ import annotations

import time

from porter.cpp.constants import Constants
from porter.cpp.lex import lex
from porter.warp.bodies import Bodies
from porter.warp.flow.counted_masks import CountedMasks

_SECONDS = 5.0


def _ring(count: int, first: str) -> str:
    """Functions that hand a mask to all of them, and the one that begins."""
    parts = [
        f"__device__ int f{one}(unsigned m, int v) {{ v = __shfl_sync(m, v, 0);"
        + "".join(f" v += f{other}(m, v);" for other in range(count) if other != one)
        + " return v; }\n"
        for one in range(count)
    ]
    return "".join(parts) + f"__global__ void k(int n, int *o) {{ o[0] = f0({first}, n); }}\n"


def _found(text: str) -> list[str]:
    tokens = lex(text)
    masks = CountedMasks(Bodies(tokens, Constants(tokens))).find()
    return [text[tokens.starts[mask.shift.first] : tokens.end(mask.shift.last)] for mask in masks]


def test_functions_that_call_each_other_are_walked_once() -> None:
    before = time.process_time()
    assert set(_found(_ring(20, "(1u << n) - 1"))) == {"1u << n"}
    assert time.process_time() - before < _SECONDS


def test_a_ring_without_a_shift_has_none() -> None:
    assert not _found(_ring(20, "~0u"))

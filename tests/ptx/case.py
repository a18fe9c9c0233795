"""One instruction to test, and operands for it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tests.ptx.model import FORMATS

Expected = Callable[..., int]
TYPES = {"pred": np.uint32, "b16": np.uint16, "b32": np.uint32, "b64": np.uint64}
ROWS = 256


@dataclass(frozen=True)
class Case:
    """One instruction, and what it gives on patterns."""

    text: str
    kinds: tuple[str, ...]
    result: str
    expected: Expected
    float_kind: str = ""
    """The results are compared as numbers of this format: any NaN will do."""
    small: tuple[int, ...] = field(default=())
    """Operands (by place) that are small numbers: shift amounts and positions."""


EDGES = {
    16: [
        0,
        1,
        2,
        0x7FFF,
        0x8000,
        0x8001,
        0xFFFF,
        0x3C00,
        0xBC00,
        0x7C00,
        0xFC00,
        0x7E00,
        0x0400,
        0x03FF,
        0x3F80,
        0x7F80,
    ],
    32: [
        0,
        1,
        2,
        31,
        32,
        0x7FFFFFFF,
        0x80000000,
        0x80000001,
        0xFFFFFFFF,
        0x3F800000,
        0xBF800000,
        0x7F800000,
        0xFF800000,
        0x7FC00000,
        0x00800000,
        0x007FFFFF,
        0x3F000000,
        0x4B000001,
        0x7F7FFFFF,
        0x4F000000,
        0xCF000000,
    ],
    64: [
        0,
        1,
        63,
        64,
        (1 << 63) - 1,
        1 << 63,
        (1 << 64) - 1,
        0x3FF0000000000000,
        0x7FF0000000000000,
        0xFFF0000000000000,
        0x7FF8000000000000,
        0x0010000000000000,
        0x000FFFFFFFFFFFFF,
        0x43E0000000000000,
        0x41DFFFFFFFC00000,
        0xC1E0000000000000,
        0x36A0000000000000,
        0x47EFFFFFF0000000,
    ],
}


def patterns(rng: random.Random, bits: int, small: bool, like: str) -> int:
    if small:
        return rng.choice([rng.randrange(0, 40), rng.randrange(0, 70), rng.randrange(0, 300)])
    if rng.random() < 0.3:
        return rng.choice(EDGES[bits])
    if like and (like not in FORMATS or FORMATS[like].bits != bits):
        like = {16: "f16", 32: "f32", 64: "f64"}[bits]
    if like and rng.random() < 0.7:  # near one, so that sums cancel and products stay finite
        form = FORMATS[like]
        exponent = form.bias + rng.randint(-4, 4)
        return rng.getrandbits(1) << (bits - 1) | exponent << form.mantissa | rng.getrandbits(form.mantissa)
    return rng.getrandbits(bits) >> rng.choice([0, 0, bits // 2])


def operands(case: Case, seed: int) -> list[list[int]]:
    rng = random.Random(f"{case.text}{seed}")
    widths = [1 if kind == "pred" else int(kind[1:]) for kind in case.kinds]
    return [
        [
            rng.getrandbits(1) if w == 1 else patterns(rng, w, place in case.small, case.float_kind)
            for place, w in enumerate(widths)
        ]
        for _ in range(ROWS)
    ]

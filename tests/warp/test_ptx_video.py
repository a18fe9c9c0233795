"""Video instructions and selections as P101 writes them, run for gfx942, against the definitions of the PTX ISA."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import numpy as np
import pytest
from porter.validation.devices.core.result import Ran

from porter.engine.file import port
from porter.source import SourceFile
from tests.warp import execution

ROWS = 64
_VIDEO = [
    "vadd.s32.s32.s32 %0, %1.h0, %2.h1;",
    "vadd.u32.u32.u32 %0, %1.b3, %2;",
    "vadd.u32.u32.u32 %0.b0, %1, %2, %3;",
    "vadd.u32.u32.u32.add %0, %1, %2, %3;",
    "vadd.u32.s32.s32.sat.min %0, %1, %2, %3;",
    "vadd.u32.s32.s32.sat %0.b2, %1, %2, %3;",
    "vadd.s32.u32.s32.sat %0, %1, %2.b1;",
    "vsub.s32.u32.u32 %0, %1.h1, %2.h0;",
    "vsub.s32.u32.u32.sat %0, %1, %2;",
    "vsub.u32.u32.u32.add %0, %1, %2, %3;",
    "vsub.s32.s32.s32.sat %0.h1, %1.b0, %2.h1, %3;",
    "vabsdiff.u32.u32.u32.add %0, %1.b0, %2.b0, %3;",
    "vabsdiff.u32.s32.s32 %0, %1, %2;",
    "vmin.s32.s32.s32.min %0, %1, %2, %3;",
    "vmax.s32.s32.s32.add %0, %1, %2, %3;",
    "vmax.s32.u32.s32.max %0, %1.h0, %2, %3;",
    "vmad.u32.u32.u32 %0, %1.b1, %2.b3, %3;",
    "vmad.s32.s32.u32 %0, %1.h1, %2, %3;",
    "vmad.s32.u32.u32 %0, -%1.h0, %2.h0, %3;",
    "vmad.s32.s32.s32 %0, %1, -%2.b1, %3;",
    "vmad.u32.u32.u32 %0, %1, %2, -%3;",
    "vshl.u32.u32.u32.clamp %0, %1, %2.b0;",
    "vshl.u32.u32.u32.wrap.add %0, %1.b1, %2, %3;",
    "vshr.s32.s32.u32.wrap %0, %1, %2;",
    "vshr.u32.u32.u32.clamp %0, %1, %2.b3;",
    "vset.s32.u32.lt %0, %1, %2;",
    "vset.u32.u32.ge.add %0, %1.b0, %2.b0, %3;",
]
_OTHERS: list[tuple[str, Callable[[int, int, int], int]]] = [
    ("slct.u32.s32 %0, %1, %2, %3;", lambda a, b, c: a if _signed(c, 32) >= 0 else b),
    ("set.ge.u32.s32 %0, %1, %2;", lambda a, b, c: 0xFFFFFFFF if _signed(a, 32) >= _signed(b, 32) else 0),
    ("set.lt.u32.u32 %0, %1, %2;", lambda a, b, c: 0xFFFFFFFF if a < b else 0),
    ("add.s32 %1, %1, 1; add.s32 %0, %1, %2;", lambda a, b, c: (a + 1 + b) % 2**32),
]


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _field(part: str) -> tuple[int, int]:
    """Width and place of `.b1`, `.h0` or a whole register."""
    width = {"b": 8, "h": 16}.get(part[:1], 32)
    return width, int(part[1:] or 0) * width


def _selected(value: int, part: str, kind: str) -> int:
    width, shift = _field(part)
    chosen = value >> shift & (1 << width) - 1
    return _signed(chosen, width) if kind == "s32" else chosen


_TEXT = re.compile(r"(\w+)\.([\w.]+) (%0[\w.]*), -?(%1[\w.]*), -?(%2[\w.]*)(?:, -?%3)?;")


def _expected(text: str, a: int, b: int, c: int) -> int:
    """What the PTX ISA says, step by step."""
    match = _TEXT.fullmatch(text)
    assert match is not None
    name, modifiers = match[1], match[2].split(".")
    types = [modifier for modifier in modifiers if modifier in ("u32", "s32")]
    if name == "vset":
        types = ["u32", *types]
    result, left, right = types
    to = match[3][3:]
    x, y = _selected(a, match[4][3:], left), _selected(b, match[5][3:], right)
    if name == "vmad":
        return ((-1 if "-%1" in text or "-%2" in text else 1) * x * y + (-c if "-%3" in text else c)) % 2**32
    wrapped = y & 31 if "wrap" in modifiers else min(y, 32)
    value = {
        "vadd": lambda: x + y,
        "vsub": lambda: x - y,
        "vabsdiff": lambda: abs(x - y),
        "vmin": lambda: min(x, y),
        "vmax": lambda: max(x, y),
        "vshl": lambda: x << wrapped,
        "vshr": lambda: x >> wrapped,
        "vset": lambda: int({"lt": x < y, "ge": x >= y}[modifiers[2]]),
    }[name]()
    width, shift = _field(to)
    if "sat" in modifiers:
        low = -(1 << (width - 1)) if result == "s32" else 0
        high = (1 << (width - (result == "s32"))) - 1
        value = min(max(value, low), high)
    if to:
        mask = (1 << width) - 1 << shift
        return (c & ~mask) | (value << shift & mask)
    word = value % 2**32
    number, other = (_signed(word, 32), _signed(c, 32)) if result == "s32" else (word, c)
    second = next((modifier for modifier in modifiers if modifier in ("add", "min", "max")), None)
    return {None: number, "add": number + other, "min": min(number, other), "max": max(number, other)}[second] % 2**32


def _operands(seed: int) -> list[tuple[int, int, int]]:
    chosen = random.Random(seed)
    edges = (0, 1, 127, 128, 255, 0x7FFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
    return [
        tuple(chosen.choice(edges) if chosen.random() < 0.4 else chosen.getrandbits(32) for _ in range(3))  # type: ignore[misc]
        for _ in range(ROWS)
    ]


@pytest.mark.slow
def test_video_instructions_and_selections() -> None:
    texts = [*_VIDEO, *(text for text, _ in _OTHERS)]
    lines = "".join(
        f'  asm("{text}" : "=r"(o{n}[t]) : "r"(a[t]), "r"(b[t]), "r"(c[t]));\n' for n, text in enumerate(texts)
    )
    outputs = ", ".join(f"unsigned* o{n}" for n in range(len(texts)))
    inputs = ", ".join(f"const unsigned* {name}" for name in "abc")
    source = f"#include <cuda_runtime.h>\n__global__ void k({outputs}, {inputs}) {{ int t = threadIdx.x;\n{lines}}}\n"
    ported = port(SourceFile("a.cu", source.encode()), execution.context("preserve"), "a.cu")
    assert {finding.code for finding in ported.findings} >= {"P101"}
    assert not [finding for finding in ported.findings if finding.code == "P102"]
    rows = _operands(7)
    module = execution.module(ported.data.decode())
    arrays = [np.array(column, np.uint32) for column in zip(*rows, strict=True)]
    done = module.launch(module.kernels[0], 1, ROWS, [*(np.zeros(ROWS, np.uint32) for _ in texts), *arrays])
    assert isinstance(done, Ran), str(done)
    models = [*(lambda a, b, c, t=t: _expected(t, a, b, c) for t in _VIDEO), *(model for _, model in _OTHERS)]
    for number, (text, model) in enumerate(zip(texts, models, strict=True)):
        for row, value in zip(rows, done.output(number), strict=True):
            assert int(value) == model(*row), f"{text} of {[hex(word) for word in row]}"

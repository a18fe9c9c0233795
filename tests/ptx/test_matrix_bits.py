"""mma with elements of 1 and 4 bits against numpy; element by element, as the ISA document lays out the fragments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from porter.validation.devices.core.result import NotRun, Ran

from tests.ptx.conftest import LoadPtx

Array = NDArray[Any]
HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"


def place_a(m: int, bits: int, lane: int, i: int) -> tuple[int, int]:
    """Row and column of element i of a lane's fragment of A."""
    per = 32 // bits
    lower = m == 8 or i < per or 2 * per <= i < 3 * per
    half = 4 * per if i >= (per if m == 8 else 2 * per) else 0
    return lane // 4 + (0 if lower else 8), lane % 4 * per + i % per + half


def place_b(bits: int, lane: int, i: int) -> tuple[int, int]:
    per = 32 // bits
    return lane % 4 * per + i % per + (4 * per if i >= per else 0), lane // 4


def place_c(lane: int, i: int) -> tuple[int, int]:
    return lane // 4 + (8 if i >= 2 else 0), lane % 4 * 2 + (i & 1)


def packed(values: Array, bits: int) -> Array:
    """Elements in a last axis, lowest first, as words."""
    parts = (values.astype(np.int64) & ((1 << bits) - 1)).reshape(32, -1, 32 // bits)
    return (parts << (bits * np.arange(32 // bits))).sum(-1).astype(np.uint32)


def spread(matrix: Array, where: list[list[tuple[int, int]]]) -> Array:
    return np.array([[matrix[at] for at in lane] for lane in where])


CASES = [
    ("m8n8k128", "s32.b1.b1.s32.xor.popc", ""),
    ("m16n8k128", "s32.b1.b1.s32.and.popc", ""),
    ("m16n8k256", "s32.b1.b1.s32.xor.popc", ""),
    ("m16n8k256", "s32.b1.b1.s32.and.popc", ""),
    ("m8n8k32", "s32.s4.s4.s32", ""),
    ("m16n8k32", "s32.u4.s4.s32", ""),
    ("m16n8k64", "s32.s4.u4.s32", ""),
    ("m16n8k64", "s32.u4.u4.s32", ".satfinite"),
]


def kernel(shape: str, types: str, extra: str, counts: dict[str, int]) -> str:
    lines = [HEAD + ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {",
             ".reg .b64 %rd<8>; .reg .b32 %t;", "mov.u32 %t, %tid.x;"]  # fmt: skip
    for i, (name, count) in enumerate(counts.items()):
        lines.append(f".reg .b32 %{name}<{count}>; ld.param.u64 %rd{i}, [{name}];")
        lines.append(f"mad.wide.u32 %rd{i}, %t, {4 * count}, %rd{i};")
        if name != "d":
            lines += [f"ld.global.b32 %{name}{r}, [%rd{i}+{4 * r}];" for r in range(count)]
    vector = {name: "{" + ", ".join(f"%{name}{r}" for r in range(count)) + "}" for name, count in counts.items()}
    lines.append(
        f"mma.sync.aligned.{shape}.row.col{extra}.{types} {vector['d']}, {vector['a']}, {vector['b']}, {vector['c']};"
    )
    lines += [f"st.global.b32 [%rd3+{4 * r}], %d{r};" for r in range(counts["d"])]
    return "\n".join([*lines, "ret; }"])


@pytest.mark.parametrize(("shape", "types", "extra"), CASES)
def test_small_elements(load_ptx: LoadPtx, shape: str, types: str, extra: str) -> None:
    m, k = int(shape[1:].partition("n")[0]), int(shape.partition("k")[2])
    kinds = types.split(".")[1:3]
    bits = int(kinds[0][1:])
    rng = np.random.default_rng(11)
    low = {"b1": 0, "u4": 0, "s4": -8}
    high = {"b1": 2, "u4": 16, "s4": 8}
    a = rng.integers(low[kinds[0]], high[kinds[0]], (m, k))
    b = rng.integers(low[kinds[1]], high[kinds[1]], (k, 8))
    c = rng.integers(-1000, 1000, (m, 8))
    if extra:
        c[0, :] = np.iinfo(np.int32).max - 5
    counts = {"a": m * k * bits // 1024, "b": k * 8 * bits // 1024, "c": m // 4, "d": m // 4}
    per = 32 // bits
    words = [
        packed(spread(a, [[place_a(m, bits, lane, i) for i in range(counts["a"] * per)] for lane in range(32)]), bits),
        packed(spread(b, [[place_b(bits, lane, i) for i in range(counts["b"] * per)] for lane in range(32)]), bits),
        spread(c, [[place_c(lane, i) for i in range(counts["c"])] for lane in range(32)]).astype(np.int32),
    ]
    if "xor" in types:
        product = (a[:, :, None] ^ b[None]).sum(1)
    else:
        product = a @ b
    expected = product + c
    if extra:
        expected = np.clip(expected, np.iinfo(np.int32).min, np.iinfo(np.int32).max)
    done = load_ptx(kernel(shape, types, extra, counts)).launch("k", 1, 32, [*words, np.zeros((32, m // 4), np.int32)])
    assert isinstance(done, Ran), done
    wanted = spread(expected, [[place_c(lane, i) for i in range(m // 4)] for lane in range(32)])
    assert np.array_equal(done.output(3), wanted)


def test_a_shape_that_does_not_exist(load_ptx: LoadPtx) -> None:
    text = kernel("m8n8k256", "s32.b1.b1.s32.xor.popc", "", {"a": 2, "b": 2, "c": 2, "d": 2})
    done = load_ptx(text).launch("k", 1, 32, [np.zeros(64, np.int32)] * 4)
    assert isinstance(done, NotRun)
    assert "form of matrix product" in done.reason

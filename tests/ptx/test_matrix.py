"""mma, wmma and ldmatrix against numpy, with the fragment layouts as the ISA document has them, one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from porter.validation.devices.core.result import Fault, FaultKind, Ran

from tests.ptx.conftest import LoadPtx

Array = NDArray[Any]
Place = Callable[[int, int], tuple[int, int]]
HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"


def a_16x16(lane: int, i: int) -> tuple[int, int]:
    row = lane // 4 if i in (0, 1, 4, 5) else lane // 4 + 8
    return row, lane % 4 * 2 + (i & 1) + (8 if i >= 4 else 0)


def b_16x8(lane: int, i: int) -> tuple[int, int]:
    return lane % 4 * 2 + (i & 1) + (8 if i >= 2 else 0), lane // 4


def a_16x8(lane: int, i: int) -> tuple[int, int]:
    return lane // 4 + (8 if i >= 2 else 0), lane % 4 * 2 + (i & 1)


def b_8x8(lane: int, i: int) -> tuple[int, int]:
    return lane % 4 * 2 + i, lane // 4


def a_16x8_wide(lane: int, i: int) -> tuple[int, int]:
    return lane // 4 + (8 if i in (1, 3) else 0), lane % 4 + (4 if i >= 2 else 0)


def b_8x8_wide(lane: int, i: int) -> tuple[int, int]:
    return lane % 4 + 4 * i, lane // 4


def a_16x32(lane: int, i: int) -> tuple[int, int]:
    row = lane // 4 if i // 4 in (0, 2) else lane // 4 + 8
    return row, lane % 4 * 4 + (i & 3) + (16 if i >= 8 else 0)


def b_32x8(lane: int, i: int) -> tuple[int, int]:
    return lane % 4 * 4 + (i & 3) + (16 if i >= 4 else 0), lane // 4


def c_16x8(lane: int, i: int) -> tuple[int, int]:
    return lane // 4 + (8 if i >= 2 else 0), lane % 4 * 2 + (i & 1)


def a_8x4(lane: int, i: int) -> tuple[int, int]:
    return lane // 4, lane % 4


def b_4x8(lane: int, i: int) -> tuple[int, int]:
    return lane % 4, lane // 4


def c_8x8(lane: int, i: int) -> tuple[int, int]:
    return lane // 4, lane % 4 * 2 + i


def bf16(values: Array) -> Array:
    """Patterns of numbers that are exact in bf16."""
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


SAME = {"f16": np.float16, "tf32": np.float32, "f32": np.float32, "f64": np.float64, "s8": np.int8, "u8": np.uint8,
        "s32": np.int32}  # fmt: skip


def pattern(values: Array, kind: str) -> Array:
    return bf16(values) if kind == "bf16" else values.astype(SAME[kind])


def spread(matrix: Array, place: Place, count: int, kind: str) -> Array:
    """A row of registers per lane."""
    bits = pattern(matrix, kind)
    lanes = np.array([[bits[place(lane, i)] for i in range(count)] for lane in range(32)])
    word = np.uint64 if kind == "f64" else np.uint32
    return np.ascontiguousarray(lanes).view(word)


CASES = [
    ("m16n8k16", "f32.f16.f16.f32", (16, 8, 16), a_16x16, 8, b_16x8, 4, c_16x8),
    ("m16n8k16", "f32.bf16.bf16.f32", (16, 8, 16), a_16x16, 8, b_16x8, 4, c_16x8),
    ("m16n8k16", "f16.f16.f16.f16", (16, 8, 16), a_16x16, 8, b_16x8, 4, c_16x8),
    ("m16n8k8", "f32.f16.f16.f32", (16, 8, 8), a_16x8, 4, b_8x8, 2, c_16x8),
    ("m16n8k8", "f32.tf32.tf32.f32", (16, 8, 8), a_16x8_wide, 4, b_8x8_wide, 2, c_16x8),
    ("m16n8k32", "s32.s8.s8.s32", (16, 8, 32), a_16x32, 16, b_32x8, 8, c_16x8),
    ("m16n8k32", "s32.u8.s8.s32", (16, 8, 32), a_16x32, 16, b_32x8, 8, c_16x8),
    ("m8n8k4", "f64.f64.f64.f64", (8, 8, 4), a_8x4, 1, b_4x8, 1, c_8x8),
]


def numbers(rng: np.random.Generator, shape: tuple[int, int], kind: str) -> Array:
    """Small whole numbers: exact in every type, and so are their products and sums."""
    return rng.integers(0 if kind == "u8" else -8, 9, shape)


@pytest.mark.parametrize(
    ("shape", "types", "size", "a_place", "a_count", "b_place", "b_count", "c_place"), CASES,
    ids=[f"{case[0]}.{case[1]}" for case in CASES],
)  # fmt: skip
def test_mma(
    load_ptx: LoadPtx, shape: str, types: str, size: tuple[int, int, int], a_place: Place, a_count: int,
    b_place: Place, b_count: int, c_place: Place,
) -> None:  # fmt: skip
    d_kind, a_kind, b_kind, c_kind = types.split(".")
    m, n, k = size
    rng = np.random.default_rng(7)
    a, b, c = numbers(rng, (m, k), a_kind), numbers(rng, (k, n), b_kind), numbers(rng, (m, n), c_kind)
    c_count = m * n // 32
    parts = [
        spread(a, a_place, a_count, a_kind),
        spread(b, b_place, b_count, b_kind),
        spread(c, c_place, c_count, c_kind),
    ]
    letter = {"f64": "f64", "f32": "f32"}
    regs = [letter.get(kind, "b32") if name in "dc" or kind == "f64" else "b32"
            for name, kind in (("d", d_kind), ("a", a_kind), ("b", b_kind), ("c", c_kind))]  # fmt: skip
    counts = [parts[2].shape[1], *(p.shape[1] for p in parts)]
    names = ["d", "a", "b", "c"]
    lines = [HEAD + ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {",
             ".reg .b64 %rd<20>; .reg .b32 %t;", "mov.u32 %t, %tid.x;"]  # fmt: skip
    for name, kind, count in zip(names, regs, counts, strict=True):
        lines.append(f".reg .{kind} %{name}<{count}>;")
    for i, (name, kind, count) in enumerate(zip(names, regs, counts, strict=True)):
        bytes_ = 8 if kind == "f64" else 4
        lines.append(f"ld.param.u64 %rd{i}, [{name}]; mad.wide.u32 %rd{i}, %t, {count * bytes_}, %rd{i};")
        if name != "d":
            lines += [f"ld.global.{kind} %{name}{r}, [%rd{i}+{r * bytes_}];" for r in range(count)]
    vectors = ", ".join(
        "{" + ", ".join(f"%{name}{r}" for r in range(count)) + "}" for name, count in zip(names, counts, strict=True)
    )
    lines.append(f"mma.sync.aligned.{shape}.row.col.{types} {vectors};")
    bytes_ = 8 if regs[0] == "f64" else 4
    lines += [f"st.global.{regs[0]} [%rd0+{r * bytes_}], %d{r};" for r in range(counts[0])]
    done = load_ptx("\n".join([*lines, "ret; }"])).launch("k", 1, 32, [*parts, np.zeros_like(parts[2])])
    assert isinstance(done, Ran), str(done)
    want = spread(a.astype(np.int64) @ b.astype(np.int64) + c, c_place, c_count, d_kind)
    np.testing.assert_array_equal(done.output(3), want)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_and_stmatrix(load_ptx: LoadPtx, count: int, transposed: bool) -> None:
    vector = "{" + ", ".join(f"%r{i}" for i in range(count)) + "}"
    trans = ".trans" if transposed else ""
    text = (
        f"""{HEAD}.visible .entry k(.param .u64 p, .param .u64 o) {{
    .reg .b32 %r<8>, %t, %a, %s; .reg .b64 %rd<8>; .reg .b128 %unused; .shared .align 16 .b8 tile[1024];
    mov.u32 %t, %tid.x; mov.u32 %s, tile; ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [o];
    mul.wide.u32 %rd3, %t, 16; add.s64 %rd4, %rd1, %rd3;
    ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%rd4];
    mad.lo.u32 %a, %t, 16, %s;
    st.shared.v4.u32 [%a], {{%r4, %r5, %r6, %r7}};
    bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {vector}, [%a];
    stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%a+512], {vector};
    mad.wide.u32 %rd5, %t, {4 * count}, %rd2;
    """
        + "\n".join(f"st.global.u32 [%rd5+{4 * i}], %r{i};" for i in range(count))
        + f"""
    add.s64 %rd6, %rd2, {128 * count}; add.s64 %rd6, %rd6, %rd3;
    setp.lt.u32 %p, %t, {8 * count};
    @%p ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%a+512];
    @%p st.global.v4.u32 [%rd6], {{%r4, %r5, %r6, %r7}};
    ret; }}"""
    )
    text = text.replace(".reg .b128 %unused;", ".reg .pred %p;")
    tiles = np.random.default_rng(1).integers(0, 1 << 16, (4, 8, 8), dtype=np.uint16)
    done = load_ptx(text).launch("k", 1, 32, [tiles, np.zeros(32 * count * 2 + 64 * count, np.uint16)])
    assert isinstance(done, Ran), str(done)
    want = np.zeros((32, count, 2), np.uint16)
    for lane in range(32):
        for i in range(count):
            for j in range(2):
                row, column = lane // 4, lane % 4 * 2 + j
                want[lane, i, j] = tiles[i, column, row] if transposed else tiles[i, row, column]
    np.testing.assert_array_equal(done.output(1)[: want.size], want.ravel())
    np.testing.assert_array_equal(done.output(1)[want.size :], tiles[:count].ravel())


def test_a_lane_that_does_not_take_part(load_ptx: LoadPtx) -> None:
    text = f"""{HEAD}.visible .entry k() {{ .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .pred %p; .reg .b32 %t;
    mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 3; mov.b32 %r0, 0; mov.f32 %f0, 0f00000000;
    @%p bra L; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{%f1,%f2,%f3,%f4}}, {{%r0,%r0}}, {{%r0}},
    {{%f0,%f0,%f0,%f0}}; L: bar.sync 0; ret; }}"""
    done = load_ptx(text).launch("k", 1, 32, [])
    assert isinstance(done, Fault)
    assert done.kind in (FaultKind.SYNC_MISSED, FaultKind.DIVERGENT_BARRIER)

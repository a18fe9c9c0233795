"""simd.hpp against lanes computed one by one from the words of CUDA's manual."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tests.include import hip
from tests.include.host import Library

Words = npt.NDArray[np.uint32]
Lane = Callable[[int, int], int]


def _away_from_zero(total: int) -> int:
    return (total + (total >= 0)) >> 1


def _clamp(value: int, bits: int, signed: bool) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


# name without lane count -> (signed lanes, what one lane does)
BINARY: dict[str, tuple[bool, Lane]] = {
    "vadd": (False, lambda a, b: a + b),
    "vsub": (False, lambda a, b: a - b),
    "vmaxs": (True, max),
    "vmaxu": (False, max),
    "vmins": (True, min),
    "vminu": (False, min),
    "vabsdiffs": (True, lambda a, b: abs(a - b)),
    "vabsdiffu": (False, lambda a, b: abs(a - b)),
    "vhaddu": (False, lambda a, b: (a + b) // 2),
    "vavgu": (False, lambda a, b: (a + b + 1) // 2),
    "vavgs": (True, lambda a, b: _away_from_zero(a + b)),
}
SATURATING: dict[str, tuple[bool, Lane]] = {
    "vaddss": (True, lambda a, b: a + b),
    "vaddus": (False, lambda a, b: a + b),
    "vsubss": (True, lambda a, b: a - b),
    "vsubus": (False, lambda a, b: a - b),
}
COMPARISONS: dict[str, tuple[bool, Lane]] = {
    "eq": (False, lambda a, b: a == b),
    "ne": (False, lambda a, b: a != b),
    "ges": (True, lambda a, b: a >= b),
    "geu": (False, lambda a, b: a >= b),
    "gts": (True, lambda a, b: a > b),
    "gtu": (False, lambda a, b: a > b),
    "les": (True, lambda a, b: a <= b),
    "leu": (False, lambda a, b: a <= b),
    "lts": (True, lambda a, b: a < b),
    "ltu": (False, lambda a, b: a < b),
}
UNARY: dict[str, Callable[[int, int], int]] = {
    "vneg": lambda a, bits: -a,
    "vnegss": lambda a, bits: _clamp(-a, bits, True),
    "vabs": lambda a, bits: abs(a),
    "vabsss": lambda a, bits: _clamp(abs(a), bits, True),
}
RELU = ("", "_relu")
DPX_KINDS = {"s32": (1, True), "u32": (1, False), "s16x2": (2, True), "u16x2": (2, False)}
DPX: dict[str, Callable[[int, int, int], int]] = {
    "vimax3": max,
    "vimin3": min,
    "viaddmax": lambda total, _, c: max(total, c),
    "viaddmin": lambda total, _, c: min(total, c),
}


def _signatures() -> dict[str, str]:
    names = [f"{name}{n}" for name in (*BINARY, *SATURATING) for n in (2, 4)]
    names += [f"{kind}{name}{n}" for kind in ("vcmp", "vset") for name in COMPARISONS for n in (2, 4)]
    names += [f"vsad{sign}{n}" for sign in "su" for n in (2, 4)]
    signatures = dict.fromkeys(names, "unsigned(unsigned, unsigned)")
    signatures |= {f"{name}{n}": "unsigned(unsigned)" for name in UNARY for n in (2, 4)}
    for kind in DPX_KINDS:
        word = "int" if kind == "s32" else "unsigned"
        for relu in RELU if kind[0] == "s" else ("",):
            signatures |= {f"{name}_{kind}{relu}": f"{word}({word}, {word}, {word})" for name in DPX}
            if relu:
                signatures |= {f"vi{side}_{kind}_relu": f"{word}({word}, {word})" for side in ("max", "min")}
    return signatures


SIGNATURES = _signatures()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    wrappers = {f"{name}_{what}": "unsigned(unsigned, unsigned)" for name in FLAGGED for what in ("value", "flags")}
    extra = "".join(_flagged_wrapper(name) for name in FLAGGED)
    return Library(tmp_path_factory.mktemp("simd"), "porter/simd.hpp", SIGNATURES | wrappers, extra)


EDGES = (0, 1, 2, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF)
HALF_EDGES = (0, 1, 2, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF)


def _words(seed: int, count: int = 150) -> Words:
    """Random words, and words whose bytes and halves are at the edges of their ranges."""
    rng = np.random.default_rng(seed)
    random = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    bytes_ = rng.choice(np.array(EDGES, np.uint32), (count, 4))
    halves = rng.choice(np.array(HALF_EDGES, np.uint32), (count, 2))
    packed = bytes_ @ (np.uint32(1) << np.array([0, 8, 16, 24], np.uint32))
    return np.concatenate([random, packed, halves @ np.array([1, 1 << 16], np.uint32)]).astype(np.uint32)


def _lanes(word: int, count: int, signed: bool) -> list[int]:
    bits = 32 // count
    raw = [int(word) >> bits * i & (1 << bits) - 1 for i in range(count)]
    return [x - (1 << bits) if signed and x >> bits - 1 else x for x in raw]


def _packed(lanes: list[int]) -> int:
    bits = 32 // len(lanes)
    return sum((int(x) & (1 << bits) - 1) << bits * i for i, x in enumerate(lanes))


def _each(a: Words, b: Words, count: int, signed: bool, lane: Lane) -> Words:
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return np.array(
        [
            _packed([lane(x, y) for x, y in zip(_lanes(p, count, signed), _lanes(q, count, signed), strict=True)])
            for p, q in pairs
        ],
        np.uint32,
    )


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", [*BINARY, *SATURATING])
def test_arithmetic(library: Library, name: str, count: int) -> None:
    signed, lane = (BINARY | SATURATING)[name]
    a, b = _words(1), _words(2)
    if name in SATURATING:
        expected = _each(a, b, count, signed, lambda x, y: _clamp(lane(x, y), 32 // count, signed))
    else:
        expected = _each(a, b, count, signed, lane)
    np.testing.assert_array_equal(library.call(f"{name}{count}", a, b), expected)


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(library: Library, name: str, count: int) -> None:
    signed, holds = COMPARISONS[name]
    a, b = _words(3), _words(4)
    masks = _each(a, b, count, signed, lambda x, y: -1 if holds(x, y) else 0)
    flags = _each(a, b, count, signed, lambda x, y: int(holds(x, y)))
    np.testing.assert_array_equal(library.call(f"vcmp{name}{count}", a, b), masks)
    np.testing.assert_array_equal(library.call(f"vset{name}{count}", a, b), flags)


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", UNARY)
def test_one_operand(library: Library, name: str, count: int) -> None:
    a = _words(5)
    expected = _each(a, a, count, True, lambda x, _: UNARY[name](x, 32 // count))
    np.testing.assert_array_equal(library.call(f"{name}{count}", a), expected)


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("sign", "su")
def test_sum_of_absolute_differences(library: Library, sign: str, count: int) -> None:
    a, b = _words(6), _words(7)
    differences = _each(a, b, count, sign == "s", lambda x, y: abs(x - y))
    expected = [sum(_lanes(word, count, False)) for word in differences.tolist()]
    np.testing.assert_array_equal(library.call(f"vsad{sign}{count}", a, b), np.array(expected, np.uint32))


def _wrap(value: int, bits: int, signed: bool) -> int:
    return _lanes(value & (1 << bits) - 1, 32 // bits, signed)[0]


@pytest.mark.parametrize("kind", DPX_KINDS)
@pytest.mark.parametrize("name", DPX)
def test_dpx(library: Library, name: str, kind: str) -> None:
    count, signed = DPX_KINDS[kind]
    inputs = [_words(seed, 100) for seed in (8, 9, 10)]

    def lane(a: int, b: int, c: int) -> int:
        first = _wrap(a + b, 32 // count, signed) if name.startswith("viadd") else a
        return DPX[name](first, b, c)

    for relu in RELU if signed else ("",):
        expected = []
        for words in zip(*(column.tolist() for column in inputs), strict=True):
            lanes = zip(*(_lanes(word, count, signed) for word in words), strict=True)
            values = [lane(*abc) for abc in lanes]
            expected.append(_packed([max(v, 0) for v in values] if relu else values))
        result = library.call(f"{name}_{kind}{relu}", *(column.view(np.int32) for column in inputs))
        np.testing.assert_array_equal(result.astype(np.uint32), np.array(expected, np.uint32))


@pytest.mark.parametrize("kind", ["s32", "s16x2"])
@pytest.mark.parametrize("side", ["max", "min"])
def test_dpx_relu_of_two(library: Library, side: str, kind: str) -> None:
    count = DPX_KINDS[kind][0]
    pick = max if side == "max" else min
    a, b = _words(11), _words(12)
    expected = _each(a, b, count, True, lambda x, y: max(pick(x, y), 0))
    result = library.call(f"vi{side}_{kind}_relu", a.view(np.int32), b.view(np.int32))
    np.testing.assert_array_equal(result.astype(np.uint32), expected)


FLAGGED = {f"vib{side}_{kind}": kind for side in ("max", "min") for kind in DPX_KINDS}


@pytest.mark.parametrize("name", FLAGGED)
def test_which_one_was_larger_or_smaller(library: Library, name: str) -> None:
    count, signed = DPX_KINDS[FLAGGED[name]]
    a, b = _words(13), _words(14)
    a[::7] = b[::7]
    first: Callable[[int, int], bool] = operator.ge if "max" in name else operator.le
    chosen = _each(a, b, count, signed, lambda x, y: x if first(x, y) else y)
    flags = _each(a, b, count, signed, lambda x, y: int(first(x, y)))
    np.testing.assert_array_equal(library.call(name + "_value", a, b), chosen)
    np.testing.assert_array_equal(library.call(name + "_flags", a, b), flags)


def _flagged_wrapper(name: str) -> str:
    word = "int" if name.endswith("_s32") else "unsigned"
    flags = "&f, &g" if name.endswith("x2") else "&g"
    call = f"bool f = false, g = false; unsigned r = static_cast<unsigned>({name}({word}(a), {word}(b), {flags}));"
    head = f"inline unsigned {name}"
    return (
        f"namespace porter {{ {head}_value(unsigned a, unsigned b) {{ {call} (void)f; (void)g; return r; }}\n"
        f"{head}_flags(unsigned a, unsigned b) {{ {call} (void)r; return unsigned(f) << 16 | unsigned(g); }} }}\n"
    )


def test_every_function_of_cuda_is_there() -> None:
    """CUDA 13 declares 118 such functions; each has a row that names a function of this header."""
    rows = hip.supplied("simd.hpp")
    assert {name.removeprefix("__") for name in rows} == set(SIGNATURES) | set(FLAGGED)
    assert all(ours == f"porter::{cuda.removeprefix('__')}" for cuda, ours in rows.items())
    assert len(rows) == 118


@pytest.mark.parametrize("target", hip.TARGETS)
def test_compiles_for_the_device(target: str, tmp_path: Path) -> None:
    kernel = '#include "porter/simd.hpp"\n__global__ void all(unsigned* p) {\nbool f, g;\n'
    for name, signature in SIGNATURES.items():
        kernel += f"p[0] ^= porter::{name}({', '.join(f'p[{i + 1}]' for i in range(signature.count(',') + 1))});\n"
    for side in ("max", "min"):
        kernel += f"p[0] ^= porter::vib{side}_s32(p[1], p[2], &f) + porter::vib{side}_u32(p[1], p[2], &g) + f + g;\n"
        for kind in ("s16x2", "u16x2"):
            kernel += f"p[0] ^= porter::vib{side}_{kind}(p[1], p[2], &f, &g) + f + g;\n"
    done = hip.compiled(kernel + "}", tmp_path, target=target)
    assert done.returncode == 0, done.stderr


def test_packed_instructions(tmp_path: Path) -> None:
    kernel = (
        '#include "porter/simd.hpp"\nextern "C" __global__ void k(unsigned* p) { p[threadIdx.x] = %s(p[1], p[2]); }'
    )
    for name, instruction in (("vmaxs2", "v_pk_max_i16"), ("vaddus2", "v_pk_add_u16"), ("vsadu4", "v_sad_u8")):
        code = hip.assembly(kernel % f"porter::{name}", tmp_path)["k"]
        assert any(line.startswith(instruction) for line in code), name

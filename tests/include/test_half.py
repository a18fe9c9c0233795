"""half.hpp: compiled everywhere, executed on the virtual gfx942, against exact rational arithmetic."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

from tests.include import hip, virtual

Bits = npt.NDArray[np.uint16]
NAN = 0x7FFF
ROUND: dict[str, Callable[[Any], int]] = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}


@dataclass(frozen=True)
class Format:
    """A 16-bit binary floating-point format."""

    fraction_bits: int
    bias: int

    @property
    def infinity(self) -> int:
        return 0x7FFF >> self.fraction_bits << self.fraction_bits

    def is_nan(self, bits: int) -> bool:
        return bits & 0x7FFF > self.infinity

    def value(self, bits: int) -> Fraction:
        """Of a finite number."""
        exponent, fraction = (
            bits >> self.fraction_bits & 0x7FFF >> self.fraction_bits,
            bits & (1 << self.fraction_bits) - 1,
        )
        if exponent:
            fraction += 1 << self.fraction_bits
        size = Fraction(fraction) * Fraction(2) ** (max(exponent, 1) - self.bias - self.fraction_bits)
        return -size if bits >> 15 else size

    def double(self, bits: int) -> float:
        """Any of the formats' numbers is a double."""
        if self.is_nan(bits):
            return math.nan
        if bits & 0x7FFF == self.infinity:
            return -math.inf if bits >> 15 else math.inf
        return math.copysign(float(self.value(bits & 0x7FFF)), -1 if bits >> 15 else 1)

    def rounded(self, exact: Fraction, mode: str = "rn") -> int:
        """A number other than 0, rounded once."""
        sign = 0x8000 if exact < 0 else 0
        size = abs(exact)
        exponent = max(math.floor(math.log2(size)) if size else 0, 1 - self.bias) if size < 2**1000 else 1000
        while size < Fraction(2) ** exponent and exponent > 1 - self.bias:
            exponent -= 1
        while size >= Fraction(2) ** (exponent + 1):
            exponent += 1
        unit = Fraction(2) ** (exponent - self.fraction_bits)
        sides = {"rn": "rn", "rz": "rd", "rd": "ru" if sign else "rd", "ru": "rd" if sign else "ru"}
        count = ROUND[sides[mode]](size / unit)
        magnitude = count + (exponent + self.bias - 1 << self.fraction_bits)
        if magnitude >= self.infinity:
            magnitude = self.infinity
            if mode == "rz" or (mode == "rd" and not sign) or (mode == "ru" and sign):
                magnitude -= 1
        return sign | magnitude


FORMATS = {"half": Format(10, 15), "bf16": Format(7, 127)}


def _inputs(seed: int, count: int, kind: str) -> Bits:
    """Random bit patterns, numbers near 1, and the edges of the format."""
    rng = np.random.default_rng(seed)
    form = FORMATS[kind]
    one = form.bias << form.fraction_bits
    edge = [
        0,
        1,
        2,
        one,
        one + 1,
        one - 1,
        form.infinity,
        form.infinity - 1,
        form.infinity + 1,
        NAN,
        1 << form.fraction_bits,
    ]
    edges = np.array(edge + [x | 0x8000 for x in edge], np.uint16)
    near = one + rng.integers(-(4 << form.fraction_bits), 4 << form.fraction_bits, count) | rng.choice(
        [0, 0x8000], count
    )
    pools = np.array([rng.integers(0, 65536, count), near, rng.choice(edges, count)])
    return pools[rng.integers(0, 3, count), np.arange(count)].astype(np.uint16)


def _product_sum(form: Format, a: int, b: int, c: int) -> int:
    """a * b + c, rounded once."""
    x, y, z = (form.double(v) for v in (a, b, c))
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        with np.errstate(invalid="ignore"):
            special = float(np.float64(x) * np.float64(y) + np.float64(z))
        return NAN if math.isnan(special) else form.infinity | (0x8000 if special < 0 else 0)
    exact = form.value(a) * form.value(b) + form.value(c)
    if exact:
        return form.rounded(exact)
    return 0x8000 if math.copysign(1, x) * math.copysign(1, y) < 0 and c >> 15 else 0


def _product(form: Format, a: int, b: int) -> int:
    sign = (a ^ b) & 0x8000
    return _product_sum(form, a, b, sign)  # adding a zero of the product's sign


def _sum(form: Format, a: int, b: int) -> int:
    return _product_sum(form, a, form.bias << form.fraction_bits, b)


def _saturated(form: Format, bits: int) -> int:
    value = form.double(bits)
    return 0 if not value > 0 else min(bits, form.bias << form.fraction_bits)


def _rectified(form: Format, bits: int) -> int:
    return NAN if form.is_nan(bits) else bits if form.double(bits) > 0 else 0


def _order(form: Format, bits: int) -> tuple[float, int]:
    return form.double(bits), -(bits >> 15)


def _extreme(form: Format, a: int, b: int, pick: Callable[..., int], nan_wins: bool) -> int:
    nans = form.is_nan(a), form.is_nan(b)
    if all(nans) or (nan_wins and any(nans)):
        return NAN
    if any(nans):
        return b if nans[0] else a
    return pick((a, b), key=lambda bits: _order(form, bits))


def _negative(bits: int) -> int:
    return bits ^ 0x8000


SCALAR: list[Callable[[Format, int, int, int], int]] = [
    lambda f, a, b, c: _sum(f, a, b),
    lambda f, a, b, c: _sum(f, a, _negative(b)),
    lambda f, a, b, c: _product(f, a, b),
    lambda f, a, b, c: _saturated(f, _sum(f, a, b)),
    lambda f, a, b, c: _saturated(f, _sum(f, a, _negative(b))),
    lambda f, a, b, c: _saturated(f, _product(f, a, b)),
    lambda f, a, b, c: _saturated(f, _product_sum(f, a, b, c)),
    lambda f, a, b, c: _rectified(f, _product_sum(f, a, b, c)),
    lambda f, a, b, c: _extreme(f, a, b, max, False),
    lambda f, a, b, c: _extreme(f, a, b, min, False),
    lambda f, a, b, c: _extreme(f, a, b, max, True),
    lambda f, a, b, c: _extreme(f, a, b, min, True),
]
COMPARISONS: list[Callable[[float, float], bool]] = [
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
]


def _same(form: Format, result: Bits, expected: Bits) -> None:
    """Bit for bit; any NaN for a NaN."""
    nan = np.array([form.is_nan(int(bits)) for bits in expected])
    assert all(form.is_nan(int(bits)) for bits in result[nan])
    np.testing.assert_array_equal(result[~nan], expected[~nan])


@pytest.mark.slow
def test_compiles_everywhere(tmp_path: Path) -> None:
    hip.check_everywhere(hip.snippet("half_device"), tmp_path, "hip/hip_fp16.h")


def test_host_pass(tmp_path: Path) -> None:
    for tree in hip.trees():
        if tree.has("hip/hip_fp16.h"):
            done = hip.compiled(hip.snippet("half_device"), tmp_path, tree=tree, host=True)
            assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module", params=["half", "bf16"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    """By kind: bf16 needs headers that Debian's HIP 5.2 does not have."""
    with_bf16 = [tree for tree in hip.trees() if tree.has("hip/hip_bf16.h")]
    found = {"half": virtual.load("half_device")}
    if with_bf16:
        found["bf16"] = virtual.load("half_device", *with_bf16[0].flags)
    return found


@pytest.fixture(scope="module")
def module(modules: dict[str, Module], kind: str) -> Module:
    if kind not in modules:
        pytest.skip(f"no HIP headers with hip/hip_bf16.h ({hip.EXTRA_TREES} names include folders)")
    return modules[kind]


def _launch(module: Module, kernel: str, count: int, *arguments: Any) -> Ran:
    # v_pk_add_f32 with an unused half reads a register that nothing wrote, and discards what comes of it.
    done = module.launch(kernel, count // 64, 64, arguments, options=Options(uninitialised=False))
    assert isinstance(done, Ran), f"{kernel}: {done}"
    return done


def _each(form: Format, function: Callable[[Format, int, int, int], int], *inputs: Bits) -> Bits:
    rows = zip(*(column.tolist() for column in inputs), strict=True)
    return np.array([function(form, *row) for row in rows], np.uint16)


@pytest.mark.parametrize("op", range(12))
def test_scalar_functions(module: Module, kind: str, op: int) -> None:
    a, b, c = (_inputs(seed, 1024, kind) for seed in (1, 2, 3))
    b[::16] = a[::16] ^ 0x8000
    done = _launch(module, f"scalar_{kind}", 1024, a, b, c, np.zeros_like(a), op)
    _same(FORMATS[kind], done.output(3), _each(FORMATS[kind], SCALAR[op], a, b, c))


@pytest.mark.parametrize("op", range(12))
def test_pair_functions(module: Module, kind: str, op: int) -> None:
    a, b, c = (_inputs(seed, 256, kind) for seed in (4, 5, 6))
    done = _launch(module, f"pair_{kind}", 128, a, b, c, np.zeros_like(a), op)
    _same(FORMATS[kind], done.output(3), _each(FORMATS[kind], SCALAR[op], a, b, c))


@pytest.mark.parametrize(("kernel", "op"), [("scalar", 12), ("scalar", 13), ("pair", 12), ("pair", 13)])
def test_hyperbolic_tangent(module: Module, kind: str, kernel: str, op: int) -> None:
    """Within one unit in the last place of the rounded true value."""
    form = FORMATS[kind]
    a = _inputs(7, 512, kind)
    elements = 1 if kernel == "scalar" else 2
    result = _launch(module, f"{kernel}_{kind}", 512 // elements, a, a, a, np.zeros_like(a), op).output(3)
    for bits, got in zip(a.tolist(), result.tolist(), strict=True):
        true = math.tanh(form.double(bits))
        if math.isnan(true):
            assert form.is_nan(got)
        else:
            near = form.rounded(Fraction(true)) if true else bits & 0x8000
            assert abs((got & 0x7FFF) - (near & 0x7FFF)) <= 1 and (got ^ near) & 0x8000 == 0


@pytest.mark.parametrize("unordered", [False, True])
def test_comparison_masks(module: Module, kind: str, unordered: bool) -> None:
    form = FORMATS[kind]
    a, b = _inputs(8, 256, kind), _inputs(9, 256, kind)
    b[::5] = a[::5]
    for op, holds in enumerate(COMPARISONS):
        expected = [
            0xFFFF * (unordered if form.is_nan(x) or form.is_nan(y) else holds(form.double(x), form.double(y)))
            for x, y in zip(a.tolist(), b.tolist(), strict=True)
        ]
        done = _launch(module, f"mask_{kind}", 128, a, b, np.zeros(128, np.uint32), op + 6 * unordered)
        np.testing.assert_array_equal(done.output(2).view(np.uint16), expected)
        if unordered:
            one = form.bias << form.fraction_bits
            done = _launch(module, f"pair_{kind}", 128, a, b, a, np.zeros_like(a), 14 + op)
            np.testing.assert_array_equal(done.output(3), np.array(expected) // 0xFFFF * one)


def test_complex_multiply_add(module: Module, kind: str) -> None:
    form = FORMATS[kind]
    a, b, c = (_inputs(seed, 256, kind).reshape(-1, 2) for seed in (10, 11, 12))
    expected = []
    for (ar, ai), (br, bi), (cr, ci) in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        re, im = _product_sum(form, ar, br, cr), _product_sum(form, ar, bi, ci)
        expected += [_product_sum(form, _negative(ai), bi, re), _product_sum(form, ai, br, im)]
    done = _launch(module, f"pair_{kind}", 128, a.ravel(), b.ravel(), c.ravel(), np.zeros(256, np.uint16), 20)
    _same(form, done.output(3), np.array(expected, np.uint16))


def test_atomic_additions(module: Module, kind: str) -> None:
    """Small whole numbers, whose sums are exact in any order."""
    form = FORMATS[kind]
    small = np.arange(64) % 3
    bits = np.array([form.rounded(Fraction(int(x))) if x else 0 for x in small], np.uint16)
    sums, pairs = np.zeros(5, np.uint16), np.zeros(2, np.uint16)
    done = _launch(module, f"atomics_{kind}", 64, sums, pairs, bits, bits.repeat(2), np.zeros(64, np.uint16))
    totals = [form.rounded(Fraction(int(small[k::4].sum()))) for k in range(4)]
    assert done.output(0).tolist() == [*totals, 0]
    assert done.output(1).tolist() == [form.rounded(Fraction(int(small.sum())))] * 2
    for lane in range(4):
        assert 0 in done.output(4)[lane::4], "somebody came first"


def test_double_to_half_rounds_once(modules: dict[str, Module]) -> None:
    form = FORMATS["half"]
    halves = _inputs(13, 512, "half")
    halves = np.where((halves & 0x7FFF) >= form.infinity, 0x3C00, halves).astype(np.uint16)
    values = np.array([float(form.value(int(bits))) for bits in halves])
    nudge = np.random.default_rng(14).choice([0.0, 1e-9, -1e-9, 1e-17, -1e-17], 512)
    steps = np.array([2.0 ** (max((int(bits) >> 10 & 31), 1) - 26) for bits in halves])
    values = values + steps + steps * 1024 * nudge  # at half a unit, just above and just below
    d = np.concatenate([values, [math.inf, -math.inf, math.nan, 65519.99, 65520, 1e-30, -1e-30, 0.0] * 8])
    done = _launch(modules["half"], "half_conversions", 576, d, np.zeros(576, np.uint16), np.zeros(576, np.uint16),
                   np.zeros(576, np.int8), np.zeros(576, np.uint8))  # fmt: skip
    with np.errstate(over="ignore", under="ignore"):
        expected = d.astype(np.float16).view(np.uint16)
    _same(form, done.output(2), expected)


def _integer(value: float, low: int, high: int, mode: str, of_nan: int) -> int:
    if math.isnan(value):
        return of_nan
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(ROUND[mode](value), low), high)


MODES = ("rn", "rz", "rd", "ru")
INTEGERS: dict[str, Any] = {
    "int": np.int32,
    "uint": np.uint32,
    "ll": np.int64,
    "ull": np.uint64,
    "short": np.int16,
    "ushort": np.uint16,
}


def test_half_to_bytes(modules: dict[str, Module]) -> None:
    form = FORMATS["half"]
    h = _inputs(15, 576, "half")
    done = _launch(modules["half"], "half_conversions", 576, np.zeros(576), h, np.zeros(576, np.uint16),
                   np.zeros(576, np.int8), np.zeros(576, np.uint8))  # fmt: skip
    values = [form.double(bits) for bits in h.tolist()]
    assert done.output(3).tolist() == [_integer(v, -128, 127, "rz", 0) for v in values]
    assert done.output(4).tolist() == [_integer(v, 0, 255, "rz", 0) for v in values]


@pytest.fixture(scope="module")
def bf16(modules: dict[str, Module]) -> Module:
    if "bf16" not in modules:
        pytest.skip(f"no HIP headers with hip/hip_bf16.h ({hip.EXTRA_TREES} names include folders)")
    return modules["bf16"]


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_to_bf16(bf16: Module, name: str) -> None:
    dtype = np.dtype(INTEGERS[name])
    info = np.iinfo(dtype)
    rng = np.random.default_rng(16)
    powers = [2**k + d for k in range(8, info.bits) for d in (-1, 0, 1, 2 ** (k - 8), 2 ** (k - 8) + 1)]
    numbers = [
        *powers,
        *(-p for p in powers),
        info.min,
        info.max,
        0,
        *rng.integers(info.min, info.max, 64, dtype).tolist(),
    ]
    numbers = [n for n in numbers if info.min <= n <= info.max]
    numbers += [0] * (-len(numbers) % 64)
    count = len(numbers)
    done = _launch(bf16, f"{name}_to_bf16", count, np.array(numbers, dtype), np.zeros((4, count), np.uint16), count)
    for mode, row in zip(MODES, done.output(1), strict=True):
        assert row.tolist() == [FORMATS["bf16"].rounded(Fraction(n), mode) if n else 0 for n in numbers], mode


def test_float_to_bf16(bf16: Module) -> None:
    f = np.random.default_rng(17).integers(0, 1 << 32, 1024, dtype=np.uint32).view(np.float32)
    f[:8] = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.00390625, 1.01171875, 3.4e38]
    done = _launch(bf16, "float_to_bf16", 1024, f, np.zeros((4, 1024), np.uint16), 1024)
    form = FORMATS["bf16"]
    for mode, row in zip(MODES, done.output(1), strict=True):
        expected = []
        for bits, x in zip(f.view(np.uint32).tolist(), f.tolist(), strict=True):
            exact = math.isfinite(x) and x != 0
            expected.append(form.rounded(Fraction(x), mode) if exact else NAN if math.isnan(x) else bits >> 16)
        _same(form, row, np.array(expected, np.uint16))


@pytest.mark.parametrize("name", INTEGERS)
def test_bf16_to_integers(bf16: Module, name: str) -> None:
    dtype = np.dtype(INTEGERS[name])
    info = np.iinfo(dtype)
    values = np.concatenate([_inputs(18, 960, "bf16"), np.arange(0x3E80, 0x3E80 + 64, dtype=np.uint16)])
    done = _launch(bf16, f"bf16_to_{name}", 1024, values, np.zeros((4, 1024), dtype), 1024)
    of_nan = 0 if info.bits < 64 else 1 << 63 if info.min == 0 else info.min
    form = FORMATS["bf16"]
    for mode, row in zip(MODES, done.output(1), strict=True):
        expected = [_integer(form.double(bits), info.min, info.max, mode, of_nan) for bits in values.tolist()]
        assert row.tolist() == expected, mode


def test_rest_of_bf16(bf16: Module) -> None:
    form = FORMATS["bf16"]
    values, f = _inputs(19, 64, "bf16"), np.random.default_rng(20).normal(size=64).astype(np.float32)
    done = _launch(
        bf16, "bf16_rest", 64, values, f, np.zeros(64, np.int8), np.zeros(64, np.uint8), np.zeros((64, 3, 2), np.uint16)
    )
    doubles = [form.double(bits) for bits in values.tolist()]
    assert done.output(2).tolist() == [_integer(v, -128, 127, "rz", 0) for v in doubles]
    assert done.output(3).tolist() == [_integer(v, 0, 255, "rz", 0) for v in doubles]
    rounded = [form.rounded(Fraction(x)) for x in f.tolist()]
    expected = [[[v, 0x4000], [r, 0x4080], [r, r]] for v, r in zip(values.tolist(), rounded, strict=True)]
    assert done.output(4).tolist() == expected


def test_rows_name_functions_of_the_header() -> None:
    text = (hip.HEADERS / "porter" / "half.hpp").read_text("utf-8")
    modes = dict.fromkeys(("rn", "rz", "rd", "ru"), "##mode")
    for ours in hip.supplied("half.hpp").values():
        name = ours.removeprefix("porter::")
        stem, _, mode = name.rpartition("_")
        whole = re.sub(r"^half2(?:u?short|u?int|u?ll)_", "half2##name##_", name)
        half = re.sub(r"^(?:u?short|u?int|u?ll)2half_", "name##2half_", name)
        generic = [f" {name}(", f" {stem}_{modes.get(mode)}(", f" {whole}(", f" {half}("]
        parts = [name.replace(x, "##name##") for x in ("eq", "ne", "lt", "le", "gt", "ge")]
        assert any(itertools.chain((form in text for form in generic), (f" {p}(" in text for p in parts))), name

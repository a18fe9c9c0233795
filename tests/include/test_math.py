"""math.hpp against exact rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.include import hip
from tests.include.host import Library

Floats = npt.NDArray[Any]
MODES = ("rd", "ru", "rz")
PREFIX = {"float": "f", "double": "d"}
DTYPE: dict[str, Any] = {"float": np.float32, "double": np.float64}
BINARY = ("add", "sub", "mul", "div")
INTEGERS = {"int": (32, True), "uint": (32, False), "ll": (64, True), "ull": (64, False)}
C_INTEGERS = {"int": "int", "uint": "unsigned", "ll": "long long", "ull": "unsigned long long"}


def _signatures() -> dict[str, str]:
    signatures: dict[str, str] = {}
    for type_, p in PREFIX.items():
        one, two, three = (f"{type_}({', '.join([type_] * count)})" for count in (1, 2, 3))
        fma = "fmaf" if type_ == "float" else "fma"
        for mode in MODES:
            signatures |= {f"{p}{name}_{mode}": two for name in BINARY}
            signatures |= {f"{p}rcp_{mode}": one, f"{p}sqrt_{mode}": one, f"{fma}_{mode}": three}
        signatures |= {f"{p}{name}_rn": two for name in ("add", "sub", "mul")}
        for to, integer in C_INTEGERS.items():
            signatures |= {f"{type_}2{to}_{mode}": f"{integer}({type_})" for mode in ("rn", *MODES)}
    signatures |= {f"fmaf_ieee_{mode}": "float(float, float, float)" for mode in ("rn", *MODES)}
    signatures |= dict.fromkeys(("fsqrt_rn", "frsqrt_rn", "saturatef"), "float(float)")
    signatures["fdivide"] = "double(double, double)"
    for kind in ("umin", "umax", "llmin", "llmax", "ullmin", "ullmax"):
        integer = C_INTEGERS[{"u": "uint", "l": "ll"}.get(kind[:-3][:1], "") if kind[:-3] != "ull" else "ull"]
        signatures[kind] = f"{integer}({integer}, {integer})"
    return signatures


SIGNATURES = _signatures()


@pytest.fixture(scope="module", params=["", "-ffast-math"], ids=["precise", "fast-math"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The exact functions must stay exact with -ffast-math too; what it may change is said where it matters."""
    flags = ("-ffast-math", "-fno-finite-math-only", "-fsigned-zeros") if request.param else ()
    return Library(tmp_path_factory.mktemp("math"), "porter/math.hpp", SIGNATURES, flags=flags)


@np.errstate(over="ignore", under="ignore")
def _numbers(type_: str, seed: int, count: int = 150) -> Floats:
    """Ordinary numbers, numbers of any exponent, tiny and huge ones, and close neighbours of powers of two."""
    rng = np.random.default_rng(seed)
    dtype = DTYPE[type_]
    info = np.finfo(dtype)
    ordinary = rng.normal(size=count)
    fractions = rng.uniform(1, 2, count) * rng.choice([-1, 1], count)
    any_size = np.ldexp(fractions, rng.integers(info.minexp - info.nmant, info.maxexp, count))
    edge = [0.0, info.smallest_subnormal, info.tiny, info.max, 1.0, 2.0, 3.0, info.eps, 1 + info.eps, 1 - info.eps / 2]
    edges = np.array(edge + [-x for x in edge], dtype)
    return np.concatenate([ordinary.astype(dtype), any_size.astype(dtype), rng.choice(edges, count)])


@np.errstate(over="ignore", under="ignore")
def _rounded(exact: Fraction, mode: str, type_: str) -> Any:
    """The number of this type that is nearest to `exact` on the side of the mode; for exact != 0."""
    dtype = DTYPE[type_]
    largest = Fraction(float(np.finfo(dtype).max))
    if mode == "rz":
        mode = "rd" if exact > 0 else "ru"
    if mode == "ru":
        return dtype(-_rounded(-exact, "rd", type_))
    if exact < -largest:
        return dtype(-math.inf)
    result = dtype(float(max(min(exact, largest), -largest)))
    if np.isinf(result):
        result = dtype(math.copysign(float(largest), float(result)))
    while Fraction(float(result)) > exact:
        result = np.nextafter(result, dtype(-math.inf))
    while result < np.finfo(dtype).max and Fraction(float(np.nextafter(result, dtype(math.inf)))) <= exact:
        result = np.nextafter(result, dtype(math.inf))
    return result if result != 0 else dtype(0.0 if exact > 0 else -0.0)


def _zero_sum(mode: str, negatives: tuple[bool, bool]) -> float:
    minus = any(negatives) if mode == "rd" else all(negatives)
    return -0.0 if minus else 0.0


def _sum(a: Fraction, b: Fraction, signs: tuple[bool, bool], mode: str, type_: str) -> float:
    return float(_rounded(a + b, mode, type_)) if a + b else _zero_sum(mode, signs)


def _expected(name: str, mode: str, type_: str, a: float, b: float) -> float:
    negative = math.copysign(1, a) * math.copysign(1, b) < 0
    if name in ("add", "sub"):
        other = b if name == "add" else -b
        signs = (math.copysign(1, a) < 0, math.copysign(1, other) < 0)
        return _sum(Fraction(a), Fraction(other), signs, mode, type_)
    if name == "div" and b == 0:
        return math.nan if a == 0 else (-math.inf if negative else math.inf)
    exact = Fraction(a) * Fraction(b) if name == "mul" else Fraction(a) / Fraction(b)
    return float(_rounded(exact, mode, type_)) if exact else (-0.0 if negative else 0.0)


def _check(result: Floats, expected: list[float]) -> None:
    """Equal, zeros with their sign; any NaN equals any other."""
    wanted = np.array(expected, result.dtype)
    np.testing.assert_array_equal(result, wanted)
    ordered = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(result[ordered]), np.signbit(wanted[ordered]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("type_", PREFIX)
def test_directed_arithmetic(library: Library, type_: str, name: str, mode: str) -> None:
    a, b = _numbers(type_, 1), _numbers(type_, 2)
    b[::9] = -a[::9]
    b[1::9] = np.nextafter(-a[1::9], DTYPE[type_](0))
    result = library.call(f"{PREFIX[type_]}{name}_{mode}", a, b)
    expected = [_expected(name, mode, type_, x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    _check(result, expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type_", PREFIX)
def test_directed_reciprocal(library: Library, type_: str, mode: str) -> None:
    a = _numbers(type_, 3)
    expected = [_expected("div", mode, type_, 1.0, x) for x in a.tolist()]
    _check(library.call(f"{PREFIX[type_]}rcp_{mode}", a), expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type_", PREFIX)
def test_directed_square_root(library: Library, type_: str, mode: str) -> None:
    a = np.abs(_numbers(type_, 4))
    roots = library.call(f"{PREFIX[type_]}sqrt_{mode}", a)
    for x, root in zip(a, roots, strict=True):
        exact = Fraction(float(x))
        below = root if mode != "ru" else np.nextafter(root, DTYPE[type_](-1))
        above = root if mode == "ru" else np.nextafter(root, DTYPE[type_](math.inf))
        if Fraction(float(root)) ** 2 != exact:
            assert Fraction(float(below)) ** 2 < exact < Fraction(float(above)) ** 2


def _triples(type_: str) -> tuple[Floats, Floats, Floats]:
    """Products near, far above and far below the summand; also summands that cancel the product."""
    a, b, c = (_numbers(type_, seed) for seed in (5, 6, 7))
    with np.errstate(over="ignore", under="ignore"):
        product = a * b
    kinds = np.arange(len(a)) % 5
    finite = np.isfinite(product)
    c = np.where((kinds == 1) & finite, -product, c)
    c = np.where((kinds == 2) & finite, np.nextafter(-product, DTYPE[type_](0)), c)
    with np.errstate(under="ignore", over="ignore"):
        c = np.where((kinds == 3) & finite, np.clip(product * DTYPE[type_](1e-5), -1e30, 1e30).astype(a.dtype), c)
    return a, b, c.astype(a.dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type_", PREFIX)
def test_directed_fused_multiply_add(library: Library, type_: str, mode: str) -> None:
    a, b, c = _triples(type_)
    expected = []
    for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
        signs = (math.copysign(1, x) * math.copysign(1, y) < 0, math.copysign(1, z) < 0)
        expected.append(_sum(Fraction(x) * Fraction(y), Fraction(z), signs, mode, type_))
    fma = "fmaf" if type_ == "float" else "fma"
    _check(library.call(f"{fma}_{mode}", a, b, c), expected)
    if type_ == "float":
        _check(library.call(f"fmaf_ieee_{mode}", a, b, c), expected)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type_", PREFIX)
def test_infinities_and_nan(library: Library, type_: str, mode: str) -> None:
    """Where an operand is not finite nothing is rounded: as with rounding to nearest."""
    special = np.array([math.inf, -math.inf, math.nan, 0.0, -0.0, 1.5, -2.0], DTYPE[type_])
    a, b = (grid.ravel() for grid in np.meshgrid(special, special))
    keep = ~(np.isfinite(a) & np.isfinite(b))
    a, b = a[keep], b[keep]
    with np.errstate(invalid="ignore", divide="ignore"):
        nearest = {"add": a + b, "sub": a - b, "mul": a * b, "div": a / b}
    for name, expected in nearest.items():
        _check(library.call(f"{PREFIX[type_]}{name}_{mode}", a, b), expected.tolist())
    fma = "fmaf" if type_ == "float" else "fma"
    with np.errstate(invalid="ignore"):
        _check(library.call(f"{fma}_{mode}", a, b, np.ones_like(a)), (a * b + 1).tolist())
    roots = library.call(f"{PREFIX[type_]}sqrt_{mode}", np.array([math.inf, -1, math.nan, -0.0], a.dtype))
    _check(roots, [math.inf, math.nan, math.nan, -0.0])


def test_nearest_is_one_rounding(library: Library) -> None:
    a, b = _numbers("float", 8), _numbers("float", 9)
    with np.errstate(over="ignore", under="ignore"):
        for name, expected in {"fadd_rn": a + b, "fsub_rn": a - b, "fmul_rn": a * b}.items():
            _check(library.call(name, a, b), expected.tolist())


def test_inverse_square_root_is_correctly_rounded(library: Library) -> None:
    x = np.abs(_numbers("float", 10, 400))
    x = x[x > 0]
    for value, result in zip(x, library.call("frsqrt_rn", x), strict=True):
        below, above = (
            (Fraction(float(result)) + Fraction(float(np.nextafter(result, np.float32(side))))) / 2
            for side in (0, math.inf)
        )
        assert below**2 * Fraction(float(value)) <= 1 <= above**2 * Fraction(float(value))


def test_square_root_is_correctly_rounded(library: Library) -> None:
    x = np.abs(_numbers("float", 11, 400))
    np.testing.assert_array_equal(library.call("fsqrt_rn", x), np.sqrt(x))


def test_saturate(library: Library) -> None:
    x = np.array([-1, -0.0, 0.0, 0.25, 1.0, 2.0, math.inf, -math.inf, math.nan], np.float32)
    np.testing.assert_array_equal(library.call("saturatef", x), [0, 0, 0, 0.25, 1, 1, 1, 0, 0])


ROUND: dict[str, Callable[[float], int]] = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}


def _converted(x: float, type_: str, mode: str, bits: int, signed: bool) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if math.isnan(x):
        if type_ == "float" and bits == 32:
            return 0
        return low if signed else 1 << bits - 1
    if math.isinf(x):
        return high if x > 0 else low
    return min(max(ROUND[mode](x), low), high)


@np.errstate(over="ignore")
@pytest.mark.parametrize("mode", ROUND)
@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("type_", PREFIX)
def test_conversions_saturate(library: Library, type_: str, to: str, mode: str) -> None:
    bits, signed = INTEGERS[to]
    edges = [s * (2.0**e + d) for s in (1, -1) for e in (0, 31, 32, 63, 64) for d in (-1.0, -0.5, 0.0, 0.5, 1.0, 256)]
    special = [math.nan, math.inf, -math.inf, 2.5, 3.5, -2.5, 1e30, -1e30, 0.5, -0.5, 0.0, -0.0]
    x = np.concatenate([_numbers(type_, 12) * DTYPE[type_](1000), np.array(edges + special, DTYPE[type_])])
    expected = [_converted(value, type_, mode, bits, signed) for value in x.tolist()]
    assert library.call(f"{type_}2{to}_{mode}", x).tolist() == expected


@pytest.mark.parametrize("kind", ["umin", "umax", "llmin", "llmax", "ullmin", "ullmax"])
def test_integer_minima_and_maxima(library: Library, kind: str) -> None:
    bits = 32 if kind[:-3] == "u" else 64
    dtype = np.dtype(f"{'u' if kind[0] == 'u' else ''}int{bits}")
    info = np.iinfo(dtype)
    rng = np.random.default_rng(13)
    a, b = (rng.integers(info.min, info.max, 50, dtype, endpoint=True) for _ in range(2))
    expected = np.minimum(a, b) if kind.endswith("min") else np.maximum(a, b)
    np.testing.assert_array_equal(library.call(kind, a, b), expected)


DEVICE = hip.snippet("math_device")


@pytest.mark.parametrize("target", hip.TARGETS)
@pytest.mark.parametrize("flags", [(), ("-ffast-math", "-Wno-nan-infinity-disabled")], ids=["precise", "fast-math"])
def test_compiles_for_the_device(target: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    kernel = '#include "porter/math.hpp"\n'
    for name, signature in SIGNATURES.items():
        type_, count = signature.split("(")[1].split(",")[0].rstrip(")"), signature.count(",") + 1
        call = f"porter::{name}({', '.join(f'p[{i}]' for i in range(count))})"
        kernel += f"__device__ auto use_{name}({type_}* p) {{ return {call}; }}\n"
    done = hip.compiled(kernel, tmp_path, target=target, flags=("-fsyntax-only", *flags))
    assert done.returncode == 0, done.stderr
    done = hip.compiled(DEVICE, tmp_path, target=target, flags=flags)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("flags", [(), ("-ffast-math", "-Wno-nan-infinity-disabled")], ids=["precise", "fast-math"])
def test_products_and_sums_are_not_fused(flags: tuple[str, ...], tmp_path: Path) -> None:
    kernels = hip.assembly(DEVICE, tmp_path, flags=flags)
    assert any(line.startswith(("v_fma", "v_pk_fma")) for line in kernels["fused"]), "else the test shows nothing"
    assert not any(line.startswith(("v_fma", "v_pk_fma")) for line in kernels["unfused"])


def test_conversion_is_one_instruction_and_never_dropped(tmp_path: Path) -> None:
    kernels = hip.assembly(DEVICE, tmp_path)
    assert [line.split()[0] for line in kernels["converted"] if line.startswith("v_cvt")] == ["v_cvt_i32_f32"]
    assert any(line.startswith("global_store") for line in kernels["out_of_range"])


def test_rows_name_functions_of_the_header() -> None:
    pairs = {f"f{name}2_{mode}" for name in ("add", "mul", "fma") for mode in ("rn", *MODES)}
    rows = {ours.removeprefix("porter::") for ours in hip.supplied("math.hpp").values()}
    assert rows == set(SIGNATURES) | pairs | {"fast_tanhf", "sincos", "sincospi"}

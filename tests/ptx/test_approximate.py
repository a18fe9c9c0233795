"""Approximate functions against mpmath, and small floats against their definitions."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.ptx.conftest import LoadPtx
from tests.ptx.opcodes import kernel, run

RNG = np.random.default_rng(5)
FUNCTIONS = {
    "ex2.approx.f32": (lambda x: mpmath.power(2, x), RNG.uniform(-120, 120, 256)),
    "lg2.approx.f32": (lambda x: mpmath.log(x, 2), np.exp(RNG.uniform(-60, 60, 256))),
    "sin.approx.f32": (mpmath.sin, RNG.uniform(-3, 3, 256)),
    "cos.approx.f32": (mpmath.cos, RNG.uniform(-3, 3, 256)),
    "rcp.approx.f32": (lambda x: 1 / x, RNG.uniform(-50, 50, 256)),
    "rsqrt.approx.f32": (lambda x: 1 / mpmath.sqrt(x), np.exp(RNG.uniform(-60, 60, 256))),
    "sqrt.approx.f32": (mpmath.sqrt, np.exp(RNG.uniform(-60, 60, 256))),
    "tanh.approx.f32": (mpmath.tanh, RNG.uniform(-6, 6, 256)),
}


@pytest.mark.slow
def test_approximations_are_within_an_ulp(load_ptx: LoadPtx) -> None:
    specs = [(f"{name} %d, %a;", ["b32"], "b32") for name in FUNCTIONS]
    inputs = [x.astype(np.float32) for _, x in FUNCTIONS.values()]
    got = run(load_ptx(kernel(specs)), [[x.view(np.uint32)] for x in inputs], ["b32"] * len(specs))
    for (name, (exact, _)), x, bits in zip(FUNCTIONS.items(), inputs, got, strict=True):
        results = np.array(bits, np.uint32).view(np.float32)
        for value, result in zip(x, results, strict=True):
            want = float(exact(mpmath.mpf(float(value))))
            cut = abs(float(value)) * 2.0**-22 if name[:3] in ("sin", "cos") else 0.0  # the angle, as on the GPU
            assert abs(float(result) - want) <= np.spacing(np.float32(abs(want))) + cut, (name, value, result, want)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "special"),
    [("ex2", [(np.inf, np.inf), (-np.inf, 0), (0, 1)]), ("lg2", [(0, -np.inf), (1, 0), (-1, np.nan), (np.inf, np.inf)]),
     ("rcp", [(0, np.inf), (-0.0, -np.inf), (np.inf, 0)]), ("sin", [(np.inf, np.nan), (0, 0)]),
     ("rsqrt", [(0, np.inf), (-1, np.nan), (np.inf, 0)]), ("tanh", [(np.inf, 1), (-np.inf, -1)])],
)  # fmt: skip
def test_special_values(load_ptx: LoadPtx, name: str, special: list[tuple[float, float]]) -> None:
    x = np.resize(np.array([*(s[0] for s in special), np.nan], np.float32), 32)  # a whole warp
    (got,) = run(load_ptx(kernel([(f"{name}.approx.f32 %d, %a;", ["b32"], "b32")])), [[x.view(np.uint32)]], ["b32"])
    want = np.resize(np.array([*(s[1] for s in special), np.nan], np.float32), 32)
    np.testing.assert_array_equal(np.array(got, np.uint32).view(np.float32), want)


def tiny_values(mantissa: int, bias: int, infinite: bool) -> NDArray[np.float64]:
    """The numbers that the patterns 0 to 127 stand for."""
    values = []
    for pattern in range(128):
        exponent, part = pattern >> mantissa, pattern & ((1 << mantissa) - 1)
        top = exponent == (1 << (7 - mantissa)) - 1
        if top and (part == (1 << mantissa) - 1 if not infinite else True):
            values.append(np.inf if infinite and part == 0 else np.nan)
        elif exponent:
            values.append((1 + part / (1 << mantissa)) * 2.0 ** (exponent - bias))
        else:
            values.append(part / (1 << mantissa) * 2.0 ** (1 - bias))
    return np.array(values)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "mantissa", "bias", "infinite"), [("e4m3", 3, 7, False), ("e5m2", 2, 15, True)])
def test_eight_bit_floats(load_ptx: LoadPtx, kind: str, mantissa: int, bias: int, infinite: bool) -> None:
    values = tiny_values(mantissa, bias, infinite)
    specs = [
        (f"cvt.rn.f16x2.{kind}x2 %d, %a;", ["b16"], "b32"),
        (f"cvt.rn.satfinite.{kind}x2.f32 %d, %a, %b;", ["b32"] * 2, "b16"),
    ]
    patterns = np.arange(256, dtype=np.uint16)
    special = [0, 1e9, -1e9, np.nan, np.inf, -0.0]
    x = np.concatenate([RNG.uniform(-3, 3, 100), np.exp(RNG.uniform(-14, 14, 150)), special]).astype(np.float32)
    module = load_ptx(kernel(specs))
    wide, narrow = run(module, [[patterns | patterns << 8], [x.view(np.uint32), (-x).view(np.uint32)]], ["b32", "b16"])
    halves = np.array(wide, np.uint32).view(np.float16).reshape(256, 2).astype(np.float64)
    want = np.concatenate([values, -values])
    np.testing.assert_array_equal(halves[:, 0], want)
    np.testing.assert_array_equal(halves[:, 1], want)
    finite = values[np.isfinite(values)]
    for number, bits in zip(x, narrow, strict=True):
        high = bits >> 8
        if np.isnan(number):
            assert high & 127 == 127
            continue
        nearest = np.abs(finite - min(abs(float(number)), finite[-1]))
        best = list(np.flatnonzero(nearest == nearest.min()))
        assert high & 127 == (best[0] if len(best) == 1 else next(p for p in best if p % 2 == 0)), number
        assert (high >> 7) == np.signbit(number)
        assert (bits >> 7 & 1) == (not np.signbit(number))

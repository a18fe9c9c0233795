"""Instructions that AMD's pseudocode cannot be the model of, against numpy, math.frexp and mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from conftest import Compile
from numpy.typing import NDArray
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

Array = NDArray[Any]
COUNT = 1024
UNARY = {  # instruction -> C types of result and source
    "v_rndne_f16": ("_Float16", "_Float16"),
    "v_rndne_f32": ("float", "float"),
    "v_rndne_f64": ("double", "double"),
    "v_fract_f16": ("_Float16", "_Float16"),
    "v_fract_f32": ("float", "float"),
    "v_fract_f64": ("double", "double"),
    "v_frexp_exp_i16_f16": ("short", "_Float16"),
    "v_frexp_exp_i32_f32": ("int", "float"),
    "v_frexp_exp_i32_f64": ("int", "double"),
    "v_frexp_mant_f16": ("_Float16", "_Float16"),
    "v_frexp_mant_f32": ("float", "float"),
    "v_frexp_mant_f64": ("double", "double"),
    "v_sin_f16": ("_Float16", "_Float16"),
    "v_sin_f32": ("float", "float"),
    "v_cos_f16": ("_Float16", "_Float16"),
    "v_cos_f32": ("float", "float"),
    "v_cvt_off_f32_i4": ("float", "int"),
}
DTYPES = {"_Float16": np.float16, "float": np.float32, "double": np.float64, "int": np.int32, "short": np.int16}


@pytest.fixture(scope="module")
def module(compile_hip: Compile) -> Module:
    """A kernel per instruction."""
    code = "".join(
        f'extern "C" __global__ void {name}(const {source}* a, {result}* o) {{\n'
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x; {result} r;\n"
        f'  asm("{name} %0, %1" : "=v"(r) : "v"(a[i])); o[i] = r; }}\n'
        for name, (result, source) in UNARY.items()
    )
    code += """
extern "C" __global__ void v_trig_preop_f64(const double* a, const int* b, double* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm("v_trig_preop_f64 %0, %1, %2" : "=v"(o[i]) : "v"(a[i]), "v"(b[i]));
}
extern "C" __global__ void v_ldexp_f16(const _Float16* a, const short* b, _Float16* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  _Float16 r;
  asm("v_ldexp_f16 %0, %1, %2" : "=v"(r) : "v"(a[i]), "v"(b[i]));
  o[i] = r;
}
"""
    return compile_hip(code, "-g0")


def patterns(dtype: type) -> Array:
    """Random bits and the edges: zeros, denormals, halves, infinities."""
    size = np.dtype(dtype).itemsize
    values = np.frombuffer(np.random.default_rng(size).bytes(size * COUNT), dtype).copy()
    if np.dtype(dtype).kind != "f":
        return values
    info = np.finfo(dtype)
    edges = [0.0, 0.5, 1.0, 1.5, 2.5, 1e-3, info.tiny, info.smallest_subnormal, info.max, np.inf, np.nan, 3 * info.eps]
    small = np.random.default_rng(1).uniform(-300, 300, COUNT // 2).astype(dtype)
    values[: len(edges)], values[len(edges) : 2 * len(edges)] = edges, np.negative(edges)
    values[COUNT // 2 :] = small
    return values


def run(module: Module, name: str, *inputs: Array, result: type) -> Array:
    done = module.launch(name, COUNT // 256, 256, [*inputs, np.zeros(COUNT, result)])
    assert isinstance(done, Ran), done
    return done.output(len(inputs))


def same(got: Array, expected: Array) -> bool:
    """Equal, the sign of zero included; any NaN for a NaN."""
    nan = np.isnan(expected)
    return bool(np.array_equal(nan, np.isnan(got)) and np.all((got == expected)[~nan])) and bool(
        np.all((np.signbit(got) == np.signbit(expected))[~nan])
    )


def fraction(x: Array) -> Array:
    """x - floor(x), rounded once, and never 1."""
    exact = [mpmath.mpf(float(v)) - mpmath.floor(float(v)) if np.isfinite(v) else mpmath.nan for v in x]
    rounded = np.array([float(v) for v in exact]).astype(x.dtype)
    return np.where(rounded >= 1, np.nextafter(x.dtype.type(1), x.dtype.type(0)), rounded).astype(x.dtype)


def exponents(x: Array) -> Array:
    return np.array([math.frexp(v)[1] if np.isfinite(v) else 0 for v in x.astype(np.float64)])


def mantissas(x: Array) -> Array:
    return np.array([math.frexp(v)[0] for v in x.astype(np.float64)]).astype(x.dtype)


MODELS: dict[str, Callable[[Array], Array]] = {
    "v_rndne": np.rint,
    "v_fract": fraction,
    "v_frexp_exp": exponents,
    "v_frexp_mant": mantissas,
}


@pytest.mark.parametrize("name", [n for n in UNARY if n.startswith(tuple(MODELS))])
def test_exact(module: Module, name: str) -> None:
    result, source = UNARY[name]
    x = patterns(DTYPES[source])
    model = next(m for prefix, m in MODELS.items() if name.startswith(prefix))
    with mpmath.workprec(2200), np.errstate(all="ignore"):
        expected = model(x)
    got = run(module, name, x, result=DTYPES[result])
    if np.dtype(DTYPES[result]).kind == "i":
        assert np.array_equal(got, expected)
        return
    wrong = [i for i in range(COUNT) if not same(got[i : i + 1], expected[i : i + 1])]
    unsigned_zero = name.startswith("v_fract")
    wrong = [i for i in wrong if not (unsigned_zero and got[i] == expected[i] == 0)]
    assert not wrong, [(x[i], got[i], expected[i]) for i in wrong[:4]]


@pytest.mark.parametrize("name", ["v_sin_f16", "v_sin_f32", "v_cos_f16", "v_cos_f32"])
def test_circle_in_revolutions(module: Module, name: str) -> None:
    result, _ = UNARY[name]
    x = np.random.default_rng(4).uniform(-256, 256, COUNT).astype(DTYPES[result])
    function = mpmath.sinpi if "sin" in name else mpmath.cospi
    expected = np.array([float(function(2 * mpmath.mpf(float(v)))) for v in x])
    got = run(module, name, x, result=DTYPES[result]).astype(np.float64)
    assert np.max(np.abs(got - expected)) <= (2.0**-11 if "f16" in name else 2.0**-22)


def test_offsets_of_four_bits(module: Module) -> None:
    x = np.arange(COUNT, dtype=np.int32)
    nibble = x & 15
    expected = (np.where(nibble >= 8, nibble - 16, nibble) / 16).astype(np.float32)
    assert np.array_equal(run(module, "v_cvt_off_f32_i4", x, result=np.float32), expected)


def test_two_over_pi(module: Module) -> None:
    """53 bits of 2/pi after 53 * b bits and those the exponent of a skips (Payne and Hanek's reduction)."""
    rng = np.random.default_rng(6)
    exponent = rng.integers(1, 2047, COUNT)
    a = (exponent.astype(np.uint64) << np.uint64(52)).view(np.float64)
    b = rng.integers(0, 3, COUNT).astype(np.int32)
    got = run(module, "v_trig_preop_f64", a, b, result=np.float64)
    with mpmath.workprec(1600):
        bits = int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** 1400))
    for i in range(COUNT):
        shift = 53 * int(b[i]) + max(int(exponent[i]) - 1077, 0)
        window = bits >> (1400 - 53 - shift) & ((1 << 53) - 1)
        scale = -53 - shift + (128 if exponent[i] >= 1968 else 0)
        assert got[i] == math.ldexp(float(window), scale), (exponent[i], b[i])


def test_ldexp_f16(module: Module) -> None:
    x = patterns(np.float16)
    n = np.random.default_rng(8).integers(-40, 40, COUNT).astype(np.int16)
    with np.errstate(all="ignore"):
        expected = np.ldexp(x.astype(np.float64), n.astype(np.int32)).astype(np.float16)
    assert same(run(module, "v_ldexp_f16", x, n, result=np.float16), expected)

"""Conversions with a rounding of their own, which HIP's headers call and older device libraries lack."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import Compile
from numpy.typing import NDArray
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

Array = NDArray[Any]
CASES = {  # name: source and result type
    "double2float": ("double", "float"), "int2float": ("int", "float"), "uint2float": ("unsigned", "float"),
    "ll2float": ("long long", "float"), "ull2float": ("unsigned long long", "float"),
    "ll2double": ("long long", "double"), "ull2double": ("unsigned long long", "double"),
    "float2half": ("float", "__half"),
}  # fmt: skip
NUMPY = {
    "double": np.float64, "float": np.float32, "int": np.int32, "unsigned": np.uint32, "long long": np.int64,
    "unsigned long long": np.uint64, "__half": np.float16,
}  # fmt: skip
WAYS: dict[str, Callable[[Fraction, Fraction], bool]] = {  # whether a neighbour is on the wrong side of the value
    "rd": lambda near, x: near > x,
    "ru": lambda near, x: near < x,
    "rz": lambda near, x: abs(near) > abs(x),
}


@pytest.fixture(scope="module")
def module(compile_hip: Compile) -> Module:
    kernels = [
        f'extern "C" __global__ void {name}_{way}(const {source}* a, {result}* out) '
        f"{{ out[threadIdx.x] = __{name}_{way}(a[threadIdx.x]); }}"
        for name, (source, result) in CASES.items()
        for way in WAYS
    ]
    return compile_hip("\n".join(["#include <hip/hip_runtime.h>", "#include <hip/hip_fp16.h>", *kernels]))


def values(kind: str) -> Array:
    """Edges and random ones, a wave of them."""
    rng = np.random.default_rng(5)
    dtype = np.dtype(NUMPY[kind])
    if dtype.kind == "f":
        edges = [
            0.0,
            -0.0,
            1.0,
            1e-40,
            -1e-40,
            1e-46,
            -1e-46,
            3e38,
            1e39,
            -1e39,
            65504,
            65519,
            65520,
            -7e4,
            5e-8,
            -5e-8,
        ]
        spread = rng.standard_normal(64 - len(edges)) * 10.0 ** rng.integers(-6, 5, 64 - len(edges))
        with np.errstate(over="ignore"):
            return np.array([*edges, *spread]).astype(dtype)
    limits = np.iinfo(dtype)
    edges_of = [0, 1, 2**24, 2**24 + 1, 2**24 + 3, limits.max, limits.max - 1, limits.min, limits.min + 1]
    random = rng.integers(limits.min, limits.max, 64 - len(edges_of), dtype)
    return np.array([*map(int, edges_of), *map(int, random)], dtype)


def directed(value: Any, result: type[np.floating[Any]], way: str) -> np.floating[Any]:
    """The neighbour that the rounding asks for, by exact arithmetic."""
    with np.errstate(over="ignore"):
        near = result(int(value)) if isinstance(value, np.integer) else result(value)
    if not np.isfinite(value) or math.isnan(near):
        return near
    exact = Fraction(int(value)) if isinstance(value, np.integer) else Fraction(float(value))
    size = Fraction(float(near)) if np.isfinite(near) else Fraction(2) ** 2000 * (1 if near > 0 else -1)
    if not WAYS[way](size, exact):
        return near
    towards = {"rd": -np.inf, "ru": np.inf, "rz": 0.0}[way]
    with np.errstate(over="ignore"):
        return np.nextafter(near, result(towards))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_rounding(module: Module, name: str, way: str) -> None:
    source, result = CASES[name]
    given = values(source)
    done = module.launch(f"{name}_{way}", 1, 64, [given, np.zeros(64, NUMPY[result])])
    assert isinstance(done, Ran), done
    want = np.array([directed(value, NUMPY[result], way) for value in given], NUMPY[result])
    got = done.output(1)
    wrong = [(given[i], got[i], want[i]) for i in np.flatnonzero(got != want)]
    assert not wrong

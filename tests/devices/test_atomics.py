"""Atomics: operations, types and memories; results against Python, old values as an order that explains them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from conftest import Compile
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

Step = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Case:
    """`name(address, value)` on a C type; what one step does."""

    name: str
    ctype: str
    dtype: type
    step: Step
    start: float = 0


def wrapping(dtype: type, operation: Step) -> Step:
    mask = (1 << 8 * np.dtype(dtype).itemsize) - 1
    return lambda a, b: np.uint64(operation(int(a), int(b)) & mask).astype(dtype)


INTEGERS = (("int", np.int32), ("unsigned", np.uint32), ("unsigned long long", np.uint64))
CASES = [
    *(Case("atomicAdd", c, d, wrapping(d, lambda a, b: a + b), 5) for c, d in INTEGERS),
    *(Case("atomicAdd", c, d, lambda a, b: a + b, 1) for c, d in (("float", np.float32), ("double", np.float64))),
    *(Case("atomicSub", c, d, wrapping(d, lambda a, b: a - b), 7) for c, d in INTEGERS[:2]),
    *(Case("atomicExch", c, d, lambda a, b: b, 3) for c, d in (*INTEGERS, ("float", np.float32))),
    *(Case("atomicMin", c, d, min, 50) for c, d in INTEGERS),
    *(Case("atomicMax", c, d, max, 50) for c, d in INTEGERS),
    *(Case("atomicMin", c, d, min, 5) for c, d in (("float", np.float32), ("double", np.float64))),
    *(Case("atomicMax", c, d, max, 5) for c, d in (("float", np.float32), ("double", np.float64))),
    *(Case("atomicAnd", c, d, lambda a, b: a & b, 0x7FFFFFFF) for c, d in INTEGERS),
    *(Case("atomicOr", c, d, lambda a, b: a | b) for c, d in INTEGERS),
    *(Case("atomicXor", c, d, lambda a, b: a ^ b, 9) for c, d in INTEGERS),
    Case("atomicInc", "unsigned", np.uint32, lambda a, b: np.uint32(0) if a >= b else a + np.uint32(1), 3),
    Case("atomicDec", "unsigned", np.uint32, lambda a, b: b if a == 0 or a > b else a - np.uint32(1), 3),
    *(Case("atomicAdd_system", c, d, wrapping(d, lambda a, b: a + b), 1) for c, d in INTEGERS[:1]),
    Case("unsafeAtomicAdd", "float", np.float32, lambda a, b: a + b),
    Case("unsafeAtomicAdd", "double", np.float64, lambda a, b: a + b),
    Case("swap_if_less", "int", np.int32, lambda a, b: min(a, b), 60),
]
SWAP = """
__device__ int swap_if_less(int* p, int v) {  // compare and swap in a loop
  int old = *p;
  while (v < old) { int seen = atomicCAS(p, old, v); if (seen == old) break; old = seen; }
  return old;
}
"""
IDS = [f"{case.name}-{case.ctype.replace(' ', '-')}" for case in CASES]


def kernels(index: int, case: Case) -> str:
    t = case.ctype
    return f"""
extern "C" __global__ void g{index}({t}* a, const {t}* v, {t}* old) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  old[i] = {case.name}(a + i % 3, v[i]);
}}
extern "C" __global__ void s{index}({t}* a, const {t}* v, {t}* old) {{
  __shared__ {t} s[3];
  if (threadIdx.x < 3) s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  old[threadIdx.x] = {case.name}(s + threadIdx.x % 3, v[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x < 3) a[threadIdx.x] = s[threadIdx.x];
}}
"""


@pytest.fixture(scope="module")
def module(compile_hip: Compile) -> Module:
    """All kernels."""
    return compile_hip(SWAP + "".join(kernels(i, case) for i, case in enumerate(CASES)), "-g0")


def chain(case: Case, start: Any, values: np.ndarray[Any, Any], old: np.ndarray[Any, Any], end: Any) -> bool:
    """True when the old values can be put in an order that leads from start to end: each value is seen once."""
    left = list(zip(old.tolist(), values, strict=True))
    state = start
    while left:
        place = next((i for i, (seen, _) in enumerate(left) if seen == state), None)
        if place is None:
            return False
        state = case.step(state, left.pop(place)[1])
    return bool(state == end)


@pytest.mark.parametrize("memory", ["g", "s"])
@pytest.mark.parametrize("index", range(len(CASES)), ids=IDS)
def test_atomic(module: Module, index: int, memory: str) -> None:
    case = CASES[index]
    rng = np.random.default_rng(index)
    count = 192 if memory == "g" else 96
    values = rng.integers(1, 100, count).astype(case.dtype)
    start = np.full(3, case.start, case.dtype)
    for options in (Options(threads=2), Options(schedule=3)):
        done = module.launch(f"{memory}{index}", count // 96, 96, [start, values, values * 0], options=options)
        assert isinstance(done, Ran), done
        for cell in range(3):
            mine = np.arange(count) % 3 == cell
            old, end = done.output(2)[mine], done.output(0)[cell]
            exact = functools.reduce(case.step, values[mine], start[cell])
            if case.name not in ("atomicExch", "atomicInc", "atomicDec"):  # the order does not matter
                assert end == exact
            if case.dtype not in (np.float32, np.float64) or case.name != "atomicMax":  # HIP 5.2 returns the new value
                assert start[cell] in [*old.tolist(), end]
            if case.name in ("atomicAdd", "atomicSub", "unsafeAtomicAdd"):  # no state comes twice
                assert chain(case, start[cell], values[mine], old, end)


PACKED = """
#include <hip/hip_fp16.h>
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
typedef short s2 __attribute__((ext_vector_type(2)));
extern "C" __global__ void halves(h2* a, const h2* v) {
  __builtin_amdgcn_global_atomic_fadd_v2f16((__attribute__((address_space(1))) h2*)a, v[threadIdx.x]);
}
extern "C" __global__ void bfloats(s2* a, const s2* v) {
  __builtin_amdgcn_global_atomic_fadd_v2bf16((__attribute__((address_space(1))) s2*)a, v[threadIdx.x]);
}
"""


def test_packed_halves(compile_hip: Compile) -> None:
    module = compile_hip(PACKED)
    values = np.random.default_rng(1).integers(-8, 8, (64, 2))
    done = module.launch("halves", 1, 64, [np.zeros(2, np.float16), values.astype(np.float16)])
    assert isinstance(done, Ran), done
    assert np.array_equal(done.output(0), values.sum(0))
    bits = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    done = module.launch("bfloats", 1, 64, [np.zeros(2, np.uint16), bits])
    assert isinstance(done, Ran), done
    assert np.array_equal((done.output(0).astype(np.uint32) << 16).view(np.float32), values.sum(0))

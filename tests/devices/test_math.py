"""Math functions and conversions of HIP: errors against mpmath, halves against numpy over all patterns."""

from __future__ import annotations

import mpmath
import numpy as np
from conftest import Compile
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Device

from benchmarks.devices import math_error

CHOSEN = {"sin": 2, "exp": 1, "log": 2, "pow": 2, "erf": 1, "sqrt": 0.51, "fmod": 0, "__fdiv_rn": 0.5, "__ddiv_rn": 0.5}

HALVES = """
#include <hip/hip_fp16.h>
extern "C" __global__ void halves(const unsigned short* a, float* up, short* down, unsigned short* sum,
                                  unsigned short* quotient, int* integer) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half h = __ushort_as_half(a[i]), g = __ushort_as_half(a[i ^ 0x1234]);
  up[i] = __half2float(h);
  down[i] = __half_as_short(__float2half_rn(__half2float(h) * 1.37f));
  sum[i] = __half_as_ushort(__hadd(h, g));
  quotient[i] = __half_as_ushort(__hdiv(h, g));
  integer[i] = __half2int_rz(h);
}
extern "C" __global__ void bfloats(const unsigned* a, unsigned* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = __uint_as_float(a[i]);
  __bf16 b = (__bf16)x;
  unsigned short bits;
  __builtin_memcpy(&bits, &b, 2);
  o[i] = bits;
}
"""


def test_functions_keep_their_error(device: Device, compile_hip: Compile) -> None:
    functions = tuple(f for f in math_error.FUNCTIONS if f.name in CHOSEN)
    assert len(functions) == len(CHOSEN)
    math_error.mp.dps = 40
    for number, group in enumerate((functions[:4], functions[4:])):
        measured = math_error.measure(device, list(math_error.calls_of(group)), number)
        assert not isinstance(measured, str), measured
        for row in measured:
            name = row.name if row.name in CHOSEN else row.name.removesuffix("f")
            assert row.worst <= CHOSEN[name], row


def same(got: np.ndarray, expected: np.ndarray) -> bool:
    nan = np.isnan(expected)
    return bool(np.array_equal(np.isnan(got), nan) and np.array_equal(got[~nan], expected[~nan]))


def test_all_halves(compile_hip: Compile) -> None:
    a = np.arange(65536, dtype=np.uint16)
    empty = [np.zeros(65536, t) for t in (np.float32, np.int16, np.uint16, np.uint16, np.int32)]
    done = compile_hip(HALVES).launch("halves", 256, 256, [a, *empty])
    assert isinstance(done, Ran), done
    h, g = a.view(np.float16), a[a ^ 0x1234].view(np.float16)
    with np.errstate(all="ignore"):
        assert same(done.output(1), h.astype(np.float32))
        assert same(done.output(2).view(np.float16), (h.astype(np.float32) * np.float32(1.37)).astype(np.float16))
        assert same(done.output(3).view(np.float16), h + g)
        quotient = done.output(4).view(np.float16)
        exact = (h.astype(np.float64) / g.astype(np.float64)).astype(np.float16)
        near = np.abs(quotient.view(np.int16).astype(int) - exact.view(np.int16).astype(int)) <= 1
        assert np.all(near | (np.isnan(exact) & np.isnan(quotient)))
        finite = np.isfinite(h)
        assert np.array_equal(done.output(5)[finite], np.trunc(h[finite].astype(np.float64)).astype(np.int32))


def test_bfloat16_rounds_to_nearest_even(compile_hip: Compile) -> None:
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 1 << 32, 4096, dtype=np.uint64).astype(np.uint32)
    bits[:8] = [0, 0x80000000, 0x7F800000, 0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x00008000, 0x3F807FFF]
    done = compile_hip(HALVES).launch("bfloats", 16, 256, [bits, np.zeros(4096, np.uint32)])
    assert isinstance(done, Ran), done
    values = bits.view(np.float32)
    for value, got in zip(values, done.output(1), strict=True):
        result = np.uint32(int(got) << 16).view(np.float32)
        if np.isnan(value):
            assert np.isnan(result)
            continue
        below = np.uint32(value.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        if not np.isfinite(value) or below == value:
            assert result == value
            continue
        step = mpmath.mpf(float(below)) * 0 + mpmath.mpf(2) ** (
            max(int(value.view(np.uint32) >> 23 & 255), 1) - 127 - 7
        )
        low = mpmath.mpf(float(below))
        high = low + (step if value > 0 else -step)
        middle = (low + high) / 2
        even = int(below.view(np.uint32) >> 16) % 2 == 0
        exact = mpmath.mpf(float(value))
        nearer_low = abs(exact) < abs(middle) or (exact == middle and even)
        wanted = low if nearer_low else high
        if abs(wanted) >= mpmath.mpf(2) ** 128:
            assert np.isinf(result)
        else:
            assert mpmath.mpf(float(result)) == wanted, hex(int(value.view(np.uint32)))

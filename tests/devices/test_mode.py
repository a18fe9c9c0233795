"""The MODE register: rounding and denormals that change while a kernel runs, against exact sums in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Compile
from porter.validation.devices.core.result import Array, Fault, Ran

TINY = np.float32(2.0**-126)


def code(register: str, value: int, instruction: str, kind: str) -> str:
    return f"""
extern "C" __global__ void k(const {kind}* a, const {kind}* b, {kind}* o) {{
  int i = threadIdx.x;
  {kind} r, after;
  asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, {register}), {value}\\n {instruction} %0, %2, %3\\n"
               "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0\\n {instruction} %1, %2, %3"
               : "=&v"(r), "=&v"(after) : "v"(a[i]), "v"(b[i]));
  o[i] = r;
  o[i + 64] = after;
}}
"""


def sums(dtype: type) -> tuple[Array, Array]:
    rng = np.random.default_rng(9)
    return tuple((rng.standard_normal(64) * 10.0 ** rng.integers(-3, 4, 64)).astype(dtype) for _ in range(2))  # type: ignore[return-value]


def rounded(a: Array, b: Array, direction: int) -> Array:
    """a + b rounded as MODE says: by the sign of the exact error of the nearest sum (two-sum)."""
    near = a + b
    part = near - a
    error = (a - (near - part)) + (b - part)
    up, down = np.nextafter(near, np.inf, dtype=near.dtype), np.nextafter(near, -np.inf, dtype=near.dtype)
    ceiling, floor = np.where(error > 0, up, near), np.where(error < 0, down, near)
    return (near, ceiling, floor, np.where(near > 0, floor, ceiling))[direction]


@pytest.mark.parametrize("direction", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", ["float", "double"])
def test_rounding(compile_hip: Compile, kind: str, direction: int) -> None:
    a, b = sums(np.float32 if kind == "float" else np.float64)
    field, name = ("0, 2", "v_add_f32") if kind == "float" else ("2, 2", "v_add_f64")
    done = compile_hip(code(field, direction, name, kind)).launch("k", 1, 64, [a, b, np.zeros(128, a.dtype)])
    assert isinstance(done, Ran), done
    assert np.array_equal(done.output(2)[:64], rounded(a, b, direction))
    assert np.array_equal(done.output(2)[64:], a + b)


@pytest.mark.parametrize("inputs", [0, 1])
@pytest.mark.parametrize("outputs", [0, 1])
def test_denormals(compile_hip: Compile, inputs: int, outputs: int) -> None:
    rng = np.random.default_rng(2)
    a = (rng.standard_normal(64) * TINY).astype(np.float32)
    b = (rng.standard_normal(64) * TINY).astype(np.float32)

    def flushed(x: Array, keep: int) -> Array:
        return x if keep else np.where(np.abs(x) < TINY, np.copysign(np.float32(0), x), x)

    module = compile_hip(code("4, 2", inputs | outputs << 1, "v_add_f32", "float"))
    done = module.launch("k", 1, 64, [a, b, np.zeros(128, np.float32)])
    assert isinstance(done, Ran), done
    assert np.array_equal(done.output(2)[:64], flushed(flushed(a, inputs) + flushed(b, inputs), outputs))
    assert np.array_equal(done.output(2)[64:], a + b)


def test_other_bits_are_refused(compile_hip: Compile) -> None:
    module = compile_hip(code("8, 2", 0, "v_add_f32", "float"))
    fault = module.launch("k", 1, 64, [np.zeros(64, np.float32)] * 2 + [np.zeros(128, np.float32)])
    assert isinstance(fault, Fault)
    assert "s_setreg" in str(fault)


OVERFLOW = """
extern "C" __global__ void k(const float* a, const float* b, unsigned* o) {
  int i = threadIdx.x;
  unsigned half, eight, after;
  asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\\n v_cvt_f16_f32 %0, %3\\n"
               "v_mov_b32 %1, 0\\n v_cvt_pk_fp8_f32 %1, %3, %4\\n"
               "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0\\n v_cvt_f16_f32 %2, %3\\n"
               : "=&v"(half), "=&v"(eight), "=&v"(after) : "v"(a[i]), "v"(b[i]));
  o[i] = half & 0xffff;
  o[i + 64] = eight & 0xffff;
  o[i + 128] = after & 0xffff;
}
"""


def test_overflow_that_stays_finite(compile_hip: Compile) -> None:
    """FP16_OVFL, which Triton sets where a kernel makes 8-bit floats: infinity and NaN are kept in f16."""
    a, b = np.ones((2, 64), np.float32)
    a[:7] = [65504, 65536, -1e30, np.inf, -np.inf, np.nan, 241]
    b[:3] = [240, 1e9, -1e9]
    done = compile_hip(OVERFLOW).launch("k", 1, 64, [a, b, np.zeros(192, np.uint32)])
    assert isinstance(done, Ran), done
    half, eight, after = done.output(2).reshape(3, 64)
    with np.errstate(over="ignore"):
        plain = a.astype(np.float16)
    wanted = np.where(np.isinf(plain) & np.isfinite(a), np.copysign(np.float16(65504), plain), plain)
    assert np.array_equal(half.astype(np.uint16).view(np.float16), wanted, equal_nan=True)
    assert np.array_equal(after.astype(np.uint16).view(np.float16), plain, equal_nan=True)
    assert [hex(v) for v in eight[:7] & 0xFF] == ["0x7f", "0x7f", "0xff", "0x7f", "0xff", "0x80", "0x7f"]
    assert [hex(v) for v in eight[:4] >> 8] == ["0x7f", "0x7f", "0xff", "0x40"]


def test_what_overflow_does_is_not_guessed(compile_hip: Compile) -> None:
    done = compile_hip(OVERFLOW.replace("v_cvt_f16_f32 %0", "v_rcp_f16 %0")).launch(
        "k", 1, 64, [*np.ones((2, 64), np.float32), np.zeros(192, np.uint32)]
    )
    assert "FP16_OVFL" in str(done)

"""MFMA against numpy: layouts written down here from the published equations, not taken from the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import Compile
from numpy.typing import NDArray
from porter.validation.devices.core.result import Fault, FaultKind, Ran
from porter.validation.devices.gfx942 import Device, Module

# name, M, N, K, blocks, element type of A and B
FLOAT_CASES = [
    ("v_mfma_f32_32x32x1_2b_f32", 32, 1, 2, "f32"),
    ("v_mfma_f32_16x16x1_4b_f32", 16, 1, 4, "f32"),
    ("v_mfma_f32_4x4x1_16b_f32", 4, 1, 16, "f32"),
    ("v_mfma_f32_32x32x2_f32", 32, 2, 1, "f32"),
    ("v_mfma_f32_16x16x4_f32", 16, 4, 1, "f32"),
    ("v_mfma_f32_32x32x4_2b_f16", 32, 4, 2, "f16"),
    ("v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, "f16"),
    ("v_mfma_f32_4x4x4_16b_f16", 4, 4, 16, "f16"),
    ("v_mfma_f32_32x32x8_f16", 32, 8, 1, "f16"),
    ("v_mfma_f32_16x16x16_f16", 16, 16, 1, "f16"),
    ("v_mfma_f32_32x32x8_bf16", 32, 8, 1, "bf16"),
    ("v_mfma_f32_16x16x16_bf16", 16, 16, 1, "bf16"),
    ("v_mfma_i32_32x32x16_i8", 32, 16, 1, "i8"),
    ("v_mfma_i32_16x16x32_i8", 16, 32, 1, "i8"),
    ("v_mfma_i32_4x4x4_16b_i8", 4, 4, 16, "i8"),
    ("v_mfma_f64_16x16x4_f64", 16, 4, 1, "f64"),
    ("v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, "f64"),
    ("v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, "fp8"),
    ("v_mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, "bf8"),
]


def kernel_text(name: str, a_words: int, c_words: int) -> str:
    """A kernel by hand: loads A, B, C as they lie in the lanes, multiplies, stores D."""
    body = ["s_load_dwordx8 s[4:11], s[0:1], 0x0", "s_waitcnt lgkmcnt(0)"]

    def move(action: str, first: int, words: int, base: str) -> None:
        for k in range(words):
            body.append(f"v_mul_u32_u24_e32 v200, {4 * words}, v0")
            register = f"v{first + k}"
            operands = f"{register}, v200, {base}" if action == "load" else f"v200, {register}, {base}"
            body.append(f"global_{action}_dword {operands} offset:{4 * k}")

    move("load", 10, a_words, "s[4:5]")
    move("load", 30, a_words, "s[6:7]")
    move("load", 50, c_words, "s[8:9]")
    a = f"v[10:{9 + a_words}]" if a_words > 1 else "v10"
    b = f"v[30:{29 + a_words}]" if a_words > 1 else "v30"
    body.append(f"{name} v[50:{49 + c_words}], {a}, {b}, v[50:{49 + c_words}]")
    move("store", 50, c_words, "s[10:11]")
    return kernel_around(body)


def kernel_around(body: list[str], pointers: int = 4, name: str = "k") -> str:
    """Assembly text with one kernel that takes some pointers."""
    lines = "\n".join("\t" + line for line in body)
    arguments = "\n".join(
        f"      - .offset: {8 * k}\n        .size: 8\n        .value_kind: global_buffer" for k in range(pointers)
    )
    return f"""
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.text
\t.type {name},@function
{name}:
{lines}
\ts_endpgm
\t.amdhsa_kernel {name}
\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1
\t.end_amdhsa_kernel
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
{arguments}
    .group_segment_fixed_size: 0
    .kernarg_segment_size: {8 * pointers}
    .name: {name}
    .private_segment_fixed_size: 0
    .vgpr_count: 256
    .agpr_count: 0
\t.end_amdgpu_metadata
"""


def decode_fnuz(code: int, mantissa: int, bias: int) -> float:
    """fp8 of gfx942 by its definition."""
    if code == 0x80:
        return float("nan")
    sign = -1.0 if code & 0x80 else 1.0
    exponent, fraction = (code & 0x7F) >> mantissa, code & ((1 << mantissa) - 1)
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + fraction / (1 << mantissa)) * 2.0 ** (exponent - bias)


def random_elements(kind: str, count: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Raw storage and the values it stands for."""
    if kind in ("f32", "f64", "f16"):
        stored = rng.standard_normal(count).astype({"f32": np.float32, "f64": np.float64, "f16": np.float16}[kind])
        return stored, stored.astype(np.float64)
    if kind == "i8":
        small = rng.integers(-128, 128, count).astype(np.int8)
        return small, small.astype(np.float64)
    if kind == "bf16":
        bits = (rng.standard_normal(count).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    codes = rng.integers(0, 256, count).astype(np.uint8)
    codes[codes == 0x80] = 1
    layout = (3, 8) if kind == "fp8" else (2, 16)
    return codes, np.array([decode_fnuz(int(c), *layout) for c in codes])


def result_place(m: int, kind: str, b: int, i: int, j: int) -> tuple[int, int]:
    """(item, lane) of D[i][j] of a block: CDNA3 ISA, chapter 7."""
    if kind == "f64":
        return (0, 16 * i + 4 * b + j) if m == 4 else (i // 4, 16 * (i % 4) + j)
    if m == 4:
        return i, 4 * b + j
    if m == 16:
        return 4 * b + i % 4, 16 * (i // 4) + j
    return 16 * b + 4 * (i // 8) + i % 4, 32 * (i // 4 % 2) + j


@pytest.mark.parametrize(("name", "m", "k", "blocks", "kind"), FLOAT_CASES, ids=[case[0] for case in FLOAT_CASES])
def test_layout_and_values(device: Device, name: str, m: int, k: int, blocks: int, kind: str) -> None:
    rng = np.random.default_rng(5)
    per_lane = m * k * blocks // 64
    other = {"fp8": "bf8", "bf8": "fp8"}.get(kind, kind)
    size = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2}.get(kind, 1)
    result_type = {"f64": np.float64, "i8": np.int32}.get(kind, np.float32)
    stored_a, a = random_elements(kind, 64 * per_lane, rng)
    stored_b, b = random_elements(other, 64 * per_lane, rng)
    items = m * m * blocks // 64
    c = rng.integers(-50, 50, (64, items)).astype(result_type)
    module = device.compile(kernel_text(name, per_lane * size // 4, items * c.itemsize // 4))
    assert isinstance(module, Module)
    done = module.launch("k", 1, 64, [stored_a, stored_b, c, np.zeros_like(c)])
    assert isinstance(done, Ran), done
    got = done.output(3)
    lane_a, lane_b = a.reshape(64, per_lane), b.reshape(64, per_lane)
    for block in range(blocks):
        lanes = np.array([[i + m * (block + blocks * (kk // per_lane)) for kk in range(k)] for i in range(m)])
        item = np.arange(k) % per_lane
        left, right = lane_a[lanes, item], lane_b[lanes, item]
        product = left @ right.T
        for i in range(m):
            for j in range(m):
                at, lane = result_place(m, kind, block, i, j)
                assert got[lane, at] == pytest.approx(product[i, j] + c[lane, at], rel=1e-5, abs=1e-4)


def test_non_finite_and_denormal_f16(compile_hip: Compile) -> None:
    module = compile_hip("""
      typedef _Float16 h4 __attribute__((ext_vector_type(4)));
      typedef float f4 __attribute__((ext_vector_type(4)));
      extern "C" __global__ void k(const h4* a, const h4* b, f4* d) {
        f4 c = {0, 0, 0, 0};
        d[threadIdx.x] = __builtin_amdgcn_mfma_f32_16x16x16f16(a[threadIdx.x], b[threadIdx.x], c, 0, 0, 0);
      }""")
    a = np.zeros((64, 4), np.float16)
    b = np.zeros((64, 4), np.float16)
    a[0, 0], a[1, 0], a[2, 0] = np.inf, np.nan, np.float16(2.0**-24)
    b[:16, 0] = 1
    done = module.launch("k", 1, 64, [a, b, np.zeros((64, 4), np.float32)])
    assert isinstance(done, Ran), done
    d = done.output(2)
    assert np.all(np.isposinf(d[:16, 0]))
    assert np.all(np.isnan(d[:16, 1]))
    assert np.all(d[:16, 2] == 2.0**-24)
    assert np.all(d[16:] == 0)


@pytest.mark.parametrize("whole", [False, True])
def test_what_nobody_wrote_stays_in_its_blocks(device: Device, whole: bool) -> None:
    """A is missing in lanes 32 to 63: the blocks of the others are whole, with A handed on among four of them."""
    lines = kernel_text("v_mfma_f32_4x4x4_16b_f16", 2, 4).replace("v[50:53]\n", "v[50:53] cbsz:2 abid:3\n").split("\n")
    first = next(i for i, line in enumerate(lines) if "global_load_dword v10" in line)
    last = next(i for i, line in enumerate(lines) if "global_load_dword v11" in line)
    lines.insert(last + 1, "\ts_mov_b32 exec_hi, -1")
    lines.insert(first, "\ts_mov_b32 exec_hi, 0")
    if not whole:
        lines.insert(next(i for i, line in enumerate(lines) if "v_mfma" in line) + 1, "\ts_mov_b32 exec_hi, 0")
    module = device.compile("\n".join(lines))
    assert isinstance(module, Module)
    half, result = np.ones((64, 4), np.float16), np.zeros((64, 4), np.float32)
    done = module.launch("k", 1, 64, [half, half, result, result])
    if whole:
        assert isinstance(done, Fault) and done.kind is FaultKind.UNINITIALISED, done
    else:
        assert isinstance(done, Ran), done
        np.testing.assert_array_equal(done.output(3).reshape(64, 4)[:32], 4)


@pytest.mark.parametrize(("size", "chosen"), [(1, 0), (1, 1), (2, 0), (2, 3), (3, 5), (4, 11)])
def test_blocks_that_share_a(device: Device, size: int, chosen: int) -> None:
    """CBSZ: groups of 2^CBSZ blocks take A from one of them, ABID."""
    text = kernel_text("v_mfma_f32_4x4x4_16b_f16", 2, 4).replace("v[50:53]\n", f"v[50:53] cbsz:{size} abid:{chosen}\n")
    module = device.compile(text)
    assert isinstance(module, Module)
    rng = np.random.default_rng(size)
    a, b = (rng.integers(-8, 9, (16, 4, 4)).astype(np.float16) for _ in range(2))  # block, lane of the block, k
    done = module.launch("k", 1, 64, [a, b, np.zeros((64, 4), np.float32), np.zeros((64, 4), np.float32)])
    assert isinstance(done, Ran), done
    source = np.arange(16) // 2**size * 2**size + chosen
    want = np.einsum("bik,bjk->bji", a[source].astype(np.float64), b.astype(np.float64))  # lane j, row i
    np.testing.assert_array_equal(done.output(3).reshape(16, 4, 4), want)

"""What an H100 gave, where PTX's document leaves it open or is not the whole of it (docs/capture.md)."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.devices.core.result import Ran

from tests.ptx.conftest import LoadPtx
from tests.ptx.opcodes import kernel, run

ABSOLUTE = 4e-7
"""The most by which sines and cosines of the GPU are off, once the angle is cut as it cuts it."""


def of_one(load_ptx: LoadPtx, name: str, given: list[int]) -> list[int]:
    x = np.resize(np.array(given, np.uint32), 32)
    return run(load_ptx(kernel([(f"{name} %d, %a;", ["b32"], "b32")])), [[x]], ["b32"])[0][: len(given)]


@pytest.mark.parametrize(
    ("name", "given", "gave"),
    [
        ("cos.approx.f32", 0x40000000, 0xBED51130),
        ("cos.approx.f32", 0x4C000C59, 0xBF800000),  # 33567076: 1 if the angle were rounded to nearest
        ("cos.approx.f32", 0x4C000C13, 0x3F800000),
        ("sin.approx.f32", 0x78000ECA, 0x00000000),
        ("sin.approx.f32", 0x600006BF, 0x00000000),
    ],
)
def test_large_angles_lose_what_the_gpu_loses(load_ptx: LoadPtx, name: str, given: int, gave: int) -> None:
    got, want = np.array([*of_one(load_ptx, name, [given]), gave], np.uint32).view(np.float32).astype(np.float64)
    assert abs(got - want) <= ABSOLUTE


def test_tanh_of_what_is_tiny_is_itself(load_ptx: LoadPtx) -> None:
    assert of_one(load_ptx, "tanh.approx.f32", [1, 0x80000001, 0x007FFFFF]) == [1, 0x80000001, 0x007FFFFF]


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient"),
    [
        (1.0741307, 3.4028235e38, 0.0),
        (-128.0, 3.4028235e38, -0.0),
        (0.7061056, 1.0215838e38, 0.0),
        (3.0, 2.0**126, 3 * 2.0**-126),
        (np.inf, 3e38, np.nan),
        (1.0, -np.inf, -0.0),
    ],
)
def test_quotients_of_huge_divisors(load_ptx: LoadPtx, dividend: float, divisor: float, quotient: float) -> None:
    columns = [np.full(32, value, np.float32).view(np.uint32) for value in (dividend, divisor)]
    module = load_ptx(kernel([(f"div.{form}.f32 %d, %a, %b;", ["b32", "b32"], "b32") for form in ("approx", "full")]))
    approximate, whole = run(module, [columns, columns], ["b32", "b32"])
    want = np.array([quotient], np.float32)
    got = np.array(approximate[:1], np.uint32).view(np.float32)
    assert np.isnan(got[0]) if np.isnan(quotient) else got.view(np.uint32)[0] == want.view(np.uint32)[0]
    exact = np.array(whole[:1], np.uint32).view(np.float32)[0]
    assert exact == np.float32(dividend) / np.float32(divisor)


@pytest.mark.parametrize(("space", "left"), [("global", 0x00000000), ("shared", 0x002686B9)], ids=["global", "shared"])
def test_sums_in_global_memory_keep_no_subnormals(load_ptx: LoadPtx, space: str, left: int) -> None:
    text = f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .u64 %out, %at; .reg .f32 %x, %old; .reg .u32 %bits; .shared .align 4 .b8 box[4];
  ld.param.u64 %out, [out]; mov.u64 %at, {"%out" if space == "global" else "box"};
  mov.b32 %x, 0f000686B9; st.{space}.f32 [%at], %x; mov.b32 %x, 0f00200000;
  atom.{space}.add.f32 %old, [%at], %x;
  ld.{space}.u32 %bits, [%at]; st.global.u32 [%out], %bits; ret;
}}"""
    done = load_ptx(text).launch("k", 1, 1, [np.zeros(1, np.uint32)])
    assert isinstance(done, Ran), done
    assert int(done.output(0)[0]) == left

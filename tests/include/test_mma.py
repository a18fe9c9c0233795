"""mma.hpp: PTX's matrix instructions on the virtual gfx942, with the layouts as the PTX manual has them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

from tests.include import hip, virtual

Array = npt.NDArray[Any]

KERNELS = re.findall(r"^MMA\((\w+),", hip.snippet("mma_device"), re.MULTILINE)
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "e4m3": 8, "e5m2": 8, "f64": 64}
RESULT = {"f32": np.float32, "f16": np.float16, "s32": np.int32, "f64": np.float64}
WARPS = 3


@pytest.mark.slow
def test_compiles_everywhere(tmp_path: Path) -> None:
    hip.check_everywhere("#define FEW_KERNELS\n" + hip.snippet("mma_device"), tmp_path)


@pytest.fixture(scope="module")
def module() -> Module:
    return virtual.load("mma_device")


def spots(rows: int, depth: int, bits: int) -> tuple[Array, Array]:
    """Row and k of each element of A in the order of lanes and registers: PTX ISA, "Matrix Fragments for mma".

    A register holds elements that are neighbours along k, lane by lane of a quad; a quad has row lane / 4. The next
    register is 8 rows below, then those that are further along k. B's columns are laid out as A's rows would be, if
    there were 8 of them.
    """
    per = max(1, 32 // bits)
    row, k = [], []
    for lane in range(32):
        for register in range(rows * depth // (32 * per)):
            below, further = register % (rows // 8), register // (rows // 8)
            for item in range(per):
                row.append(lane // 4 + 8 * below)
                k.append(lane % 4 * per + 4 * per * further + item)
    assert len({*zip(row, k, strict=True)}) == rows * depth
    return np.array(row), np.array(k)


def result_spots(rows: int) -> tuple[Array, Array]:
    """Row and column of each element of C and D, likewise."""
    lane, item = np.divmod(np.arange(rows * 8), rows // 4)
    return lane // 4 + 8 * (item // 2), lane % 4 * 2 + item % 2


def fp8_values(kind: str) -> Array:
    """What the 256 bytes of an OCP type mean, by its definition."""
    mantissa, bias = (3, 7) if kind == "e4m3" else (2, 15)
    code = np.arange(256)
    exponent, fraction = (code & 0x7F) >> mantissa, (code & ((1 << mantissa) - 1)) / (1 << mantissa)
    size = np.where(exponent > 0, (1 + fraction) * 2.0 ** (exponent - bias), fraction * 2.0 ** (1 - bias))
    return np.where(code & 0x80, -size, size)


def elements(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[Array, Array]:
    """Bits as they lie in registers, and their values."""
    if kind[0] in "su":
        bits = BITS[kind]
        whole = rng.integers(0, 1 << bits, shape) - (1 << bits - 1 if kind[0] == "s" else 0)
        return (whole & (1 << bits) - 1).astype(np.uint8), whole.astype(np.float64)
    if kind in ("e4m3", "e5m2"):
        codes = rng.choice([code for code in range(256) if code & 0x7F < (0x60 if kind == "e4m3" else 0x50)], shape)
        return codes.astype(np.uint8), fp8_values(kind)[codes]
    values: Array = rng.standard_normal(shape)
    if kind == "f64":
        return values, values
    if kind == "f16":
        return values.astype(np.float16), values.astype(np.float16).astype(np.float64)
    words = values.astype(np.float32).view(np.uint32) >> (drop := 16 if kind == "bf16" else 13) << drop
    exact = words.view(np.float32).astype(np.float64)
    return ((words >> 16).astype(np.uint16) if kind == "bf16" else words), exact


def in_words(items: Array, bits: int) -> Array:
    """Elements one after the other, the first in the lowest bits."""
    if bits == 4:
        items = items[:, ::2] | items[:, 1::2] << 4
    return np.ascontiguousarray(items).view(np.uint32)


@pytest.mark.parametrize("block", [32 * WARPS, 32])
@pytest.mark.parametrize("name", KERNELS)
def test_products(module: Module, name: str, block: int) -> None:
    shape, result, kinds, *saturating = name.split("_")
    m, n, k = map(int, re.split("[mnk]", shape)[1:])
    a_kind, b_kind = re.findall(r"e\dm\d|[a-z]+\d+", kinds * 2)[:2]
    rng = np.random.default_rng(len(name))
    a_bits, a = elements(a_kind, (WARPS, m, k), rng)
    b_bits, b = elements(b_kind, (WARPS, n, k), rng)
    c = rng.integers(-100, 100, (WARPS, m, n)).astype(RESULT[result])
    if saturating:
        c[:] = np.iinfo(np.int32).max - 1000
    rows, columns = result_spots(m)
    row, depth = spots(m, k, BITS[a_kind])
    column, depth_b = spots(8, k, BITS[b_kind])
    arguments = [
        in_words(a_bits[:, row, depth], BITS[a_kind]),
        in_words(b_bits[:, column, depth_b], BITS[b_kind]),
        np.ascontiguousarray(c[:, rows, columns]),
    ]
    working = WARPS - 1  # with blocks of 96 threads, the last wavefront has no work, and is half there
    out = np.full_like(arguments[2], 9)
    words = [x.view(np.uint32) if result == "f16" and i > 1 else x for i, x in enumerate([*arguments, out])]
    done = module.launch(name, 32 * WARPS // block, block, [*words, working])
    assert isinstance(done, Ran), done
    got = done.output(3).view(RESULT[result]).reshape(WARPS, -1)
    want = (a @ b.swapaxes(1, 2) + c)[:, rows, columns]
    if saturating:
        assert (want > 2**31).any()
        want = want.clip(-(2**31), 2**31 - 1)
    rtol, atol = {"f32": (1e-6, 3e-6), "f16": (1e-3, 5e-2), "s32": (0, 0), "f64": (0, 1e-13)}[result]
    atol *= 1000 if "m" in a_kind and result == "f32" else 1  # products of fp8 are that large
    np.testing.assert_allclose(got[:working].astype(np.float64), want[:working], rtol=rtol, atol=atol)
    assert (got[working:] == 9).all()


def _tiles(rng: np.random.Generator) -> tuple[Array, Array]:
    """Four matrices of 8 x 8 for each of three warps, and the places of their rows."""
    return rng.integers(0, 1 << 16, (3, 4, 8, 8)).astype(np.uint16), rng.permutation(40)[:32].astype(np.uint32)


def _in_registers(tiles: Array, count: int, transposed: bool) -> Array:
    """Two elements for each warp, lane and matrix."""
    lane, item = np.divmod(np.arange(64), 2)
    row, column = lane // 4, lane % 4 * 2 + item
    found = tiles[:, :count, column, row] if transposed else tiles[:, :count, row, column]
    return np.ascontiguousarray(found.reshape(3, count, 32, 2).swapaxes(1, 2))


@pytest.mark.parametrize(("name", "count"), [("load_1", 1), ("load_2_trans", 2), ("load_4", 4), ("load_4_trans", 4)])
def test_loads_of_matrices(module: Module, name: str, count: int) -> None:
    tiles, order = _tiles(np.random.default_rng(1))
    want = _in_registers(tiles, count, "trans" in name)
    done = module.launch(name, 1, 96, [tiles, order, np.zeros(96 * count, np.uint32)])
    assert isinstance(done, Ran), done
    np.testing.assert_array_equal(done.output(2), want.view(np.uint32).ravel())


@pytest.mark.parametrize(("name", "count"), [("store_4", 4), ("store_2_trans", 2)])
def test_stores_of_matrices(module: Module, name: str, count: int) -> None:
    tiles, order = _tiles(np.random.default_rng(2))
    held = _in_registers(tiles, count, "trans" in name).view(np.uint32)
    done = module.launch(name, 1, 96, [held, order, np.zeros(96 * count * 8, np.uint32)])
    assert isinstance(done, Ran), done
    np.testing.assert_array_equal(done.output(2)[: 96 * count], tiles[:, :count].copy().view(np.uint32).ravel())


def test_matrices_transposed_in_registers(module: Module) -> None:
    tiles, _ = _tiles(np.random.default_rng(3))
    held, want = (_in_registers(tiles, 1, turned).view(np.uint32) for turned in (False, True))
    done = module.launch("transposed", 1, 96, [held, np.zeros(96, np.uint32)])
    assert isinstance(done, Ran), done
    np.testing.assert_array_equal(done.output(1), want.ravel())


@pytest.mark.parametrize(("kind", "one"), [("e4m3", 0x38), ("e5m2", 0x3C)])
def test_every_byte_of_fp8(module: Module, kind: str, one: int) -> None:
    """Rows of A with one byte each, eight to a product, times one."""
    values = fp8_values(kind)
    infinite = values == 2.0**16 if kind == "e5m2" else np.zeros(256, bool)
    values[np.abs(values) >= (480 if kind == "e4m3" else 2.0**16)] = np.nan
    values[infinite], values[np.roll(infinite, 128)] = np.inf, -np.inf
    b = np.zeros((32, 2, 4), np.uint8)
    b[:4, 0, 0] = one
    got = []
    for first in range(0, 256, 8):
        a = np.zeros((32, 4, 4), np.uint8)
        a[::4, 0, 0] = first + np.arange(8)
        arguments = [a.view(np.uint32), b.view(np.uint32), np.zeros(128, np.float32), np.zeros(128, np.float32), 1]
        done = module.launch(f"m16n8k32_f32_{kind}", 1, 32, arguments)
        assert isinstance(done, Ran), done
        got.append(done.output(3).reshape(32, 4)[::4, 0])
    np.testing.assert_array_equal(np.concatenate(got), values.astype(np.float32))

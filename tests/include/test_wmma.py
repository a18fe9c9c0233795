"""wmma.hpp: compiled everywhere, executed on the virtual gfx942, against products made by numpy."""

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

CASES = re.findall(r"^KERNEL\((\w+),", hip.snippet("wmma_device"), re.MULTILINE)
STORED = {"bf16": np.uint16, "s8": np.int8, "u8": np.uint8, "tf32": np.float32, "f64": np.float64}
RESULTS = {
    **dict.fromkeys(("s8", "u8"), ("i", "i")),
    "f64": ("d", "d"),
    "half": ("e", "e"),
    "halffloat": ("e", "f"),
    "floathalf": ("f", "e"),
}
"""Types of C and D, as numpy spells them; both float if not listed."""
WARPS = 5
"""Two and a half wavefronts: the last is half there, or has a half without work."""


@pytest.mark.slow
def test_compiles_everywhere(tmp_path: Path) -> None:
    text = "#define FEW_KERNELS\n" + hip.snippet("wmma_device")
    hip.check_everywhere(text, tmp_path)
    assert hip.compiled(text, tmp_path, target="gfx908").returncode == 0  # its MFMA for bfloat16 is another one


@pytest.fixture(scope="module")
def module() -> Module:
    return virtual.load("wmma_device")


def _elements(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Values of a type of elements, as float64."""
    if kind in ("s8", "u8"):
        low, high = (-128, 128) if kind == "s8" else (0, 256)
        return rng.integers(low, high, shape).astype(np.float64)
    values = rng.standard_normal(shape)
    if kind == "f64":
        return values
    if kind in ("bf16", "tf32"):
        drop = 16 if kind == "bf16" else 13
        return (values.astype(np.float32).view(np.uint32) >> drop << drop).view(np.float32).astype(np.float64)
    return values.astype(np.float16).astype(np.float64)


def _stored(values: Array, kind: str) -> Array:
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(STORED.get(kind, np.float16))


def _laid_out(tiles: Array, by_row: bool, stride: int, filler: Array | float) -> Array:
    """Tiles in memory: rows (or columns) `stride` elements apart, something else between them."""
    lines = tiles if by_row else tiles.swapaxes(1, 2)
    out = np.full((*lines.shape[:2], stride), filler, tiles.dtype)
    out[:, :, : lines.shape[2]] = lines
    return np.ascontiguousarray(out)


class Product:
    """The arguments of one kernel, and what it has to give."""

    def __init__(self, name: str, seed: int, warps: int, turned: bool) -> None:
        self.kind, shape, order = name.split("_")
        m, n, k = map(int, shape.split("x"))
        rng = np.random.default_rng(seed)
        self.a = _elements(self.kind, (warps, m, k), rng)
        self.b = _elements(self.kind, (warps, k, n), rng)
        c_type, d_type = RESULTS.get(self.kind, ("f", "f"))
        c = rng.integers(-1000, 1000, (warps, m, n)).astype(c_type)
        self.want = self.a @ self.b + c
        self.turned, self.m, self.n = turned, m, n
        left = _laid_out(_stored(self.a, self.kind), order[0] == "r", (k if order[0] == "r" else m) + 16, 77)
        right = _laid_out(_stored(self.b, self.kind), order[1] == "r", (n if order[1] == "r" else k) + 32, 99)
        into = _laid_out(c, not turned, (m if turned else n) + 8, 5)
        sizes = (left[0].nbytes, right[0].nbytes, into[0].size)
        strides = (left.shape[2], right.shape[2], into.shape[2])
        self.result = np.full(into.shape, 3, d_type)
        self.arguments = [left, right, into, self.result, *strides, int(turned), 0, *sizes, warps]

    def check(self, done: Any, warps: int) -> None:
        assert isinstance(done, Ran), done
        got = done.output(3).reshape(self.result.shape)
        width = self.m if self.turned else self.n
        assert (got[:, :, width:] == 3).all(), "written beside the tile"
        assert (got[warps:] == 3).all(), "written by a warp without work"
        tiles = got[:warps, :, :width]
        tiles = tiles.swapaxes(1, 2) if self.turned else tiles
        tolerance = {"e": 1e-3, "f": 3e-7, "d": 1e-15, "i": 0.0}[got.dtype.char]
        magnitude = np.abs(self.a) @ np.abs(self.b) + 1000
        assert (np.abs(tiles - self.want[:warps]) <= tolerance * magnitude[:warps]).all()


@pytest.mark.parametrize("name", CASES)
def test_products(module: Module, name: str) -> None:
    product = Product(name, 1, WARPS, turned=False)
    product.check(module.launch(name, 1, 32 * WARPS, product.arguments), WARPS)
    product = Product(name, 2, WARPS, turned=True)
    product.arguments[-1] = WARPS - 2  # wavefronts: both halves, one half, none
    product.check(module.launch(name, 1, 32 * WARPS, product.arguments), WARPS - 2)


@pytest.mark.parametrize(("kind", "sign"), [("s8", 1), ("s8", -1), ("u8", 1)])
def test_saturation(module: Module, kind: str, sign: int) -> None:
    name = f"{kind}_16x16x16_rc"
    for saturate in (0, 1):
        product = Product(name, 3, 2, turned=False)
        top = np.iinfo(np.int32).max if sign > 0 else np.iinfo(np.int32).min
        product.arguments[2][:] = top - sign * 1000
        want = product.a @ product.b + float(top - sign * 1000)
        product.want = np.clip(want, -(2**31), 2**31 - 1) if saturate else (want + 2**31) % 2**32 - 2**31
        assert (product.want != want).any()
        product.arguments[8] = saturate
        product.check(module.launch(name, 1, 64, product.arguments), 2)


def _halves(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float16)


@pytest.mark.parametrize("trips", [(3, 3), (1, 4), (5, 2), (1, 6, 2, 2), (2, 1, 4)])
def test_warps_of_a_wavefront_that_leave_a_loop_apart(module: Module, trips: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    a, b = _halves(rng, 8, 16, 16), _halves(rng, 8, 16, 16)
    counts = np.array(trips, np.int32)
    out, rest = np.zeros((len(trips), 16, 16), np.float32), np.zeros((32 * len(trips), 32), np.float32)
    done = module.launch("rounds", 1, 32 * len(trips), [a, b, out, rest, counts])
    assert isinstance(done, Ran), done
    products = a.astype(np.float64) @ b.astype(np.float64).swapaxes(1, 2)
    for warp, count in enumerate(trips):
        weights = np.array([2.0 if i % 3 == 1 else 1.0 for i in range(count)])
        want = (products[:count] * weights[:, None, None]).sum(0)
        np.testing.assert_allclose(done.output(2).reshape(out.shape)[warp], want, atol=1e-4)
        lanes = np.arange(32)
        early = a[count - 1][:, lanes % 16].T.astype(np.float32)
        got = done.output(3).reshape(rest.shape)[32 * warp : 32 * warp + 32]
        np.testing.assert_array_equal(got[:, :16], early)


@pytest.mark.parametrize("block", [32, 64, 96, 192])
def test_warps_of_a_wavefront_in_other_roles(module: Module, block: int) -> None:
    rng = np.random.default_rng(5)
    a, b, x = _halves(rng, 16, 16), _halves(rng, 16, 16), rng.standard_normal((24, 32)).astype(np.float32)
    warps = block // 32
    zero = np.zeros((warps, 16, 16), np.float32)
    done = module.launch("roles", 1, block, [a, b, zero, x])
    alone = module.launch("roles", 1, 64, [np.zeros_like(a), b, np.zeros((2, 16, 16), np.float32), x])
    assert isinstance(done, Ran) and isinstance(alone, Ran), (done, alone)
    product = a.astype(np.float64) @ b.astype(np.float64).T
    base = alone.output(2).reshape(2, 16, 16).astype(np.float64)
    for warp, got in enumerate(done.output(2).reshape(zero.shape)):
        want = base[0] + product + warp if warp % 2 == 0 else base[1] + warp - 1
        np.testing.assert_allclose(got, want, atol=1e-4)


def test_elementwise_work(module: Module) -> None:
    rng = np.random.default_rng(6)
    a, b = _halves(rng, 16, 16), _halves(rng, 16, 16)
    done = module.launch("elementwise", 1, 32, [a, b, np.zeros((16, 16), np.float16)])
    assert isinstance(done, Ran), done
    want = (1 - 2 * a.astype(np.float64) @ b.astype(np.float64).T) / 2
    np.testing.assert_allclose(done.output(2).reshape(16, 16).T, want, rtol=1e-3, atol=1e-3)


def test_rounding_to_tf32(module: Module) -> None:
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.standard_normal(60) * 10.0 ** rng.integers(-30, 30, 60), [np.inf, -np.inf, 0.0, -0.0]])
    x = x.astype(np.float32)
    done = module.launch("to_tf32", 1, 64, [x, np.zeros(64, np.float32)])
    assert isinstance(done, Ran), done
    finite = x[:60].astype(np.float64)
    step = 2.0 ** (np.floor(np.log2(np.abs(finite))) - 10)
    want = np.sign(finite) * np.floor(np.abs(finite) / step + 0.5) * step
    np.testing.assert_array_equal(done.output(1)[:60], want.astype(np.float32))
    np.testing.assert_array_equal(done.output(1)[60:], x[60:])


_HEAD, _KERNELS = hip.snippet("wmma_device").split("// Kernels from here on.\n")
_ROUNDS = re.search(r'^extern "C" __global__ void rounds.*?^}', _KERNELS, re.MULTILINE | re.DOTALL)
WRONG = {
    "the group's next quad": ("matrix.hpp", "bits<half4_>(b), c, Cbsz, Abid", "bits<half4_>(b), c, Cbsz, Abid ^ 1"),
    "all lanes, always": ("matrix.hpp", "bool const whole = here", "bool const whole = true || here"),
    "the next lane's row": ("matrix.hpp", "of_group<Cbsz, 4 * Abid + 1>(a)", "of_group<Cbsz, 4 * Abid + 2>(a)"),
    "blocks swapped": ("wmma.hpp", "return 4u * (2u * (quad() / columns) + block)", "return 8u * block"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", sorted(WRONG))
def test_mistakes_are_seen(mistake: str) -> None:
    header, old, new = WRONG[mistake]
    assert _ROUNDS is not None
    text = _HEAD + "KERNEL(f16_16x16x16_rc, 16, 16, 16, half, row_major, col_major, float, float)\n" + _ROUNDS[0]
    wrong = virtual.load_text(text, change=(header, old, new))
    with pytest.raises(AssertionError):
        test_products(wrong, "f16_16x16x16_rc")
        test_warps_of_a_wavefront_that_leave_a_loop_apart(wrong, (1, 4))

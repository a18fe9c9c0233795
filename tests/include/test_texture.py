"""texture.hpp: ported kernels on the virtual gfx942, the originals on the virtual PTX device, and a model in numpy."""

from __future__ import annotations

import itertools
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.cases.sampling import Sampling
from porter.validation.devices.core.image import ImageArgument
from porter.validation.devices.core.result import Fault, FaultKind, NotRun, Ran
from porter.validation.devices.gfx942.texture import LAYOUT
from porter.validation.devices.ptx import open_device
from porter.validation.toolchain.nvcc import ptx as compile_ptx
from porter.validation.toolchain.result import Assembled

from porter.project.port import Request, port_to
from porter.settings import Choices
from tests.include import hip, texture_model, virtual

Array = npt.NDArray[Any]
SNIPPET = Path(__file__).parent / "snippets" / "texture_device.cu"
N = 320


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The snippet as porter ports it."""
    folder = tmp_path_factory.mktemp("texture")
    (folder / "project").mkdir()
    shutil.copy(SNIPPET, folder / "project" / "texture_device.cu")
    answer = port_to(Request(folder / "project", Choices(), 1), folder / "port", None)
    assert not answer.run.crashes
    return (folder / "port" / "texture_device.hip").read_text()


@pytest.fixture(scope="module")
def gfx942(ported: str) -> Any:
    return virtual.load_text(ported)


@pytest.fixture(scope="module")
def ptx() -> Any:
    device = open_device()
    if isinstance(device, NotRun):
        pytest.skip(device.reason)
    made = compile_ptx(SNIPPET, "sm_80", ("-w",), 300)
    if not isinstance(made, Assembled):
        pytest.skip(str(made))
    module = device.compile(made.text)
    assert not isinstance(module, NotRun), module
    return module


def coordinates(rng: np.random.Generator, sizes: tuple[int, ...], normalized: bool) -> Array:
    """Inside, around the edges, on texels and between, far away, and no numbers at all."""
    span = 1.0 if normalized else np.array([*sizes, 1, 1][:3], np.float64)
    at = rng.uniform(-1.5, 2.5, (N, 3)) * span
    on_texels = rng.integers(-3, 9, (N, 3)) / (2.0 if not normalized else 2.0 * np.array([*sizes, 1, 1][:3]))
    at = np.where(rng.random((N, 3)) < 0.4, on_texels, at)
    odd = np.array([np.nan, np.inf, -np.inf, 1e9, -1e9, 3e38, -3e38, -1e-10, 1e-40, -0.0, 16777217.0, 0.49999997])
    at = np.where(rng.random((N, 3)) < 0.08, rng.choice(odd, (N, 3)), at)
    return at.astype(np.float32)


def texels(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Any bits for integers; floats of several magnitudes."""
    if np.dtype(dtype).kind == "f":
        return (rng.standard_normal(shape) * 10.0 ** rng.integers(-2, 3, shape)).astype(dtype)
    info = np.iinfo(dtype)
    made: Array = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return made


def launched(module: Any, kernel: str, image: ImageArgument, at: Array, out: Array) -> Array:
    done = module.launch(kernel, N // 64, 64, [image, at, out, N])
    assert isinstance(done, Ran), f"{kernel}: {done}"
    return done.output(2)


def both(gfx942: Any, ptx: Any, kernel: str, image: ImageArgument, at: Array, out: Array) -> Array:
    """The result, which is the same on both devices, bit for bit."""
    port, original = (launched(module, kernel, image, at, out) for module in (gfx942, ptx))
    words = f"u{out.dtype.itemsize}"
    np.testing.assert_array_equal(port.view(words), original.view(words), f"{kernel} {image.sampling}")
    return port


def check(gfx942: Any, ptx: Any, kernel: str, image: ImageArgument, seed: int, out: Array, dimensions: int) -> None:
    rng = np.random.default_rng(seed)
    at = coordinates(rng, image.sizes[:dimensions], image.sampling.normalized)
    if image.sampling.layered:
        at[:, 2] = rng.integers(-1, image.layers + 2, N)
    got = both(gfx942, ptx, kernel, image, at, out)
    want, slack = texture_model.sampled(image, at, dimensions)
    wanted = out.shape[1] if out.ndim > 1 else 1
    want, slack = want[:, :wanted], slack[:, :wanted]
    error = np.abs(got.reshape(N, wanted).astype(np.float64) - want)
    assert (error <= slack).all(), (kernel, image.sampling, at[(error > slack).any(axis=1)][:3])


MODES = ("clamp", "wrap", "mirror", "border")


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_planes_of_floats(gfx942: Any, ptx: Any, linear: bool, normalized: bool) -> None:
    for seed, (x, y) in enumerate(itertools.product(MODES, MODES)):
        rng = np.random.default_rng(seed)
        shape = (int(rng.integers(1, 6)), int(rng.integers(1, 9)))
        sampling = Sampling(linear=linear, normalized=normalized, address=(x, y, "clamp"))
        image = ImageArgument(texels(rng, shape, "float32"), sampling)
        check(gfx942, ptx, "plane_float", image, seed, np.zeros(N, np.float32), 2)
        if seed % 5 == 0:
            at = coordinates(rng, image.sizes[:2], normalized)
            by_value, by_pointer = (
                launched(gfx942, name, image, at, np.zeros(N, np.float32)) for name in ("plane_float", "by_pointer")
            )
            np.testing.assert_array_equal(by_value, by_pointer)


def test_texels_without_weight_do_not_count(gfx942: Any, ptx: Any) -> None:
    """A sample at a texel's centre is that texel, whatever its neighbours are."""
    image = ImageArgument(np.array([[1, np.inf, 2], [np.nan, 3, -np.inf]], np.float32), Sampling(linear=True))
    at = coordinates(np.random.default_rng(9), (3, 2), False)
    at[:6, :2] = [(x + 0.5, y + 0.5) for y in range(2) for x in range(3)]
    got = both(gfx942, ptx, "plane_float", image, at, np.zeros(N, np.float32))
    np.testing.assert_array_equal(got[:6], image.texels.reshape(-1))
    assert np.isnan(got[6:]).any() and np.isinf(got[6:]).any()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "float16", "float32"])
def test_formats_read_as_floats(gfx942: Any, ptx: Any, dtype: str) -> None:
    """Fractions of integers, halves, floats; one, two and four channels read as four."""
    for seed, (channels, linear) in enumerate(itertools.product((1, 2, 4), (False, True))):
        rng = np.random.default_rng(seed)
        shape = (4, 5) if channels == 1 else (4, 5, channels)
        sampling = Sampling(channels, linear=linear, fractions=True, address=("border", "clamp", "clamp"))
        image = ImageArgument(texels(rng, shape, dtype), sampling)
        check(gfx942, ptx, "plane_float4", image, seed, np.zeros((N, 4), np.float32), 2)


def test_every_fraction(gfx942: Any, ptx: Any) -> None:
    """value / range of all 8 and 16 bit integers is rounded as a division."""
    for dtype in ("uint8", "int8", "uint16", "int16"):
        info, count = np.iinfo(dtype), 1 << (8 * np.dtype(dtype).itemsize)
        every = np.arange(info.min, info.max + 1).astype(dtype)
        image = ImageArgument(every, Sampling(fractions=True, memory="linear"))
        at = np.zeros((count, 3), np.float32)
        at[:, 0] = np.arange(count)
        out = np.zeros(count, np.float32)
        want = np.maximum(every.astype(np.float32) / np.float32(info.max), np.float32(-1))
        for module in (gfx942, ptx):
            done = module.launch("fetch_float", count // 64, 64, [image, at, out, count])
            assert isinstance(done, Ran), done
            np.testing.assert_array_equal(done.output(2), want)


INTEGERS = (("plane_uchar4", "uint8", 4), ("plane_short2", "int16", 2), ("plane_int", "int32", 1))


@pytest.mark.parametrize(("kernel", "dtype", "channels"), INTEGERS)
def test_integers(gfx942: Any, ptx: Any, kernel: str, dtype: str, channels: int) -> None:
    for seed, mode in enumerate(MODES):
        rng = np.random.default_rng(seed)
        shape = (3, 7) if channels == 1 else (3, 7, channels)
        sampling = Sampling(channels, normalized=bool(seed % 2), address=(mode, mode, mode))
        out = np.zeros((N, channels), dtype)
        check(gfx942, ptx, kernel, ImageArgument(texels(rng, shape, dtype), sampling), seed, out, 2)


def test_integers_of_another_size_are_widened(gfx942: Any, ptx: Any) -> None:
    for dtype in ("uint8", "int8", "uint16", "int16"):
        image = ImageArgument(texels(np.random.default_rng(1), (3, 7), dtype), Sampling())
        check(gfx942, ptx, "plane_int", image, 1, np.zeros((N, 1), np.int32), 2)


@pytest.mark.parametrize("linear", [False, True])
def test_lines_volumes_and_layers(gfx942: Any, ptx: Any, linear: bool) -> None:
    for seed, (mode, normalized) in enumerate(itertools.product(MODES, (False, True))):
        rng = np.random.default_rng(seed)
        sampling = Sampling(2, linear=linear, normalized=normalized, address=(mode, "clamp", mode))
        line = ImageArgument(texels(rng, (9, 2), "float32"), sampling)
        check(gfx942, ptx, "line_float2", line, seed, np.zeros((N, 2), np.float32), 1)
        sampling = Sampling(linear=linear, normalized=normalized, address=(mode, "wrap", "mirror"))
        volume = ImageArgument(texels(rng, (2, 3, 4), "float32"), sampling)
        check(gfx942, ptx, "volume_float", volume, seed, np.zeros(N, np.float32), 3)
        sampling = Sampling(linear=linear, normalized=normalized, address=(mode, mode, mode), layered=True)
        layers = ImageArgument(texels(rng, (3, 2, 5), "float32"), sampling)
        check(gfx942, ptx, "layers_float", layers, seed, np.zeros(N, np.float32), 2)


@pytest.mark.parametrize(("kernel", "dtype", "channels"), [("fetch_float", "float32", 1), ("fetch_uchar2", "uint8", 2)])
def test_fetches_give_zero_outside(gfx942: Any, ptx: Any, kernel: str, dtype: str, channels: int) -> None:
    rng = np.random.default_rng(3)
    shape = (100,) if channels == 1 else (100, channels)
    image = ImageArgument(texels(rng, shape, dtype), Sampling(channels, memory="linear"))
    at = np.zeros((N, 3), np.float32)
    at[:, 0] = rng.integers(-50, 200, N)
    at[:4, 0] = [-2147483648.0, 2147483520.0, -1, 100]
    got = both(gfx942, ptx, kernel, image, at, np.zeros((N, *shape[1:]), dtype))
    index = at[:, 0].astype(np.int64)
    inside = (index >= 0) & (index < 100)
    want = np.where(inside.reshape(-1, *[1] * (len(shape) - 1)), image.texels[np.clip(index, 0, 99)], 0)
    np.testing.assert_array_equal(got, want.astype(dtype))


def test_levels_and_gradients_choose_nothing(gfx942: Any, ptx: Any) -> None:
    rng = np.random.default_rng(5)
    image = ImageArgument(texels(rng, (4, 4), "float32"), Sampling(linear=True))
    at = coordinates(rng, (4, 4), False)
    got = both(gfx942, ptx, "level_float", image, at, np.zeros(N, np.float32))
    plain, turned = (
        launched(gfx942, "plane_float", image, np.ascontiguousarray(a), np.zeros(N, np.float32))
        for a in (at, at[:, [1, 0, 2]])
    )
    np.testing.assert_array_equal(got, plain + turned)


def test_gathers(gfx942: Any, ptx: Any) -> None:
    """(x, y+1), (x+1, y+1), (x+1, y), (x, y) of the four texels that a linear filter would use."""
    for seed, mode in enumerate(MODES):
        rng = np.random.default_rng(seed)
        sampling = Sampling(4, linear=True, address=(mode, "clamp", "clamp"), normalized=bool(seed % 2))
        image = ImageArgument(texels(rng, (3, 5, 4), "float32"), sampling)
        at = coordinates(rng, image.sizes[:2], sampling.normalized)
        got = both(gfx942, ptx, "gather_float4", image, at, np.zeros((N, 4), np.float32))
        np.testing.assert_array_equal(got, texture_model.gathered(image, at)[:, :, 1].astype(np.float32))
        whole = ImageArgument(texels(rng, (3, 5), "int32"), Sampling(address=(mode, mode, mode)))
        at = coordinates(rng, image.sizes[:2], False)
        got = both(gfx942, ptx, "gather_int4", whole, at, np.zeros((N, 4), np.int32))
        np.testing.assert_array_equal(got, texture_model.gathered(whole, at)[:, :, 0].astype(np.int32))


MOVES = (
    ("move_plane", (5, 7), "float32", 1, False, 2, "zero"),
    ("move_clamped", (4, 6, 4), "uint8", 4, False, 2, "clamp"),
    ("move_volume", (3, 4, 5, 2), "int16", 2, False, 3, "zero"),
    ("move_layers", (3, 4, 5), "uint8", 1, True, 3, "clamp"),
    ("move_line", (9, 4), "float32", 4, False, 1, "zero"),
)


@pytest.mark.parametrize(("kernel", "shape", "dtype", "channels", "layered", "dimensions", "mode"), MOVES)
def test_surfaces(
    gfx942: Any,
    ptx: Any,
    kernel: str,
    shape: tuple[int, ...],
    dtype: str,
    channels: int,
    layered: bool,
    dimensions: int,
    mode: str,
) -> None:
    rng = np.random.default_rng(7)
    sampling = Sampling(channels, layered, surface=True)
    source, target = (ImageArgument(texels(rng, shape, dtype), sampling) for _ in range(2))
    sides = [*source.sizes[: dimensions - layered], *[source.layers] * layered]
    texel = source.texels.dtype.itemsize * channels
    from_, to = (np.stack([rng.integers(-2, side + 2, 40) for side in sides], axis=1) for _ in range(2))
    to = to[
        np.sort(np.unique(np.clip(to, 0, np.array(sides) - 1), axis=0, return_index=True)[1])
    ]  # no two write to one
    count = len(to)
    want = target.texels.reshape(*reversed(sides), channels).copy()
    for a, b in zip(from_[:count], to, strict=True):
        a_in, b_in = (bool(((p >= 0) & (p < sides)).all()) for p in (a, b))
        a, b = np.clip(a, 0, np.array(sides) - 1), np.clip(b, 0, np.array(sides) - 1)
        value = source.texels.reshape(want.shape)[tuple(reversed(a))]
        if b_in or mode == "clamp":
            want[tuple(reversed(b))] = value if a_in or mode == "clamp" else 0
    moves = [np.zeros((64, 3), np.int32) for _ in range(2)]
    for place, given in zip(moves, (from_[:count], to), strict=True):
        place[:count, :dimensions] = given * np.array([texel, 1, 1][:dimensions])
    for module in (gfx942, ptx):
        done = module.launch(kernel, 1, 64, [source, target, *moves, count])
        assert isinstance(done, Ran), done
        np.testing.assert_array_equal(done.output(1), want.reshape(shape))
        np.testing.assert_array_equal(done.output(0), source.texels)


def test_surfaces_trap_outside(gfx942: Any, ptx: Any) -> None:
    surface = ImageArgument(np.arange(12, dtype=np.float32).reshape(3, 4), Sampling(surface=True))
    for module in (gfx942, ptx):
        inside, outside = np.zeros((1, 3), np.int32), np.array([[4, 3, 0]], np.int32)
        assert isinstance(module.launch("move_trapped", 1, 1, [surface, surface, inside, inside, 1]), Ran)
        for places in ((inside, outside), (outside, inside)):
            done = module.launch("move_trapped", 1, 1, [surface, surface, *places, 1])
            assert isinstance(done, Fault) and done.kind is FaultKind.TRAP, done
        done = module.launch("read_by_pointer", 1, 4, [surface, np.zeros(4, np.float32), 4])
        assert isinstance(done, Ran) and done.output(1).tolist() == [0, 1, 2, 3]


@pytest.mark.slow
def test_compiles_everywhere(ported: str, tmp_path: Path) -> None:
    hip.check_everywhere(ported, tmp_path)
    for tree in hip.trees():
        done = hip.compiled(hip.snippet("texture_host"), tmp_path, tree=tree, host=True)
        assert done.returncode == 0, done.stderr


def test_layout_of_the_description() -> None:
    """What the virtual device writes has the offsets that the header has."""
    fields = "data row slice magic layers size channels channel_bytes kind linear range inverse mode scale border"
    described = "porter::detail::TextureDescriptor"
    lines = "".join(f"  o[{i}] = offsetof({described}, {name});\n" for i, name in enumerate(fields.split()))
    source = (
        '#include <hip/hip_runtime.h>\n#include <cstddef>\n#include "porter/texture.hpp"\n'
        f"__global__ void k(unsigned *o) {{\n{lines}  o[15] = sizeof({described});\n}}\n"
    )
    done = virtual.load_text(source).launch("_Z1kPj", 1, 1, [np.zeros(16, np.uint32)])
    assert isinstance(done, Ran), done
    offsets = [0, 8, 16, 24, 28, 32, 44, 48, 52, 56, 60, 64, 68, 80, 92, 112]
    assert done.output(0).tolist() == offsets
    assert struct.calcsize(LAYOUT) == offsets[-1]

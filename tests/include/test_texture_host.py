"""texture_host.hpp over a runtime of malloc and memcpy, and texture_reference.hpp on the virtual gfx942."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from porter.validation.cases.sampling import Sampling
from porter.validation.devices.core.image import ImageArgument
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module
from porter.validation.devices.gfx942.texture import LAYOUT, describe

from tests.include import hip, virtual
from tests.outside import require

ADDRESS = 4096


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """What the program prints, by the first word of its lines."""
    compiler = require("C++ compiler")
    tree = hip.require_tree("hip/hip_runtime_api.h")
    program = tmp_path_factory.mktemp("runtime") / "program"
    source = Path(__file__).parent / "snippets" / "texture_runtime.cpp"
    flags = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-D__HIP_PLATFORM_AMD__", "-I", str(hip.HEADERS), *tree.flags)
    built = subprocess.run([compiler, *flags, str(source), "-o", str(program)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    lines: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        lines.setdefault(word, []).append(rest)
    return lines


BYTES = np.arange(1, 65, dtype=np.uint8)


def test_copies(said: Mapping[str, list[str]]) -> None:
    rows = np.stack([BYTES[k : k + 10] for k in (0, 12, 24)])
    assert bytes.fromhex(said["rows"][0]) == rows.tobytes()
    flat = rows.reshape(-1).copy()
    flat[4:24] = BYTES[30:50]
    assert bytes.fromhex(said["spilled"][0]) == flat.tobytes(), "a copy without a pitch goes on in the next row"
    assert bytes.fromhex(said["moved"][0]) == flat.reshape(3, 10)[1, 2:].tobytes()
    volume = BYTES[:48].reshape(4, 2, 3, 2)
    assert bytes.fromhex(said["part"][0]) == volume[2:4, 1, 1:3].tobytes()
    assert said["info"] == ["32 2 3 2 4 1"]


def test_what_is_not_there_is_refused_and_nothing_leaks(said: Mapping[str, list[str]]) -> None:
    """Parts outside of arrays, filtered integers, three channels, sRGB, arrays that HIP made."""
    assert said["refused"] == ["1"] * 9
    assert said["alive"] == ["0"]
    assert "another" not in said and "failed" not in said


@pytest.mark.parametrize(
    ("name", "shape", "dtype", "sampling", "row"),
    [
        ("linear", (16,), "float32", Sampling(memory="linear"), 64),
        ("fractions", (32,), "int16", Sampling(linear=True, fractions=True, memory="linear"), 64),
        (
            *("volume", (4, 2, 3, 2), "uint8"),
            *(Sampling(2, False, True, True, True, ("wrap", "mirror", "border")), 128),
        ),
        (
            "layers",
            (4, 2, 3),
            "float32",
            Sampling(linear=True, layered=True, address=("wrap", "mirror", "border")),
            128,
        ),
    ],
)
def test_descriptions_are_those_of_the_virtual_device(
    said: Mapping[str, list[str]], name: str, shape: tuple[int, ...], dtype: str, sampling: Sampling, row: int
) -> None:
    image = ImageArgument(np.zeros(shape, dtype), sampling)
    want = list(struct.unpack(LAYOUT, describe(image, ADDRESS)))
    want[1:3] = [row, row * image.sizes[1]]  # rows are padded in an array
    if name in ("volume", "layers"):
        want[-3] = 0.5  # its border has a colour
    assert list(struct.unpack(LAYOUT, bytes.fromhex(said[name][0]))) == want


REFERENCES = """
#include <hip/hip_runtime.h>
#include "porter/texture_reference.hpp"
PORTER_TEXTURE_REFERENCE(table, float);
PORTER_TEXTURE_REFERENCE(image, uchar4, 2, hipReadModeNormalizedFloat);
extern "C" __global__ void read(const float *at, float *out, float4 *pixels, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  out[i] = porter::tex1Dfetch(table, i - 3);
  pixels[i] = porter::tex2D(image, at[2 * i], at[2 * i + 1]);
}
PORTER_SURFACE_REFERENCE(canvas, void, 2);
extern "C" __global__ void paint(float *seen, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  porter::surf2Dread(&seen[i], canvas, 4 * i, 1);
  porter::surf2Dwrite(2 * porter::surf2Dread<float>(canvas, 4 * i, 1), canvas, 4 * i, 0);
}
int bind(float *p, hipArray_t a) {
  image.filterMode = hipFilterModeLinear;
  image.addressMode[0] = hipAddressModeClamp;
  return porter::hipBindTexture(0, table, p, 64) + porter::hipBindTextureToArray(image, a) +
         porter::hipBindSurfaceToArray(canvas, a);
}
"""


@pytest.fixture(scope="module")
def references() -> Module:
    return virtual.load_text(REFERENCES)


def test_references_read_what_they_are_bound_to(references: Module) -> None:
    rng = np.random.default_rng(1)
    module, memory = references, references.device.memory
    table = rng.standard_normal(20).astype(np.float32)
    image = ImageArgument(rng.integers(0, 256, (1, 4, 4), np.uint8), Sampling(4, linear=True, fractions=True))
    for name, bound in (("table", ImageArgument(table, Sampling(memory="linear"))), ("image", image)):
        texels = memory.allocate(bound.texels.nbytes, name)
        memory.write(texels.base, bound.texels)
        symbol = next(s for s in module.symbols if f"porter_texture_{name}" in s)
        module.write_symbol(symbol, np.frombuffer(describe(bound, texels.base), np.uint8))
    at = np.zeros((32, 2), np.float32)
    at[:, 0] = rng.integers(0, 16, 32) / 4
    outputs = (np.zeros(32, np.float32), np.zeros((32, 4), np.float32))
    done = module.launch("read", 1, 32, [at, *outputs, 32])
    assert isinstance(done, Ran), done
    np.testing.assert_array_equal(done.output(1), np.concatenate([np.zeros(3), table, np.zeros(9)]).astype(np.float32))
    left = np.floor(at[:, 0] - 0.5).astype(int)
    part = (at[:, 0] - 0.5 - left)[:, None]
    pixels = image.texels[0] / np.float32(255)
    want = (1 - part) * pixels[np.clip(left, 0, 3)] + part * pixels[np.clip(left + 1, 0, 3)]
    np.testing.assert_allclose(done.output(2), want, rtol=1e-6)


def test_surface_references_read_and_write(references: Module) -> None:
    texels = np.arange(24, dtype=np.float32).reshape(3, 8)
    image = ImageArgument(texels, Sampling(surface=True))
    memory = references.device.memory
    block = memory.allocate(texels.nbytes, "canvas")
    memory.write(block.base, texels)
    symbol = next(s for s in references.symbols if "porter_texture_canvas" in s)
    references.write_symbol(symbol, np.frombuffer(describe(image, block.base), np.uint8))
    done = references.launch("paint", 1, 8, [np.zeros(8, np.float32), 8])
    assert isinstance(done, Ran), done
    np.testing.assert_array_equal(done.output(0), texels[1])
    after = memory.read_array(block.base, texels)
    np.testing.assert_array_equal(after, np.stack([2 * texels[1], texels[1], texels[2]]))


@pytest.mark.slow
def test_references_compile_everywhere(tmp_path: Path) -> None:
    hip.check_everywhere(REFERENCES, tmp_path)
    for tree in hip.trees():
        done = hip.compiled(REFERENCES, tmp_path, tree=tree, host=True)
        assert done.returncode == 0, done.stderr

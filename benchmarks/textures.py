"""What a texture access of a port costs: run as `python -m benchmarks.textures`.

Compiles one access per kernel for gfx942, runs it on the virtual device, and prints how many instructions one wave
takes beyond those of a kernel that only computes with the coordinates.
"""

from __future__ import annotations

import sys

import numpy as np
from porter.validation.cases.sampling import Sampling
from porter.validation.devices.core.image import ImageArgument
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.gfx942 import Module, open_device
from porter.validation.toolchain.clang import assemble_text
from porter.validation.toolchain.result import Assembled

from porter.engine.support import header_bytes

KERNEL = """
extern "C" __global__ void {name}(porter::texture_object t, const float* at, {type}* out) {{
  const int i = threadIdx.x;
  const float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
  out[i] = {access};
}}
"""
ACCESSES = {
    "none_float": ("float", "x + y + z"),
    "none_float4": ("float4", "make_float4(x, y, z, x)"),
    "none_uchar4": ("uchar4", "make_uchar4(x, y, z, x)"),
    "fetch_float": ("float", "porter::tex1Dfetch<float>(t, (int)x) + y + z"),
    "plane_float": ("float", "porter::tex2D<float>(t, x, y) + z"),
    "plane_float4": ("float4", "porter::tex2D<float4>(t, x, y)"),
    "plane_uchar4": ("uchar4", "porter::tex2D<uchar4>(t, x, y)"),
    "volume_float": ("float", "porter::tex3D<float>(t, x, y, z)"),
}
LINEAR = Sampling(linear=True)
WRAPPED = Sampling(linear=True, normalized=True, address=("wrap", "wrap", "wrap"))
ROWS: tuple[tuple[str, str, tuple[int, ...], str, Sampling], ...] = (
    ("tex1Dfetch<float>", "fetch_float", (64,), "float32", Sampling(memory="linear")),
    ("tex2D<float>, point", "plane_float", (8, 8), "float32", Sampling()),
    ("tex2D<float>, linear", "plane_float", (8, 8), "float32", LINEAR),
    ("tex2D<float>, linear, wrapped", "plane_float", (8, 8), "float32", WRAPPED),
    ("tex2D<float> of halves, linear", "plane_float", (8, 8), "float16", LINEAR),
    ("tex2D<float4>, linear", "plane_float4", (8, 8, 4), "float32", Sampling(4, linear=True)),
    ("tex2D<float4> of bytes, linear", "plane_float4", (8, 8, 4), "uint8", Sampling(4, linear=True, fractions=True)),
    ("tex2D<uchar4>, point", "plane_uchar4", (8, 8, 4), "uint8", Sampling(4)),
    ("tex3D<float>, point", "volume_float", (8, 8, 8), "float32", Sampling()),
    ("tex3D<float>, linear", "volume_float", (8, 8, 8), "float32", LINEAR),
)
OUTPUTS = {"float": ((64,), "float32"), "float4": ((64, 4), "float32"), "uchar4": ((64, 4), "uint8")}


def compiled() -> Module | str:
    """All kernels, or why there are none."""
    own = [header_bytes(f"porter/{name}").decode() for name in ("texture_types.hpp", "texture.hpp")]
    headers = "".join(own).replace('#include "texture_types.hpp"\n', "")
    kernels = "".join(KERNEL.format(name=name, type=of, access=text) for name, (of, text) in ACCESSES.items())
    made = assemble_text(f"#include <hip/hip_runtime.h>\n{headers}{kernels}", options=("-Wno-everything",))
    device = open_device()
    if not isinstance(made, Assembled):
        return str(made)
    module = device if isinstance(device, NotRun) else device.compile(made.text)
    return module if isinstance(module, Module) else str(module)


def counted(module: Module, kernel: str, image: ImageArgument) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Scalar, vector and memory instructions of one wave."""
    shape, dtype = OUTPUTS[ACCESSES[kernel][0]]
    at = np.random.default_rng(1).uniform(0, 4, (64, 3)).astype(np.float32)
    done = module.launch(kernel, 1, 64, [image, at, np.zeros(shape, dtype)])
    assert isinstance(done, Ran), done
    found = done.counters.instructions
    return np.array([found.get(kind, 0) for kind in ("scalar", "vector", "global")])


def main() -> int:
    """Prints the table."""
    module = compiled()
    if isinstance(module, str):
        print(module, file=sys.stderr)
        return 1
    print("| access | scalar | vector | loads of texels |\n|---|---|---|---|")
    for name, kernel, shape, dtype, sampling in ROWS:
        image = ImageArgument(np.ones(shape, dtype), sampling)
        extra = counted(module, kernel, image) - counted(module, f"none_{ACCESSES[kernel][0]}", image)
        print(f"| {name} | {extra[0]} | {extra[1]} | {extra[2]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

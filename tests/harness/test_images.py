"""Texture and surface objects of the real devices' harness: what it asks the runtime for, on one that keeps it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from porter.validation.cases.sampling import Sampling
from porter.validation.devices.core.image import ImageArgument
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.device import Launch

from tests.harness.conftest import Compile

pytestmark = pytest.mark.slow

SOURCE = r"""
#include <cuda_runtime.h>
__global__ void seen(cudaTextureObject_t t, int* out, unsigned char* texels, int bytes) {
  const FakeObject& o = *reinterpret_cast<const FakeObject*>(t);
  const cudaTextureDesc& d = o.reading;
  const cudaArray* a = o.resource.res.array.array;
  const auto& strip = o.resource.res.linear;
  const auto& rows = o.resource.res.pitch2D;
  const bool linear = o.resource.resType == cudaResourceTypeLinear;
  const bool pitched = o.resource.resType == cudaResourceTypePitch2D;
  const cudaChannelFormatDesc f = linear ? strip.desc : pitched ? rows.desc : a->format;
  const cudaExtent e = linear ? cudaExtent{strip.sizeInBytes, 0, 0}
                     : pitched ? cudaExtent{rows.width, rows.height, 0} : a->extent;
  const int flags = linear || pitched ? 0 : int(a->flags);
  const int found[] = {
      f.x, f.y, f.z, f.w, f.f, int(e.width), int(e.height), int(e.depth), flags, o.resource.resType,
      d.addressMode[0], d.addressMode[1], d.addressMode[2], d.filterMode, d.readMode, d.normalizedCoords};
  std::memcpy(out, found, sizeof found);
  out[16] = fake_alive;
  if (linear) std::memcpy(texels, strip.devPtr, bytes);
  else if (pitched) {
    const size_t row = bytes / e.height;
    for (size_t y = 0; y < e.height; ++y)
      std::memcpy(texels + y * row, static_cast<char*>(rows.devPtr) + y * rows.pitchInBytes, row);
  } else std::memcpy(texels, a->texels.data(), bytes);
}
__global__ void doubled(cudaSurfaceObject_t s, int n) {
  const FakeObject& o = *reinterpret_cast<const FakeObject*>(s);
  if (!o.surface || o.resource.res.array.array->flags != cudaArraySurfaceLoadStore) return;
  float* texels = reinterpret_cast<float*>(o.resource.res.array.array->texels.data());
  for (int i = 0; i < n; ++i) texels[i] *= 2;
}
"""
PLAIN = """
#include <cuda_runtime.h>
__global__ void plain(unsigned long long t, int* out) { out[0] = t != 0; }
"""
UNSIGNED, SIGNED, FLOAT = 1, 0, 2
ARRAY, LINEAR, PITCHED = 0, 2, 3
WRAP, CLAMP, MIRROR, BORDER = 0, 1, 2, 3


def _launch(*arguments: Any) -> Launch:
    return Launch((1, 1, 1), (1, 1, 1), arguments)


CASES = (
    (
        *((5, 7), "float32", Sampling(linear=True)),
        [32, 0, 0, 0, FLOAT, 7, 5, 0, 0, ARRAY, CLAMP, CLAMP, CLAMP, 1, 0, 0],
    ),
    (
        *((3, 4, 5, 4), "uint8", Sampling(4, fractions=True, normalized=True, address=("wrap", "mirror", "border"))),
        [8, 8, 8, 8, UNSIGNED, 5, 4, 3, 0, ARRAY, WRAP, MIRROR, BORDER, 0, 1, 1],
    ),
    (
        *((3, 4, 5, 2), "int16", Sampling(2, layered=True)),
        [16, 16, 0, 0, SIGNED, 5, 4, 3, 1, ARRAY, CLAMP, CLAMP, CLAMP, 0, 0, 0],
    ),
    (
        *((3, 5), "float16", Sampling(layered=True)),
        [16, 0, 0, 0, FLOAT, 5, 0, 3, 1, ARRAY, CLAMP, CLAMP, CLAMP, 0, 0, 0],
    ),
    (
        *((9,), "int32", Sampling(memory="linear")),
        [32, 0, 0, 0, SIGNED, 36, 0, 0, 0, LINEAR, CLAMP, CLAMP, CLAMP, 0, 0, 0],
    ),
    (
        *((3, 5), "uint16", Sampling(memory="pitched")),
        [16, 0, 0, 0, UNSIGNED, 5, 3, 0, 0, PITCHED, CLAMP, CLAMP, CLAMP, 0, 0, 0],
    ),
)


@pytest.mark.parametrize(("shape", "dtype", "sampling", "wanted"), CASES)
def test_what_the_runtime_is_asked_for(
    compile_fake: Compile, shape: tuple[int, ...], dtype: str, sampling: Sampling, wanted: list[int]
) -> None:
    kernel = compile_fake(SOURCE, "seen")
    texels = np.arange(1, 1 + int(np.prod(shape))).astype(dtype).reshape(shape)
    image, copied = ImageArgument(texels, sampling), np.zeros(texels.nbytes, np.uint8)
    for _ in range(2):  # what the first launch made is gone at the second
        done = kernel.launch(_launch(image, np.zeros(17, np.int32), copied, texels.nbytes), 60)
        assert isinstance(done, Ran), done
        assert done.output(1).tolist() == [*wanted, 1 + (sampling.memory == "array")]
        assert done.output(2).tobytes() == texels.tobytes()
        assert done.outputs[0] is None


def test_surfaces_come_back(compile_fake: Compile) -> None:
    texels = np.arange(12, dtype=np.float32).reshape(3, 4)
    done = compile_fake(SOURCE, "doubled").launch(_launch(ImageArgument(texels, Sampling(surface=True)), 12), 60)
    assert isinstance(done, Ran), done
    np.testing.assert_array_equal(done.output(0), 2 * texels)


def test_a_file_that_names_no_object(compile_fake: Compile) -> None:
    image = ImageArgument(np.zeros((2, 2), np.float32), Sampling())
    done = compile_fake(PLAIN, "plain").launch(_launch(image, np.zeros(1, np.int32)), 60)
    assert isinstance(done, NotRun) and "names no texture" in done.reason

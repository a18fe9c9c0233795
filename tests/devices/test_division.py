"""Division as compilers expand it, where the quotient has to be scaled: denormal, overflowing, far apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.gfx942 import Module, open_device
from porter.validation.toolchain.clang import Missing, assemble_text

SOURCE = """
template <typename T> __device__ void divide(const T* a, const T* b, T* out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = a[i] / b[i];
}
extern "C" __global__ void single(const float* a, const float* b, float* out) { divide(a, b, out); }
extern "C" __global__ void twice(const double* a, const double* b, double* out) { divide(a, b, out); }
"""


@pytest.mark.parametrize(("kernel", "dtype"), [("single", np.float32), ("twice", np.float64)])
def test_quotients_of_all_sizes(kernel: str, dtype: Any) -> None:
    device, made = open_device(), assemble_text(SOURCE)
    if isinstance(device, NotRun) or isinstance(made, Missing):
        pytest.skip(getattr(device, "reason", "") or getattr(made, "reason", ""))
    module = device.compile(made.text)  # type: ignore[union-attr]
    assert isinstance(module, Module), module
    rng = np.random.default_rng(3)
    bits = np.uint32 if dtype is np.float32 else np.uint64
    a, b = (rng.integers(0, np.iinfo(bits).max, 64 * 100, bits).view(dtype) for _ in range(2))
    tiny = np.finfo(dtype).smallest_normal
    a[:64], b[:64] = tiny * rng.random(64).astype(dtype), 1 + rng.random(64).astype(dtype)
    a[64:128], b[64:128] = np.finfo(dtype).max * rng.random(64).astype(dtype), rng.random(64).astype(dtype)
    done = module.launch(kernel, 100, 64, [a, b, np.zeros_like(a)])
    assert isinstance(done, Ran), done
    with np.errstate(all="ignore"):
        want = a / b
    got = done.output(2)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite & ~np.isnan(want)], want[~finite & ~np.isnan(want)])
    # Denormal quotients are rounded twice here; all others are right to the last bit.
    apart = np.abs(got[finite] - want[finite])
    assert np.all(apart <= np.spacing(np.abs(want[finite])))
    assert np.mean(apart > 0) < 0.01

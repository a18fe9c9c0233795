"""Kernels with PyTorch's types, as extensions have them: accessors, TensorInfo, half types, AT_DISPATCH."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from porter.validation.cases.file import load_cases
from porter.validation.cases.views import view_of
from porter.validation.draft.init import draft
from porter.validation.draft.torch import View, view_in
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.torch_headers import find_torch_headers
from porter.validation.verdict.outcome import Status

from tests.validate.running import by_name, run

SOURCE = """\
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/detail/TensorInfo.cuh>

namespace {
template <typename scalar_t>
__device__ __forceinline__ scalar_t twice(scalar_t x) { return x + x; }

template <typename scalar_t>
__global__ void rows_kernel(
    const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> in,
    const at::cuda::detail::TensorInfo<int64_t, int> order,
    torch::PackedTensorAccessor64<scalar_t, 2, torch::RestrictPtrTraits> out) {
  using opmath_t = at::opmath_type<scalar_t>;
  const int row = blockIdx.x, col = threadIdx.x;
  const int from = at::cuda::detail::IndexToOffset<int64_t, int, -1>::get(row, order);
  const bool inside = col < in.size(1);
  const opmath_t value = inside ? opmath_t(in[order.data[from]][col]) : opmath_t(0);
  opmath_t sum = value;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, value, offset) * 0;
  if (inside) out[row][col] = static_cast<scalar_t>(twice(sum));
}
}  // namespace

torch::Tensor rows(torch::Tensor in, torch::Tensor order) {
  auto out = torch::empty_like(in);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "rows", ([&] {
    rows_kernel<scalar_t><<<in.size(0), 32>>>(
        in.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        at::cuda::detail::getTensorInfo<int64_t, int>(order),
        out.packed_accessor64<scalar_t, 2, torch::RestrictPtrTraits>());
  }));
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("rows", &rows); }
"""
CASES = """\
schema = "porter-case/1"
source = "rows.cu"

[[case]]
name = "bfloat16"
kernel = "(anonymous namespace)::rows_kernel<at::BFloat16>"
sweep = { rows = [1, 5], cols = [1, 31] }
grid = "rows"
block = 32
reference = "reference.py:rows"
arguments = [
  "in values: bfloat16[rows, cols] {view=accessor32, pitch=40}",
  "in order: int64[rows] {view=tensor_info32} = reference.py:backwards",
  "out result: bfloat16[rows, cols] {view=accessor64, layout=column}",
]

[[case]]
name = "wrong_size"
kernel = "rows_kernel<float>"
grid = 1
block = 32
arguments = [
  "in values: float32[1, 3] {view=accessor64}",
  "in order: int64[1] {view=tensor_info32} = zeros",
  "out result: float32[1, 3] {view=accessor64}",
]
"""
REFERENCE = """\
import numpy as np
import torch


def backwards(shape):
    return np.arange(shape[0])[::-1]


def rows(values, order):
    return 2 * values.double()[order]
"""


def test_layouts_are_those_of_pytorch() -> None:
    array = np.zeros(6, np.float32)
    view = view_of("accessor32", array, (2, 3), (3, 1))
    assert view.word(4096) == struct.pack("<Qiiii", 4096, 2, 3, 3, 1)
    info = view_of("tensor_info64", array, (6,), (1,)).word(1)
    assert len(info) == 416
    assert struct.unpack_from("<Qq", info) == (1, 6)
    assert struct.unpack_from("<q", info, 8 + 25 * 8) == (1,)
    assert struct.unpack_from("<i", info, 8 + 50 * 8) == (1,)
    with pytest.raises(ValueError, match="26 dimensions"):
        view_of("tensor_info32", array, (1,) * 26, (1,) * 26)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            "const torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits>",
            View("accessor32", "scalar_t", 3),
        ),
        ("at::PackedTensorAccessor64<float,1>", View("accessor64", "float", 1)),
        ("torch::PackedTensorAccessor<at::Half,2,torch::RestrictPtrTraits,size_t>", View("accessor64", "at::Half", 2)),
        ("at::GenericPackedTensorAccessor<float, 2, at::DefaultPtrTraits, int32_t>", View("accessor32", "float", 2)),
        ("at::cuda::detail::TensorInfo<const int64_t, unsigned int>", View("tensor_info32", "const int64_t", 1)),
        ("TensorInfo<c10::complex<float>, uint64_t>", View("tensor_info64", "c10::complex<float>", 1)),
        ("const float *", None),
        ("at::TensorBase", None),
    ],
)
def test_views_in_parameters(written: str, expected: View | None) -> None:
    assert view_in(written) == expected


def test_the_draft_knows_them(tmp_path: Path) -> None:
    (tmp_path / "rows.cu").write_text(SOURCE)
    text = draft(tmp_path / "rows.cu").text
    assert 'kernel = "rows_kernel<float>"' in text
    assert '"in in: float32[TODO, TODO] {view=accessor32}"' in text
    assert '"in order: int64[TODO] {view=tensor_info32}"' in text or "order: int64[TODO] {view=tensor_info32}" in text
    assert '"out out: float32[TODO, TODO] {view=accessor64}"' in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("in x: float32[3] {view=accessor16}", "view must be one of"),
        ("scalar n: int32 {view=accessor32} = 1", "array"),
    ],
)
def test_views_that_cannot_be(tmp_path: Path, line: str, message: str) -> None:
    head = 'schema = "porter-case/1"\nsource = "a.cu"\n[[case]]\nkernel = "k"\ngrid = 1\nblock = 1\n'
    text = f'{head}arguments = ["{line}"]\n'
    (tmp_path / "a.case.toml").write_text(text)
    (tmp_path / "a.cu").write_text("")
    with pytest.raises(Exception, match=message):
        load_cases(tmp_path / "a.case.toml")


@pytest.mark.slow
def test_validated_as_a_single_kernel(tmp_path: Path) -> None:
    headers = find_torch_headers()
    if isinstance(headers, Missing):
        pytest.skip(headers.reason)
    (tmp_path / "rows.cu").write_text(SOURCE)
    (tmp_path / "rows.case.toml").write_text(CASES)
    (tmp_path / "reference.py").write_text(REFERENCE)
    found = by_name(run(tmp_path))
    assert found["bfloat16"].status is Status.PASSED, found["bfloat16"]
    assert found["wrong_size"].status is not Status.PASSED
    assert "argument of 40 bytes where the kernel takes 24" in str(found["wrong_size"])


HELPERS = """
#include <torch/extension.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAContext.h>
#include "names.h"
using namespace project;
using at::cuda::ATenCeilDiv;
template <typename T> __global__ void widen(const T* x, T* y, int n) {
  int rows = at::ceil_div(ATenCeilDiv(n, 2), 2);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) y[i] = twice(x[i]);
}
void launch(at::Tensor x, at::Tensor y) { widen<float><<<2, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), 512); }
"""
HELPERS_CASE = """\
schema = "porter-case/1"
source = "widen.cu"
[[case]]
name = "widen"
kernel = "widen<float>"
grid = 2
block = 64
arguments = ["in x: float32[128]", "inout y: float32[128]", "scalar n: int32 = 512"]
"""


@pytest.mark.slow
def test_helpers_of_pytorch_and_names_of_the_project(tmp_path: Path) -> None:
    headers = find_torch_headers()
    if isinstance(headers, Missing):
        pytest.skip(headers.reason)
    (tmp_path / "widen.cu").write_text(HELPERS)
    (tmp_path / "names.h").write_text(
        "namespace project { template <class T> __device__ T twice(T x) { return x + x; } }\n"
    )
    (tmp_path / "widen.case.toml").write_text(HELPERS_CASE)
    found = by_name(run(tmp_path))
    assert found["widen"].status is Status.PASSED, found["widen"]

"""Kernels of one name that differ in their parameters: a case names the types, and each is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.draft.init import draft
from porter.validation.draft.trying import text_of, try_sizes
from porter.validation.run.porting import in_hip
from porter.validation.toolchain.entry import address_of, without_types

from tests.validate.running import by_name, devices, run

SOURCE = """#include <cuda_bf16.h>
namespace ns {
__global__ void add(float* __restrict__ a, int n) { if (threadIdx.x < n) a[threadIdx.x] += 1.0f; }
__global__ void add(__nv_bfloat16* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = __float2bfloat16(2.0f); }
__global__ void alone(int* a);
__global__ void alone(int* a) { a[threadIdx.x] = 1; }
template <typename T> __global__ void made(T* a) { a[threadIdx.x] = 1; }
}
"""


@pytest.mark.parametrize(
    ("kernel", "address", "name"),
    [
        ("ns::k<float, 4>", "&ns::k<float, 4>", "ns::k<float, 4>"),
        ("k<(Mode)0>", "&k<(Mode)0>", "k<(Mode)0>"),
        ("ns::k(float*, int)", "static_cast<void (*)(float*, int)>(&ns::k)", "ns::k"),
        ("k()", "static_cast<void (*)()>(&k)", "k"),
        ("k<4>(const int (*)[4])", "static_cast<void (*)(const int (*)[4])>(&k<4>)", "k<4>"),
    ],
)
def test_the_address_of_one(kernel: str, address: str, name: str) -> None:
    assert address_of(kernel) == address and without_types(kernel) == name


def test_types_of_parameters_have_other_names_in_the_port() -> None:
    assert in_hip("ns::add(__nv_bfloat16*, int)") == "ns::add(__hip_bfloat16*, int)"


def test_only_kernels_that_share_a_name_say_their_types(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)
    assert [part.kernel for part in draft(tmp_path / "k.cu", assuming=True).parts] == [
        "ns::add(float* __restrict__, int)",
        "ns::add(__nv_bfloat16*, int)",
        "ns::alone",
        "ns::made<float>",
    ]


@pytest.mark.slow
def test_each_runs_and_agrees(tmp_path: Path) -> None:
    devices()
    (tmp_path / "k.cu").write_text(SOURCE)
    made = draft(tmp_path / "k.cu", ("add",), assuming=True)
    tried = try_sizes(made)
    assert all(one.chosen for one in tried), [one.reason for one in tried]
    path = tmp_path / "k.case.toml"
    path.write_text(text_of(made, tried))
    found = by_name(run(path))
    assert len(found) == 2 and {case.status.value for case in found.values()} == {"passed"}

"""Variables of templates in constant memory: `mask<float>`, with the type that the kernel's argument gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.draft.init import draft
from porter.validation.draft.trying import try_sizes

from tests.validate.running import run

SOURCE = """
template <typename T> __constant__ T mask[4];
template <typename T> __constant__ T other[4];
template <typename T> __global__ void k(T* out) { out[threadIdx.x] = mask<T>[threadIdx.x % 4]; }
int main() { double* d; cudaMalloc(&d, 64 * sizeof(double)); k<double><<<1, 64>>>(d); }
"""


def test_the_variable_is_that_of_the_kernels_arguments(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)
    (part,) = draft(tmp_path / "k.cu").parts
    assert '  "in mask<double>: float64[4]",' in part.after and "other<" not in part.text()


@pytest.mark.slow
def test_it_is_set_on_both_sides(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)
    made = draft(tmp_path / "k.cu")
    (only,) = try_sizes(made)
    assert only.chosen and not only.order
    (tmp_path / "k.case.toml").write_text(made.head() + only.text)
    (case,) = run(tmp_path / "k.case.toml").report.cases
    assert case.status.value == "passed", case.reason
    assert case.pairs[0].agreement == "bitwise"


def test_an_argument_has_a_plain_name(tmp_path: Path) -> None:
    from porter.validation.cases.case import CaseError
    from porter.validation.cases.file import load_cases

    (tmp_path / "k.cu").write_text(SOURCE)
    text = 'schema = "porter-case/1"\nsource = "k.cu"\n[[case]]\nkernel = "k<int>"\ngrid = 1\nblock = 1\n'
    (tmp_path / "k.case.toml").write_text(text + 'arguments = ["out out<int>: int32[1]"]\n')
    with pytest.raises(CaseError, match="no identifier"):
        load_cases(tmp_path / "k.case.toml")


def test_variables_that_nothing_writes_have_values_where_there_is_no_launch(tmp_path: Path) -> None:
    text = (
        "__device__ float weights[8];\n__device__ int taken;\n__device__ int started = 0;\n"
        "__device__ volatile int lock;\n__device__ double other[4];\n__device__ float __shared__like(float x);\n"
        "__global__ void k(float* out) {\n  if (atomicAdd((int*)&taken, 1) >= 0 && !lock && !started)\n"
        "    out[threadIdx.x] = weights[threadIdx.x % 8]; }\n"
    )
    (tmp_path / "k.cu").write_text(text)
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    assert [line for line in part.after if "weights" in line] == ['  "in weights: float32[8]",']
    assert not any(name in part.text() for name in ("in taken", "in lock", "in started", "in other"))
    (tmp_path / "k.cu").write_text(text + "int main() { float* d; cudaMalloc(&d, 256); k<<<1, 64>>>(d); }\n")
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    assert "weights" not in part.text()  # a program that starts it does with its variables as it likes
    (tmp_path / "k.cu").write_text(text.replace("    out", "    weights[0] = out[0], out"))
    (part,) = draft(tmp_path / "k.cu", assuming=True).parts
    assert "in weights" not in part.text()

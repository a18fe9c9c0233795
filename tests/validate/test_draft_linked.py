"""Functions whose bodies other sources of a project have: drafts put these before a kernel's source."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.draft.init import draft
from porter.validation.draft.linked import linked_sources
from porter.validation.draft.trying import text_of, try_sizes
from porter.validation.draft.unit import read_unit

from tests.validate.running import by_name, devices, run

FILES = {
    "Makefile": "\n",
    "deep.hpp": "#pragma once\n__device__ float deeper(float x);\n",
    "twice.hpp": '#pragma once\n#include "deep.hpp"\n__host__ __device__ float twice(float x);\n',
    "deep.cu": '#include "deep.hpp"\n__device__ float deeper(float x) { return x + 1; }\n',
    "twice.cu": '#include "twice.hpp"\n__host__ __device__ float twice(float x) { return 2 * deeper(x); }\n',
    "k.cu": '#include "twice.hpp"\n__global__ void k(float* a) { a[threadIdx.x] = twice(a[threadIdx.x]); }\n'
    "__global__ void other(float* a) { a[threadIdx.x] = 1; }\n",
}


def project(folder: Path, **changed: str) -> Path:
    files = FILES | {f"{name}.cu": text for name, text in changed.items()}
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder / "k.cu"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("__device__ float twice(float x);\n", []),  # nothing calls it
        ("__device__ float twice(float x);\n__device__ float twice(float x) { return x; }\nf(twice(1));", []),
        ("__device__ float unknown(float x);\nf(unknown(1));", []),
        ("float twice(float x);\nf(twice(1));", []),  # the host's
        ("__device__ float twice(float x);\nf(twice(1));", ["twice.cu", "deep.cu"]),
    ],
)
def test_what_is_linked(text: str, wanted: list[str], tmp_path: Path) -> None:
    assert [path.name for path in linked_sources(project(tmp_path), text).values()] == wanted


def test_two_bodies_are_none(tmp_path: Path) -> None:
    path = project(tmp_path, again="__device__ float twice(float x) { return x; }\n")
    assert not read_unit(path, everywhere=True).linked
    assert not read_unit(project(tmp_path)).linked  # unasked


def test_only_kernels_that_call_it_get_it(tmp_path: Path) -> None:
    k, other = draft(project(tmp_path), assuming=True).parts
    assert 'cuda_options = ["-include", "deep.cu", "-include", "twice.cu"]' in k.after
    assert 'hip_options = ["-include", "deep.hip", "-include", "twice.hip"]' in k.after
    assert "linked with twice.cu, which defines twice" in k.notes
    assert not any("-include" in line for line in other.after)


@pytest.mark.slow
def test_original_and_port_run_with_it(tmp_path: Path) -> None:
    devices()
    made = draft(project(tmp_path), ("k",), assuming=True)
    tried = try_sizes(made)
    assert all(one.chosen for one in tried), [one.reason for one in tried]
    path = tmp_path / "k.case.toml"
    path.write_text(text_of(made, tried))
    assert {case.status.value for case in by_name(run(path)).values()} == {"passed"}

"""What a draft takes from the project around a source: folders of headers, and features that its build switches on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.draft.conditions import guards_of
from porter.validation.draft.host import Host
from porter.validation.draft.includers import folder_in_project
from porter.validation.draft.init import draft
from porter.validation.draft.repairing import repair


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("src/core/k.cu", "src/config/include/config/config.hpp", "src/core/utils/pos.hpp", "old/utils/pos.hpp",
                 "a/same.h", "b/same.h", "a/one.h"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n")
    (tmp_path / "CMakeLists.txt").write_text("\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("config/config.hpp", "src/config/include"),
        ("utils/pos.hpp", "src/core"),  # the nearest
        ("one.h", "a"),
        ("same.h", None),  # two of that name, and nothing tells which
        ("fig/config.hpp", None),
        ("vector", None),
        ("../a/one.h", None),
    ],
)
def test_the_folder_of_a_header(name: str, folder: str | None, project: Path) -> None:
    found = folder_in_project(project / "src" / "core" / "k.cu", name)
    assert found == (None if folder is None else project / folder)


def test_no_project_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "one.h").write_text("\n")
    assert folder_in_project(tmp_path / "k.cu", "one.h") is None


def test_a_folder_of_projects_is_none(project: Path) -> None:
    (project / "Makefile").write_text("\n")
    source = project / "third" / "party" / "lib" / "src" / "k.cu"
    source.parent.mkdir(parents=True)
    (source.parent.parent / "LICENSE").write_text("\n")
    assert folder_in_project(source, "one.h") is None


def test_a_draft_has_the_folder(project: Path) -> None:
    source = project / "src" / "core" / "k.cu"
    source.write_text('#include "config/config.hpp"\n__global__ void k(float* x) { x[threadIdx.x] = SCALE; }\n')
    (project / "src/config/include/config/config.hpp").write_text("#define SCALE 2\n")
    head = draft(source, assuming=True).head()
    assert 'include_dirs = ["../config/include"]' in head and 'root = ".."' in head


@pytest.mark.parametrize(
    ("before", "guards"),
    [
        ("#ifdef CUDA\n", ("CUDA",)),
        ("#if defined(CUDA) && defined FFT\n", ("CUDA", "FFT")),
        ("#if FFT\n", ("FFT",)),
        ("#ifdef A\n#endif\n#ifdef B\n", ("B",)),
        ("#ifdef A\n#else\n", ()),
        ("#ifndef K_H\n#define K_H\n", ()),
        ("#if !defined(A)\n", ()),
        ("#if defined(A) || defined(B)\n", ()),
        ("#ifdef __CUDACC__\n", ()),
        ("#define A\n#ifdef A\n", ()),
        ("#if VERSION > 3\n", ()),
        ("#if PRECISION == 2\n", ("PRECISION=2",)),
        ("#define PRECISION 1\n#if PRECISION == 2\n", ()),
    ],
)
def test_features_around_a_kernel(before: str, guards: tuple[str, ...]) -> None:
    text = f"{before}__global__ void k() {{}}\n"
    assert guards_of(Host(text), text.index("__global__")) == guards


def test_they_are_switched_on_where_the_kernel_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text("#ifdef FFT\n__global__ void k(float* x) { x[threadIdx.x] = 1; }\n#endif\n")
    (part,) = draft(source, assuming=True).parts
    part = replace(part, defines=("N=4",))
    made = repair(part, 'error: identifier "k" is undefined')
    assert made is not None and 'defines = ["N=4", "FFT"]' in made.after
    assert made.notes[-1] == "nothing defines it, and the kernel is left out: FFT"
    assert repair(part, 'error: identifier "kk" is undefined') is None
    assert repair(made, 'error: identifier "k" is undefined') is None

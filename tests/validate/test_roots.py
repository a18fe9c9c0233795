"""Which folder is ported: that of the case file, the one it names as root, or what a given tree is the port of."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.verdict.outcome import Status
from typer.testing import CliRunner

from porter.cli import app
from tests.validate.running import by_name, run, write_case

HELPER = "#pragma once\n__device__ inline int twice(int x) { return __shfl_xor_sync(0xffffffffu, x, 1) + x; }\n"
KERNEL = '#include "../../include/twice.cuh"\n__global__ void k(int* y) { y[threadIdx.x] = twice(threadIdx.x); }\n'
CASE = 'grid = 1\nblock = 64\narguments = ["out y: int32[64]"]\n'


def project(folder: Path, head: str = "") -> Path:
    """A kernel that includes a header of the project's from outside of its folder."""
    (folder / "include").mkdir(parents=True)
    (folder / "include/twice.cuh").write_text(HELPER)
    (folder / "src/kernels").mkdir(parents=True)
    return write_case(folder / "src/kernels", "k", CASE, KERNEL, head)


@pytest.mark.slow
def test_a_header_outside_of_what_is_ported_says_what_to_name(tmp_path: Path) -> None:
    case = by_name(run(project(tmp_path)))["k"]
    assert case.status is Status.NOT_RUN and 'is not ported with it: say root = "../.." in' in case.reason


@pytest.mark.slow
def test_with_the_root_it_runs(tmp_path: Path) -> None:
    assert by_name(run(project(tmp_path, 'root = "../.."')))["k"].status is Status.PASSED


@pytest.mark.slow
def test_a_given_tree_is_the_port_of_a_folder_around_the_case(tmp_path: Path) -> None:
    path = project(tmp_path / "project")
    done = CliRunner().invoke(app, ["port", str(tmp_path / "project"), "-o", str(tmp_path / "port")])
    assert done.exit_code == 0, done.output
    case = by_name(run(path, tree=tmp_path / "port"))["k"]
    assert case.status is Status.PASSED
    assert any(side.source == str(tmp_path / "port/src/kernels/k.hip") for side in case.sides)


@pytest.mark.slow
def test_another_tree_is_not_taken_for_it(tmp_path: Path) -> None:
    path = project(tmp_path / "project")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/k2.cu").write_text(KERNEL.split("\n")[1] + "\n")
    CliRunner().invoke(app, ["port", str(tmp_path / "other"), "-o", str(tmp_path / "port")])
    case = by_name(run(path, tree=tmp_path / "port"))["k"]
    assert case.status is Status.NOT_RUN and "k.cu is not in the ported tree" in case.reason

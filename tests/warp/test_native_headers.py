"""Kernels whose helpers stand in a header of the project: the kernel gets copies of its own, the header stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.cpp.headers import header_reader
from porter.engine.file import port
from porter.project.port import Request, preview
from porter.settings import Choices, with_overrides
from porter.source import SourceFile
from tests.warp import execution, shapes
from tests.warp.execution import Geometry

NAMES = ("block_no_launch", "block_functors_96", "welford_block")
SHAPES = {shape.fixture.name: shape for shape in shapes.load()}


def _split(name: str, folder: Path) -> None:
    """A shape as a project: what stands before its kernel becomes a header."""
    text = SHAPES[name].fixture.text.partition("*/")[2]
    place = text.index("__global__")
    (folder / "kernels").mkdir()
    (folder / "kernels" / "helpers.cuh").write_text(f"#pragma once\nnamespace helpers {{\n{text[:place]}}}\n")
    users = f'#include "helpers.cuh"\nnamespace app {{\nusing namespace helpers;\n{text[place:]}}}\n'
    (folder / "kernels" / "main.cu").write_text(users)


def _ported(folder: Path, path: str, warp: str) -> str:
    context = replace(execution.context(warp), included_file=header_reader(folder, ()))
    done = port(SourceFile(path, (folder / path).read_bytes()), context, path)
    return done.data.decode()


def _whole(folder: Path, warp: str) -> str:
    """The ported file with the ported header in it; the include of CUDA's header is in the namespace no more."""
    header = _ported(folder, "kernels/helpers.cuh", warp).replace("#pragma once\n", "")
    lines = [line for line in header.splitlines() if not line.startswith("#include")]
    included = "\n".join(line for line in header.splitlines() if line.startswith("#include"))
    main = _ported(folder, "kernels/main.cu", warp)
    return main.replace('#include "helpers.cuh"\n', f"{included}\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize("name", NAMES)
def test_a_helper_of_a_header_is_copied(name: str, tmp_path: Path) -> None:
    _split(name, tmp_path)
    main = _ported(tmp_path, "kernels/main.cu", "native")
    assert "_64_main" in main
    assert "namespace helpers {" in main
    assert "wide" not in _ported(tmp_path, "kernels/helpers.cuh", "native")
    (tmp_path / "kernels" / "main.cu").write_text(main)
    assert _ported(tmp_path, "kernels/main.cu", "native") == main


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_copy_computes_the_same(name: str, tmp_path: Path) -> None:
    _split(name, tmp_path)
    fixture = SHAPES[name].fixture
    geometry = Geometry(fixture.launch.grid, fixture.launch.block, fixture.launch.shared)
    loaded = [execution.module(_whole(tmp_path, warp)) for warp in ("preserve", "native")]
    for seed in range(2):
        arguments = execution.inputs(fixture, seed)
        execution.agree(*(execution.run(module, fixture, geometry, arguments) for module in loaded))


def test_headers_outside_of_the_project_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "out.cuh").write_text("x")
    inside = tmp_path / "project"
    inside.mkdir()
    (inside / "link.cuh").symlink_to(tmp_path / "out.cuh")
    read = header_reader(inside, ("..",))
    assert read("a.cu", "../out.cuh") is None
    assert read("a.cu", "out.cuh") is None
    assert read("a.cu", "link.cuh") is None


def test_a_project_is_ported_with_its_headers(tmp_path: Path) -> None:
    _split("block_no_launch", tmp_path)
    answer = preview(Request(tmp_path, with_overrides(Choices(), warp="native"), jobs=1))
    data = {path: text.decode() for path, text in answer.run.data.items()}
    assert "sumOfBlock_64_main" in data["kernels/main.cu"]
    assert "porter::shfl_xor_sync" in data["kernels/helpers.cuh"]

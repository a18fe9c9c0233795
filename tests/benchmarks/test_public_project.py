"""How `benchmarks.public_project` judges units that do not compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.diagnostics import CompileError, Location
from benchmarks.explained import Report
from benchmarks.public_project import is_own, nvcc_places, statement_lines, units_of

ORIGINAL = "#include <a.h>\nint x;\ntypedef Policy<\n    1,\n    2> P;\nP p;\n"


def _report(folder: Path) -> Report:
    source, tree = folder / "source", folder / "port"
    source.mkdir()
    tree.mkdir()
    (source / "a.cu").write_text(ORIGINAL)
    (tree / "a.hip").write_text("#include <hip/hip_runtime.h>\n" + ORIGINAL)
    return Report(source, tree, {}, {"a.hip": "a.cu"})


def _errors(report: Report, *lines: int) -> list[CompileError]:
    file = str(report.tree / "a.hip")
    return [CompileError(file, line, "m", (Location(file, line),)) for line in lines]


@pytest.mark.parametrize(
    ("lines", "own"),
    [((4,), True), ((6,), True), ((3, 4), True), ((3,), False), ((7,), False), ((), False)],  # a line more than before
)
def test_a_unit_is_the_projects_own_error_in_a_statement_that_nvcc_refuses(
    tmp_path: Path, lines: tuple[int, ...], own: bool
) -> None:
    report = _report(tmp_path)
    refused = nvcc_places("a.cu(5): error: too many arguments\nb.cu(9): warning #1-D: x\n", report.source)
    assert is_own(report, _errors(report, *lines), refused) is own
    assert not is_own(report, _errors(report, *lines), ())


def test_an_error_outside_of_the_port_is_nobodys(tmp_path: Path) -> None:
    report = _report(tmp_path)
    elsewhere = [CompileError("/usr/include/a.h", 5, "m")]
    assert not is_own(report, elsewhere, nvcc_places("a.cu(5): error: m\n", report.source))


def test_lines_of_a_statement() -> None:
    lines = ORIGINAL.splitlines()
    assert statement_lines(lines, 4) == range(3, 6)
    assert statement_lines(lines, 2) == range(1, 3)
    assert statement_lines(lines, 99) == range(6, 7)


def test_units_are_sources_that_nobody_includes(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text('#include "b.hip"\n')
    for name in ("a.cu", "b.hip", "c.cu", "d.cpp"):
        (tmp_path / name).write_text("")
    assert [path.name for path in units_of(tmp_path, ".")] == ["a.hip", "c.cu"]
    assert units_of(tmp_path, "^x") == []

"""What `benchmarks.extensions` counts."""

from __future__ import annotations

from benchmarks.extensions import Error, Extension, UnitResult, row


def _kernel(line: int, left: str = "none", path: str = "a.cu", name: str = "") -> dict[str, object]:
    return {"path": path, "line": line, "left": left, "qualified": name or f"{path}:{line}"}


def test_kernels_count_once_and_by_place() -> None:
    units = (
        UnitResult("a.hip", "built", 1.0, (("a.cu", 1), ("a.cu", 9))),
        UnitResult("b.hip", "built", 1.0, (("a.cu", 1),)),
        UnitResult("c.hip", "missing-header", 1.0),
    )
    kernels = (_kernel(1), _kernel(5), _kernel(9, "manual"), _kernel(1, path="c.cu"))
    assert row(Extension("x", kernels, units)) == ("x", "4", "3", "1", "2 of 3", "1", "0", "0")


def test_a_declaration_counts_with_its_definition() -> None:
    kernels = (_kernel(1, name="k"), _kernel(7, path="k.cuh", name="k"), _kernel(8, path="k.cuh", name="other"))
    assert row(Extension("x", kernels, (UnitResult("a.hip", "built", 1.0, (("a.cu", 1),)),)))[1:4] == ("3", "3", "2")


def test_a_failure_is_silent_without_manual_findings_at_its_errors() -> None:
    known = UnitResult("a.hip", "failed", 1.0, (), (Error("m", "a.cu:1", ()), Error("m", "a.cu:2", ("A002",))))
    silent = UnitResult("b.hip", "failed", 1.0, (), (Error("m", "b.cu:1", ()),))
    assert row(Extension("x", (), (known, silent)))[-2:] == ("2", "1")

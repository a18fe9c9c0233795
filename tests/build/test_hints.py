"""What is said of names and headers that are not there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.build.hints import hint_on, too_old, why_absent
from porter.validation.build.model import BuildReport, Diagnostic, Status, UnitBuild
from porter.validation.build.model import Related as Finding
from porter.validation.build.report import build_text


def _failed(*hints: str | None, findings: tuple[Finding, ...] = ()) -> UnitBuild:
    errors = tuple(Diagnostic("error", "wrong", None, hint=hint, findings=findings) for hint in hints)
    return UnitBuild("a.hip", "gfx942", None, Status.FAILED, "wrong", (), errors)


def test_a_build_with_headers_that_are_too_old_says_so_once() -> None:
    since = ("hipA is in ROCm since 7.0", "hipB is in ROCm since 6.4", "hipA is in ROCm since 7.0")
    failed = _failed(*(f"{one}, the headers here are of 6.0" for one in since))
    (note,) = too_old((failed, replace(failed, status=Status.BUILT)))
    assert note.startswith("2 names of this port came with ROCm 6.4 to 7.0, and the headers here are of 6.0. ")
    assert "porter headers --suite sid" in note
    assert note.endswith("`porter port --rocm 6.0` ports for these.")


def test_one_name_is_one() -> None:
    (note,) = too_old((_failed("hipA is in ROCm since 6.10, the headers here are of 6.9", None),))
    assert note.startswith("1 name of this port came with ROCm 6.10, and the headers here are of 6.9. ")


@pytest.mark.parametrize(
    "message",
    [
        "no viable conversion from returned value of type 'float' to function return type '__hip_bfloat16'",
        "cannot convert '__hip_bfloat16' to 'float' without a conversion operator",
        "no viable conversion from 'double' to '__hip_bfloat16'",
        "invalid operands to binary expression ('__hip_bfloat16' and '__hip_bfloat16')",
        "invalid operands to binary expression ('float' and 'const __hip_bfloat162')",
    ],
)
def test_bfloat16_that_does_not_calculate_yet(message: str, tmp_path: Path) -> None:
    old, new = _headers(tmp_path / "old", 6, 0), _headers(tmp_path / "new", 6, 2)
    said = hint_on(message, old)
    assert said == "arithmetic of __hip_bfloat16 is in ROCm since 6.2, the headers here are of 6.0"
    assert hint_on(message, new) is hint_on(message, None) is None
    (note,) = too_old((_failed(said),))
    assert note.startswith("1 name of this port came with ROCm 6.2")


@pytest.mark.parametrize(
    "message",
    [
        "no viable conversion from 'float' to 'Mine'",
        "no member named 'x' in '__hip_bfloat16'",
        "use of undeclared identifier '__hip_bfloat16'",
    ],
)
def test_other_errors_are_not_for_want_of_it(message: str, tmp_path: Path) -> None:
    assert hint_on(message, _headers(tmp_path, 6, 0)) is None


def _headers(folder: Path, major: int, minor: int) -> Path:
    (folder / "hip").mkdir(parents=True)
    text = f"#define HIP_VERSION_MAJOR {major}\n#define HIP_VERSION_MINOR {minor}\n"
    (folder / "hip" / "hip_version.h").write_text(text, "utf-8")
    return folder


def test_nothing_is_said_of_headers_where_nothing_failed_for_them() -> None:
    built = replace(_failed("hipA is in ROCm since 7.0, the headers here are of 6.0"), status=Status.BUILT)
    assert too_old((built, _failed("another hint", None))) == ()


def test_a_header_that_newer_ones_have(tmp_path: Path) -> None:
    """Most of a project may include it: the note says once how to get newer headers."""
    old, new = _headers(tmp_path / "old", 6, 0), _headers(tmp_path / "new", 6, 2)
    message = "'hip/hip_fp8.h' file not found"
    said = hint_on(message, old)
    assert said == "hip/hip_fp8.h is in ROCm since 6.2, the headers here are of 6.0"
    assert hint_on(message, new) is hint_on("'mine/hip_fp8.h' file not found", old) is None
    (note,) = too_old((_failed(said), _failed(said)))
    assert note.startswith("1 name of this port came with ROCm 6.2") and "porter headers --suite sid" in note


def test_headers_of_other_libraries_name_their_package() -> None:
    assert why_absent("omp.h").endswith("; Debian has it in libomp-19-dev")
    assert why_absent("boost/graph/a.hpp").endswith("; Debian has it in libboost-dev")
    assert why_absent("mine/omp.h").endswith("neither in the tree nor installed")


def test_a_finding_of_many_errors_is_printed_once() -> None:
    left = Finding("A002", "manual", "no counterpart")
    report = BuildReport("port", (), (_failed(None, None, None, findings=(left,)),), (), 1.0, "none", ())
    assert build_text(report).count("A002 manual: no counterpart") == 1

"""`porter check --programs`: the `[[program]]`s that a change may touch, built and run on both sides and compared."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from porter.check.proofs import PASSED, Touched, counted, step_of
from porter.check.result import Proof, Step

if TYPE_CHECKING:
    from porter.validation.programs.agreement import Compared

_TOLD_ONLY = (".md", ".rst")
"""No build reads them."""
_COULD_NOT = frozenset({"not-run", "unsupported", "too-long"})
"""Agreements that say nothing of the port."""
_AGREE = "agree"


def programs_touched(touched: Touched) -> Proof:
    """Builds and runs, as `porter run --compare` does, each program that a changed file may belong to."""
    from porter.validation.programs.compare import both_sides, compare_one
    from porter.validation.programs.launch import Options
    from porter.validation.programs.recipes import programs_of

    programs = programs_of(tuple(dict(table) for table in touched.choices.program))
    if not programs:
        return Proof("programs", Step.PASSED, "there are no programs")
    folders = [program.folder for program in programs]
    chosen = [program for program in programs if _may_touch(program.folder, folders, touched.files)]
    if not chosen:
        return Proof("programs", Step.PASSED, f"no program of {len(programs):,} is about what changed")
    with tempfile.TemporaryDirectory(prefix="porter-programs-") as work:
        original, port = both_sides(touched.source, Path(work))
        subjects = [_subject(compare_one(program, touched.source, original, port, Options())) for program in chosen]
    return Proof("programs", step_of(subjects, _COULD_NOT), counted(subjects, "program", "agree"), tuple(subjects))


def _may_touch(folder: str, folders: Iterable[str], files: frozenset[str] | None) -> bool:
    """Whether a file changed that is not another program's alone: what a build reads, only the build knows."""
    if files is None:
        return True
    own, all_of_them = PurePosixPath(folder), [PurePosixPath(one) for one in folders]
    for path in (PurePosixPath(file) for file in files if not file.lower().endswith(_TOLD_ONLY)):
        owners = [one for one in all_of_them if path.is_relative_to(one)]
        if own in owners or not owners:
            return True
    return False


def _subject(found: Compared) -> Mapping[str, Any]:
    status = PASSED if found.agreement.value == _AGREE else found.agreement.value
    return {"name": found.name, "status": status, "message": found.reason or _told(found)}


def _told(found: Compared) -> str:
    """That both sides say FAIL is an agreement, and no success."""
    return "both sides say that it failed" if found.says == "fail" else ""

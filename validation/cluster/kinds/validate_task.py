"""One case, on the machine that does it: as `porter validate` does it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.validation.cases.case import Case, CaseError
from porter.validation.cases.file import read_cases
from porter.validation.cluster.here import here
from porter.validation.run.codec import made, plain
from porter.validation.run.crew import Answer, Crew, Spare
from porter.validation.run.plan import Concluded, Request, conclude, prepare
from porter.validation.toolchain.store import prune
from porter.validation.verdict.outcome import FileError, Status
from porter.validation.verdict.report import case_json

_spare: Spare = []
"""The child that checked the last case."""


def do(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """What came of the case."""
    prune()
    request = made(Request, payload["request"])
    request = replace(request, tree=None if request.tree is None else here(request.tree))
    concluded = _concluded(here(payload["path"]), str(payload["case"]), payload, request)
    result = concluded.result
    fine = result is not None and (result.status is Status.PASSED or result.declared) and not concluded.errors
    return {
        "concluded": plain(concluded),
        "failed": not fine,
        "parts": [case_json(result)] if result is not None else [],
    }


def _concluded(path: Path, name: str, payload: Mapping[str, Any], request: Request) -> Concluded:
    try:
        case = next((case for case in cases_at(path, path.stat().st_mtime_ns) if case.name == name), None)
        if case is None:
            return Concluded(None, (FileError(str(path), 1, f"there is no case {name!r} any more"),))
        task = prepare(case, tuple(payload["also"]), tuple(payload["devices"]), request)
    except CaseError as error:
        return Concluded(None, (FileError(str(error.path), error.line, error.message),))
    answers: list[Answer] = []
    Crew([replace(task, folder=str(Path.cwd()))], 1, lambda _, answer: answers.append(answer), _spare).run()
    return conclude(case, task, answers[0], request)


@functools.lru_cache(maxsize=16)
def cases_at(path: Path, stamp: int) -> tuple[Case, ...]:
    """The cases of a file, as it is at a time, that can be read."""
    del stamp
    return read_cases(path)[0]

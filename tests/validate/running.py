"""Runs cases for tests: on ptx and gfx942 where their compilers are, with the reason where not."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from porter.validation.devices.registry import why_not
from porter.validation.run.crew import Spare, spare_children
from porter.validation.run.plan import Outcome, Request, validate
from porter.validation.verdict.outcome import CaseResult

from tests.ended import AFTERWARDS


def devices() -> tuple[str, ...]:
    """The virtual devices that can be used here; skips when the port's is not among them."""
    reason = why_not("gfx942")
    if reason is not None:
        pytest.skip(reason)
    return ("gfx942",) if why_not("ptx") is not None else ("ptx", "gfx942")


_children = AFTERWARDS.enter_context(contextlib.ExitStack())
_spare: dict[tuple[str, frozenset[tuple[str, str]]], Spare] = {}
"""Children by what they were started in: folder and environment."""


def spare() -> Spare:
    """Children that earlier runs in the same surroundings left; those of other surroundings are ended."""
    environment = frozenset(item for item in os.environ.items() if item[0] != "PYTEST_CURRENT_TEST")
    here = str(Path.cwd()), environment
    if here not in _spare:
        _children.close()
        _spare.clear()
        _spare[here] = _children.enter_context(spare_children())
    return _spare[here]


def run(*paths: Path, **settings: object) -> Outcome:
    """Checks cases in two processes, which stay for the next run."""
    request = Request(paths, **{"devices": devices(), "jobs": 2, **settings})  # type: ignore[arg-type]
    return validate(request, spare=spare())


def by_name(outcome: Outcome) -> Mapping[str, CaseResult]:
    """The results; a test that asks for one that is not there fails."""
    return {case.name: case for case in outcome.report.cases}


def write_case(folder: Path, kernel: str, case: str, source: str, head: str = "") -> Path:
    """A source and a case file of one case."""
    (folder / "k.cu").write_text(source)
    path = folder / "k.case.toml"
    path.write_text(f'schema = "porter-case/1"\nsource = "k.cu"\n{head}\n[[case]]\nkernel = "{kernel}"\n{case}')
    return path

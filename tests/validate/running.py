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


_Where = tuple[str, frozenset[tuple[str, str]]]
"""What children are started in: folder and environment."""
_spare: dict[_Where, tuple[contextlib.ExitStack, Spare]] = {}


def _here() -> _Where:
    return str(Path.cwd()), frozenset(item for item in os.environ.items() if item[0] != "PYTEST_CURRENT_TEST")


def spare() -> Spare:
    """Children that earlier runs in the same surroundings left. Those of other surroundings are ended, but for the
    first ones, to which most tests come back: what its references import takes seconds to read."""
    here = _here()
    for other in [where for where in [*_spare][1:] if where != here]:
        _spare.pop(other)[0].close()
    if here not in _spare:
        stack = AFTERWARDS.enter_context(contextlib.ExitStack())
        _spare[here] = stack, stack.enter_context(spare_children())
    return _spare[here][1]


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

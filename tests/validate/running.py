"""Runs cases for tests: on ptx and gfx942 where their compilers are, with the reason where not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from porter.validation.devices.registry import why_not
from porter.validation.run.plan import Outcome, Request, validate
from porter.validation.verdict.outcome import CaseResult


def devices() -> tuple[str, ...]:
    """The virtual devices that can be used here; skips when the port's is not among them."""
    reason = why_not("gfx942")
    if reason is not None:
        pytest.skip(reason)
    return ("gfx942",) if why_not("ptx") is not None else ("ptx", "gfx942")


def run(*paths: Path, **settings: object) -> Outcome:
    """Checks cases in two processes."""
    request = Request(paths, **{"devices": devices(), "jobs": 2, **settings})  # type: ignore[arg-type]
    return validate(request)


def by_name(outcome: Outcome) -> Mapping[str, CaseResult]:
    """The results; a test that asks for one that is not there fails."""
    return {case.name: case for case in outcome.report.cases}


def write_case(folder: Path, kernel: str, case: str, source: str, head: str = "") -> Path:
    """A source and a case file of one case."""
    (folder / "k.cu").write_text(source)
    path = folder / "k.case.toml"
    path.write_text(f'schema = "porter-case/1"\nsource = "k.cu"\n{head}\n[[case]]\nkernel = "{kernel}"\n{case}')
    return path

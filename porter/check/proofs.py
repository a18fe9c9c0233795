"""Building and validating what a change touches, by the commands that do so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from porter.check.result import CheckResult, Proof, Step

if TYPE_CHECKING:
    from porter.check.gate import CheckRequest


def with_proofs(result: CheckResult, request: CheckRequest, *, build: bool, validate: bool) -> CheckResult:
    """The result with what was built and validated, where that was asked for."""
    asked = [name for name, wanted in (("build", build), ("validate", validate)) if wanted]
    return replace(result, proofs=tuple(_proof(name, result) for name in asked))


def _proof(name: str, result: CheckResult) -> Proof:
    if not result.kernels:
        return Proof(name, Step.PASSED, "no kernel changed")
    return Proof(name, Step.NOT_RUN, f"this porter has no `porter {name}` yet")

"""What a check came to, as frozen values that every output format shows."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from porter.check.baseline import Accepted
from porter.check.context import Place
from porter.check.fail_on import FailOn
from porter.check.fixes import Replacement
from porter.engine.knowledge import RuleInfo

HAZARD_GROUPS = frozenset({"warp", "wave64", "sync", "cooperative_groups"})


class State(str, enum.Enum):
    """What is known about a finding."""

    NEW = "new"
    PRESENT = "present"
    """The base has it too."""
    ACCEPTED = "accepted"
    """The baseline has it."""
    SUPPRESSED = "suppressed"
    """An allow comment with a reason covers it."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One finding that leaves work."""

    code: str
    effort: str
    path: str
    """From the root of the work tree."""
    line: int
    column: int
    place: Place
    kernel: str | None
    name: str
    message: str
    fixed: bool
    context: str
    state: State
    fails: bool
    reason: str | None = None
    """Of the suppression or of the baseline's entry."""
    fix: tuple[Replacement, ...] = ()


class Step(str, enum.Enum):
    """How building or validating ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not-run"


@dataclass(frozen=True, slots=True)
class Proof:
    """What building or validating the kernels that changed came to."""

    name: str
    """`build`, `validate`, `perf` or `programs`."""
    step: Step
    reason: str
    subjects: tuple[Mapping[str, Any], ...] = ()
    """What was run: each with `name`, `status` and `message`."""


class Changed(NamedTuple):
    """A kernel whose text, or something it includes, is not what the base has."""

    path: str
    name: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Everything that a format shows."""

    porter: str
    source: str
    fail_on: FailOn
    since: str | None
    commit: str | None
    baseline: str | None
    files: int
    """Files of the project that the rules know how to read."""
    changed: tuple[str, ...]
    dependents: tuple[str, ...]
    """Files that include what changed."""
    looked_at: tuple[str, ...]
    parsed: int
    """How many of those were parsed now; the others were known from earlier."""
    kernels: tuple[Changed, ...]
    findings: tuple[Checked, ...]
    stale: tuple[Accepted, ...]
    proofs: tuple[Proof, ...]
    rules: Mapping[str, RuleInfo]
    notes: tuple[str, ...] = ()
    incomplete: str | None = None
    """Why the check ended before its end."""

    def with_state(self, *states: State) -> tuple[Checked, ...]:
        """Findings in some states."""
        return tuple(finding for finding in self.findings if finding.state in states)

    @property
    def failing(self) -> tuple[Checked, ...]:
        """The new findings that close the gate."""
        return tuple(finding for finding in self.findings if finding.fails)

    @property
    def passed(self) -> bool:
        """Whether the change may go in."""
        return not (
            self.failing or self.stale or self.incomplete or any(proof.step is not Step.PASSED for proof in self.proofs)
        )


def counted(findings: Iterable[Checked]) -> dict[str, int]:
    """Findings by state, those that fail apart."""
    counts = {"failing": 0, **dict.fromkeys((state.value for state in State), 0)}
    for finding in findings:
        counts[finding.state.value] += 1
        counts["failing"] += finding.fails
    return counts

"""Two runs of a program, one of each side, and the verdict over both."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from porter.validation.programs.outcome import ProgramRun, TestOutcome, Verdict
from porter.validation.programs.output import Tolerance, says
from porter.validation.programs.sides import CUDA, HIP
from porter.validation.programs.steady import NOTHING, compare_steady, merged, varying


class Agreement(str, enum.Enum):
    """What two runs of a program come to."""

    AGREE = "agree"
    DIFFER = "differ"
    FAULT = "fault"
    UNSUPPORTED = "unsupported"
    TOO_LONG = "too-long"
    NO_LAUNCH = "no-launch"
    IGNORED_ERROR = "ignored-error"
    CRASHED = "crashed"
    NOT_BUILT = "not-built"
    NOT_RUN = "not-run"


ENDS = {Verdict.PASSED, Verdict.FAILED}


@dataclass(frozen=True)
class Compared:
    """One program on both sides."""

    name: str
    agreement: Agreement
    reason: str
    side: str | None = None
    """Whose fault it is that there is nothing to compare: `original` or `port`."""
    original: ProgramRun | None = None
    port: ProgramRun | None = None
    says: str | None = None
    """The original's own verdict."""


def compare_runs(
    name: str, original: ProgramRun, port: ProgramRun, tolerance: Tolerance, *unstable: ProgramRun
) -> Compared:
    """The verdict over two runs; `unstable`, other runs of the original, show what varies by itself."""
    for side, run in (("original", original), ("port", port)):
        if run.verdict not in ENDS:
            agreement = Agreement(run.verdict.value)
            return Compared(name, agreement, f"{side}: {run.reason}", side, original, port, said_by(original))
    for side, run, wrong in (("original", original, HIP), ("port", port, CUDA)):
        if wrong.name in run.account.sides:
            reason = f"{side}: it launches kernels of the other side: the build left what was there before"
            return Compared(name, Agreement.NOT_BUILT, reason, side, original, port, said_by(original))
    different = _different_test(original, port)
    if different is not None:
        return Compared(name, Agreement.DIFFER, different, None, original, port, said_by(original))
    if original.code != port.code:
        reason = f"exit code {original.code} of the original, {port.code} of the port"
        return Compared(name, Agreement.DIFFER, reason, None, original, port, said_by(original))
    for side, run in (("original", original), ("port", port)):
        if not run.account.launches:
            why = f"{side}: no kernel was launched" + (f", exit code {run.code}" if run.code else "")
            return Compared(name, Agreement.NO_LAUNCH, why, side, original, port)
    without = NOTHING
    if not original.account.tests:
        for run in unstable:
            without = merged(without, varying(text_of(original), text_of(run), tolerance))
        printed = original.account.printed or port.account.printed
        found = compare_steady(text_of(original), text_of(port), tolerance, without, any_order=printed)
        if found is not None:
            return Compared(name, Agreement.DIFFER, f"output, {found}", None, original, port, said_by(original))
    return Compared(name, Agreement.AGREE, str(without), None, original, port, said_by(original))


def _different_test(original: ProgramRun, port: ProgramRun) -> str | None:
    """The first test with another outcome, in the original's order; a test may be on one side only."""
    sides = [{test.name: test for test in run.account.tests} for run in (original, port)]
    both = {**sides[0], **sides[1]}
    differing = [one for one in both if _outcome(sides[0], one) != _outcome(sides[1], one)]
    if not differing:
        return None
    name = differing[0]
    said = next((side[name].reason for side in reversed(sides) if name in side), "")
    first = f"{name}: {_outcome(sides[0], name)} in the original, {_outcome(sides[1], name)} in the port"
    more = f"; {len(differing) - 1} more of {len(sides[0])} tests" if len(differing) > 1 else ""
    return first + (f" ({said})" if said else "") + more


def _outcome(tests: Mapping[str, TestOutcome], name: str) -> str:
    return tests[name].outcome if name in tests else "not there"


def text_of(run: ProgramRun) -> str:
    """What it printed."""
    return run.output.decode("utf-8", "replace")


def said_by(run: ProgramRun) -> str | None:
    """Its own verdict, where it prints one."""
    return says(text_of(run))

"""Programs that agree, run again with each check: what one run in order does not show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter.validation.programs.agreement import ENDS, Agreement, Compared, compare_runs, text_of
from porter.validation.programs.launch import Options
from porter.validation.programs.outcome import ProgramRun
from porter.validation.programs.output import Tolerance, compare_output
from porter.validation.programs.sides import CUDA, HIP, Side

_SEED = 1
_LOOKED_FOR = "looked for races, values that nothing wrote, missing waits and an order of waves: none shows"


def _checks(options: Options) -> dict[str, Options]:
    return {
        "--races": replace(options, races=True),
        "--uninitialised": replace(options, uninitialised=True),
        f"--delay {_SEED}": replace(options, delay=_SEED),
        f"--schedule {_SEED}": replace(options, schedule=_SEED),
    }


def look_closer(
    found: Compared, tolerance: Tolerance, options: Options, run: Callable[[Side, Options], ProgramRun]
) -> Compared:
    """The first check that says otherwise, of the port or, where the original has it too, of both."""
    for name, checked in _checks(options).items():
        shown = _shown(found, tolerance, checked, run)
        if shown is not None:
            return replace(shown, reason=f"with {name}: {shown.reason}")
    return replace(found, reason="; ".join(part for part in (found.reason, _LOOKED_FOR) if part))


def _shown(
    found: Compared, tolerance: Tolerance, checked: Options, run: Callable[[Side, Options], ProgramRun]
) -> Compared | None:
    original, before = found.original, found.port
    assert original is not None and before is not None  # of what agrees
    port = run(HIP, checked)
    if _says_the_same(before, port, tolerance):
        return None
    same = compare_runs(found.name, original, port, tolerance)
    if same.agreement is Agreement.AGREE:
        return None
    again = run(CUDA, checked)
    if port.verdict not in ENDS:
        own = again.verdict is port.verdict
        reason = f"{same.reason}; the original says the same" if own else same.reason
        return replace(same, reason=reason, side="original" if own else "port")
    if again.verdict is not original.verdict:
        return compare_runs(found.name, again, port, tolerance)
    same = compare_runs(found.name, original, port, tolerance, again)  # what its own order changes is no difference
    return None if same.agreement is Agreement.AGREE else same


def _says_the_same(before: ProgramRun, port: ProgramRun, tolerance: Tolerance) -> bool:
    """Whether the check changed nothing of the port's; what varied between the sides is known to vary."""
    if (before.verdict, before.code, before.account.tests) != (port.verdict, port.code, port.account.tests):
        return False
    return compare_output(text_of(before), text_of(port), tolerance, any_order=port.account.printed) is None

"""Memory of malloc that a program reads and nothing wrote: whether it is all that makes two sides differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter.validation.programs.agreement import ENDS, Agreement, Compared, compare_runs, text_of
from porter.validation.programs.alike import SEED, Run
from porter.validation.programs.launch import Options
from porter.validation.programs.outcome import ProgramRun, Verdict
from porter.validation.programs.output import Tolerance
from porter.validation.programs.sides import CUDA, HIP
from porter.validation.programs.steady import NOTHING, compare_steady, merged, varying

_BYTE = 0x3F
"""Of four or eight of it are made an ordinary float (0.75), double and int: no NaN, and no zero."""
_READS = "the original reads memory of malloc that nothing wrote"


def by_fresh_memory(
    found: Compared,
    tolerance: Tolerance,
    options: Options,
    run: Run,
    *unstable: ProgramRun,
) -> Compared | None:
    """What is to be said of two runs that differ, where the original says something else once fresh memory of the
    host's heap holds other bytes; both are compared then with the same bytes in it. `unstable`: as `compare_runs`."""
    first, filled = found.original, replace(options, fresh=_BYTE)
    assert first is not None  # of what ran
    original = run(CUDA, filled)
    if original.verdict in (Verdict.TOO_LONG, Verdict.NOT_RUN) or _says_the_same(first, original, tolerance, unstable):
        return None
    if not _says_the_same(original, run(CUDA, filled), tolerance, ()):  # it says something else each time
        return None
    if original.verdict in ENDS:
        again = (run(CUDA, replace(filled, schedule=SEED, threads=1)),) if unstable else ()
        same = compare_runs(found.name, original, run(HIP, filled), tolerance, *again)
        if same.agreement is Agreement.AGREE:
            held = f"with what it held {found.reason}"
            reason = f"where fresh memory holds the same bytes on both sides; {_READS}: {held}"
            return replace(same, reason="; ".join(part for part in (same.reason, reason) if part))
    reason = f"{found.reason}; {_READS}: it says something else where that memory holds other bytes"
    return replace(found, reason=reason)


def _says_the_same(first: ProgramRun, filled: ProgramRun, tolerance: Tolerance, unstable: Sequence[ProgramRun]) -> bool:
    if (first.verdict, first.code) != (filled.verdict, filled.code):
        return False
    without = NOTHING
    for run in unstable:
        without = merged(without, varying(text_of(first), text_of(run), tolerance))
    printed = first.account.printed
    return compare_steady(text_of(first), text_of(filled), tolerance, without, any_order=printed) is None

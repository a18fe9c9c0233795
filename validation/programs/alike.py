"""Two runs that differ, made alike in what is neither side's doing: what a GPU says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter.validation.programs.agreement import Agreement, Compared, compare_runs
from porter.validation.programs.launch import Options
from porter.validation.programs.outcome import ProgramRun
from porter.validation.programs.output import Tolerance
from porter.validation.programs.sides import CUDA, Side

Run = Callable[[Side, Options], ProgramRun]

SEED = 7
"""Of the schedule of the original's other run, which shows what varies by itself."""


def alike(found: Compared, tolerance: Tolerance, run: Run, original: Options) -> Compared | None:
    """The two, where they agree once the original runs so, what varies by itself even then left out."""
    first, second = run(CUDA, original), found.port
    assert second is not None  # of what ran
    same = compare_runs(found.name, first, second, tolerance)
    if same.agreement is Agreement.DIFFER and first.code == second.code and not first.account.tests:
        again = run(CUDA, replace(original, schedule=SEED, threads=1))
        if again.verdict is first.verdict:
            same = compare_runs(found.name, first, second, tolerance, again)
    return same if same.agreement is Agreement.AGREE else None


def as_the_port(found: Compared, tolerance: Tolerance, options: Options, run: Run) -> Compared | None:
    """The two that agree once the original's GPU tells of itself what the port's does, its size for one."""
    same = alike(found, tolerance, run, replace(options, as_the_port=True))
    if same is None:
        return None
    reason = f"where the original's GPU says of itself what the port's does; with its own {found.reason}"
    return replace(same, reason=", ".join(part for part in (same.reason, reason) if part))

"""Two runs that differ, made alike in what is neither side's doing: the time of day, and what a GPU says of itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from porter.validation.programs.agreement import Agreement, Compared, compare_runs
from porter.validation.programs.launch import Options
from porter.validation.programs.outcome import ProgramRun
from porter.validation.programs.output import Tolerance
from porter.validation.programs.sides import CUDA, HIP, Side

Run = Callable[[Side, Options], ProgramRun]

SEED = 7
"""Of the schedule of the original's other run, which shows what varies by itself."""
_TIME = (b"time\0", b"gettimeofday\0", b"clock_gettime\0", b"timespec_get\0", b"_clock3now", b"_V212system_clock")
_ONE_CLOCK = "with a clock that tells both sides the same when they first ask it"
_LARGEST = 64 << 20


def alike(found: Compared, tolerance: Tolerance, run: Run, original: Options, port: Options | None) -> Compared | None:
    """The two, where they agree once each runs so (None: the port as it ran), what varies by itself even then left
    out; None where they do not."""
    first = run(CUDA, original)
    second = found.port if port is None else run(HIP, port)
    assert second is not None  # of what ran
    same = compare_runs(found.name, first, second, tolerance)
    if same.agreement is Agreement.DIFFER and first.code == second.code and not first.account.tests:
        again = run(CUDA, replace(original, schedule=SEED, threads=1))
        if again.verdict is first.verdict:
            same = compare_runs(found.name, first, second, tolerance, again)
    return same if same.agreement is Agreement.AGREE else None


def with_one_clock(
    found: Compared, tolerance: Tolerance, options: Options, run: Run, program: Path | None
) -> Compared | None:
    """The two that agree where both are told the same time of day: what is seeded by it is compared then, and not left
    out as what varies. `program`: the original's file, where that is known not to ask."""
    if program is not None and not _may_ask(program):
        return None
    asked = replace(options, began=int(time.time()))
    same = alike(found, tolerance, run, asked, asked)
    return None if same is None else _told(same, _ONE_CLOCK)


def as_the_port(found: Compared, tolerance: Tolerance, options: Options, run: Run) -> Compared | None:
    """The two that agree once the original's GPU tells of itself what the port's does, its size for one."""
    same = alike(found, tolerance, run, replace(options, as_the_port=True), None)
    if same is None:
        return None
    return _told(same, f"where the original's GPU says of itself what the port's does; with its own {found.reason}")


def _told(same: Compared, reason: str) -> Compared:
    return replace(same, reason=", ".join(part for part in (same.reason, reason) if part))


def _may_ask(program: Path) -> bool:
    """Whether a program names a function that tells the time; what is no program of its own may."""
    if not program.is_file() or program.stat().st_size > _LARGEST:
        return True
    content = program.read_bytes()
    return not content.startswith(b"\x7fELF") or any(name in content for name in _TIME)

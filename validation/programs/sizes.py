"""Arguments small enough for a virtual device and large enough to launch something.

A program's own arguments are for a GPU. Every number is first capped at a small value, then the cap grows as long as
what the last run cost, scaled by the growth, fits the budget; powers of two stay powers of two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from porter.validation.programs.outcome import ProgramRun, Verdict
from porter.validation.programs.output import says

SMALLEST = (2, 1)
"""What is tried where the first cap is too much already."""
CAPS = (8, 32, 128, 512, 2048, 8192, 32768, 131072, 1 << 20, 1 << 24, 1 << 40)
_WHOLE = re.compile(r"(.*?[=])?(\d+)\Z", re.DOTALL)


@dataclass(frozen=True)
class Sized:
    """The arguments chosen, their run, and how it went there."""

    arguments: tuple[str, ...]
    run: ProgramRun
    tried: int
    whole: bool
    """They are the program's own."""


Try = Callable[[Sequence[str]], ProgramRun]


def capped(arguments: Sequence[str], cap: int) -> tuple[str, ...]:
    """The arguments with every whole number cut down to about the cap."""
    return tuple(_capped(word, cap) for word in arguments)


def _capped(word: str, cap: int) -> str:
    match = _WHOLE.match(word)
    if match is None or (word.startswith("0") and len(word) > 1):
        return word
    number = int(match[2])
    return word if number <= cap else f"{match[1] or ''}{_smaller(number, cap)}"


def _smaller(number: int, cap: int) -> int:
    """A power of two for a power of two, a multiple of as large a power of two or ten as the cap allows."""
    if number & (number - 1) == 0:
        return 1 << (cap.bit_length() - 1)
    for unit in (1 << power for power in range(20, 4, -1)):
        if number % unit == 0 and unit <= cap:
            return cap // unit * unit
    tens = 10
    while number % (tens * 10) == 0 and tens * 10 <= cap:
        tens *= 10
    return cap // tens * tens if number % tens == 0 and tens <= cap else cap


def choose(arguments: Sequence[str], attempt: Try, budget: int, seconds: float) -> Sized:
    """The largest that fits `budget` lane-instructions and `seconds` of a run, of those that show something."""
    steps = list(dict.fromkeys(capped(arguments, cap) for cap in CAPS))
    best: Sized | None = None
    last: Sized | None = None
    for number, step in enumerate(steps, 1):
        run = attempt(step)
        last = Sized(step, run, number, step == tuple(arguments))
        if shows(run) or (best is None and run.account.launches):
            best = last if shows(run) or best is None else best
        if run.verdict is Verdict.TOO_LONG and number == 1:
            return _smallest(arguments, attempt, last)
        if run.verdict in (Verdict.TOO_LONG, Verdict.UNSUPPORTED, Verdict.NOT_RUN):
            break
        if run.verdict is Verdict.NO_LAUNCH and run.account.stand_ins and number > 2:
            break  # its work is in libraries: larger numbers launch nothing either
        if best is not None and not shows(run) and shows(best.run):
            break  # larger is worse: what ran is kept
        cost = max(run.account.lane_instructions / budget, run.cpu_seconds / seconds)
        if shows(run) and cost * 4 > 1:
            break
    assert last is not None
    return best or last


def _smallest(arguments: Sequence[str], attempt: Try, first: Sized) -> Sized:
    """The first of the smallest caps that fits; the last of all when none does."""
    made = first
    for step in dict.fromkeys(capped(arguments, cap) for cap in SMALLEST):
        if step != made.arguments:
            made = Sized(step, attempt(step), made.tried + 1, whole=False)
            if shows(made.run):
                break
    return made


def shows(run: ProgramRun) -> bool:
    """It ended by itself, launched something, and does not say that it failed."""
    return run.verdict is Verdict.PASSED and says(run.output.decode("utf-8", "replace")) != "fail"

"""Arguments small enough for a virtual device and large enough to launch something.

A program's own arguments are for a GPU. Every number is first capped at a small value, then the cap grows as long as
what the last run cost, scaled by the growth, fits the budget; powers of two stay powers of two. Where no common cap
shows anything - the size is too small for the program, or its steps too many - each number grows alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from porter.validation.programs.outcome import ProgramRun, Verdict
from porter.validation.programs.output import says

SMALLEST = (2, 1)
"""What is tried where the first cap is too much already."""
APART = (64, 512, 8192, 131072, 1 << 40)
"""What one number grows to while the others stay small."""
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
    together = _together(arguments, attempt, budget, seconds)
    return together if shows(together.run) else _apart(arguments, attempt, together)


def _together(arguments: Sequence[str], attempt: Try, budget: int, seconds: float) -> Sized:
    """All numbers under one cap that grows."""
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
    return replace(best or last, tried=last.tried)


def _apart(arguments: Sequence[str], attempt: Try, before: Sized) -> Sized:
    """The first that shows something of those with one number large; what came before when none does."""
    tried = before.tried
    small = capped(arguments, CAPS[0])
    is_smallest = capped(before.arguments, CAPS[0]) == before.arguments
    verdict = before.run.verdict
    if verdict in (Verdict.UNSUPPORTED, Verdict.NOT_RUN) or (verdict is Verdict.TOO_LONG and is_smallest):
        return before
    numbers = [place for place, word in enumerate(arguments) if word != small[place]]
    for place in numbers if len(numbers) > 1 else ():
        for word in dict.fromkeys(_capped(arguments[place], cap) for cap in APART):
            if word == small[place]:
                continue
            step = (*small[:place], word, *small[place + 1 :])
            run, tried = attempt(step), tried + 1
            if shows(run):
                return Sized(step, run, tried, whole=step == tuple(arguments))
            if run.verdict is Verdict.TOO_LONG:
                break
    return replace(before, tried=tried)


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

"""What of an output varies from run to run of the same program, and two outputs compared without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from porter.validation.programs.output import (
    Difference,
    Tolerance,
    blanked,
    compare_output,
    differing_numbers,
    shape,
)

_NOWHERE: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Varying:
    """What two runs of one program print differently."""

    lines: Mapping[int, tuple[str, ...]]
    """Lines with other words, or that the second run lacks: their numbers and shapes."""
    numbers: Mapping[int, frozenset[int]]
    """Of lines with the same words: which numbers differ."""
    reordered: bool = False
    """They print the same lines in another order."""

    def __str__(self) -> str:
        counts = ((len(self.lines), "line"), (sum(map(len, self.numbers.values())), "number"))
        shown = " and ".join(f"{count} {what}{'s' * (count > 1)}" for count, what in counts if count)
        return f"not compared: {shown} of the output, which another run of the original has otherwise" if shown else ""


NOTHING = Varying({}, {})


def varying(first: str, again: str, tolerance: Tolerance) -> Varying:
    """What differs between the original's run and another one of it."""
    if compare_output(first, again, tolerance) is None:
        return NOTHING
    if compare_output(first, again, tolerance, any_order=True) is None:
        return Varying({}, {}, reordered=True)
    lines, others = first.splitlines(), again.splitlines()
    apart = {at: shape(line) for at, line in enumerate(lines[len(others) :], len(others))}
    numbers: dict[int, frozenset[int]] = {}
    for at, (one, other) in enumerate(zip(lines, others, strict=False)):
        found = differing_numbers(one, other, tolerance)
        if found is None:
            apart[at] = shape(one)
        elif found:
            numbers[at] = found
    return Varying(apart, numbers)


def merged(one: Varying, other: Varying) -> Varying:
    """What varies in either."""
    lines = {**one.lines, **other.lines}
    places = one.numbers.keys() | other.numbers.keys()
    numbers = {at: one.numbers.get(at, _NOWHERE) | other.numbers.get(at, _NOWHERE) for at in places if at not in lines}
    return Varying(lines, numbers, one.reordered or other.reordered)


def compare_steady(
    first: str, second: str, tolerance: Tolerance, without: Varying = NOTHING, *, any_order: bool = False
) -> Difference | None:
    """The first difference of what does not vary by itself.

    Where the port prints more or fewer lines, theirs have other numbers: what varies is known by its words.
    """
    if len(first.splitlines()) == len(second.splitlines()):
        first, second = (_by_number(text, without) for text in (first, second))
    else:
        first, second = (_by_shape(text, first, without) for text in (first, second))
    return compare_output(first, second, tolerance, any_order=any_order or without.reordered)


def _by_number(text: str, without: Varying) -> str:
    lines = enumerate(text.splitlines())
    kept = ((at, line) for at, line in lines if at not in without.lines)
    return "\n".join(blanked(line, without.numbers[at]) if at in without.numbers else line for at, line in kept)


def _by_shape(text: str, first: str, without: Varying) -> str:
    gone = frozenset(without.lines.values())
    lines = first.splitlines()
    places: dict[tuple[str, ...], frozenset[int]] = {}
    for at, numbers in without.numbers.items():
        known = shape(lines[at])
        places[known] = places.get(known, _NOWHERE) | numbers
    kept = ((shape(line), line) for line in text.splitlines())
    return "\n".join(
        blanked(line, places[known]) if known in places else line for known, line in kept if known not in gone
    )

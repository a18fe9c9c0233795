"""The branches of a CMake file that only a build for NVIDIA comes to, of those who know AMD as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from porter.buildfiles.cmake import Command
from porter.buildfiles.listed_cmake import condition
from porter.buildfiles.vendor import Answer, of_value
from porter.model import Span

_HIPS = frozenset({"HIP_COMPILER", "HIP_PLATFORM", "HIP_RUNTIME"})
"""Variables of HIP's own CMake files, which know both vendors."""


class _Branch(NamedTuple):
    """What stands between one condition and the next of an `if`."""

    chain: int
    asked: tuple[str, ...]
    answer: Answer
    span: Span


def nvidias_own(commands: tuple[Command, ...]) -> tuple[Span, ...]:
    """Of an `if` with a branch for AMD, of other `if`s that ask the same, and of those that ask HIP itself."""
    branches = tuple(_branches(commands))
    beside = {branch.chain for branch in branches if branch.answer.is_amds}
    asked = {branch.asked for branch in branches if branch.chain in beside and branch.answer.nvidia}
    compared = {name for branch in branches if branch.answer.is_amds and (name := _compared(branch.asked))}
    return tuple(
        branch.span
        for branch in branches
        if branch.answer.nvidia and (branch.asked in asked or _compared(branch.asked) in compared | _HIPS)
    )


def _branches(commands: tuple[Command, ...]) -> Iterator[_Branch]:
    open_ones: list[tuple[int, Command]] = []
    for number, command in enumerate(commands):
        if command.name in ("elseif", "else", "endif") and open_ones:
            chain, begin = open_ones.pop()
            asked = tuple(argument.text for argument in begin.arguments) if begin.name != "else" else ()
            yield _Branch(chain, asked, condition(" ".join(asked)), Span(begin.end, command.start))
            if command.name != "endif":
                open_ones.append((chain, command))
        elif command.name == "if":
            open_ones.append((number, command))


def _compared(asked: tuple[str, ...]) -> str:
    """The variable that a condition compares with the name of a vendor."""
    if len(asked) == 3 and asked[1] == "STREQUAL" and of_value(asked[2]).nvidia is not None:
        return asked[0].strip("${}")
    return ""

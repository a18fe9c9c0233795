"""Branches of `#if ... #else` that each open, or close, the same brackets: only one of them is ever compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

_OPENS = {")": "(", "]": "[", "}": "{"}


class Line(Protocol):
    """A preprocessor line: what is asked of one here."""

    @property
    def name(self) -> str:
        """`if`, `else` and so on."""

    @property
    def first(self) -> int:
        """Its first token."""

    @property
    def last(self) -> int:
        """Behind its last token."""


class _Group:
    """An `#if` that has not ended: its branches, each with its tokens and the brackets that it leaves alone."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._is_whole = False
        self._branches: list[tuple[int, int, str]] = []
        self.alone = ""

    def add(self, bracket: str) -> None:
        """One more bracket in the branch."""
        if self.alone and self.alone[-1] == _OPENS.get(bracket):
            self.alone = self.alone[:-1]
        else:
            self.alone += bracket

    def turn(self, line: Line) -> None:
        """The branch ends, and another one may begin."""
        self._branches.append((self._first, line.first, self.alone))
        self._first, self.alone = line.last, ""
        self._is_whole |= line.name == "else"

    def left_out(self, texts: Sequence[str]) -> list[tuple[int, int]]:
        """All branches but the last, where one of them is compiled whatever holds and each leaves the same alone. The
        last has all names of the others: what makes threads part in one of them may do so in the one that is read."""
        kinds = {alone for _, _, alone in self._branches}
        if not self._is_whole or len(kinds) > 1 or "" in kinds:
            return []
        *others, known = [{*filter(str.isidentifier, texts[first:last])} for first, last, _ in self._branches]
        if not all(names <= known for names in others):
            return []
        return [(first, last) for first, last, _ in self._branches[:-1]]

    def brackets(self, *, is_one: bool) -> str:
        """What the group leaves to what is around it, where one branch stands for all, or each counts."""
        alone = [alone for _, _, alone in self._branches]
        return alone[-1] if is_one else "".join(alone)


def alternatives(texts: Sequence[str], brackets: Iterable[int], lines: Iterable[Line]) -> Iterator[tuple[int, int]]:
    """The tokens [first, last) of each branch that another one stands for; those in one of them may come as well.

    `brackets` are those of the code, none in a preprocessor line.
    """
    waiting = iter([*brackets, -1])
    index = next(waiting)
    groups: list[_Group] = []
    for line in lines:
        while 0 <= index < line.first:
            if groups:
                groups[-1].add(texts[index])
            index = next(waiting)
        if line.name in ("if", "ifdef", "ifndef"):
            groups.append(_Group(line.last))
        elif groups and line.name in ("elif", "elifdef", "elifndef", "else"):
            groups[-1].turn(line)
        elif groups and line.name == "endif":
            group = groups.pop()
            group.turn(line)
            left_out = group.left_out(texts)
            yield from left_out
            for bracket in group.brackets(is_one=bool(left_out)) if groups else ():
                groups[-1].add(bracket)

"""Stretches of Makefiles that a condition may be put around: whole lines, and whole conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_OPENS = re.compile(r"[ \t]*ifn?(?:eq|def)\b")
_ELSE = re.compile(r"[ \t]*else\b")
_CLOSES = re.compile(r"[ \t]*endif\b")
_DEFINE = re.compile(r"[ \t]*(?:(?:override|export)[ \t]+)*define\b")
_ENDEF = re.compile(r"[ \t]*endef\b")
_RULE = re.compile(r"[^\t#=:][^#=:]*&?::?(?!=)")


class Block(NamedTuple):
    """A condition of a Makefile or a definition, as whole lines; `marks` are the lines that begin, part and end it."""

    start: int
    end: int
    marks: tuple[tuple[int, int], ...]

    def parts(self, start: int, end: int) -> bool:
        """Whether a stretch has one of its lines, and not all of it; nothing of a definition goes without the rest."""
        if start <= self.start and self.end <= end:
            return False
        stretches = ((self.start, self.end),) if len(self.marks) == 1 else self.marks
        return any(first < end and start < last for first, last in stretches)


def blocks_of_make(text: str) -> tuple[Block, ...]:
    """Conditions and definitions, inner ones first."""
    found: list[Block] = []
    stack: list[list[tuple[int, int]]] = []
    defined = -1
    depth = 0
    in_rule = False
    for start, end in logical_lines(text):
        line = text[start:end]
        if depth:
            depth += (_DEFINE.match(line) is not None) - (_ENDEF.match(line) is not None)
            if not depth:
                found.append(Block(defined, end, ((defined, end),)))
        elif line.startswith("\t") and in_rule:
            continue
        elif _OPENS.match(line):
            stack.append([(start, end)])
        elif _ELSE.match(line) and stack:
            stack[-1].append((start, end))
        elif _CLOSES.match(line) and stack:
            marks = (*stack.pop(), (start, end))
            found.append(Block(marks[0][0], end, marks))
        elif _DEFINE.match(line):
            depth, defined, in_rule = 1, start, False
        elif line.strip() and not line.lstrip().startswith("#"):
            in_rule = _RULE.match(line) is not None
    return tuple(found)


def logical_lines(text: str) -> Iterator[tuple[int, int]]:
    """Each line with those that a backslash joins to it, the line end included."""
    start = place = 0
    for line in text.splitlines(keepends=True):
        place += len(line)
        if line.rstrip("\r\n").endswith("\\") and place < len(text):
            continue
        yield start, place
        start = place
    if start < len(text):
        yield start, len(text)


def whole_blocks(blocks: tuple[Block, ...], start: int, end: int) -> tuple[int, int]:
    """A stretch with all of each condition that it would cut."""
    while True:
        cut = [block for block in blocks if block.parts(start, end)]
        if not cut:
            return start, end
        start, end = min(start, *(b.start for b in cut)), max(end, *(b.end for b in cut))

"""What a build file says to machines: its text without comments, messages and documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.buildfiles.python import formatted, strings
from porter.buildfiles.unit import BuildUnit, Kind

_SAID = re.compile(r"(?:^|[;&|({])[ \t]*@?(?:echo|printf|print|warn|die|log)\b[^;&|`$\n]*\Z", re.MULTILINE)
_MAKES_SAYING = re.compile(r"\$\((?:info|warning|error)\b[^\n]*\Z")


def written(unit: BuildUnit) -> Iterator[tuple[int, str]]:
    """Where each such stretch begins, and its text; of CMake whole commands, of Python strings."""
    if unit.kind is Kind.CMAKE:
        commands = (one for one in unit.commands if one.name != "message")
        yield from ((one.start, unit.text[one.start : one.end]) for one in commands)
    elif unit.kind is Kind.PYTHON:
        yield from ((one.inner, one.value) for one in strings(unit))
        yield from formatted(unit)
    else:
        yield from unit.makefile.code


def found_written(unit: BuildUnit, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Where a pattern matches what is said to machines: from, to, and the text."""
    for start, text in written(unit):
        for found in pattern.finditer(text):
            if not is_said(unit.text, start + found.start()):
                yield start + found.start(), start + found.end(), found[0]


def is_said(text: str, place: int) -> bool:
    """Whether a place of a Makefile or script stands in what it prints."""
    start = text.rfind("\n", 0, place) + 1
    return _SAID.search(text, start, place) is not None or _MAKES_SAYING.search(text, start, place) is not None

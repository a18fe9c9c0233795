"""What clang prints, as values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_DIAGNOSTIC = re.compile(r"^(.+?):(\d+):(\d+): (fatal error|error|note): (.*)$")
_INCLUDED_FROM = re.compile(r"^(?:In file included|\s+) from (.+?):(\d+)[:,]?$")
_FAILED_DRIVER = re.compile(r"^clang(?:\+\+)?(?:-\d+)?: error: (.*)$")


@dataclass(frozen=True, slots=True)
class Location:
    """A line of a file, as the compiler names it."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class CompileError:
    """One error, and every place the compiler relates it to: expansions, instantiations, includers."""

    file: str
    line: int
    message: str
    related: tuple[Location, ...] = ()


def parse_errors(stderr: str) -> tuple[CompileError, ...]:
    """Errors with the includers printed before them and the notes printed after them."""
    errors: list[CompileError] = []
    includers: list[Location] = []
    for line in stderr.splitlines():
        included = _INCLUDED_FROM.match(line)
        if included:
            includers.append(Location(included[1], int(included[2])))
            continue
        match = _DIAGNOSTIC.match(line)
        if match and match[4] != "note":
            related = (Location(match[1], int(match[2])), *reversed(includers))
            errors.append(CompileError(match[1], int(match[2]), match[5], related))
            includers = []
        elif match and errors:
            errors[-1] = _with_related(errors[-1], [*reversed(includers), Location(match[1], int(match[2]))])
            includers = []
        elif driver := _FAILED_DRIVER.match(line):
            errors.append(CompileError("", 0, driver[1]))
    return tuple(errors)


def _with_related(error: CompileError, more: Iterable[Location]) -> CompileError:
    related = tuple(dict.fromkeys((*error.related, *more)))
    return CompileError(error.file, error.line, error.message, related)

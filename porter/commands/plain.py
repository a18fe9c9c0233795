"""`porter scan` and `porter port` without the command line's library, which takes longer than to find nothing to do.

A line with anything that is not plainly right, or that asks for help, is left to the library: there is one place that
says what is wrong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from porter.commands.porting import Asked, ported, scanned
from porter.report.render import Format
from porter.settings import Handling
from porter.system.quiet import be_quiet

_COMPLETION = "_PORTER_COMPLETE"
_QUIET = frozenset({"-q", "--quiet"})
_COMMANDS: Mapping[str, Callable[[Asked], int]] = {"scan": scanned, "port": ported}
_SHORT = {"-o": "--output", "-j": "--jobs", "-v": "--verbose", "-q": "--quiet"}
_OF_PORT = frozenset({"--output", "--in-place", "--diff", "--verify", "--comments", "--force"})


class _Refused(ValueError):
    """What is not plain."""


def _number(word: str) -> int:
    if re.fullmatch(r"[1-9][0-9]{0,4}", word) is None:
        raise _Refused(word)
    return int(word)


_FLAGS = frozenset({"--in-place", "--diff", "--verify", "--comments", "--force", "--strict", "--verbose", "--quiet"})
_LISTS = frozenset({"--include", "--exclude", "--omit"})
_VALUES: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("--output", "--config"), Path),
    **dict.fromkeys(("--rocm", "--warp", "--style", "--torch", *_LISTS), str),
    **dict.fromkeys(("--gitignored", "--vendored"), Handling),
    "--format": Format,
    "--jobs": _number,
}
_FIELDS = {name: name[2:].replace("-", "_") for name in (*_FLAGS, *_VALUES)} | {"--format": "form"}


def plain_run(words: Sequence[str]) -> int | None:
    """Does what a plain line asks for, and gives the exit code; None: not plain, and nothing was done."""
    quiet = bool(words) and words[0] in _QUIET
    rest = words[quiet:]
    command = _COMMANDS.get(rest[0]) if rest else None
    if command is None or _COMPLETION in os.environ:
        return None
    asked = plainly_asked(rest[0], rest[1:])
    if asked is None:
        return None
    be_quiet(quiet or asked.quiet)
    return command(asked)


def plainly_asked(command: str, words: Sequence[str]) -> Asked | None:
    """What a line asks for; None where it is not plain."""
    given: dict[str, Any] = {}
    sources: list[str] = []
    waiting = iter(words)
    try:
        for word in waiting:
            if not word.startswith("-"):
                sources.append(_text(word))
                continue
            name, sign, value = word.partition("=")
            name = name if sign else _SHORT.get(name, name)
            if command == "scan" and name in _OF_PORT:
                return None
            _take(
                given, name, True if name in _FLAGS and not sign else _value(name, value if sign else next(waiting, ""))
            )
        (source,) = sources
    except ValueError:
        return None
    return Asked(Path(source), **given)


def _value(name: str, word: str) -> Any:
    if name not in _VALUES:
        raise _Refused(name)
    return _VALUES[name](_text(word))


def _text(word: str) -> str:
    """A word that is a value for certain: names of files can have bytes that are no text."""
    if not word or word.startswith("-"):
        raise _Refused(word)
    word.encode()
    return word


def _take(given: dict[str, Any], name: str, value: Any) -> None:
    field = _FIELDS[name]
    if name in _LISTS:
        given[field] = (*given.get(field, ()), value)
    elif field in given:
        raise _Refused(name)
    else:
        given[field] = value

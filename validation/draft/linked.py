"""Functions of the device that a source only declares: the sources of its project that it is linked with."""

from __future__ import annotations

import re
from pathlib import Path

from porter.validation.draft.declarations import without_comments
from porter.validation.draft.includers import headers_of_project

from porter.system.reading import read_regular, regular_file

_DECLARED = re.compile(r"__device__\b[^;{}()=]*?\b(\w+)\s*\([^;{}]*\)\s*;")
_BODY = r"\b__device__\b[^;{{}}()=]*\b{name}\s*\([^;{{}}]*\)\s*(?:const\s*)?\{{"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_SOURCES = frozenset({".cu", ".cpp", ".cc", ".cxx"})
_MOST, _MOST_HEADERS = 8, 64


def linked_sources(path: Path, text: str) -> dict[str, Path]:
    """Functions that the text of a source and its headers declares and calls, and where alone their bodies are.

    What these sources call of others comes behind them.
    """
    found: dict[str, Path] = {}
    others = {other: plain for other, plain in headers_of_project(path, code=True) if other.suffix in _SOURCES}
    waiting = [text]
    while waiting and len(found) < _MOST:
        now = waiting.pop(0)
        for name in dict.fromkeys(_DECLARED.findall(now)):
            if name in found or not _is_called(name, now) or _has_body(name, now):
                continue
            bodies = [other for other, plain in others.items() if name in plain and _has_body(name, plain)]
            if len(bodies) == 1:
                found[name] = bodies[0]
                waiting.append(_with_headers(bodies[0], others[bodies[0]]))
    return found


def _is_called(name: str, text: str) -> bool:
    """Whether a text has a name more often than it declares it."""
    declared: list[str] = _DECLARED.findall(text)
    return len(re.findall(rf"\b{name}\s*\(", text)) > declared.count(name)


def _has_body(name: str, text: str) -> bool:
    return re.search(_BODY.format(name=name), without_comments(text)) is not None


def _with_headers(path: Path, text: str) -> str:
    """A source behind the project's headers that it includes, and those that these do."""
    made, seen, waiting = [text], {path}, [(path, text)]
    while waiting:
        folder, now = waiting[-1][0].parent, waiting.pop()[1]
        for name in _INCLUDE.findall(now):
            other = regular_file(folder, name)
            if other is not None and other not in seen and len(seen) < _MOST_HEADERS:
                seen.add(other)
                made.append(read_regular(other).decode("latin-1"))
                waiting.append((other, made[-1]))
    return without_comments("\n".join(reversed(made)))

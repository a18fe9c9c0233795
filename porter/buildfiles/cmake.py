"""CMake files as commands with byte offsets, read as CMake's own scanner reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_BRACKETED = r"\[(?P<fence>=*)\[(?s:.*?)\](?P=fence)\]"
_QUOTED = r'"[^"\\]*(?:\\(?s:.)[^"\\]*)*"'
_UNQUOTED = r"(?:\$\([A-Za-z0-9_]*\)|\\[^\0\n]|[^\0 \t\r\n()#\"\\])"
_GAP = re.compile(rf"(?:[ \t\r\n]|#{_BRACKETED}|#(?!\[=*\[).*)+")
_HEAD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)[ \t]*\(")
_ARGUMENT = re.compile(rf"(?P<raw>{_BRACKETED})|(?P<quoted>{_QUOTED})|(?!\[=*\[){_UNQUOTED}(?:{_UNQUOTED}|{_QUOTED})*")
"""A quote inside of an unquoted argument, as in `-DX="a b"`, belongs to it."""
_TEMPLATE = re.compile(r"@[A-Za-z_]\w*@")
"""Where a command could begin in a file that configure_file fills in, as `@PACKAGE_INIT@`."""
_SIGN = re.compile(r"\$<|[:>]")
_IN_VAIN = 1 << 20
"""Bytes of commands that turned out to be none, after which the rest of a file is left alone."""


class Argument(NamedTuple):
    """One argument: [start, end) with its quotes, and the text between them with its place."""

    start: int
    end: int
    text: str
    inner: int
    quoted: bool = False
    raw: bool = False
    """A bracket argument, in which nothing is expanded."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command invocation."""

    name: str
    """In lower case: CMake ignores the case of commands."""
    start: int
    end: int
    name_end: int
    arguments: tuple[Argument, ...]

    def word(self, index: int) -> str:
        """The text of an argument; empty when there is none."""
        return self.arguments[index].text if index < len(self.arguments) else ""


def parse_cmake(data: bytes) -> tuple[tuple[Command, ...], int | None]:
    """The commands of a file, and the offset of the first place that is no CMake."""
    text = data.decode("latin-1")
    commands: list[Command] = []
    broken: int | None = None
    in_vain = 0
    place = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    while (place := _after_gap(text, place)) < len(text) and in_vain < _IN_VAIN:
        if template := _TEMPLATE.match(text, place):
            place = template.end()
            continue
        found = _command(text, place)
        if isinstance(found, Command):
            commands.append(found)
            place = found.end
        else:  # it begins again on the next line
            in_vain += found - place
            if broken is None:
                broken = found if found < len(text) else place
            place = text.find("\n", place) + 1 or len(text)
    return tuple(commands), broken


def _after_gap(text: str, place: int) -> int:
    gap = _GAP.match(text, place)
    return gap.end() if gap else place


def _command(text: str, start: int) -> Command | int:
    """The command that begins here, or the place that is no CMake; the end when a bracket is not closed."""
    head = _HEAD.match(text, start)
    if head is None:
        return start
    arguments: list[Argument] = []
    place, opened = head.end(), 1
    while opened:
        place = _after_gap(text, place)
        if text[place : place + 1] in ("(", ")"):  # the end of the text is in no tuple
            opened += 1 if text[place] == "(" else -1
            place += 1
        elif found := _ARGUMENT.match(text, place):
            arguments.append(_argument(found))
            place = found.end()
        else:
            return place
    return Command(head[1].lower(), start, place, head.end(1), tuple(arguments))


def _argument(found: re.Match[str]) -> Argument:
    start, end = found.span()
    if found["raw"]:
        fence = len(found["fence"]) + 2
        return Argument(start, end, found[0][fence:-fence], start + fence, raw=True)
    if found["quoted"]:
        return Argument(start, end, found[0][1:-1], start + 1, quoted=True)
    return Argument(start, end, found[0], start)


class Expression(NamedTuple):
    """A generator expression `$<head:content>`; no content: `[colon, end)` is empty."""

    start: int
    end: int
    head: str
    content: int
    """Offset of the content, after the colon; the end when there is none."""


def expressions(text: str, offset: int = 0) -> list[Expression]:
    """All generator expressions in a text, the outer before the inner ones; an unclosed one is left out."""
    found: list[Expression] = []
    stack: list[tuple[int, int | None]] = []
    for sign in _SIGN.finditer(text) if "$<" in text else ():
        index = sign.start()
        if sign[0] == "$<":
            stack.append((index, None))
        elif stack and sign[0] == ":" and stack[-1][1] is None:
            stack[-1] = (stack[-1][0], index)
        elif stack and sign[0] == ">":
            start, colon = stack.pop()
            head = text[start + 2 : colon if colon is not None else index]
            content = index if colon is None else colon + 1
            found.append(Expression(offset + start, offset + index + 1, head, offset + content))
    return sorted(found)

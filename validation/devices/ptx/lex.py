"""Tokens of PTX text."""

from __future__ import annotations

import bisect
import re
import struct
from typing import NamedTuple

from porter.validation.devices.ptx.model import Unreadable

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:\\.|[^"\\])*")
  | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?
      |\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)
  | (?P<word>\.[A-Za-z_$][\w$]*(?:::[\w$]+)*|[%$_A-Za-z][\w$]*(?:(?:\.|::)[\w$]+)*)
  | (?P<mark>[{}()\[\];,:|@!=+\-<>*~&^/%?])
    """,
    re.VERBOSE | re.DOTALL,
)


_BRACE = re.compile(r'[{}]|"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


class Token(NamedTuple):
    """`kind` is string, number, word, mark, body or end."""

    kind: str
    text: str
    line: int


def tokens(text: str, first: int = 1, *, whole_bodies: bool = False) -> list[Token]:
    """All tokens, and one of kind `end`; `first` is the line of the first.

    `whole_bodies`: what stands in braces outside of initialisers, a function's body, is one token.
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found: list[Token] = []
    position, length, depth = 0, len(text), 0
    while position < length:
        if whole_bodies and text[position] == "{" and not depth and found and found[-1].text != "=":
            end = _end_of_braces(text, position)
            found.append(Token("body", text[position:end], bisect.bisect_right(starts, position) + first - 1))
            position = end
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            line = bisect.bisect_right(starts, position) + first - 1
            raise Unreadable(f"unexpected {text[position : position + 20].splitlines()[0]!r}", line)
        kind = match.lastgroup or ""
        if kind != "skip":
            found.append(Token(kind, match[0], bisect.bisect_right(starts, position) + first - 1))
            depth += (match[0] == "{") - (match[0] == "}")
        position = match.end()
    found.append(Token("end", "", len(starts) + first - 1))
    return found


def _end_of_braces(text: str, start: int) -> int:
    """Behind the brace that closes the one at `start`, or the end of the text."""
    depth = 0
    for match in _BRACE.finditer(text, start):
        depth += (match[0] == "{") - (match[0] == "}")
        if not depth:
            return match.end()
    return len(text)


def number(text: str) -> tuple[str, int]:
    """Kind (int, f32, f64) and bits of a number token."""
    if text[:2] in ("0f", "0F"):
        return "f32", int(text[2:], 16)
    if text[:2] in ("0d", "0D"):
        return "f64", int(text[2:], 16)
    if "." in text or ("e" in text.lower() and not text.lower().startswith("0x")):
        return "f64", int.from_bytes(struct.pack("<d", float(text)), "little")
    text = text.removesuffix("U")
    if len(text) > 1 and text[0] == "0" and text.isdigit():
        return "int", int(text, 8)
    return "int", int(text, 0)

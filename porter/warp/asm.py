"""Reads an inline assembly statement: template, operands, clobbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from porter.lex import STRING, Tokens
from porter.model import Span

KEYWORDS = ("asm", "__asm__", "__asm")
_QUALIFIERS = frozenset({"volatile", "__volatile__", "__volatile", "goto", "inline"})
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "", '"': '"', "\\": "\\", "'": "'"}
_LITERAL = re.compile(r'(?:u8|[uUL])?(R)?"(?P<body>.*)"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: its constraint (`=r`), symbolic name, and the C++ expression as written."""

    constraint: str
    name: str
    expression: str

    @property
    def letter(self) -> str:
        """The register class: r, l, h, f, d or n."""
        return self.constraint.strip("=+&% ")[:1]


@dataclass(frozen=True, slots=True)
class Assembly:
    """One statement; `template` is None when it is no plain string."""

    span: Span
    place: int
    template: str | None
    outputs: tuple[Operand, ...]
    inputs: tuple[Operand, ...]


def assemblies(tokens: Tokens) -> Iterator[Assembly]:
    """All inline assembly statements of a file, in macros too."""
    for index in sorted(i for keyword in KEYWORDS for i in tokens.names.get(keyword, ())):
        found = _statement(tokens, index)
        if found is not None:
            yield found


def _statement(tokens: Tokens, index: int) -> Assembly | None:
    opened = index + 1
    while opened < len(tokens) and tokens.texts[opened] in _QUALIFIERS:
        opened += 1
    closed = tokens.partner.get(opened)
    if closed is None or tokens.texts[opened] != "(":
        return None
    parts = _split(tokens, opened + 1, closed)
    last = closed + 1 if tokens.texts[closed + 1 : closed + 2] == [";"] else closed
    outputs = _operands(tokens, *parts[1]) if len(parts) > 1 else ()
    inputs = _operands(tokens, *parts[2]) if len(parts) > 2 else ()
    span = Span(tokens.starts[index], tokens.end(last))
    return Assembly(span, index, _template(tokens, *parts[0]), outputs, inputs)


def _split(tokens: Tokens, first: int, last: int) -> list[tuple[int, int]]:
    """The parts between the colons; `::` is two colons."""
    parts: list[tuple[int, int]] = []
    begin = index = first
    while index < last:
        text = tokens.texts[index]
        if text in ("(", "[", "{"):
            index = tokens.partner.get(index, index)
        elif text in (":", "::"):
            parts.append((begin, index))
            if text == "::":
                parts.append((index, index))
            begin = index + 1
        index += 1
    parts.append((begin, last))
    return parts


def _template(tokens: Tokens, first: int, last: int) -> str | None:
    pieces: list[str] = []
    for index in range(first, last):
        if tokens.kinds[index] != STRING:
            return None
        pieces.append(_content(tokens.texts[index]))
    return "".join(pieces) if pieces else None


def _content(literal: str) -> str:
    match = _LITERAL.fullmatch(literal)
    if match is None:
        return ""
    body = match["body"]
    if match[1]:
        return body.partition("(")[2].rpartition(")")[0]
    return _ESCAPE.sub(lambda m: _ESCAPES.get(m[1], "" if m[1].strip() == "" else m[1]), body)


def _operands(tokens: Tokens, first: int, last: int) -> tuple[Operand, ...]:
    found: list[Operand] = []
    index = first
    name = ""
    while index < last:
        text = tokens.texts[index]
        if text == "[" and index + 2 < last:
            name = tokens.texts[index + 1]
            index = tokens.partner.get(index, index) + 1
            continue
        opened = index + 1
        if tokens.kinds[index] == STRING and opened < last and tokens.texts[opened] == "(":
            closed = tokens.partner.get(opened, opened)
            expression = tokens.text[tokens.end(opened) : tokens.starts[closed]]
            found.append(Operand(_content(text), name, " ".join(expression.replace("\\\n", " ").split())))
            name = ""
            index = closed
        index += 1
    return tuple(found)

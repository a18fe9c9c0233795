"""Reads the declarations of a Cython `.pxd` file, which is how ROCm's Python bindings show C headers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.names.derive.declarations import Declaration, Prototype
from porter.names.derive.reader import read_declarations

_EXTERN = re.compile(r'cdef extern from "([^"]+)"')
_BLOCK = re.compile(r"(\s*)(?:cdef|ctypedef) (struct|union|enum)\s*(\w*):\s*$")
_TAIL = re.compile(r"\s+(?:except\??|noexcept|nogil)\b.*$")
_TYPEDEF = re.compile(r"\s*ctypedef (.+)$")
_VARIABLE = re.compile(r"cdef .*?(\w+)$")


def read_pxd(text: str, header: str = "") -> list[Declaration]:
    """Functions, types, enumerators, fields and constants; enumerators come without values."""
    found = list(_declarations(text.splitlines(), header))
    for declaration in found:
        declaration.binding = True
    return found


def _declarations(lines: list[str], header: str) -> Iterator[Declaration]:
    block: tuple[int, str, str] | None = None
    for line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        if extern := _EXTERN.match(stripped):
            header, block = extern.group(1), None
            continue
        if block is not None and indent > block[0]:
            yield from _member(stripped, block, header)
            continue
        block = None
        if opened := _BLOCK.match(line):
            block = (len(opened.group(1)), opened.group(2), opened.group(3))
            if opened.group(3):
                yield Declaration(opened.group(3), "type", header)
            continue
        yield from _plain(stripped, header)


def _member(line: str, block: tuple[int, str, str], header: str) -> Iterator[Declaration]:
    if line == "pass":
        return
    if block[1] == "enum":
        yield Declaration(line.split("=")[0].strip(), "enumerator", header, owner=block[2])
    else:
        yield from _renamed(f"struct S {{ {line}; }};", header, "S", block[2])


def _renamed(source: str, header: str, old: str, new: str) -> Iterator[Declaration]:
    for found in read_declarations(source, header):
        if found.kind == "field" and found.owner == old:
            found.owner = new
            yield found


def _plain(line: str, header: str) -> Iterator[Declaration]:
    if typedef := _TYPEDEF.match(line):
        yield from read_declarations(f"typedef {typedef.group(1)};", header)
        return
    if not line.startswith("cdef "):
        return
    text = _TAIL.sub("", line.removeprefix("cdef "))
    if text.endswith(")"):
        for found in read_declarations(text + ";", header):
            found.overloads = [Prototype(p.result, p.parameters) for p in found.overloads]
            yield found
    elif variable := _VARIABLE.match(line):
        yield Declaration(variable.group(1), "macro", header)

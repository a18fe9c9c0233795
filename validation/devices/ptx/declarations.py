"""Read variables, parameters and initialisers of PTX."""

from __future__ import annotations

import math
import struct

from porter.validation.devices.ptx.model import WIDTHS, Relocation, Unreadable, Variable
from porter.validation.devices.ptx.tokens import Cursor

SPACES = (".global", ".const", ".shared", ".local", ".param", ".tex", ".shared::cta")
LINKAGE = (".visible", ".extern", ".weak", ".common")
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}


def read_variables(cursor: Cursor, external: bool = False) -> list[Variable]:
    """From the state space to the semicolon."""
    space = cursor.word()[1:].removesuffix("::cta")
    align, vector, kind = _qualifiers(cursor)
    found: list[Variable] = []
    while True:
        found.append(_declarator(cursor, space, align, vector, kind, external))
        if not cursor.accept(","):
            break
    cursor.expect(";")
    return found


def read_parameter(cursor: Cursor) -> Variable:
    """One parameter of a function, a kernel or a prototype."""
    line = cursor.here.line
    space = cursor.word()
    if space not in (".param", ".reg"):
        raise Unreadable(f"parameter expected before {space!r}", line)
    align, vector, kind = _qualifiers(cursor)
    return _declarator(cursor, "param", align, vector, kind, False)


def read_parameters(cursor: Cursor) -> list[Variable]:
    """A list of parameters in parentheses."""
    cursor.expect("(")
    found: list[Variable] = []
    while not cursor.accept(")"):
        found.append(read_parameter(cursor))
        cursor.accept(",")
    return found


def _qualifiers(cursor: Cursor) -> tuple[int, int, str]:
    align, vector, kind = 0, 1, ""
    while cursor.here.kind == "word" and cursor.here.text.startswith("."):
        token = cursor.take()
        name = token.text
        if name == ".align":
            align = cursor.integer() if not kind else cursor.integer() and align
        elif name in _VECTORS:
            vector = _VECTORS[name]
        elif name == ".attribute":
            cursor.expect("(")
            while not cursor.accept(")"):
                cursor.take()
        elif name == ".ptr" or (kind and name in SPACES):
            continue
        elif name[1:] in WIDTHS:
            kind = name[1:]
        else:
            raise Unreadable(f"unknown declaration {name!r}", token.line)
    return align, vector, kind


def _declarator(cursor: Cursor, space: str, align: int, vector: int, kind: str, external: bool) -> Variable:
    token = cursor.take()
    if token.kind != "word" or not kind:
        raise Unreadable(f"declaration expected before {token.text!r}", token.line)
    name = token.text
    if name == "_":
        name = ""
    dimensions: list[int] = []
    while cursor.accept("["):
        dimensions.append(0 if cursor.here.text == "]" else cursor.integer())
        cursor.expect("]")
    element = max(WIDTHS[kind] // 8, 1)
    if cursor.accept("<"):  # name<4>: several variables; not written by any compiler for memory
        raise Unreadable("parameterised variable names", token.line)
    content = b""
    relocations: tuple[Relocation, ...] = ()
    initialised = cursor.accept("=")
    if initialised:
        content, relocations = _initialiser(cursor, element, kind)
    if dimensions and dimensions[0] == 0 and initialised:
        dimensions[0] = len(content) // max(element * vector * math.prod(dimensions[1:]), 1)
    size = element * vector * math.prod(dimensions)
    return Variable(
        name, space, kind, align or element * vector, size, content.ljust(size, b"\0"), relocations, external
    )


def _initialiser(cursor: Cursor, element: int, kind: str) -> tuple[bytes, tuple[Relocation, ...]]:
    content = bytearray()
    relocations: list[Relocation] = []

    def value() -> None:
        if cursor.accept("{"):
            while not cursor.accept("}"):
                value()
                cursor.accept(",")
            return
        if cursor.here.kind == "word":
            _address(cursor, len(content), relocations)
            content.extend(bytes(element))
            return
        content.extend(_constant_bytes(*cursor.constant(), kind, element))

    value()
    return bytes(content), tuple(relocations)


def _address(cursor: Cursor, offset: int, relocations: list[Relocation]) -> None:
    """`name`, `generic(name)`, `name+4`, `mask(0xff, ...)` is refused."""
    line = cursor.here.line
    name = cursor.word()
    generic = name == "generic" and cursor.accept("(")
    if cursor.here.text == "(":
        raise Unreadable(f"initialiser {name}()", line)
    if generic:
        name = cursor.word()
    addend = cursor.integer() if cursor.here.text in ("+", "-") else 0
    if generic:
        cursor.expect(")")
        addend += cursor.integer() if cursor.here.text in ("+", "-") else 0
    relocations.append(Relocation(offset, name, addend, bool(generic)))


def _constant_bytes(source: str, bits: int, kind: str, element: int) -> bytes:
    if kind in ("f32", "f64") and source != kind:
        number = float(bits) if source == "int" else _as_float(source, bits)
        return struct.pack("<f" if kind == "f32" else "<d", number)
    return (bits & ((1 << (8 * element)) - 1)).to_bytes(element, "little")


def _as_float(source: str, bits: int) -> float:
    code, size = ("<f", 4) if source == "f32" else ("<d", 8)
    return float(struct.unpack(code, bits.to_bytes(size, "little"))[0])

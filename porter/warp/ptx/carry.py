"""Additions and products of PTX that pass a carry on: add.cc, addc, sub.cc, subc, mad.cc, madc."""

from __future__ import annotations

import re

from porter.warp.ptx.template import CARRY
from porter.warp.ptx.writer import TYPES, Writer, need, on

_WIDE = {"u32": "u32", "s32": "u32", "b32": "u32", "u64": "u64", "s64": "u64"}


@on(r"(add|sub)(c)?(\.cc)?(?<=c)\.([us](?:32|64))")
def _sum(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, match[0])
    kind = _WIDE[match[4]]
    values = [_value(writer, operand, kind) for operand in operands[1:]]
    return writer.assign(operands[0], _with_carry(writer, match[1], match[2], match[3], values), kind)


@on(r"(?!mad\.(?:lo|hi)\.[us])mad(c)?\.(lo|hi)(\.cc)?\.([us](?:32|64))")
def _multiply_add(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, match[0])
    kind = match[4]
    a, b = (writer.value(operand, kind if match[2] == "hi" else _WIDE[kind]) for operand in operands[1:3])
    name = {"u32": "__umulhi", "s32": "__mulhi", "u64": "__umul64hi", "s64": "__mul64hi"}[kind]
    product = f"static_cast<{TYPES[_WIDE[kind]]}>({name}({a}, {b}))" if match[2] == "hi" else f"{a} * {b}"
    values = [product, _value(writer, operands[3], _WIDE[kind])]
    return writer.assign(operands[0], _with_carry(writer, "add", match[1], match[3], values), _WIDE[kind])


def _value(writer: Writer, operand: str, kind: str) -> str:
    """An operand in the very type of the other one, also where it is a number."""
    text = writer.value(operand, kind)
    is_number = text.lstrip("-")[:1].isdigit()
    return f"static_cast<{TYPES[kind]}>({text})" if is_number and (kind == "u64" or text[-1] != "u") else text


def _with_carry(writer: Writer, name: str, takes: str | None, gives: str | None, values: list[str]) -> str:
    """`carry_add_cc`, `carry_addc` and so on of ptx.hpp, which no project's macros are called, with the carry last."""
    return writer.helper(f"carry_{name}{takes or ''}{'_cc' if gives else ''}", *values, CARRY)

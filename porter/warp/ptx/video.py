"""Selections and video instructions of PTX: slct, set, vadd, vsub, vabsdiff, vmin, vmax, vmad, vshl, vshr, vset."""

from __future__ import annotations

import re

from porter.warp.ptx.template import Unknown
from porter.warp.ptx.writer import PREFIX, Writer, need, on

_PART = re.compile(r"(.+?)(?:\.(b[0-3]|h[01]))?")
_COMPARE = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="
}  # fmt: skip


@on(r"slct(?:\.ftz)?\.([busf](?:16|32|64))\.(s32|f32)")
def _slct(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, "slct")
    a, b = (writer.value(operand, match[1]) for operand in operands[1:3])
    zero = "0" if match[2] == "s32" else "0.0f"
    return writer.assign(operands[0], f"{writer.value(operands[3], match[2])} >= {zero} ? {a} : {b}", match[1])


@on(r"set\.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs)\.(u32|s32|f32)\.([bus](?:16|32|64)|f32|f64)")
def _set(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, "set")
    a, b = (writer.value(operand, match[3]) for operand in operands[1:])
    floating = match[3].startswith("f")
    holds = writer.helper("differ", a, b) if floating and match[1] == "ne" else f"{a} {_COMPARE[match[1]]} {b}"
    yes, no = ("1.0f", "0.0f") if match[2] == "f32" else ("0xffffffffu", "0u")
    return writer.assign(operands[0], f"{holds} ? {yes} : {no}", match[2])


@on(r"(vadd|vsub|vabsdiff|vmin|vmax)\.([us]32)\.([us]32)\.([us]32)(\.sat)?(?:\.(add|min|max))?")
def _video(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """The parts as 64 bits, the operation, saturation, and a second operation or the merge into `c`."""
    a, b = _part(writer, operands[1], match[3]), _part(writer, operands[2], match[4])
    value = writer.helper(match[1], a, b)
    return _finished(writer, value, match[2], match[5], match[6], operands[0], operands[3:])


@on(r"(vshl|vshr)\.([us]32)\.([us]32)\.u32(\.sat)?\.(clamp|wrap)(?:\.(add|min|max))?")
def _video_shift(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    a, by = _part(writer, operands[1], match[3]), _part(writer, operands[2], "u32")
    value = writer.helper(f"{match[1]}_{match[5]}", a, by)
    return _finished(writer, value, match[2], match[4], match[6], operands[0], operands[3:])


@on(r"vset\.([us]32)\.([us]32)\.(eq|ne|lt|le|gt|ge)(?:\.(add|min|max))?")
def _video_set(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    a, b = _part(writer, operands[1], match[1]), _part(writer, operands[2], match[2])
    value = f"static_cast<long long>({a} {_COMPARE[match[3]]} {b})"
    return _finished(writer, value, "u32", None, match[4], operands[0], operands[3:])


@on(r"vmad\.([us]32)\.([us]32)\.([us]32)")
def _video_mad(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """The low word, which is the same for signed and unsigned numbers; a minus is that of the product or of `c`."""
    need(operands, 4, "vmad")
    left, right, third = (operand.removeprefix("-").strip() for operand in operands[1:])
    a, b = _part(writer, left, match[2]), _part(writer, right, match[3])
    product = f"static_cast<unsigned>({a}) * static_cast<unsigned>({b})"
    sign = "-" if operands[1].startswith("-") != operands[2].startswith("-") else ""
    operation = "-" if operands[3].startswith("-") else "+"
    value = f"{sign}({product})" if sign else product
    return writer.assign(operands[0], f"{value} {operation} {writer.value(third, 'u32')}")


@on(r"(vadd|vsub|vavrg|vabsdiff|vmin|vmax)([24])\.([us]32)\.([us]32)\.([us]32)(\.sat)?(\.add)?")
def _video_lanes(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """The same on 2 halves or 4 bytes in their order; selections and masks of parts stay untranslated."""
    need(operands, 4, match[0])
    lanes, to, saturates, adds = int(match[2]), match[3], bool(match[6]), bool(match[7])
    bits = 32 // lanes
    a, b, c = (writer.value(operand, "u32") for operand in operands[1:])
    types = ", ".join(f"{PREFIX}lane_{kind[0]}{bits}" for kind in (to, match[4], match[5]))
    name = f"video_lanes<{types}, {str(saturates).lower()}, {str(adds).lower()}>"
    return writer.assign(operands[0], writer.helper(name, a, b, c, f"{PREFIX}do_{match[1]}()"))


def _part(writer: Writer, operand: str, kind: str) -> str:
    """A byte, half or word of a register, as 64 bits."""
    match = _PART.fullmatch(operand)
    if match is None:
        raise Unknown(f"the operand {operand}")
    value = writer.value(match[1], "u32")
    return writer.helper(f"part_{kind[0]}{_bits(match[2])}", value, str(_shift(match[2])))


def _finished(
    writer: Writer, value: str, kind: str, saturate: str | None, second: str | None, target: str, rest: tuple[str, ...]
) -> str:
    match = _PART.fullmatch(target)
    if match is None or len(rest) != (1 if second or match[2] else 0) or (second and match[2]):
        raise Unknown(f"the result {target}")
    if saturate:
        value = writer.helper(f"clamp_{kind[0]}{_bits(match[2])}", value)
    value = f"static_cast<unsigned>({value})"
    if match[2]:
        mask = (1 << _bits(match[2])) - 1
        value = writer.helper("merged", value, writer.value(rest[0], "u32"), f"{hex(mask)}u", str(_shift(match[2])))
    elif second:
        c = writer.value(rest[0], kind)
        value = f"{value} + {c}" if second == "add" else f"{second}({_typed(value, kind)}, {c})"
    return writer.assign(match[1], value)


def _typed(value: str, kind: str) -> str:
    return f"static_cast<int>({value})" if kind == "s32" else value


def _bits(part: str | None) -> int:
    return 32 if part is None else 8 if part.startswith("b") else 16


def _shift(part: str | None) -> int:
    return 0 if part is None else int(part[1]) * _bits(part)

"""Halves of PTX: roundings, 8-bit floats, rules for NaN and signs, comparisons of pairs; pairs of 16-bit integers."""

from __future__ import annotations

import re

from porter.warp.ptx.arithmetic import compared
from porter.warp.ptx.template import Unknown
from porter.warp.ptx.writer import PREFIX, TYPES, Writer, need, on

_HALVES = frozenset({"f16", "bf16"})
_ONE = {"f16": "0x3c00u", "bf16": "0x3f80u"}
_COMPARISONS = "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan"
_BOOLEAN = {"and": "&&", "or": "||", "xor": "!="}


@on(r"(add|sub|mul|fma)\.rn(?:\.ftz)?\.(sat|relu)\.(f16x2|bf16x2|f16|bf16)")
def _limited(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """To [0, 1], or not below 0; NaN is 0 with the one and stays with the other."""
    need(operands, 4 if match[1] == "fma" else 3, match[0])
    values = [writer.value(operand, match[3]) for operand in operands[1:]]
    alone = "_rn" if match[1] != "fma" and "bf16" not in match[3] else ""
    whole = writer.helper(f"{match[1]}{alone}_{match[3]}", *values)
    return writer.assign(operands[0], writer.helper(f"{match[2]}_{match[3]}", whole))


@on(r"(min|max)(?:\.ftz)?(?:(\.NaN)(\.xorsign\.abs)?|(\.xorsign\.abs))\.(f32|f16x2|bf16x2|f16|bf16)")
def _extreme(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, match[0])
    kind = match[5]
    flags = (match[1] == "max", bool(match[2]), bool(match[3] or match[4]))
    written = ", ".join(str(flag).lower() for flag in flags)
    values = [writer.value(operand, kind) for operand in operands[1:]]
    return writer.assign(operands[0], writer.helper(f"extreme_of_{kind}<{written}>", *values), kind)


@on(r"(ex2|tanh)\.approx(?:\.ftz)?\.(bf16|bf16x2)")
def _function(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[1])
    return writer.assign(operands[0], writer.helper(f"{match[1]}_{match[2]}", writer.value(operands[1], match[2])))


@on(r"(add|min|max)(\.relu)?\.([us])16x2")
def _integers(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, match[0])
    lane = f"{PREFIX}lane_{match[3]}16"
    values = [writer.value(operand, "u32") for operand in operands[1:]]
    text = writer.helper(
        f"video_lanes<{lane}, {lane}, {lane}, false, false>", *values, "0u", f"{PREFIX}do_v{match[1]}()"
    )
    if match[2]:
        text = writer.helper(
            f"video_lanes<{lane}, {lane}, {lane}, false, false>", text, "0u", "0u", f"{PREFIX}do_vmax()"
        )
    return writer.assign(operands[0], text)


@on(rf"set\.({_COMPARISONS})(?:\.(and|or|xor))?(?:\.ftz)?\.(f16x2|bf16x2)\.\3")
def _set_pair(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4 if match[2] else 3, match[0])
    kind = match[3].removesuffix("x2")
    low, high = _of_pair(writer, match, operands, kind)
    one = _ONE[kind]
    return writer.assign(operands[0], f"({low} ? {one} : 0u) | ({high} ? {one} << 16 : 0u)")


@on(
    rf"set\.({_COMPARISONS})(?:\.(and|or|xor))?(?:\.ftz)?\.([us](?:16|32)|f32|f16|bf16)\.([bus](?:16|32|64)|b?f16|f32|f64)"
)
def _set(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """What the video instructions' plain form does not take: halves, unordered comparisons, a predicate."""
    need(operands, 4 if match[2] else 3, match[0])
    values = [_number(writer, operand, match[4]) for operand in operands[1:3]]
    holds = compared(writer, match[1], match[4], values, match[0])
    if match[2]:
        holds = f"(({holds}) {_BOOLEAN[match[2]]} {writer.value(operands[3], 'pred')})"
    yes = {"f32": "1.0f", **_ONE}.get(match[3], "0xffffffffu")
    no = "0.0f" if match[3] == "f32" else "0u"
    return writer.assign(operands[0], f"{holds} ? {yes} : {no}", match[3] if match[3] == "f32" else "b32")


@on(rf"setp\.({_COMPARISONS})(?:\.(and|or|xor))?(?:\.ftz)?\.(f16x2|bf16x2)", narrow=True)
def _setp_pair(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4 if match[2] else 3, match[0])
    targets = [target.strip() for target in operands[0].split("|")]
    if len(targets) != 2:
        raise Unknown(f"{match[0]} with one result")
    low, high = _of_pair(writer, match, operands, match[3].removesuffix("x2"))
    first, second = (
        writer.assign(target, name) for target, name in zip(targets, ("porter_p", "porter_q"), strict=True)
    )
    return f"{{ bool const porter_p = {low}, porter_q = {high}; {first} {second} }}"


def _of_pair(writer: Writer, match: re.Match[str], operands: tuple[str, ...], kind: str) -> tuple[str, str]:
    """The comparisons of the lower and of the upper halves."""
    words = [writer.value(operand, "b32") for operand in operands[1:3]]
    more = f" {_BOOLEAN[match[2]]} {writer.value(operands[3], 'pred')}" if match[2] else ""
    found = []
    for shift in ("", " >> 16"):
        values = [writer.helper(f"f32_from_{kind}", f"static_cast<unsigned short>({word}{shift})") for word in words]
        found.append(f"(({compared(writer, match[1], 'f32', values, match[0])}){more})")
    return found[0], found[1]


def _number(writer: Writer, operand: str, kind: str) -> str:
    if kind in _HALVES:
        return writer.helper(f"f32_from_{kind}", writer.value(operand, "b16"))
    return writer.value(operand, kind)


@on(r"lop3\.(or|and)\.b32")
def _lop3(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """`d|p`: besides the word whether it has bits, or that combined with a predicate."""
    need(operands, 6, match[0])
    target, _, predicate = operands[0].partition("|")
    operand = writer.operand(operands[4])
    if operand is not None and operand.letter != "n":
        raise Unknown("lop3 with a table from a register")
    table = operands[4] if operand is None else operand.expression
    values = [writer.value(one, "b32") for one in operands[1:4]]
    call = writer.helper(f"lop3<{table}>", *values)
    holds = f"porter_d != 0u {_BOOLEAN[match[1]]} {writer.value(operands[5], 'pred')}"
    told = f"bool const porter_p = {holds}; {writer.assign(predicate, 'porter_p')}" if predicate.strip() else ""
    return f"{{ unsigned const porter_d = {call}; {told} {writer.assign(target, 'porter_d')} }}"


_DIRECTED = {"rn": "n", "rz": "z", "rm": "m", "rp": "p"}


@on(r"cvt\.(?!rn\.f16\.f32)(rn|rz|rm|rp)(?:\.ftz)?(\.sat|\.relu)?\.f16\.(f32|f64|[us](?:8|16|32|64))", narrow=True)
def _to_half(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """By way of double, which has all of them but integers that are too large for a half anyway."""
    need(operands, 2, match[0])
    value = f"static_cast<double>({writer.value(operands[1], match[3])})"
    text = writer.helper(f"f16_rounded<'{_DIRECTED[match[1]]}'>", value)
    return writer.assign(operands[0], _after(writer, match[2], text, "f16"), "b16")


@on(r"cvt\.(?!rn\.bf16)(rn|rz)(\.relu)?\.bf16\.f32", narrow=True)
def _to_bfloat16(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    text = writer.helper("bf16_from_f32" if match[1] == "rn" else "bf16_truncated", writer.value(operands[1], "f32"))
    return writer.assign(operands[0], _after(writer, match[2], text, "bf16"), "b16")


@on(r"cvt\.(?!rn\.b?f16x2)(rn|rz)(\.relu)?\.(f16|bf16)x2\.f32", narrow=True)
def _to_pair(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """The first operand is the upper half."""
    need(operands, 3, match[0])
    name = {
        ("rn", "f16"): "f16_from_f32",
        ("rz", "f16"): "f16_rounded<'z'>",
        ("rn", "bf16"): "bf16_from_f32",
        ("rz", "bf16"): "bf16_truncated",
    }[match[1], match[3]]
    high, low = (
        _after(writer, match[2], writer.helper(name, writer.value(operand, "f32")), match[3])
        for operand in operands[1:]
    )
    return writer.assign(operands[0], f"static_cast<unsigned>({high}) << 16 | {low}")


@on(r"cvt\.(rni|rzi|rmi|rpi)(?:\.ftz)?\.f16\.f16", narrow=True)
def _whole_half(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    name = {"rni": "rintf", "rzi": "truncf", "rmi": "floorf", "rpi": "ceilf"}[match[1]]
    value = writer.helper("f32_from_f16", writer.value(operands[1], "b16"))
    return writer.assign(operands[0], writer.helper("f16_from_f32", f"__builtin_{name}({value})"), "b16")


def _after(writer: Writer, how: str | None, text: str, kind: str) -> str:
    return writer.helper(f"{how[1:]}_{kind}", text) if how else text


@on(r"cvt\.rn\.satfinite(\.relu)?\.(e4m3|e5m2)x2\.(f32|f16x2)", narrow=True)
def _to_bytes(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """As NVIDIA's 8-bit floats (OCP), which are not those of gfx942's own instructions."""
    need(operands, 3 if match[3] == "f32" else 2, match[0])
    if match[3] == "f32":
        high, low = (writer.value(operand, "f32") for operand in operands[1:])
    else:
        word = writer.value(operands[1], "b32")
        low, high = (
            writer.helper("f32_from_f16", f"static_cast<unsigned short>({word}{shift})") for shift in ("", " >> 16")
        )
    shape = {"e4m3": "3, 7, 0x7e", "e5m2": "2, 15, 0x7b"}[match[2]]
    parts = [writer.helper(f"f8_from_f32<{shape}, {str(bool(match[1])).lower()}>", value) for value in (high, low)]
    return writer.assign(operands[0], f"static_cast<unsigned short>({parts[0]} << 8 | {parts[1]})", "b16")


@on(r"cvt\.rn(\.relu)?\.f16x2\.(e4m3|e5m2)x2", narrow=True)
def _from_bytes(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    text = writer.helper(f"f16x2_from_{match[2]}x2", writer.value(operands[1], "b16"))
    return writer.assign(operands[0], writer.helper("relu_f16x2", text) if match[1] else text)


@on(r"cvt\.pack\.sat\.([us])(8|16)\.s32(\.b32)?", narrow=True)
def _pack(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """Two numbers, saturated; of bytes the lower half of a third operand goes above them."""
    if (match[2] == "8") != bool(match[3]):
        raise Unknown(match[0])
    need(operands, 4 if match[3] else 3, match[0])
    bits = match[2]
    kind, unsigned = TYPES[f"{match[1]}{bits}"], TYPES[f"u{bits}"]
    a, b = (
        f"static_cast<{unsigned}>({writer.helper(f'saturated<{kind}>', writer.value(operand, 's32'))})"
        for operand in operands[1:3]
    )
    above = f" | {writer.value(operands[3], 'u32')} << 16" if match[3] else ""
    return writer.assign(operands[0], f"static_cast<unsigned>({a}) << {bits} | {b}{above}")


@on(r"vset([24])\.([us]32)\.([us]32)\.(eq|ne|lt|le|gt|ge)(\.add)?")
def _vset(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """The parts in their order, as numbers with or without sign: 1 where it holds, or how many there are."""
    need(operands, 4, match[0])
    bits = 32 // int(match[1])
    a, b, c = (writer.value(operand, "u32") for operand in operands[1:])
    lanes = ", ".join(f"{PREFIX}lane_{kind[0]}{bits}" for kind in ("u", match[2], match[3]))
    name = f"video_lanes<{lanes}, false, {str(bool(match[5])).lower()}>"
    return writer.assign(operands[0], writer.helper(name, a, b, c, f"{PREFIX}do_vset_{match[4]}()"))

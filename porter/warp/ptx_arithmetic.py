"""Moves, arithmetic, bits, conversions and comparisons of PTX."""

from __future__ import annotations

import re

from porter.warp.ptx import Unknown
from porter.warp.ptx_writer import HEADER, PREFIX, TYPES, Writer, need, on


@on(r"mov\.(b16|b32|u16|u32|s32|b64|u64|s64|f32|f64|pred)")
def _mov(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, "mov")
    target, source = operands
    if source.startswith("\x01"):
        low, high = _halves(writer, source, match[1])
        shift = 32 if match[1].endswith("64") else 16
        wide = "unsigned long long" if shift == 32 else "unsigned"
        return writer.assign(target, f"static_cast<{wide}>({high}) << {shift} | {low}")
    if target.startswith("\x01"):
        parts = [part.strip() for part in target[1:-1].split(",")]
        if len(parts) != 2:
            raise Unknown("a vector of more than two parts")
        low, high = parts
        value = writer.value(source, match[1])
        half, shift = ("unsigned", 32) if match[1].endswith("64") else ("unsigned short", 16)
        return " ".join(
            writer.assign(part, f"static_cast<{half}>({value}{after})")
            for part, after in ((low, ""), (high, f" >> {shift}"))
            if part != "_"
        )
    return writer.assign(target, writer.value(source, match[1]), match[1])


def _halves(writer: Writer, source: str, kind: str) -> tuple[str, str]:
    parts = [part.strip() for part in source[1:-1].split(",")]
    if len(parts) != 2:
        raise Unknown("a vector of more than two parts")
    half = "u32" if kind.endswith("64") else "u16"
    return writer.value(parts[0], half), writer.value(parts[1], half)


_OPERATORS = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "mul.lo": "*", "div": "/", "rem": "%"}


@on(r"(add|sub|and|or|xor|mul\.lo|div|rem)\.(u16|s16|b16|u32|s32|b32|u64|s64|b64|pred)")
def _arithmetic(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, match[1])
    left, right = (writer.value(operand, match[2]) for operand in operands[1:])
    return writer.assign(operands[0], f"{left} {_OPERATORS[match[1]]} {right}")


_ROUNDED = {"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru", "rni": "rn", "rzi": "rz", "rmi": "rd", "rpi": "ru"}


@on(r"(add|sub|mul|div)(?:\.(rn|rz|rm|rp|full|approx))?(?:\.ftz)?\.(f32|f64)")
def _floating(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """With a rounding mode it is never fused with what comes next, without one it may be."""
    need(operands, 3, match[1])
    mode, kind = match[2], match[3]
    left, right = (writer.value(operand, kind) for operand in operands[1:])
    if mode in _ROUNDED and (mode, match[1]) != ("rn", "div"):
        name = f"{kind[0] if kind == 'f32' else 'd'}{match[1]}_{_ROUNDED[mode]}"
        return writer.assign(operands[0], writer.rounded(name, left, right), kind)
    operator = {"add": "+", "sub": "-", "mul": "*", "div": "/"}[match[1]]
    return writer.assign(operands[0], f"{left} {operator} {right}", kind)


@on(r"(?:fma\.(rn|rz|rm|rp)|mad(?:\.(rn|rz|rm|rp))?)(?:\.ftz)?\.(f32|f64)")
def _fma(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, "fma")
    mode, kind = match[1] or match[2] or "rn", match[3]
    name = "fmaf" if kind == "f32" else "fma"
    arguments = [writer.value(operand, kind) for operand in operands[1:]]
    if mode != "rn":
        return writer.assign(operands[0], writer.rounded(f"{name}_{_ROUNDED[mode]}", *arguments), kind)
    return writer.assign(operands[0], f"{name}({', '.join(arguments)})", kind)


@on(r"mad\.lo\.(u32|s32|u64|s64)")
def _mad(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, "mad.lo")
    a, b, c = (writer.value(operand, match[1]) for operand in operands[1:])
    return writer.assign(operands[0], f"{a} * {b} + {c}")


@on(r"(mul|mad)\.wide\.(u32|s32|u16|s16)")
def _wide(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3 if match[1] == "mul" else 4, "mul.wide")
    wide = {"u32": "u64", "s32": "s64", "u16": "u32", "s16": "s32"}[match[2]]
    a, b = (writer.value(operand, match[2]) for operand in operands[1:3])
    product = f"static_cast<{TYPES[wide]}>({a}) * {b}"
    return writer.assign(
        operands[0], product if match[1] == "mul" else f"{product} + {writer.value(operands[3], wide)}"
    )


@on(r"(mul|mad)\.hi\.(u32|s32|u64|s64)")
def _high(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3 if match[1] == "mul" else 4, "mul.hi")
    name = {"u32": "__umulhi", "s32": "__mulhi", "u64": "__umul64hi", "s64": "__mul64hi"}[match[2]]
    a, b = (writer.value(operand, match[2]) for operand in operands[1:3])
    product = f"{name}({a}, {b})"
    return writer.assign(
        operands[0], product if match[1] == "mul" else f"{product} + {writer.value(operands[3], match[2])}"
    )


@on(r"(min|max)(?:\.ftz)?\.(u16|s16|u32|s32|u64|s64|f32|f64)")
def _extreme(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, match[1])
    a, b = (writer.value(operand, match[2]) for operand in operands[1:])
    name = {"f32": f"f{match[1]}f", "f64": f"f{match[1]}"}.get(match[2], match[1])
    if match[2].endswith("16"):
        a, b = f"static_cast<int>({a})", f"static_cast<int>({b})"
    return writer.assign(operands[0], f"{name}({a}, {b})", match[2])


@on(r"(neg|abs|not)(?:\.ftz)?\.(s32|s64|b32|b64|f32|f64|pred)")
def _unary(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[1])
    a = writer.value(operands[1], match[2])
    if match[1] == "abs":
        name = {"f32": "fabsf", "f64": "fabs"}.get(match[2], "abs")
        return writer.assign(operands[0], f"{name}({a})", match[2])
    operator = "-" if match[1] == "neg" else "!" if match[2] == "pred" else "~"
    return writer.assign(operands[0], f"{operator}{a}", match[2])


@on(r"(shl|shr)\.(b32|u32|s32|b64|u64|s64)")
def _shift(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, match[1])
    a, by = writer.value(operands[1], match[2]), writer.value(operands[2], "u32")
    return writer.assign(operands[0], writer.helper(match[1], a, by))


@on(r"(popc|clz|brev)\.(b32|b64)")
def _bits(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[1])
    signed = match[1] == "clz"
    kind = ("s" if signed else "u") + match[2][1:]
    name = f"__{match[1]}{'ll' if match[2] == 'b64' else ''}"
    return writer.assign(operands[0], f"{name}({writer.value(operands[1], kind)})")


@on(r"bfind\.(u32|u64)")
def _bfind(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, "bfind")
    a = writer.value(operands[1], "s" + match[1][1:])
    return writer.assign(operands[0], f"31 - __clz({a})" if match[1] == "u32" else f"63 - __clzll({a})")


@on(r"(bfe|bfi|prmt|shf)(?:\.(l|r)\.(wrap|clamp))?\.(u32|s32|u64|b32|b64)")
def _fields(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    name, kind = match[1], match[4]
    if name == "shf":
        need(operands, 4, "shf")
        arguments = [writer.value(operand, "u32") for operand in operands[1:]]
        return writer.assign(operands[0], writer.helper(f"shf_{match[2]}_{match[3]}", *arguments))
    if match[2] or (name == "prmt" and len(operands) != 4):
        raise Unknown(match[0])
    wide = {"bfe": 1, "bfi": 2, "prmt": 0}[name]
    values = [writer.value(o, kind if n < wide else "u32") for n, o in enumerate(operands[1:])]
    return writer.assign(operands[0], writer.helper(name, *values))


@on(r"lop3\.b32")
def _lop3(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 5, "lop3")
    table = operands[4]
    operand = writer.operand(table)
    if operand is not None:
        if operand.letter != "n":
            raise Unknown("lop3 with a table from a register")
        table = operand.expression
    values = ", ".join(writer.value(o, "b32") for o in operands[1:4])
    writer.headers.add(HEADER)
    return writer.assign(operands[0], f"{PREFIX}lop3<{table}>({values})")


@on(r"dp4a\.(u32|s32)\.(u32|s32)")
def _dp4a(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, "dp4a")
    if match[1] != match[2]:
        raise Unknown(match[0])
    a, b = (writer.value(operand, "u32") for operand in operands[1:3])
    return writer.assign(operands[0], writer.helper(f"dp4a_{match[1]}", a, b, writer.value(operands[3], match[1])))


_PLAIN = {"sin": "__sinf", "cos": "__cosf", "tanh": "tanhf", "sqrt": "sqrtf"}


@on(r"(ex2|lg2|rcp|rsqrt|sqrt|sin|cos|tanh)\.(?:approx|rn)(?:\.ftz)?\.(f32|f64)")
def _function(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[1])
    name, kind = match[1], match[2]
    value = writer.value(operands[1], kind)
    if name == "rcp" and ".rn" in match[0]:
        text = f"{'1.0f' if kind == 'f32' else '1.0'} / {value}"
    elif name in _PLAIN:
        text = f"{'sqrt' if kind == 'f64' else _PLAIN[name]}({value})"
    else:
        text = writer.helper(name, value)
    return writer.assign(operands[0], text, kind)


@on(r"(ex2|tanh)\.approx(?:\.ftz)?\.(f16|f16x2)")
def _half_function(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[1])
    return writer.assign(operands[0], writer.helper(f"{match[1]}_{match[2]}", writer.value(operands[1], match[2])))


@on(r"(add|sub|mul|fma|min|max)(\.rn)?(?:\.ftz)?\.(f16x2|bf16x2|f16|bf16)")
def _half(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """As for single precision, `.rn` keeps additions and products from being fused."""
    need(operands, 4 if match[1] == "fma" else 3, match[0])
    if "bf16" in match[3] and match[1] in ("min", "max"):
        raise Unknown(match[0])
    alone = "_rn" if match[2] and match[1] != "fma" and "bf16" not in match[3] else ""
    values = [writer.value(operand, match[3]) for operand in operands[1:]]
    return writer.assign(operands[0], writer.helper(f"{match[1]}{alone}_{match[3]}", *values))


_TO_INT = {"u32": "uint", "s32": "int", "u64": "ull", "s64": "ll"}


_SATURATING = ("rni.sat", "rzi.sat", "rmi.sat", "rpi.sat")
_CONVERSIONS = {
    ("rn", "f16", "f32"): "f16_from_f32",
    ("", "f32", "f16"): "f32_from_f16",
    ("rn", "bf16", "f32"): "bf16_from_f32",
    ("rn", "f16x2", "f32"): "f16x2_from_f32",
    ("rn", "bf16x2", "f32"): "bf16x2_from_f32",
    ("rna", "tf32", "f32"): "tf32_from_f32",
}


@on(r"cvt(?:\.(\w+?(?:\.sat)?))?(?:\.ftz)?\.(\w+)\.(\w+)")
def _cvt(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    mode, to, source = match[1], match[2], match[3]
    special = _CONVERSIONS.get((mode or "", to, source))
    if special is not None:
        values = [writer.value(operand, "b16" if source == "f16" else source) for operand in operands[1:]]
        return writer.assign(operands[0], writer.helper(special, *values), to)
    need(operands, 2, match[0])
    value = writer.value(operands[1], source)
    if source in ("f32", "f64") and to in _TO_INT and mode in _ROUNDED:
        prefix = "float" if source == "f32" else "double"
        return writer.assign(operands[0], f"__{prefix}2{_TO_INT[to]}_{_ROUNDED[mode]}({value})")
    both = TYPES.get(to), TYPES.get(source)
    if mode in (None, "rn") and None not in both and not {"f16", "bf16", "f16x2", "bf16x2"} & {to, source}:
        return writer.assign(operands[0], f"static_cast<{both[0]}>({value})", to)
    if source == "f32" and mode in _SATURATING and to in ("s8", "u8", "s16", "u16", "s32", "u32"):
        rounded = (
            f"__float2int_{_ROUNDED[mode[:3]]}({value})"
            if to != "u32"
            else f"__float2uint_{_ROUNDED[mode[:3]]}({value})"
        )
        if to in ("s32", "u32"):
            return writer.assign(operands[0], rounded)
        return writer.assign(operands[0], writer.helper(f"saturated<{TYPES[to]}>", rounded))
    raise Unknown(match[0])


_COMPARE = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}


_INVERSE = {"equ": "ne", "neu": "eq", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt", "nan": "num"}
"""Comparisons that are true of a NaN -> the comparison that holds when they do not."""
_WITH_NAN = {"ne": "differ", "num": "ordered"}
"""Comparisons of floating-point numbers that C++ has no operator for -> functions of ptx.hpp."""


@on(r"setp\.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan)(?:\.ftz)?\.(\w+)")
def _setp(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, "setp")
    how, kind = match[1], match[2]
    values = [writer.value(operand, "b16" if kind in ("f16", "bf16") else kind) for operand in operands[1:]]
    if kind in ("f16", "bf16"):
        values = [writer.helper(f"f32_from_{kind}", value) for value in values]
    if kind not in ("f32", "f64", "f16", "bf16"):
        if how not in _COMPARE:
            raise Unknown(match[0])
        return writer.assign(operands[0], f"{values[0]} {_COMPARE[how]} {values[1]}")
    plain = _INVERSE.get(how, how)
    if plain in _WITH_NAN:
        text = writer.helper(_WITH_NAN[plain], *values)
    else:
        text = f"{values[0]} {_COMPARE[plain]} {values[1]}"
        text = f"({text})" if plain != how else text
    return writer.assign(operands[0], f"!{text}" if plain != how else text)


@on(r"selp\.(\w+)")
def _selp(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, "selp")
    a, b = (writer.value(operand, match[1]) for operand in operands[1:3])
    return writer.assign(operands[0], f"{writer.value(operands[3], 'pred')} ? {a} : {b}", match[1])

"""Moves, arithmetic, bits, conversions and comparisons of PTX."""

from __future__ import annotations

import re

from porter.warp.ptx.template import Unknown
from porter.warp.ptx.writer import HEADER, PREFIX, TYPES, Writer, need, on


@on(r"mov\.(b16|b32|u16|u32|s32|b64|u64|s64|f32|f64|pred)")
def _mov(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, "mov")
    target, source = operands
    if source.startswith("\x01"):
        parts, bits = _parts(source, match[1])
        wide = "unsigned long long" if match[1].endswith("64") else "unsigned"
        values = [writer.value(part, f"u{bits}") for part in parts]
        shifted = (f"static_cast<{wide}>({text}) << {bits * n}" for n, text in enumerate(values) if n)
        return writer.assign(target, " | ".join((*reversed(list(shifted)), values[0])))
    if target.startswith("\x01"):
        parts, bits = _parts(target, match[1])
        value, kind = writer.value(source, match[1]), TYPES[f"u{bits}"]
        return " ".join(
            writer.assign(part, f"static_cast<{kind}>({value}{f' >> {bits * n}' if n else ''})")
            for n, part in enumerate(parts)
            if part != "_"
        )
    return writer.assign(target, writer.value(source, match[1]), match[1])


def _parts(operand: str, kind: str) -> tuple[list[str], int]:
    """The registers of a vector, from the lowest on, and how wide each is."""
    parts = [part.strip() for part in operand[1:-1].split(",")]
    bits = int(kind[-2:]) // len(parts) if kind != "pred" else 0
    if len(parts) not in (2, 4) or bits < 8:
        raise Unknown(f"a vector of {len(parts)} parts")
    return parts, bits


_OPERATORS = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "mul.lo": "*", "div": "/", "rem": "%"}


@on(r"(add|sub|and|or|xor|mul\.lo|div|rem)\.(u16|s16|b16|u32|s32|b32|u64|s64|b64|pred)")
def _arithmetic(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, match[1])
    left, right = (writer.value(operand, match[2]) for operand in operands[1:])
    return writer.assign(operands[0], f"{left} {_OPERATORS[match[1]]} {right}")


_ROUNDED = {"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru", "rni": "rn", "rzi": "rz", "rmi": "rd", "rpi": "ru"}


@on(r"(add|sub|mul|div)(?:\.(rn|rz|rm|rp|full|approx))?(?:\.ftz)?(\.sat)?\.(f32|f64)")
def _floating(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """With a rounding mode it is never fused with what comes next, without one it may be."""
    need(operands, 3, match[1])
    mode, kind = match[2], match[4]
    left, right = (writer.value(operand, kind) for operand in operands[1:])
    operator = {"add": "+", "sub": "-", "mul": "*", "div": "/"}[match[1]]
    text = f"{left} {operator} {right}"
    if mode in _ROUNDED and (mode, match[1]) != ("rn", "div"):
        text = writer.rounded(f"{kind[0] if kind == 'f32' else 'd'}{match[1]}_{_ROUNDED[mode]}", left, right)
    return writer.assign(operands[0], writer.helper("within_one", text) if match[3] else text, kind)


@on(r"(?:fma\.(rn|rz|rm|rp)|mad(?:\.(rn|rz|rm|rp))?)(?:\.ftz)?(\.sat)?\.(f32|f64)")
def _fma(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, "fma")
    mode, kind = match[1] or match[2] or "rn", match[4]
    name = "fmaf" if kind == "f32" else "fma"
    arguments = [writer.value(operand, kind) for operand in operands[1:]]
    text = f"{name}({', '.join(arguments)})"
    if mode != "rn":
        text = writer.rounded(f"{name}_{_ROUNDED[mode]}", *arguments)
    return writer.assign(operands[0], writer.helper("within_one", text) if match[3] else text, kind)


@on(r"mad\.lo\.(u16|s16|u32|s32|u64|s64)")
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


@on(r"(add|sub)\.sat\.s32")
def _saturating(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, match[0])
    a, b = (f"static_cast<long long>({writer.value(operand, 's32')})" for operand in operands[1:])
    return writer.assign(operands[0], writer.helper("saturated<int>", f"{a} {_OPERATORS[match[1]]} {b}"))


@on(r"mad\.hi\.sat\.s32")
def _saturating_high(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, match[0])
    a, b, c = (writer.value(operand, "s32") for operand in operands[1:])
    return writer.assign(
        operands[0], writer.helper("saturated<int>", f"static_cast<long long>(__mulhi({a}, {b})) + {c}")
    )


@on(r"(min|max)\.relu\.s32")
def _not_below_zero(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, match[0])
    a, b = (writer.value(operand, "s32") for operand in operands[1:])
    return writer.assign(operands[0], f"max({match[1]}({a}, {b}), 0)")


@on(r"(mul|mad)\.hi\.(u16|s16)")
def _high_16(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3 if match[1] == "mul" else 4, match[0])
    wide = "unsigned" if match[2] == "u16" else "int"
    a, b = (f"static_cast<{wide}>({writer.value(operand, match[2])})" for operand in operands[1:3])
    more = f" + {writer.value(operands[3], match[2])}" if match[1] == "mad" else ""
    return writer.assign(operands[0], f"({a} * {b} >> 16){more}")


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


@on(r"cnot\.b(16|32|64)")
def _cnot(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    return writer.assign(operands[0], f"{writer.value(operands[1], f'b{match[1]}')} == 0 ? 1 : 0")


@on(r"(neg|abs)(?:\.ftz)?\.(f16x2|bf16x2|f16|bf16)")
def _half_sign(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """The sign's bit alone."""
    need(operands, 2, match[0])
    sign = "0x80008000u" if match[2].endswith("x2") else "0x8000u"
    operator = f"^ {sign}" if match[1] == "neg" else f"& ~{sign}"
    return writer.assign(operands[0], f"{writer.value(operands[1], match[2])} {operator}")


@on(r"(neg|abs|not)(?:\.ftz)?\.(s16|s32|s64|b16|b32|b64|f32|f64|pred)")
def _unary(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[1])
    a = writer.value(operands[1], match[2])
    if match[1] == "abs":
        name = {"f32": "fabsf", "f64": "fabs"}.get(match[2], "abs")
        return writer.assign(operands[0], f"{name}({a})", match[2])
    operator = "-" if match[1] == "neg" else "!" if match[2] == "pred" else "~"
    return writer.assign(operands[0], f"{operator}{a}", match[2])


@on(r"(shl|shr)\.([bus])16")
def _shift_16(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3, match[0])
    wide = "int" if match[2] == "s" else "unsigned"
    a, by = f"static_cast<{wide}>({writer.value(operands[1], match[2] + '16')})", writer.value(operands[2], "u32")
    return writer.assign(operands[0], writer.helper(match[1], a, by))


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


@on(r"bfind(\.shiftamt)?\.([us](?:32|64))")
def _bfind(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, "bfind")
    name = "bfind_shiftamt" if match[1] else "bfind"
    return writer.assign(operands[0], writer.helper(name, writer.value(operands[1], match[2])))


@on(r"(bfe|bfi|prmt|shf)(?:\.(l|r)\.(wrap|clamp))?\.(u32|s32|u64|s64|b32|b64)")
def _fields(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    name, kind = match[1], match[4]
    if name == "shf":
        need(operands, 4, "shf")
        arguments = [writer.value(operand, "u32") for operand in operands[1:]]
        return writer.assign(operands[0], writer.helper(f"shf_{match[2]}_{match[3]}", *arguments))
    if match[2]:
        raise Unknown(match[0])
    need(operands, {"bfe": 4, "bfi": 5, "prmt": 4}[name], match[0])
    wide = {"bfe": 1, "bfi": 2, "prmt": 0}[name]
    values = [writer.value(o, kind if n < wide else "u32") for n, o in enumerate(operands[1:])]
    return writer.assign(operands[0], writer.helper(name, *values))


@on(r"prmt\.b32\.(f4e|b4e|rc8|ecl|ecr|rc16)")
def _prmt_mode(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, match[0])
    values = [writer.value(operand, "u32") for operand in operands[1:]]
    return writer.assign(operands[0], writer.helper(f"prmt_{match[1]}", *values))


@on(r"(mul|mad)24\.(lo|hi)\.([us])32")
def _mul24(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 3 if match[1] == "mul" else 4, match[0])
    values = [writer.value(operand, f"{match[3]}32") for operand in operands[1:]]
    product = writer.helper(f"mul24_{match[2]}", *values[:2])
    return writer.assign(operands[0], product if match[1] == "mul" else f"{product} + {values[2]}")


@on(r"(fns|bmsk\.(?:clamp|wrap)|szext\.(?:clamp|wrap))\.(b32|u32|s32)")
def _mask(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4 if match[1] == "fns" else 3, match[0])
    if match[1] == "fns":
        writer.headers.add("porter/bits.hpp")
        a, b = (writer.value(operand, "u32") for operand in operands[1:3])
        return writer.assign(operands[0], f"porter::fns({a}, {b}, {writer.value(operands[3], 's32')})")
    a, b = (writer.value(operand, match[2]) for operand in (operands[1], operands[2]))
    return writer.assign(operands[0], writer.helper(match[1].replace(".", "_"), a, f"static_cast<unsigned>({b})"))


@on(r"(copysign|testp\.(?:finite|infinite|number|notanumber|normal|subnormal))\.(f32|f64)")
def _sign_or_class(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    values = [writer.value(operand, match[2]) for operand in operands[1:]]
    need(operands, 3 if match[1] == "copysign" else 2, match[0])
    if match[1] == "copysign":  # PTX has the sign first
        name = "__builtin_copysignf" if match[2] == "f32" else "__builtin_copysign"
        return writer.assign(operands[0], f"{name}({values[1]}, {values[0]})", match[2])
    return writer.assign(operands[0], writer.helper(f"is_{match[1].partition('.')[2]}", *values))


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
    a, b = (writer.value(operand, "u32") for operand in operands[1:3])
    sum_kind = "u32" if match[1] == match[2] == "u32" else "s32"
    name = f"dp4a_{match[1]}" if match[1] == match[2] else f"dp4a_{match[1]}_{match[2]}"
    return writer.assign(operands[0], writer.helper(name, a, b, writer.value(operands[3], sum_kind)))


@on(r"dp2a\.(lo|hi)\.(u32|s32)\.(u32|s32)")
def _dp2a(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, "dp2a")
    a, b = (writer.value(operand, "u32") for operand in operands[1:3])
    c = writer.value(operands[3], "u32")
    types = (
        "short" if match[2] == "s32" else "unsigned short",
        "signed char" if match[3] == "s32" else "unsigned char",
    )
    shift = "0" if match[1] == "lo" else "16"
    return writer.assign(operands[0], writer.helper(f"dp2a<{', '.join(types)}>", a, f"{b} >> {shift}", c))


_PLAIN = {"sin": "__sinf", "cos": "__cosf", "tanh": "tanhf", "sqrt": "sqrtf"}


@on(r"(rcp|sqrt)\.(rz|rm|rp)(?:\.ftz)?\.(f32|f64)")
def _directed(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    name = f"{'f' if match[3] == 'f32' else 'd'}{match[1]}_{_ROUNDED[match[2]]}"
    return writer.assign(operands[0], writer.rounded(name, writer.value(operands[1], match[3])), match[3])


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
    alone = "_rn" if match[2] and match[1] != "fma" and "bf16" not in match[3] else ""
    values = [writer.value(operand, match[3]) for operand in operands[1:]]
    return writer.assign(operands[0], writer.helper(f"{match[1]}{alone}_{match[3]}", *values))


_CONVERSIONS = {
    ("rn", "f16", "f32"): "f16_from_f32",
    ("", "f32", "f16"): "f32_from_f16",
    ("rn", "bf16", "f32"): "bf16_from_f32",
    ("", "f32", "bf16"): "f32_from_bf16",
    ("rn", "f16x2", "f32"): "f16x2_from_f32",
    ("rn", "bf16x2", "f32"): "bf16x2_from_f32",
    ("rna", "tf32", "f32"): "tf32_from_f32",
}
_TO_WHOLE = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_FLOATS = {"f32": "float", "f64": "double"}
_INTEGERS = frozenset(f"{sign}{bits}" for sign in "us" for bits in (8, 16, 32, 64))


@on(r"cvt\.(rn|rz)(\.relu)?\.tf32\.f32", narrow=True)
def _to_tf32(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 2, match[0])
    flags = f"{str(match[1] == 'rn').lower()}, {str(bool(match[2])).lower()}"
    return writer.assign(operands[0], writer.helper(f"tf32_rounded<{flags}>", writer.value(operands[1], "f32")))


@on(r"cvt((?:\.(?:r[a-z]+|sat|ftz))*)\.(\w+)\.(\w+)")
def _cvt(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """Conversions to integers saturate, with or without `.sat`; those between integers only with it."""
    modes = [mode for mode in match[1].split(".") if mode and mode != "ftz"]
    saturates = "sat" in modes
    mode = next((mode for mode in modes if mode != "sat"), "")
    to, source = match[2], match[3]
    special = None if saturates else _CONVERSIONS.get((mode, to, source))
    if special is not None:
        values = [writer.value(operand, "b16" if source in ("f16", "bf16") else source) for operand in operands[1:]]
        return writer.assign(operands[0], writer.helper(special, *values), to)
    need(operands, 2, match[0])
    text = _converted(writer, operands[1], mode, saturates, to, source)
    if text is None:
        raise Unknown(match[0])
    return writer.assign(operands[0], text, to)


def _converted(writer: Writer, operand: str, mode: str, saturates: bool, to: str, source: str) -> str | None:
    """A conversion between numbers of one word, or None."""
    if source == "f16" and (to in _INTEGERS or to == "f64") and len(mode) in (0, 3):
        value, source = writer.helper("f32_from_f16", writer.value(operand, "b16")), "f32"
    else:
        value = writer.value(operand, source)
    if source in _FLOATS and to in _INTEGERS and mode in _TO_WHOLE:
        return writer.helper(f"to_integer<{TYPES[to]}>", f"{_whole(mode, source)}({value})")
    if source in _INTEGERS and to in _INTEGERS and not mode:
        return writer.helper(f"saturated<{TYPES[to]}>", value) if saturates else f"static_cast<{TYPES[to]}>({value})"
    if source in _FLOATS and to == source and (mode in _TO_WHOLE or saturates) and mode in (*_TO_WHOLE, ""):
        value = f"{_whole(mode, source)}({value})" if mode else value
        return writer.helper("within_one", value) if saturates else value
    if (source in _INTEGERS or source in _FLOATS) and to in _FLOATS and mode in ("", "rn"):
        value = f"static_cast<{TYPES[to]}>({value})"
        return writer.helper("within_one", value) if saturates else value
    if mode in ("rz", "rm", "rp") and not saturates and source in _INTEGERS and to in _FLOATS:
        wide = {"u": "unsigned long long", "s": "long long"}[source[0]]
        return writer.rounded(f"floating_{_ROUNDED[mode]}<{TYPES[to]}>", f"static_cast<{wide}>({value})")
    if mode in ("rz", "rm", "rp") and not saturates and (to, source) == ("f32", "f64"):
        return writer.rounded(f"double2float_{_ROUNDED[mode]}", value)
    if source in _INTEGERS and to == "f16" and mode == "rn" and not saturates and source[1:] in ("8", "16"):
        return writer.helper("f16_from_f32", f"static_cast<float>({value})")
    return None


def _whole(mode: str, kind: str) -> str:
    return f"__builtin_{_TO_WHOLE[mode]}{'f' if kind == 'f32' else ''}"


@on(r"sad\.([us](?:16|32|64))")
def _sad(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, "sad")
    a, b, c = (writer.value(operand, match[1]) for operand in operands[1:])
    return writer.assign(operands[0], writer.helper(f"sad<{TYPES[match[1]]}>", a, b, c), match[1])


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


@on(r"setp\.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan)(?:\.(and|or|xor))?(?:\.ftz)?\.(\w+)")
def _setp(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    """`p|q`: q is what holds where the comparison does not; each with the third operand, if there is one."""
    need(operands, 4 if match[2] else 3, "setp")
    first, _, second = operands[0].partition("|")
    text = _comparison(writer, match[1], match[3], operands[1:3], match[0])
    if not match[2] and not second:
        return writer.assign(first, text)
    operator = {"and": "&&", "or": "||", "xor": "!=", None: ""}[match[2]]
    more = f" {operator} {writer.value(operands[3], 'pred')}" if match[2] else ""
    both = [writer.assign(first, f"({text}){more}")] if first.strip() != "_" else []
    if not second:
        return both[0]
    opposite = writer.assign(second, f"!({text}){more}")
    if writer.single or operands[3:] == (first,):
        raise Unknown(f"{match[0]} with two results")
    return " ".join([opposite, *both])


def _comparison(writer: Writer, how: str, kind: str, operands: tuple[str, ...], opcode: str) -> str:
    values = [writer.value(operand, "b16" if kind in ("f16", "bf16") else kind) for operand in operands]
    if kind in ("f16", "bf16"):
        values = [writer.helper(f"f32_from_{kind}", value) for value in values]
    return compared(writer, how, kind, values, opcode)


def compared(writer: Writer, how: str, kind: str, values: list[str], opcode: str) -> str:
    """Whether a comparison of PTX holds between two values of a type; halves are floats here."""
    if kind not in ("f32", "f64", "f16", "bf16"):
        if how not in _COMPARE:
            raise Unknown(opcode)
        return f"{values[0]} {_COMPARE[how]} {values[1]}"
    plain = _INVERSE.get(how, how)
    if plain in _WITH_NAN:
        text = writer.helper(_WITH_NAN[plain], *values)
    else:
        text = f"{values[0]} {_COMPARE[plain]} {values[1]}"
        text = f"({text})" if plain != how else text
    return f"!{text}" if plain != how else text


@on(r"selp\.(\w+)")
def _selp(writer: Writer, match: re.Match[str], operands: tuple[str, ...]) -> str:
    need(operands, 4, "selp")
    a, b = (writer.value(operand, match[1]) for operand in operands[1:3])
    return writer.assign(operands[0], f"{writer.value(operands[3], 'pred')} ? {a} : {b}", match[1])

"""What a thread computes alone: each row is CUDA text and what it means in numpy."""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]
_U, _S, _Q = np.uint32, np.int32, np.uint64


class Row(NamedTuple):
    """An expression of one kind over operands of others."""

    kind: str
    operands: str
    text: str
    meaning: Callable[..., Values]


def _low(bits: int, value: Values) -> Values:
    return value & np.uint64((1 << bits) - 1)


def _wide(value: Values) -> Values:
    return value.astype(np.uint64)


def _popc(value: Values) -> Values:
    return sum((_wide(value) >> np.uint64(k) & np.uint64(1) for k in range(64)), np.zeros(value.shape, np.uint64))


def _reversed(value: Values, bits: int) -> Values:
    value = _wide(value)
    parts = ((value >> np.uint64(k) & np.uint64(1)) << np.uint64(bits - 1 - k) for k in range(bits))
    return sum(parts, np.zeros(value.shape, np.uint64))


def _highest(value: Values) -> Values:
    """The highest bit set, -1 for none."""
    found = np.full(value.shape, -1, np.int64)
    for k in range(64):
        found = np.where(_wide(value) >> np.uint64(k) & np.uint64(1) == 1, k, found)
    return found


def _lowest(value: Values) -> Values:
    """One more than the lowest bit set, 0 for none."""
    return np.where(value == 0, 0, _highest(_wide(value) & (~_wide(value) + np.uint64(1))) + 1)


def _permuted(a: Values, b: Values, selector: Values) -> Values:
    both = _wide(a) | _wide(b) << np.uint64(32)
    result = np.zeros(a.shape, np.uint64)
    for k in range(4):
        chosen = _wide(selector) >> np.uint64(4 * k) & np.uint64(7)
        result |= (both >> (chosen * np.uint64(8)) & np.uint64(255)) << np.uint64(8 * k)
    return result.astype(_U)


def _signs(a: Values, b: Values, selector: Values) -> Values:
    """PTX's prmt: the fourth bit of a nibble spreads the byte's sign."""
    plain = _wide(_permuted(a, b, selector))
    for k in range(4):
        spread = _wide(selector) >> np.uint64(4 * k + 3) & np.uint64(1)
        sign = plain >> np.uint64(8 * k + 7) & np.uint64(1)
        byte = np.where(spread == 1, sign * np.uint64(255), plain >> np.uint64(8 * k) & np.uint64(255))
        plain = plain & ~np.uint64(255 << 8 * k) | byte << np.uint64(8 * k)
    return plain.astype(_U)


def _funnel(low: Values, high: Values, shift: Values, left: bool) -> Values:
    both = _wide(high) << np.uint64(32) | _wide(low)
    shift = _wide(shift)
    moved = both << shift >> np.uint64(32) if left else both >> shift
    return moved.astype(_U)


def _product_high(a: Values, b: Values) -> Values:
    a, b = _wide(a), _wide(b)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    lows = (a & low) * (b & low)
    middle = (a >> half) * (b & low) + (lows >> half)
    other = (a & low) * (b >> half) + (middle & low)
    return (a >> half) * (b >> half) + (middle >> half) + (other >> half)


def _parts(value: Values, bits: int, signed: bool) -> list[Values]:
    """The pieces of a word, low first."""
    found = []
    for at in range(0, 32, bits):
        part = (value.astype(np.int64) >> at) & ((1 << bits) - 1)
        found.append(np.where(part >> (bits - 1) & 1, part - (1 << bits), part) if signed else part)
    return found


def _each(bits: int, signed: bool, meaning: Callable[..., Values]) -> Callable[..., Values]:
    """A function on every piece of a word."""

    def whole(*words: Values) -> Values:
        pieces = zip(*(_parts(word, bits, signed) for word in words), strict=True)
        result = np.zeros(words[0].shape, np.int64)
        for number, piece in enumerate(pieces):
            result |= (meaning(*piece).astype(np.int64) & ((1 << bits) - 1)) << (number * bits)
        return result.astype(_U)

    return whole


def _dot(signed: bool) -> Callable[..., Values]:
    def whole(a: Values, b: Values, c: Values) -> Values:
        pairs = zip(_parts(a, 8, signed), _parts(b, 8, signed), strict=True)
        total = sum((x * y for x, y in pairs), c.astype(np.int64))
        return total.astype(_S if signed else _U)

    return whole


def _divided(a: Values, b: Values) -> Values:
    return np.where(b == 0, a, a // np.where(b == 0, b.dtype.type(1), b))


def _rest(a: Values, b: Values) -> Values:
    fine = (b != 0) & (b != -1)
    safe = np.where(fine, b, 1).astype(np.int64)
    return np.where(fine, np.fmod(a.astype(np.int64), safe), a)


def _from_float(value: Values) -> Values:
    fine = (value > -1e6) & (value < 1e6)
    return np.where(fine, np.trunc(np.where(fine, value, 0)).astype(np.int64), 7)


def bits_of(value: Values) -> Values:
    """The bits, of all NaN the same."""
    double = value.dtype == np.float64
    bits = value.view(np.uint64 if double else np.uint32)
    nan = np.array(0x7FF8000000000000 if double else 0x7FC00000, bits.dtype)
    return np.where(np.isnan(value), nan, bits)


def _field(value: Values, at: Values, length: Values, signed: bool) -> Values:
    """PTX's bfe."""
    at, length = at.astype(np.int64) & 255, length.astype(np.int64) & 255
    number = value.astype(_S).astype(np.int64) if signed else value.astype(_U).astype(np.int64)
    result = np.zeros(value.shape, np.int64)
    fill = np.where(length == 0, 0, number >> np.minimum(at + length - 1, 31) & 1) if signed else 0
    for k in range(32):
        inside = (k < length) & (at + k < 32)
        bit = np.where(inside, number >> np.minimum(at + k, 63) & 1, fill)
        result |= bit << k
    return result.astype(_U)


def _inserted(a: Values, b: Values, at: Values, length: Values) -> Values:
    """PTX's bfi of a into b."""
    at, length = at.astype(np.int64) & 255, length.astype(np.int64) & 255
    result = b.astype(np.int64)
    for k in range(32):
        inside = (k >= at) & (k < at + length)
        bit = a.astype(np.int64) >> np.clip(k - at, 0, 63) & 1
        result = np.where(inside, result & ~np.int64(1 << k) | bit << k, result)
    return result.astype(_U)


def _logic(table: int) -> Callable[..., Values]:
    """PTX's lop3."""

    def whole(a: Values, b: Values, c: Values) -> Values:
        result = np.zeros(a.shape, _U)
        for place in range(8):
            if table >> place & 1:
                one = a if place & 4 else ~a
                two = b if place & 2 else ~b
                three = c if place & 1 else ~c
                result |= one & two & three
        return result

    return whole


LOGIC = (0x1B, 0x96, 0xCA, 0xE8, 0x6A)
PRELUDE = """
typedef unsigned int u32; typedef int i32; typedef unsigned long long u64; typedef long long i64; typedef short i16;
typedef unsigned char u8;
#define FN static __device__ __forceinline__
FN u32 rotl(u32 x, u32 k) { return x << (k & 31) | x >> (-k & 31); }
FN u32 safe_div(u32 a, u32 b) { return b ? a / b : a; }
FN u32 safe_mod(u32 a, u32 b) { return b ? a % b : a; }
FN i32 safe_rem(i32 a, i32 b) { return b == 0 || b == -1 ? a : a % b; }
FN u64 safe_div64(u64 a, u64 b) { return b ? a / b : a; }
FN u32 from_float(float x) { return x > -1000000.0f && x < 1000000.0f ? (u32)(i32)x : 7u; }
FN u32 from_double(double x) { return x > -1000000.0 && x < 1000000.0 ? (u32)(i32)x : 7u; }
FN u32 bits(float x) { return x == x ? __float_as_uint(x) : 0x7fc00000u; }
FN u64 bits64(double x) { return x == x ? (u64)__double_as_longlong(x) : 0x7ff8000000000000ull; }
FN u32 p_bfe(u32 a, u32 b, u32 c) { u32 r; asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
FN u32 p_sbfe(u32 a, u32 b, u32 c) { u32 r; asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
FN u32 p_bfi(u32 a, u32 b, u32 c, u32 d) { u32 r; asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "r"(d)); return r; }
FN u32 p_prmt(u32 a, u32 b, u32 c) { u32 r; asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
FN u32 p_shf(u32 a, u32 b, u32 c) { u32 r; asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
FN u32 p_madhi(u32 a, u32 b, u32 c) { u32 r; asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
FN u64 p_wide(u32 a, u32 b) { u64 r; asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b)); return r; }
FN u32 p_bfind(u32 a) { u32 r; asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a)); return r; }
FN u64 p_carry(u32 a, u32 b, u32 c, u32 d) { u32 r, s; asm("add.cc.u32 %0, %2, %3;\\n\\taddc.u32 %1, %4, %5;" : "=r"(r), "=r"(s) : "r"(a), "r"(b), "r"(c), "r"(d)); return (u64)s << 32 | r; }
FN u32 p_set(u32 a, u32 b) { u32 r; asm("{ .reg .pred p; setp.lt.u32 p, %1, %2; selp.u32 %0, %1, %2, p; }" : "=r"(r) : "r"(a), "r"(b)); return r; }
""" + "".join(
    f'FN u32 p_lop{t}(u32 a, u32 b, u32 c) {{ u32 r; asm("lop3.b32 %0, %1, %2, %3, {t};" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }}\n'
    for t in LOGIC
)  # fmt: skip


def _binary(kind: str, sign: str, meaning: Callable[..., Values]) -> Row:
    if kind in "sl":  # signed overflow is undefined: as CUDA's programmers, by way of the unsigned type
        name = {"s": ("i32", "u32"), "l": ("i64", "u64")}[kind]
        return Row(kind, kind * 2, f"({name[0]})(({name[1]}){{0}} {sign} ({name[1]}){{1}})", meaning)
    return Row(kind, kind * 2, f"({{0}} {sign} {{1}})", meaning)


ROWS: tuple[Row, ...] = (
    *(_binary(kind, sign, meaning) for kind in "uqsl" for sign, meaning in (
        ("+", np.add), ("-", np.subtract), ("*", np.multiply), ("&", np.bitwise_and), ("|", np.bitwise_or), ("^", np.bitwise_xor))),
    *(_binary(kind, sign, meaning) for kind in "xd" for sign, meaning in (
        ("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide))),
    *(Row(kind, kind * 2, "({0} < {1} ? {0} : {1})", lambda a, b: np.where(a < b, a, b)) for kind in "usqlxd"),
    Row("u", "uu", "({0} >> ({1} & 31u))", lambda a, b: a >> (b & _U(31))),
    Row("u", "uu", "({0} << ({1} & 31u))", lambda a, b: a << (b & _U(31))),
    Row("s", "su", "({0} >> ({1} & 31u))", lambda a, b: a >> (b & _U(31)).astype(_S)),
    Row("q", "qu", "({0} >> ({1} & 63u))", lambda a, b: a >> _wide(b & _U(63))),
    Row("q", "qu", "({0} << ({1} & 63u))", lambda a, b: a << _wide(b & _U(63))),
    Row("l", "lu", "({0} >> ({1} & 63u))", lambda a, b: a >> (b & _U(63)).astype(np.int64)),
    Row("u", "uu", "rotl({0}, {1})", lambda a, b: _funnel(a, a, b & _U(31), left=True)),
    Row("u", "uu", "safe_div({0}, {1})", _divided),
    Row("u", "uu", "safe_mod({0}, {1})", lambda a, b: np.where(b == 0, a, a % np.where(b == 0, _U(1), b))),
    Row("s", "ss", "safe_rem({0}, {1})", _rest),
    Row("q", "qq", "safe_div64({0}, {1} >> 40)", lambda a, b: _divided(a, b >> _Q(40))),
    Row("s", "ss", "max({0}, {1})", np.maximum),
    Row("u", "uu", "min({0}, {1})", np.minimum),
    Row("u", "u", "(u32)__popc({0})", _popc),
    Row("u", "q", "(u32)__popcll({0})", _popc),
    Row("u", "u", "(u32)__clz((i32){0})", lambda a: 31 - _highest(a)),
    Row("u", "q", "(u32)__clzll((i64){0})", lambda a: 63 - _highest(a)),
    Row("u", "u", "(u32)__ffs((i32){0})", _lowest),
    Row("u", "q", "(u32)__ffsll((i64){0})", _lowest),
    Row("u", "u", "__brev({0})", lambda a: _reversed(a, 32)),
    Row("q", "q", "__brevll({0})", lambda a: _reversed(a, 64)),
    Row("u", "uuu", "__byte_perm({0}, {1}, {2})", _permuted),
    Row("u", "uuu", "__funnelshift_l({0}, {1}, {2})", lambda a, b, c: _funnel(a, b, c & _U(31), left=True)),
    Row("u", "uuu", "__funnelshift_r({0}, {1}, {2})", lambda a, b, c: _funnel(a, b, c & _U(31), left=False)),
    Row("u", "uuu", "__funnelshift_lc({0}, {1}, {2} & 63u)", lambda a, b, c: _funnel(a, b, np.minimum(c & _U(63), 32), left=True)),
    Row("u", "uuu", "__funnelshift_rc({0}, {1}, {2} & 63u)", lambda a, b, c: _funnel(a, b, np.minimum(c & _U(63), 32), left=False)),
    Row("u", "uu", "__umulhi({0}, {1})", lambda a, b: _wide(a) * _wide(b) >> _Q(32)),
    Row("s", "ss", "__mulhi({0}, {1})", lambda a, b: a.astype(np.int64) * b.astype(np.int64) >> 32),
    Row("q", "qq", "__umul64hi({0}, {1})", _product_high),
    Row("u", "uu", "__umul24({0}, {1})", lambda a, b: _low(24, _wide(a)) * _low(24, _wide(b))),
    Row("u", "uuu", "__usad({0}, {1}, {2})", lambda a, b, c: np.maximum(a, b) - np.minimum(a, b) + c),
    Row("u", "ssu", "__sad({0}, {1}, {2})", lambda a, b, c: np.abs(a.astype(np.int64) - b).astype(_U) + c),
    Row("u", "uu", "__uhadd({0}, {1})", lambda a, b: _wide(a) + _wide(b) >> _Q(1)),
    Row("u", "uu", "__urhadd({0}, {1})", lambda a, b: _wide(a) + _wide(b) + _Q(1) >> _Q(1)),
    Row("s", "ss", "__hadd({0}, {1})", lambda a, b: a.astype(np.int64) + b >> 1),
    Row("s", "ss", "__rhadd({0}, {1})", lambda a, b: a.astype(np.int64) + b + 1 >> 1),
    Row("u", "uu", "__vadd4({0}, {1})", _each(8, False, np.add)),
    Row("u", "uu", "__vsub2({0}, {1})", _each(16, False, np.subtract)),
    Row("u", "uu", "__vmaxu4({0}, {1})", _each(8, False, np.maximum)),
    Row("u", "uu", "__vmins2({0}, {1})", _each(16, True, np.minimum)),
    Row("u", "uu", "__vabsdiffu4({0}, {1})", _each(8, False, lambda a, b: np.abs(a - b))),
    Row("u", "uu", "__vcmpgtu4({0}, {1})", _each(8, False, lambda a, b: -(a > b).astype(np.int64))),
    Row("u", "uu", "__vcmples2({0}, {1})", _each(16, True, lambda a, b: -(a <= b).astype(np.int64))),
    Row("u", "uu", "__vaddus4({0}, {1})", _each(8, False, lambda a, b: np.minimum(a + b, 255))),
    Row("u", "uu", "__vaddss2({0}, {1})", _each(16, True, lambda a, b: np.clip(a + b, -32768, 32767))),
    Row("u", "uu", "__vavgu4({0}, {1})", _each(8, False, lambda a, b: a + b + 1 >> 1)),
    Row("u", "uu", "__vseteq4({0}, {1})", _each(8, False, lambda a, b: (a == b).astype(np.int64))),
    Row("u", "uuu", "__dp4a({0}, {1}, {2})", _dot(False)),
    Row("s", "sss", "__dp4a({0}, {1}, {2})", _dot(True)),
    Row("u", "uuu", "p_bfe({0}, {1} & 63u, {2} & 63u)", lambda a, b, c: _field(a, b & _U(63), c & _U(63), signed=False)),
    Row("u", "uuu", "p_sbfe({0}, {1} & 63u, {2} & 63u)", lambda a, b, c: _field(a, b & _U(63), c & _U(63), signed=True)),
    Row("u", "uuuu", "p_bfi({0}, {1}, {2} & 31u, {3} & 63u)", lambda a, b, c, d: _inserted(a, b, c & _U(31), d & _U(63))),
    Row("u", "uuu", "p_prmt({0}, {1}, {2})", _signs),
    Row("u", "uuu", "p_shf({0}, {1}, {2} & 63u)", lambda a, b, c: _funnel(a, b, np.minimum(c & _U(63), 32), left=True)),
    Row("u", "uuu", "p_madhi({0}, {1}, {2})", lambda a, b, c: (_wide(a) * _wide(b) >> _Q(32)) + _wide(c)),
    Row("q", "uu", "p_wide({0}, {1})", lambda a, b: _wide(a) * _wide(b)),
    Row("u", "u", "p_bfind({0})", _highest),
    Row("q", "uuuu", "p_carry({0}, {1}, {2}, {3})", lambda a, b, c, d: (_wide(c) << _Q(32) | _wide(a)) + (_wide(d) << _Q(32) | _wide(b))),
    Row("u", "uu", "p_set({0}, {1})", np.minimum),
    *(Row("u", "uuu", f"p_lop{table}({{0}}, {{1}}, {{2}})", _logic(table)) for table in LOGIC),
    Row("u", "c", "(u32){0}", lambda a: a), Row("u", "q", "(u32)({0} >> 17)", lambda a: a >> _Q(17)),
    Row("u", "s", "(u32){0}", lambda a: a), Row("u", "x", "bits({0})", bits_of), Row("u", "x", "from_float({0})", _from_float),
    Row("u", "d", "from_double({0})", _from_float), Row("s", "u", "(i32){0}", lambda a: a), Row("s", "h", "(i32){0}", lambda a: a),
    Row("q", "u", "(u64){0}", lambda a: a), Row("q", "s", "(u64)(i64){0}", lambda a: a.astype(np.int64)),
    Row("q", "d", "bits64({0})", bits_of), Row("q", "l", "(u64){0}", lambda a: a), Row("l", "s", "(i64){0}", lambda a: a),
    Row("l", "q", "(i64)({0} >> 1)", lambda a: a >> _Q(1)),
    Row("c", "u", "(u8){0}", lambda a: a), Row("c", "cc", "(u8)({0} * {1})", np.multiply), Row("c", "cu", "(u8)({0} >> ({1} & 7u))", lambda a, b: a >> (b & _U(7)).astype(np.uint8)),
    Row("h", "s", "(i16){0}", lambda a: a), Row("h", "hh", "(i16)({0} + {1})", np.add), Row("h", "hu", "(i16)({0} >> ({1} & 15u))", lambda a, b: a >> (b & _U(15)).astype(np.int16)),
    Row("h", "hc", "(i16)({0} * {1})", lambda a, b: a * b.astype(np.int16)),
    Row("x", "s", "(float){0}", lambda a: a), Row("x", "u", "(float){0}", lambda a: a), Row("x", "d", "(float){0}", lambda a: a),
    Row("x", "x", "fabsf({0})", np.abs), Row("x", "x", "sqrtf(fabsf({0}))", lambda a: np.sqrt(np.abs(a))),
    Row("x", "x", "floorf({0})", np.floor), Row("x", "x", "truncf({0})", np.trunc), Row("x", "x", "rintf({0})", np.rint),
    Row("d", "x", "(double){0}", lambda a: a), Row("d", "s", "(double){0}", lambda a: a), Row("d", "q", "(double){0}", lambda a: a),
    Row("d", "d", "floor({0})", np.floor), Row("d", "d", "sqrt(fabs({0}))", lambda a: np.sqrt(np.abs(a))),
)  # fmt: skip

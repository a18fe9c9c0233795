"""Pairs of halves and of integers, 8-bit floats, and rules for NaN and signs."""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Callable

from tests.ptx import model
from tests.ptx.case import Case
from tests.ptx.cases_convert import reencode, whole
from tests.ptx.cases_float import compared, extreme
from tests.ptx.cases_other import dot
from tests.ptx.model import FORMATS, signed

_TWO, _THREE = ("b32", "b32"), ("b32", "b32", "b32")
_ONE = {"f16": 0x3C00, "bf16": 0x3F80}
_NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF}


def both_devices() -> list[Case]:
    """What the virtual NVIDIA GPU executes, too."""
    found: list[Case] = []
    for kind in ("f16", "bf16"):
        form = FORMATS[kind]
        found += [
            Case(
                f"fma.rn.relu.{kind}x2 %d, %a, %b, %c;",
                _THREE,
                "b32",
                _pair(lambda x, y, z, f=form: _relu(model.arithmetic("fma", f, "n", [x, y, z]), f)),
                f"{kind}x2",
            ),
            *(
                Case(
                    f"{name}.NaN.{kind}x2 %d, %a, %b;",
                    _TWO,
                    "b32",
                    _pair(lambda x, y, f=form, p=pick, k=kind: _extreme_nan(x, y, f, p, k)),
                    f"{kind}x2",
                )
                for name, pick in (("min", min), ("max", max))
            ),
        ]
    found += [
        Case(
            f"{name}.NaN.f32 %d, %a, %b;",
            _TWO,
            "b32",
            lambda x, y, p=pick: _extreme_nan(x, y, FORMATS["f32"], p, "f32"),
            "f32",
        )
        for name, pick in (("min", min), ("max", max))
    ]
    for sign, name in itertools.product("us", ("min", "max")):
        pick = min if name == "min" else max
        found.append(
            Case(
                f"{name}.{sign}16x2 %d, %a, %b;",
                _TWO,
                "b32",
                _pair(lambda x, y, s=sign, p=pick: p(x, y, key=lambda v: signed(v, 16) if s == "s" else v)),
            )
        )
    for mode, (sign, bits) in itertools.product("nzmp", itertools.product("us", (16, 32, 64))):
        found.append(
            Case(
                f"cvt.r{mode}.f16.{sign}{bits} %d, %a;",
                (f"b{bits}",),
                "b16",
                lambda x, s=sign, b=bits, m=mode: model.encode(
                    model.Fraction(signed(x, b) if s == "s" else x), FORMATS["f16"], m
                ),
                "f16",
            )
        )
    found += [
        Case(f"cvt.r{m}i.f16.f16 %d, %a;", ("b16",), "b16", lambda x, m=m: whole(x, FORMATS["f16"], m), "f16")
        for m in "nzmp"
    ]
    return found


def port_only() -> list[Case]:
    """What the virtual NVIDIA GPU does not execute: the port alone is run, against the definition."""
    found: list[Case] = []
    for kind in ("f16", "bf16"):
        form, one = FORMATS[kind], _ONE[kind]
        for how in ("eq", "lt", "neu", "num"):
            found.append(
                Case(
                    f"set.{how}.{kind}x2.{kind}x2 %d, %a, %b;",
                    _TWO,
                    "b32",
                    _pair(lambda x, y, f=form, h=how, o=one: o if compared(h, x, y, f) else 0),
                )
            )
            found += [
                Case(
                    f"setp.{how}.{kind}x2 {target}, %a, %b;",
                    _TWO,
                    "pred",
                    lambda x, y, f=form, h=how, s=shift: compared(h, x >> s & 0xFFFF, y >> s & 0xFFFF, f),
                )
                for target, shift in (("%d|%q", 0), ("%q|%d", 16))
            ]
        found += [
            Case(
                f"{name}.xorsign.abs.{kind}x2 %d, %a, %b;",
                _TWO,
                "b32",
                _pair(lambda x, y, f=form, p=pick: _crossed(x, y, f, p)),
                f"{kind}x2",
            )
            for name, pick in (("min", min), ("max", max))
        ]
    found += [
        Case(
            f"{name}.xorsign.abs.f32 %d, %a, %b;",
            _TWO,
            "b32",
            lambda x, y, p=pick: _crossed(x, y, FORMATS["f32"], p),
            "f32",
        )
        for name, pick in (("min", min), ("max", max))
    ]
    for mantissa, bias, largest, name in ((3, 7, 0x7E, "e4m3"), (2, 15, 0x7B, "e5m2")):
        found += [
            Case(
                f"cvt.rn.satfinite.{name}x2.f32 %d, %a, %b;",
                _TWO,
                "b16",
                lambda x, y, m=mantissa, b=bias, top=largest: (
                    _byte(x, FORMATS["f32"], m, b, top) << 8 | _byte(y, FORMATS["f32"], m, b, top)
                ),
            ),
            Case(
                f"cvt.rn.satfinite.{name}x2.f16x2 %d, %a;",
                ("b32",),
                "b16",
                lambda x, m=mantissa, b=bias, top=largest: (
                    _byte(x >> 16, FORMATS["f16"], m, b, top) << 8 | _byte(x & 0xFFFF, FORMATS["f16"], m, b, top)
                ),
            ),
            Case(
                f"cvt.rn.f16x2.{name}x2 %d, %a;",
                ("b16",),
                "b32",
                lambda x, m=mantissa, b=bias, top=largest: (
                    _half_of_byte(x >> 8, m, b, top) << 16 | _half_of_byte(x & 255, m, b, top)
                ),
                "f16x2",
            ),
        ]
    found += [
        Case(
            "cvt.rz.f16x2.f32 %d, %a, %b;",
            _TWO,
            "b32",
            lambda x, y: reencode(y, model.F32, model.F16, "z") | reencode(x, model.F32, model.F16, "z") << 16,
            "f16x2",
        ),
        Case(
            "cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;",
            _THREE,
            "b32",
            lambda x, y, z: _within(x, 0, 255) << 8 | _within(y, 0, 255) | z << 16 & 0xFFFFFFFF,
        ),
        Case(
            "cvt.pack.sat.s16.s32 %d, %a, %b;",
            _TWO,
            "b32",
            lambda x, y: (_within(x, -32768, 32767) & 0xFFFF) << 16 | _within(y, -32768, 32767) & 0xFFFF,
        ),
        Case(
            "vset4.u32.u32.lt %d, %a, %b, 0;",
            _TWO,
            "b32",
            lambda x, y: sum(((x >> s & 255) < (y >> s & 255)) << s for s in range(0, 32, 8)),
        ),
        Case(
            "vset2.s32.s32.ge.add %d, %a, %b, %c;",
            _THREE,
            "b32",
            lambda x, y, z: (
                z + sum(signed(x >> s & 0xFFFF, 16) >= signed(y >> s & 0xFFFF, 16) for s in (0, 16)) & 0xFFFFFFFF
            ),
        ),
        Case(
            "lop3.or.b32 _|%d, %a, %b, %b, 0xc0, %c;",
            ("b32", "b32", "pred"),
            "pred",
            lambda x, y, p: bool(x & y) or bool(p),
        ),
        Case("add.rn.sat.f16 %d, %a, %b;", ("b16", "b16"), "b16", _saturated_sum, "f16"),
        *video(),
        *further_conversions(),
    ]
    return found


def video() -> list[Case]:
    """Video instructions, dot products and permutes in the forms that are not elsewhere."""
    full, bytes_ = 0xFFFFFFFF, range(0, 32, 8)
    return [
        Case("vadd.s32.s32.s32 %d, %a, %b;", _TWO, "b32", lambda x, y: x + y & full),
        Case("vset.s32.u32.lt %d, %a, %b;", _TWO, "b32", lambda x, y: int(signed(x, 32) < y)),
        Case("vmad.u32.u32.u32 %d, %a, %b, %c;", _THREE, "b32", lambda x, y, z: x * y + z & full),
        Case(
            "vadd4.s32.s32.s32 %d, %a, %b, %c;",
            _THREE,
            "b32",
            lambda x, y, z: sum(((x >> s & 255) + (y >> s & 255) & 255) << s for s in bytes_),
        ),
        Case(
            "vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;",
            _THREE,
            "b32",
            lambda x, y, z: z + sum(abs((x >> s & 255) - (y >> s & 255)) for s in bytes_) & full,
        ),
        Case(
            "vavrg2.u32.u32.u32 %d, %a, %b, %c;",
            _THREE,
            "b32",
            lambda x, y, z: sum((((x >> s & 0xFFFF) + (y >> s & 0xFFFF) + 1) >> 1) << s for s in (0, 16)),
        ),
        Case("dp4a.u32.s32 %d, %a, %b, %c;", _THREE, "b32", lambda x, y, z: dot(x, y, z, 8, 8, "u", "s", 0)),
        Case("dp2a.lo.s32.u32 %d, %a, %b, %c;", _THREE, "b32", lambda x, y, z: dot(x, y, z, 16, 8, "s", "u", 0)),
        Case(
            "szext.wrap.s32 %d, %a, %b;",
            _TWO,
            "b32",
            lambda x, n: signed(x, n & 31) & full if n & 31 else 0,
            small=(1,),
        ),
        Case("prmt.b32.f4e %d, %a, %b, %c;", _THREE, "b32", lambda x, y, n: (y << 32 | x) >> 8 * (n & 3) & full),
    ]


def further_conversions() -> list[Case]:
    """Conversions and arithmetic in the forms that are not elsewhere."""
    narrow, wide = FORMATS["bf16"], FORMATS["f32"]
    return [
        Case(
            "sub.bf16 %d, %a, %b;",
            ("b16", "b16"),
            "b16",
            lambda x, y: model.arithmetic("sub", narrow, "n", [x, y]),
            "bf16",
        ),
        Case(
            "cvt.rn.relu.bf16x2.f32 %d, %a, %b;",
            _TWO,
            "b32",
            lambda x, y: (
                _relu(reencode(y, wide, narrow, "n"), narrow) | _relu(reencode(x, wide, narrow, "n"), narrow) << 16
            ),
            "bf16x2",
        ),
        Case("cvt.rna.tf32.f32 %d, %a;", ("b32",), "b32", _tf32),
        Case("cvt.rn.tf32.f32 %d, %a;", ("b32",), "b32", lambda x: _short_tf32(x, nearest=True), "f32"),
        Case("cvt.rz.tf32.f32 %d, %a;", ("b32",), "b32", lambda x: _short_tf32(x, nearest=False), "f32"),
        Case("cvt.rn.relu.tf32.f32 %d, %a;", ("b32",), "b32", lambda x: _not_negative(x, nearest=True), "f32"),
        Case("cvt.rz.relu.tf32.f32 %d, %a;", ("b32",), "b32", lambda x: _not_negative(x, nearest=False), "f32"),
        Case("max.relu.s32 %d, %a, %b;", _TWO, "b32", lambda x, y: max(signed(x, 32), signed(y, 32), 0)),
        Case("min.relu.s32 %d, %a, %b;", _TWO, "b32", lambda x, y: max(min(signed(x, 32), signed(y, 32)), 0)),
        Case(
            "mad.hi.sat.s32 %d, %a, %b, %c;",
            _THREE,
            "b32",
            lambda x, y, z: (
                min(max((signed(x, 32) * signed(y, 32) >> 32) + signed(z, 32), -(1 << 31)), (1 << 31) - 1) & 0xFFFFFFFF
            ),
        ),
        Case("cvt.sat.u8.s32 %d, %a;", ("b32",), "b32", lambda x: _within(x, 0, 255)),
        Case("cvt.rni.sat.s8.f32 %d, %a;", ("b32",), "b32", _nearest_byte),
    ]


def _short_tf32(x: int, *, nearest: bool) -> int:
    """Eight bits of exponent and ten of fraction; half of the last one goes to the even neighbour."""
    size = x & 0x7FFFFFFF
    if size >= 0x7F800000:
        return x
    kept, rest = size >> 13, size & 0x1FFF
    up = nearest and (rest > 0x1000 or (rest == 0x1000 and kept & 1))
    return x & 0x80000000 | kept + up << 13


def _not_negative(x: int, *, nearest: bool) -> int:
    is_nan = x & 0x7FFFFFFF > 0x7F800000
    return x if is_nan else 0 if x >> 31 else _short_tf32(x, nearest=nearest)


def _tf32(x: int) -> int:
    """Ten bits of mantissa, ties away from zero; NaN and infinity stay such."""
    return x if x & 0x7F800000 == 0x7F800000 else (x + 0x1000) & 0xFFFFE000


def _nearest_byte(x: int) -> int:
    found = model.decode(x, FORMATS["f32"])
    if found == "nan":
        return 0
    if found in ("inf", "-inf"):
        return 127 if found == "inf" else 0xFFFFFF80
    return max(-128, min(127, round(model.value(found)))) & 0xFFFFFFFF


def _pair(one: Callable[..., int]) -> Callable[..., int]:
    return lambda *words: sum((one(*(word >> s & 0xFFFF for word in words)) & 0xFFFF) << s for s in (0, 16))


def _is_nan(x: int, form: model.Format) -> bool:
    return model.decode(x, form) == "nan"


def _relu(x: int, form: model.Format) -> int:
    return x if _is_nan(x, form) or not x >> (form.bits - 1) else 0


def _saturated_sum(x: int, y: int) -> int:
    return model.saturate(model.arithmetic("add", model.F16, "n", [x, y]), model.F16)


def _extreme_nan(x: int, y: int, form: model.Format, pick: Callable[..., int], kind: str) -> int:
    return _NAN[kind] if _is_nan(x, form) or _is_nan(y, form) else extreme(x, y, form, pick)


def _crossed(x: int, y: int, form: model.Format, pick: Callable[..., int]) -> int:
    """The smaller or larger magnitude with the product of the signs."""
    top = 1 << (form.bits - 1)
    magnitude = extreme(x & ~top, y & ~top, form, pick)
    return magnitude if _is_nan(magnitude, form) else magnitude | (x ^ y) & top


def _within(x: int, low: int, high: int) -> int:
    return max(low, min(high, signed(x, 32)))


def _number(byte: int, mantissa: int, bias: int) -> model.Fraction:
    """The magnitude of a code."""
    exponent, rest = byte >> mantissa, byte & ((1 << mantissa) - 1)
    scale = model.Fraction(2) ** (max(exponent, 1) - bias - mantissa)
    return scale * (rest + ((1 << mantissa) if exponent else 0))


def _byte(x: int, form: model.Format, mantissa: int, bias: int, largest: int) -> int:
    """The nearest code, of two the even one."""
    found = model.decode(x, form)
    if found == "nan":
        return 127
    sign = 128 if x >> (form.bits - 1) else 0
    if found in ("inf", "-inf"):
        return sign | largest
    wanted = abs(model.value(found))
    numbers = _numbers(mantissa, bias, largest)
    above = bisect.bisect_left(numbers, wanted)
    around = range(max(above - 1, 0), min(above, largest) + 1)
    return sign | min(around, key=lambda code: (abs(numbers[code] - wanted), code & 1))


@functools.cache
def _numbers(mantissa: int, bias: int, largest: int) -> list[model.Fraction]:
    """Of all codes, which are in the order of their magnitudes."""
    return [_number(code, mantissa, bias) for code in range(largest + 1)]


def _half_of_byte(byte: int, mantissa: int, bias: int, largest: int) -> int:
    sign, code = byte >> 7, byte & 127
    if mantissa == 3 and code == 127:
        return 0x7FFF
    if mantissa == 2 and code > largest:
        return 0x7FFF if code > 0x7C else sign << 15 | 0x7C00
    return model.encode(_number(code, mantissa, bias), FORMATS["f16"]) | sign << 15

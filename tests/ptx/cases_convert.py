"""Conversions and what they give."""

from __future__ import annotations

import itertools

from tests.ptx import model
from tests.ptx.case import Case
from tests.ptx.model import FORMATS, signed


def convert_cases() -> list[Case]:
    found: list[Case] = []
    integers = [f"{s}{w}" for s in "us" for w in (16, 32, 64)]
    for source, target in itertools.product(integers, integers):
        if source == target:
            continue
        ws, wt = int(source[1:]), int(target[1:])
        found.append(
            Case(
                f"cvt.{target}.{source} %d, %a;",
                (f"b{ws}",),
                f"b{wt}",
                lambda x, s=source, w=ws, m=(1 << wt) - 1: (signed(x, w) if s[0] == "s" else x) & m,
            )
        )
        low, high = (-(1 << (wt - 1)), (1 << (wt - 1)) - 1) if target[0] == "s" else (0, (1 << wt) - 1)
        found.append(
            Case(
                f"cvt.sat.{target}.{source} %d, %a;",
                (f"b{ws}",),
                f"b{wt}",
                lambda x, s=source, w=ws, lo=low, hi=high, m=(1 << wt) - 1: (
                    max(lo, min(hi, signed(x, w) if s[0] == "s" else x)) & m
                ),
            )
        )
    for source in ("u8", "s8"):
        found.append(
            Case(
                f"cvt.s32.{source} %d, %a;",
                ("b32",),
                "b32",
                lambda x, s=source: (signed(x, 8) if s == "s8" else x & 255) & 0xFFFFFFFF,
            )
        )
    for kind, integer, mode in itertools.product(("f32", "f64"), integers, "nzmp"):
        form, bits = FORMATS[kind], int(integer[1:])
        found.append(
            Case(
                f"cvt.r{mode}i.{integer}.{kind} %d, %a;",
                (f"b{form.bits}",),
                f"b{bits}",
                lambda x, f=form, i=integer, m=mode: to_integer(x, f, i, m),
            )
        )
        found.append(
            Case(
                f"cvt.r{mode}.{kind}.{integer} %d, %a;",
                (f"b{bits}",),
                f"b{form.bits}",
                lambda x, f=form, i=integer, m=mode: model.encode(
                    model.Fraction(signed(x, int(i[1:])) if i[0] == "s" else x), f, m
                ),
                kind,
            )
        )
    for source, target in itertools.product(FORMATS, FORMATS):
        fs, ft = FORMATS[source], FORMATS[target]
        if source == target or ("bf16" in (source, target) and "f32" not in (source, target)):
            continue
        narrows = (fs.bits, fs.mantissa) > (ft.bits, ft.mantissa)
        for mode in ("nz" if target == "bf16" else "nzmp") if narrows else " ":
            rounding = f".r{mode}" if narrows else ""
            found.append(
                Case(
                    f"cvt{rounding}.{target}.{source} %d, %a;",
                    (f"b{fs.bits}",),
                    f"b{ft.bits}",
                    lambda x, a=fs, b=ft, m=mode: reencode(x, a, b, m.strip() or "n"),
                    target,
                )
            )
    for mode in "nzmp":
        for kind in ("f32", "f64"):
            found.append(
                Case(
                    f"cvt.r{mode}i.{kind}.{kind} %d, %a;",
                    (f"b{FORMATS[kind].bits}",),
                    f"b{FORMATS[kind].bits}",
                    lambda x, f=FORMATS[kind], m=mode: whole(x, f, m),
                    kind,
                )
            )
    found += [
        Case("cvt.sat.f32.f32 %d, %a;", ("b32",), "b32", lambda x: model.saturate(x, model.F32), "f32"),
        Case(
            "cvt.rn.f16x2.f32 %d, %a, %b;",
            ("b32", "b32"),
            "b32",
            lambda x, y: reencode(y, model.F32, model.F16, "n") | reencode(x, model.F32, model.F16, "n") << 16,
            "f16x2",
        ),
        Case(
            "cvt.rn.bf16x2.f32 %d, %a, %b;",
            ("b32", "b32"),
            "b32",
            lambda x, y: reencode(y, model.F32, model.BF16, "n") | reencode(x, model.F32, model.BF16, "n") << 16,
            "bf16x2",
        ),
    ]
    return found


def reencode(x: int, source: model.Format, target: model.Format, mode: str) -> int:
    number = model.decode(x, source)
    return model.encode(number, target, mode)


def whole(x: int, form: model.Format, mode: str) -> int:
    number = model.decode(x, form)
    if isinstance(number, str):
        return x
    return model.encode(model.Fraction(model.integral(number, mode)), form, "n", number < 0)


def to_integer(x: int, form: model.Format, integer: str, mode: str) -> int:
    number, bits = model.decode(x, form), int(integer[1:])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if integer[0] == "s" else (0, (1 << bits) - 1)
    if number == "nan":
        return 1 << (bits - 1) if bits == 64 or form.bits == 64 else 0
    if number in ("inf", "-inf"):
        return (high if number == "inf" else low) & ((1 << bits) - 1)
    return max(low, min(high, model.integral(model.value(number), mode))) & ((1 << bits) - 1)

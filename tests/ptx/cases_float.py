"""Floating-point instructions and what they give."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from tests.ptx import model
from tests.ptx.case import Case
from tests.ptx.model import FORMATS


def float_cases() -> list[Case]:
    found: list[Case] = []
    for kind, modes in (("f32", "nzmp"), ("f64", "nzmp"), ("f16", "n"), ("bf16", "n")):
        form = FORMATS[kind]
        b = f"b{form.bits}"
        for mode, name in itertools.product(modes, ("add", "sub", "mul", "fma", "div", "sqrt", "rcp")):
            if kind in ("f16", "bf16") and name in ("div", "sqrt", "rcp"):
                continue
            count = {"fma": 3, "sqrt": 1, "rcp": 1}.get(name, 2)
            registers = ", ".join("%abc"[0] + "abc"[i] for i in range(count))
            found.append(
                Case(
                    f"{name}.r{mode}.{kind} %d, {registers};",
                    (b,) * count,
                    b,
                    lambda *p, n=name, f=form, m=mode: model.arithmetic(n, f, m, list(p)),
                    kind,
                )
            )
        for name in ("add", "mul", "fma"):
            if kind not in ("f32",):
                continue
            count = 3 if name == "fma" else 2
            registers = ", ".join(f"%{'abc'[i]}" for i in range(count))
            found += [
                Case(
                    f"{name}.rn.ftz.f32 %d, {registers};",
                    (b,) * count,
                    b,
                    lambda *p, n=name, f=form: model.flush(
                        model.arithmetic(n, f, "n", [model.flush(x, f) for x in p]), f
                    ),
                    kind,
                ),
                Case(
                    f"{name}.rn.sat.f32 %d, {registers};",
                    (b,) * count,
                    b,
                    lambda *p, n=name, f=form: model.saturate(model.arithmetic(n, f, "n", list(p)), f),
                    kind,
                ),
            ]
        for name, pick in (("min", min), ("max", max)):
            found.append(
                Case(f"{name}.{kind} %d, %a, %b;", (b, b), b, lambda x, y, f=form, p=pick: extreme(x, y, f, p), kind)
            )
        top = 1 << (form.bits - 1)
        found += [
            Case(f"neg.{kind} %d, %a;", (b,), b, lambda x, t=top: x ^ t, kind),
            Case(f"abs.{kind} %d, %a;", (b,), b, lambda x, t=top: x & ~t, kind),
        ]
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
            found.append(
                Case(
                    f"setp.{name}.{kind} %d, %a, %b;",
                    (b, b),
                    "pred",
                    lambda x, y, f=form, n=name: compared(n, x, y, f),
                    kind,
                )
            )
    for kind in ("f16", "bf16"):
        form = FORMATS[kind]
        for name, count in (("add", 2), ("mul", 2), ("fma", 3)):
            registers = ", ".join(f"%{'abc'[i]}" for i in range(count))
            found.append(
                Case(
                    f"{name}.rn.{kind}x2 %d, {registers};",
                    ("b32",) * count,
                    "b32",
                    lambda *p, n=name, f=form: sum(
                        model.arithmetic(n, f, "n", [x >> s & 0xFFFF for x in p]) << s for s in (0, 16)
                    ),
                    f"{kind}x2",
                )
            )
    return found


def extreme(x: int, y: int, form: model.Format, pick: Callable[..., int]) -> int:
    a, b = model.decode(x, form), model.decode(y, form)
    if a == "nan" or b == "nan":
        return y if a == "nan" else x

    def order(p: int) -> tuple[float, int]:
        n = model.decode(p, form)
        exact = float(n) if n in ("inf", "-inf") else model.value(n)
        return exact, -(p >> (form.bits - 1))  # type: ignore[return-value]

    return pick(x, y, key=order)


def compared(name: str, x: int, y: int, form: model.Format) -> bool:
    a, b = model.decode(x, form), model.decode(y, form)
    unordered = "nan" in (a, b)
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    if unordered:
        return name.endswith("u")
    big = model.Fraction(2) ** 20000
    p, q = ({"inf": big, "-inf": -big}.get(n) if n in ("inf", "-inf") else model.value(n) for n in (a, b))  # type: ignore[arg-type]
    return {"eq": p == q, "ne": p != q, "lt": p < q, "le": p <= q, "gt": p > q, "ge": p >= q}[name.removesuffix("u")]  # type: ignore[operator]

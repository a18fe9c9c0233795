"""Integer instructions and what they give."""

from __future__ import annotations

from tests.ptx import model
from tests.ptx.case import Case
from tests.ptx.model import signed


def integer_cases() -> list[Case]:
    found: list[Case] = []
    for bits in (16, 32, 64):
        full = (1 << bits) - 1
        b = f"b{bits}"
        for sign in "us":
            t = f"{sign}{bits}"

            def n(x: int, s: str = sign, w: int = bits) -> int:
                return signed(x, w) if s == "s" else x

            found += [
                Case(f"add.{t} %d, %a, %b;", (b, b), b, lambda x, y, m=full: x + y & m),
                Case(f"sub.{t} %d, %a, %b;", (b, b), b, lambda x, y, m=full: x - y & m),
                Case(f"mul.lo.{t} %d, %a, %b;", (b, b), b, lambda x, y, m=full: x * y & m),
                Case(f"mul.hi.{t} %d, %a, %b;", (b, b), b, lambda x, y, n=n, w=bits, m=full: n(x) * n(y) >> w & m),
                Case(f"mad.lo.{t} %d, %a, %b, %c;", (b, b, b), b, lambda x, y, z, m=full: x * y + z & m),
                Case(f"min.{t} %d, %a, %b;", (b, b), b, lambda x, y, n=n: min(x, y, key=n)),
                Case(f"max.{t} %d, %a, %b;", (b, b), b, lambda x, y, n=n: max(x, y, key=n)),
                Case(
                    f"div.{t} %d, %a, %b;",
                    (b, b),
                    b,
                    lambda x, y, n=n, m=full: m if y == 0 else int(model.integral(model.Fraction(n(x), n(y)), "z")) & m,
                ),
                Case(
                    f"rem.{t} %d, %a, %b;",
                    (b, b),
                    b,
                    lambda x, y, n=n, m=full: (
                        m if y == 0 else n(x) - n(y) * model.integral(model.Fraction(n(x), n(y)), "z") & m
                    ),
                ),
                Case(f"shr.{t} %d, %a, %b;", (b, "b32"), b, lambda x, y, n=n, m=full: n(x) >> y & m, small=(1,)),
            ]
            if bits > 16:
                found += [
                    Case(
                        f"sad.{t} %d, %a, %b, %c;", (b, b, b), b, lambda x, y, z, n=n, m=full: abs(n(x) - n(y)) + z & m
                    ),
                    Case(
                        f"mad.hi.{t} %d, %a, %b, %c;",
                        (b, b, b),
                        b,
                        lambda x, y, z, n=n, w=bits, m=full: (n(x) * n(y) >> w) + z & m,
                    ),
                    Case(
                        f"bfe.{t} %d, %a, %b, %c;",
                        (b, "b32", "b32"),
                        b,
                        lambda x, p, c, s=sign, w=bits: extract(x, p & 255, c & 255, w, s == "s"),
                        small=(1, 2),
                    ),
                    Case(
                        f"bfind.{t} %d, %a;",
                        (b,),
                        "b32",
                        lambda x, n=n: (n(x) if n(x) >= 0 else ~n(x)).bit_length() - 1 & 0xFFFFFFFF,
                    ),
                    Case(
                        f"bfind.shiftamt.{t} %d, %a;",
                        (b,),
                        "b32",
                        lambda x, n=n, w=bits: (
                            w - (n(x) if n(x) >= 0 else ~n(x)).bit_length()
                            if (n(x) if n(x) >= 0 else ~n(x))
                            else 0xFFFFFFFF
                        ),
                    ),
                ]
            if bits < 64:
                wide = f"b{2 * bits}"
                found += [
                    Case(
                        f"mul.wide.{t} %d, %a, %b;",
                        (b, b),
                        wide,
                        lambda x, y, n=n, w=bits: n(x) * n(y) & ((1 << 2 * w) - 1),
                    ),
                    Case(
                        f"mad.wide.{t} %d, %a, %b, %c;",
                        (b, b, wide),
                        wide,
                        lambda x, y, z, n=n, w=bits: n(x) * n(y) + z & ((1 << 2 * w) - 1),
                    ),
                ]
            for name, test in {
                "eq": lambda x, y: x == y,
                "ne": lambda x, y: x != y,
                "lt": lambda x, y: x < y,
                "le": lambda x, y: x <= y,
                "gt": lambda x, y: x > y,
                "ge": lambda x, y: x >= y,
            }.items():
                found.append(
                    Case(f"setp.{name}.{t} %d, %a, %b;", (b, b), "pred", lambda x, y, n=n, f=test: f(n(x), n(y)))
                )
        found += [
            Case(f"shl.b{bits} %d, %a, %b;", (b, "b32"), b, lambda x, y, m=full: x << y & m, small=(1,)),
            Case(f"and.b{bits} %d, %a, %b;", (b, b), b, lambda x, y: x & y),
            Case(f"or.b{bits} %d, %a, %b;", (b, b), b, lambda x, y: x | y),
            Case(f"xor.b{bits} %d, %a, %b;", (b, b), b, lambda x, y: x ^ y),
            Case(f"not.b{bits} %d, %a;", (b,), b, lambda x, m=full: ~x & m),
            Case(f"cnot.b{bits} %d, %a;", (b,), b, lambda x: int(x == 0)),
            Case(f"abs.s{bits} %d, %a;", (b,), b, lambda x, w=bits, m=full: abs(signed(x, w)) & m),
            Case(f"neg.s{bits} %d, %a;", (b,), b, lambda x, m=full: -x & m),
            Case(f"selp.b{bits} %d, %a, %b, %c;", (b, b, "pred"), b, lambda x, y, p: x if p else y),
            Case(f"slct.b{bits}.s32 %d, %a, %b, %c;", (b, b, "b32"), b, lambda x, y, z: x if signed(z, 32) >= 0 else y),
        ]
        if bits > 16:
            found += [
                Case(f"popc.b{bits} %d, %a;", (b,), "b32", lambda x: x.bit_count()),
                Case(f"clz.b{bits} %d, %a;", (b,), "b32", lambda x, w=bits: w - x.bit_length()),
                Case(f"brev.b{bits} %d, %a;", (b,), b, lambda x, w=bits: int(f"{x:0{w}b}"[::-1], 2)),
                Case(
                    f"bfi.b{bits} %d, %a, %b, %c, %e;",
                    (b, b, "b32", "b32"),
                    b,
                    lambda x, y, p, c, w=bits: insert(x, y, p & 255, c & 255, w),
                    small=(2, 3),
                ),
            ]
    found += [
        Case("fns.b32 %d, %a, %b, %c;", ("b32",) * 3, "b32", nth_set, small=(1, 2)),
        Case("{ .reg .s32 %m; sub.s32 %m, 3, %c; fns.b32 %d, %a, %b, %m; }", ("b32",) * 3, "b32",
             lambda x, base, n: nth_set(x, base, 3 - n & 0xFFFFFFFF), small=(1, 2)),
    ]  # fmt: skip
    return found


def nth_set(mask: int, base: int, offset: int) -> int:
    """Of the set bits from the base on, upwards or downwards, the one with that number; 0 is the base itself."""
    n = signed(offset, 32)
    places = range(base, base + 1) if n == 0 else range(base, 32) if n > 0 else range(base, -1, -1)
    found = [place for place in places if base < 32 and mask >> place & 1]
    return found[max(abs(n), 1) - 1] if len(found) >= max(abs(n), 1) else 0xFFFFFFFF


def extract(x: int, position: int, length: int, width: int, is_signed: bool) -> int:
    """The ISA's own loop: what lies beyond the field repeats its top bit (0 for unsigned numbers)."""
    result = 0
    sign = x >> min(position + length - 1, width - 1) & 1 if is_signed and length else 0
    for i in range(width):
        bit = x >> (position + i) & 1 if i < length and position + i < width else sign
        result |= bit << i
    return result


def insert(x: int, y: int, position: int, length: int, width: int) -> int:
    result = y
    for i in range(length):
        if position + i < width:
            result = result & ~(1 << (position + i)) | (x >> i & 1) << (position + i)
    return result

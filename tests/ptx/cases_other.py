"""Logic, permutes, products of parts, carries, predicates, and what they give."""

from __future__ import annotations

from tests.ptx.case import Case
from tests.ptx.model import signed


def other_cases() -> list[Case]:
    three = ("b32", "b32", "b32")
    full = 0xFFFFFFFF
    found = [
        Case("mul24.lo.u32 %d, %a, %b;", three[:2], "b32", lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF) & full),
        Case("mul24.hi.s32 %d, %a, %b;", three[:2], "b32", lambda x, y: signed(x, 24) * signed(y, 24) >> 16 & full),
        Case("mad24.lo.s32 %d, %a, %b, %c;", three, "b32", lambda x, y, z: signed(x, 24) * signed(y, 24) + z & full),
        Case(
            "add.sat.s32 %d, %a, %b;",
            three[:2],
            "b32",
            lambda x, y: max(-(1 << 31), min((1 << 31) - 1, signed(x, 32) + signed(y, 32))) & full,
        ),
        Case(
            "sub.sat.s32 %d, %a, %b;",
            three[:2],
            "b32",
            lambda x, y: max(-(1 << 31), min((1 << 31) - 1, signed(x, 32) - signed(y, 32))) & full,
        ),
        Case("shf.l.wrap.b32 %d, %a, %b, %c;", three, "b32", lambda x, y, n: (y << 32 | x) << (n & 31) >> 32 & full),
        Case("shf.r.wrap.b32 %d, %a, %b, %c;", three, "b32", lambda x, y, n: (y << 32 | x) >> (n & 31) & full),
        Case(
            "shf.l.clamp.b32 %d, %a, %b, %c;",
            three,
            "b32",
            lambda x, y, n: (y << 32 | x) << min(n, 32) >> 32 & full,
            small=(2,),
        ),
        Case(
            "shf.r.clamp.b32 %d, %a, %b, %c;",
            three,
            "b32",
            lambda x, y, n: (y << 32 | x) >> min(n, 32) & full,
            small=(2,),
        ),
        Case(
            "bmsk.clamp.b32 %d, %a, %b;",
            three[:2],
            "b32",
            lambda p, n: (((1 << min(n, 32)) - 1) << min(p, 32)) & full,
            small=(0, 1),
        ),
        Case(
            "bmsk.wrap.b32 %d, %a, %b;",
            three[:2],
            "b32",
            lambda p, n: (((1 << (n & 31)) - 1) << (p & 31)) & full,
            small=(0, 1),
        ),
        Case("prmt.b32 %d, %a, %b, %c;", three, "b32", permute),
        Case("prmt.b32 %d, %a, %b, 0x7531;", three[:2], "b32", lambda x, y: permute(x, y, 0x7531)),
        Case("prmt.b32 %d, %a, %b, 0x8e42;", three[:2], "b32", lambda x, y: permute(x, y, 0x8E42)),
        Case("dp4a.u32.u32 %d, %a, %b, %c;", three, "b32", lambda x, y, z: dot(x, y, z, 8, 8, "u", "u", 0)),
        Case("dp4a.s32.u32 %d, %a, %b, %c;", three, "b32", lambda x, y, z: dot(x, y, z, 8, 8, "s", "u", 0)),
        Case("dp4a.s32.s32 %d, %a, %b, %c;", three, "b32", lambda x, y, z: dot(x, y, z, 8, 8, "s", "s", 0)),
        Case("dp2a.lo.s32.s32 %d, %a, %b, %c;", three, "b32", lambda x, y, z: dot(x, y, z, 16, 8, "s", "s", 0)),
        Case("dp2a.hi.u32.s32 %d, %a, %b, %c;", three, "b32", lambda x, y, z: dot(x, y, z, 16, 8, "u", "s", 2)),
        Case(
            "add.u16x2 %d, %a, %b;",
            three[:2],
            "b32",
            lambda x, y: (x + y & 0xFFFF) | ((x >> 16) + (y >> 16) & 0xFFFF) << 16,
        ),
        Case("copysign.f32 %d, %a, %b;", three[:2], "b32", lambda x, y: x & 1 << 31 | y & ~(1 << 31)),
        Case("copysign.f64 %d, %a, %b;", ("b64", "b64"), "b64", lambda x, y: x & 1 << 63 | y & ~(1 << 63)),
        Case("mov.b64 %d, {%a, %b};", three[:2], "b64", lambda x, y: x | y << 32),
        Case("mov.b32 %d, {%a, %b};", ("b16", "b16"), "b32", lambda x, y: x | y << 16),
        Case("{ .reg .b32 lo; mov.b64 {lo, %d}, %a; }", ("b64",), "b32", lambda x: x >> 32),
        Case(
            "{ .reg.b8 p, q, r, s; mov.b32 {p, q, r, s}, %a; mov.b32 %d, {s, r, q, p}; }",
            ("b32",),
            "b32",
            lambda x: int.from_bytes(x.to_bytes(4, "little"), "big"),
        ),
        Case(
            "{ .reg .b32 s, t; add.cc.u32 s, %a, %b; addc.u32 %d, %c, 0; }",
            three,
            "b32",
            lambda x, y, z: z + (x + y >> 32) & full,
        ),
        Case(
            "{ .reg .b32 s, t; sub.cc.u32 s, %a, %b; subc.u32 %d, %c, 0; }",
            three,
            "b32",
            lambda x, y, z: z - (x < y) & full,
        ),
        Case(
            "{ .reg .b32 s, t; add.cc.u32 s, %a, %a; addc.cc.u32 t, %b, %b; addc.u32 %d, %c, %c; }",
            three,
            "b32",
            lambda x, y, z: ((x | y << 32 | z << 64) * 2 >> 64) & full,
        ),
        Case(
            "{ .reg .b32 s, t; sub.cc.u32 s, %a, %b; subc.cc.u32 t, %b, %c; subc.u32 %d, %c, %a; }",
            three,
            "b32",
            lambda x, y, z: ((x | y << 32 | z << 64) - (y | z << 32 | x << 64) >> 64) & full,
        ),
        Case(
            "{ .reg .b32 s; mad.lo.cc.u32 s, %a, %b, %c; madc.hi.u32 %d, %a, %b, %c; }",
            three,
            "b32",
            lambda x, y, z: (x * y + (z | z << 32) >> 32) & full,
        ),
        Case(
            "{ .reg .b32 s,t; mad.lo.cc.u32 s, %a, %b, %c; madc.hi.cc.u32 t, %a, %b, %c; addc.u32 %d, 0, 0; }",
            three,
            "b32",
            lambda x, y, z: x * y + (z | z << 32) >> 64,
        ),
        Case("setp.lt.and.u32 %d, %a, %b, %c;", ("b32", "b32", "pred"), "pred", lambda x, y, p: x < y and bool(p)),
        Case("setp.lt.xor.u32 %q|%d, %a, %b, %c;", ("b32", "b32", "pred"), "pred", lambda x, y, p: (x >= y) != bool(p)),
        Case("set.gt.u32.s32 %d, %a, %b;", three[:2], "b32", lambda x, y: full if signed(x, 32) > signed(y, 32) else 0),
        Case(
            "@%c add.u32 %a, %a, %b; mov.u32 %d, %a;",
            ("b32", "b32", "pred"),
            "b32",
            lambda x, y, p: x + y & full if p else x,
        ),
        Case("and.pred %d, %a, %b;", ("pred", "pred"), "pred", lambda x, y: x & y),
        Case("not.pred %d, %a;", ("pred",), "pred", lambda x: 1 - x),
    ]
    found += [
        Case(
            "vabsdiff4.u32.u32.u32 %d, %a, %b, 0;",
            three[:2],
            "b32",
            lambda x, y: sum(abs((x >> s & 255) - (y >> s & 255)) << s for s in range(0, 32, 8)),
        ),
        Case(  # without a mask of parts, nothing of the third operand shows
            "vabsdiff2.u32.u32.u32 %d, %a, %b, %c;",
            three,
            "b32",
            lambda x, y, z: sum(abs((x >> s & 0xFFFF) - (y >> s & 0xFFFF)) << s for s in (0, 16)),
        ),
        Case(
            "vabsdiff2.u32.s32.s32.add %d, %a, %b, %c;",
            three,
            "b32",
            lambda x, y, z: z + sum(abs(signed(x >> s, 16) - signed(y >> s, 16)) for s in (0, 16)) & full,
        ),
    ]
    tables = (0x80, 0x96, 0xE8, 0x1B, 0xFE)
    found += [
        Case(
            f"lop3.b32 %d, %a, %b, %c, {t};",
            three,
            "b32",
            lambda x, y, z, t=t: sum(
                (t >> ((x >> i & 1) * 4 + (y >> i & 1) * 2 + (z >> i & 1)) & 1) << i for i in range(32)
            ),
        )
        for t in tables
    ]
    return found


def permute(x: int, y: int, selector: int) -> int:
    values = (y << 32 | x).to_bytes(8, "little")
    result = 0
    for i in range(4):
        s = selector >> 4 * i & 15
        byte = values[s & 7]
        result |= (byte if s < 8 else 255 if byte >= 128 else 0) << 8 * i
    return result


def dot(x: int, y: int, z: int, wa: int, wb: int, sa: str, sb: str, first: int) -> int:
    for i in range(32 // wa):
        a, b = x >> wa * i & ((1 << wa) - 1), y >> wb * (i + first) & ((1 << wb) - 1)
        z += (signed(a, wa) if sa == "s" else a) * (signed(b, wb) if sb == "s" else b)
    return z & 0xFFFFFFFF

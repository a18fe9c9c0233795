"""H005: `__half_raw h = {0x3c00}`."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.lex import IDENTIFIER
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_TYPE = "__half_raw"


class RawHalfFromBits(Rule):
    """Bits of a half in braces

    CUDA's `__half_raw` has one member, its bits. HIP's is a union whose first member is the number, so that
    `__half_raw h = {0x3c00}` is 15360 there and not 1: without a word where the number is a constant that a half can
    hold. The member is named then: `{.x = 0x3c00}`.
    """

    code = "H005"
    triggers = frozenset({_TYPE})
    settles = True
    examples = (
        clean("__device__ void f() { __half_raw h = {}; __half_raw g; g.x = 0x3c00; __half_raw i = {.x = 1}; }"),
        clean("struct __half_raw { unsigned short x; };"),
        clean("__device__ __half_raw f(__half_raw *p) { return p[0]; }"),
        fixes(
            "__device__ half f(int z) { __half_raw h = {0xd400}; return h; }",
            "__device__ half f(int z) { __half_raw h = {.x = static_cast<unsigned short>(0xd400)}; return h; }",
        ),
        fixes(
            "__device__ half f(int z) { __half_raw h{uint16_t(z | 3)}; return h; }",
            "__device__ half f(int z) { __half_raw h{.x = static_cast<unsigned short>(uint16_t(z | 3))}; return h; }",
        ),
        fixes(
            "__device__ half f() { return __half_raw{0x3c00}; }",
            "__device__ half f() { return __half_raw{.x = static_cast<unsigned short>(0x3c00)}; }",
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per list."""
        tokens = unit.tokens
        for index in unit.occurrences(_TYPE):
            if tokens.texts[index - 1] in ("struct", "class", "union"):
                continue
            opening = index + 1
            if tokens.kinds[opening : opening + 1] == IDENTIFIER:
                opening += 1
            if tokens.texts[opening : opening + 1] == ["="]:
                opening += 1
            closing = tokens.partner.get(opening)
            inside = tokens.texts[opening + 1 : closing]
            if tokens.texts[opening : opening + 1] != ["{"] or closing is None or not inside or inside[0] == ".":
                continue
            start, end = tokens.starts[opening + 1], tokens.starts[closing]
            edits = (Edit(start, start, ".x = static_cast<unsigned short>("), Edit(end, end, ")"))
            message = "HIP's __half_raw begins with the number and not with its bits: the member is named"
            yield self.finding(unit, unit.span(index, closing), message, Effort.NONE, edits)

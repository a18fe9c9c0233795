"""L017: unsigned constants near 2^32 divided by something small, which clang divides in 24 bits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import NUMBER, number
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_SUPPORT = "porter/bits.hpp"
_LIMITS = frozenset({"UINT_MAX", "UINT32_MAX"})
_LEAST = 0xFF800000
"""From here to 2^32 the upper nine bits are ones: what clang takes for a small negative number."""
_BINDS_TIGHTER = frozenset({"*", "/", "%", ".", "->", "::"})
_FLOATS = frozenset({"float", "double", "half", "__half"})
_DIVISION = re.compile("[/%]")


class UnsignedConstantDivided(Rule):
    """Unsigned constant near 2^32 divided by what may be small

    Clang for AMD's GPUs counts equal leading bits to see whether a division fits into 24 bits, and counts the ones of
    an unsigned number too: `0xffffffffu / (x & 255u)`, or `/ blockDim.x`, whose upper bits are known to be zeros, comes
    out truncated to a few bits, at every level of optimisation. Seen with clang 19.1; LLVM 20 mends one of the two
    places (#119325), the other one was mended in 2026 (#196418). The constant goes through a function that hides its
    value from the compiler.
    """

    code = "L017"
    text = (
        r"(?:UINT(?<=\bUINT)(?:32)?_MAX|0(?<=\b0)[xX][fF]{2}[89a-fA-F][\da-fA-F]{5}[uU]?|429(?<=\b429)\d{7}[uU]|~\s*0[uU])"
        r"\s*[/%]"
    )
    examples = (
        fixes(
            "__global__ void k(unsigned *p) { p[0] = 0xffffffffu / ((p[1] & 255u) | 1u); }",
            "__global__ void k(unsigned *p) { p[0] = porter::opaque(0xffffffffu) / ((p[1] & 255u) | 1u); }",
        ),
        fixes(
            "__device__ unsigned f() { return 1 + UINT_MAX % blockDim.x; }",
            "__device__ unsigned f() { return 1 + porter::opaque(UINT_MAX) % blockDim.x; }",
        ),
        fixes(
            "__device__ unsigned f(unsigned char c) { return ~0u / c; }",
            "__device__ unsigned f(unsigned char c) { return porter::opaque(~0u) / c; }",
        ),
        clean("__device__ unsigned f(unsigned x) { return 0xffffffffu / 7u + x * 0xffffffffu / x; }"),
        clean("__device__ unsigned f(unsigned x) { return 0x7fffffffu / x + 0xff000000u / x; }"),
        clean("__device__ float f(float x) { return 0xffffffffu / (float)x + UINT_MAX / float(x); }"),
        clean("unsigned f(unsigned char x) { return 0xffffffffu / x; }"),
        clean("__device__ unsigned long f(unsigned x) { return 0xffffffffffffffffull / x + 4294967295 / x; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per constant."""
        texts = unit.tokens.texts
        for match in _DIVISION.finditer(unit.tokens.first_characters):
            index = match.start()
            if texts[index] not in ("/", "%") or not index:
                continue
            first = _numerator(unit, index)
            if first is None or not _may_be_small(unit, index + 1) or not _is_for_device(unit, index):
                continue
            span = Span(unit.tokens.starts[first], unit.tokens.end(index - 1))
            edits = (Edit(span.start, span.start, "porter::opaque("), Edit(span.end, span.end, ")"))
            message = "clang takes an unsigned constant near 2^32 for a small number and divides it in 24 bits"
            yield self.finding(unit, span, message, Effort.NONE, edits, (_SUPPORT,))


def _is_for_device(unit: Unit, index: int) -> bool:
    return unit.kernel_at(unit.tokens.starts[index]) is not None


def _numerator(unit: Unit, operator: int) -> int | None:
    """Where the constant in front of the operator begins, if it is one and all of the numerator."""
    texts = unit.tokens.texts
    first = operator - 1
    if texts[first - 1] == "~" and texts[first] in ("0u", "0U"):
        first -= 1
    elif not (_is_near(unit, first) or (texts[first] in _LIMITS and unit.is_free(first))):
        return None
    return None if texts[first - 1] in _BINDS_TIGHTER else first


def _is_near(unit: Unit, index: int) -> bool:
    """A literal of type unsigned from the range."""
    text = unit.tokens.texts[index].lower()
    if unit.tokens.kinds[index] != NUMBER or "l" in text or not (text.endswith("u") or text.startswith("0x")):
        return False
    value = number(text)
    return value is not None and _LEAST <= value < 1 << 32


def _may_be_small(unit: Unit, index: int) -> bool:
    """Neither a literal nor a floating-point number as far as its first words say."""
    texts = unit.tokens.texts
    cast = texts[index] in _FLOATS or (texts[index] == "(" and texts[index + 1] in _FLOATS)
    return unit.tokens.kinds[index] != NUMBER and texts[index] != "sizeof" and not cast

"""Types as they are written in declarations and casts."""

from __future__ import annotations

from porter.cpp.brackets import template_end, words
from porter.cpp.cursor import Cursor
from porter.cpp.lex import IDENTIFIER

TYPES = words(
    "void bool char short int long float double unsigned signed auto wchar_t size_t ssize_t half half2 __half "
    "__half2 uint uchar ushort ulong int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t uint2 "
    "uint3 uint4 int2 int3 int4 float2 float3 float4 double2 dim3 __nv_bfloat16 ptrdiff_t clock_t"
)
QUALIFIERS = words(
    "const volatile static extern constexpr register inline mutable typename struct class enum union "
    "__shared__ __constant__ __device__ __restrict__ __restrict restrict thread_local __managed__ consteval "
    "constinit __forceinline__"
)
CONTROL = words("if for while do switch return break continue goto case default else asm __asm__ __asm try catch")
_OF_TYPES = TYPES | QUALIFIERS
_OF_EXPRESSIONS = words("decltype typeof __typeof__")
"""Types of what stands in the brackets behind them."""
_ATTRIBUTES = words("__align__ alignas __attribute__")


class TypeReader(Cursor):
    """Finds where a type ends."""

    def _past_type(self, place: int) -> int | None:
        """Position after a type's words, scopes and template arguments."""
        start = place
        while place < self.count and self.kinds[place] == IDENTIFIER and self.texts[place] in _OF_TYPES:
            place += 1
        if place > start and self.texts[place] != "<":
            return place
        if place == start:
            if self.texts[place] in CONTROL:
                return None
            end = self._matching(place + 1) if self.texts[place] in _OF_EXPRESSIONS else None
            place = place + 1 if end is None else end + 1
        while place < self.count:
            if self.texts[place] == "::" and place + 1 < self.count:
                place += 3 if self.texts[place + 1] == "template" else 2
            elif self.texts[place] == "<":
                after = self._past_template(place)
                if after is None:
                    return None
                place = after
            else:
                return place
        return None

    def _past_template(self, place: int) -> int | None:
        """Position after the `>` of template arguments that open at a position."""
        index = self.places[place]
        after = template_end(self.tokens, index, self.places[-1] + 1)
        if after is None:
            return None
        while place < len(self.places) and self.places[place] < after:
            place += 1
        return place

    def _past_attribute(self, place: int) -> int:
        """Position after `__align__(16)` or the like that stands at a position; else the same."""
        if self.texts[place] not in _ATTRIBUTES or self.texts[place + 1] != "(":
            return place
        end = self._matching(place + 1)
        return place if end is None else end + 1

    def _past_attributes(self, place: int) -> int:
        while place < self.count:
            after = self._past_attribute(place)
            if after == place:
                text = self.texts[place]
                if text not in QUALIFIERS and not (text in TYPES and self._follows_type(place)):
                    return place
                after += 1
            place = after
        return place

    def _written(self, first: int, end: int) -> str:
        """The words of a type, attributes left out."""
        found: list[str] = []
        while first < end:
            after = self._past_attribute(first)
            if after == first:
                found.append(self.texts[first])
                after += 1
            first = after
        return " ".join(found)

    def _follows_type(self, place: int) -> bool:
        return self.kinds[place + 1] == IDENTIFIER

"""D003: classes derived from a vector type that convert to a number or take their operators from another base."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_VECTOR = re.compile(r"(?:u?(?:char|short|int|long|longlong)|float|double)[1234]")
_NUMBERS = """
    bool char short int long unsigned float double size_t uint8_t uint16_t uint32_t uint64_t int8_t
    int16_t int32_t int64_t
"""
_ARITHMETIC = frozenset(_NUMBERS.split())


class DerivedFromVector(Rule):
    """Number or vector made of a vector type

    `struct u64 : uint2 { operator uint64_t() const; }` computes with its conversion in CUDA, whose vector types have no
    operators. HIP's have: `a ^ b` of two such objects works component by component, and is a `uint2`. Where the result
    is used as a number the port does not compile; where it is not, it is another value. Give the class the operators
    that it needs, or hold the vector as a member. A class that has `float3` as one base and its operators from another
    one has two of each with HIP: its sums are ambiguous.
    """

    code = "D003"
    text = r"(?:struct|class)\s+\w+[^;{]*:[^;{]*" + _VECTOR.pattern
    examples = (
        reports("struct u64 : public uint2 { __device__ operator uint64_t() const { return 0; } };"),
        reports("class Long final : ulonglong2 { public: __device__ explicit operator unsigned long long() const; };"),
        reports(
            "class Vec3f : public VectorBase<float, 3, Vec3f>, public float3 { public: __device__ Vec3f(float); };"
        ),
        clean("struct Node : public float4, private Tag {};"),
        clean("struct Color : float4 { __device__ Color operator+(const Color &o) const; };"),
        clean("struct u64 { uint2 v; __device__ operator uint64_t() const { return 0; } };"),
        clean("struct u64 : Base<uint2> { __device__ operator uint64_t() const { return 0; } };"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per class."""
        tokens = unit.tokens
        for key in ("struct", "class"):
            for index in tokens.names.get(key, ()):
                opening = _body(unit, index)
                if opening is None or tokens.partner.get(opening, -1) < opening:
                    continue
                head, body = tokens.texts[index:opening], tokens.texts[opening : tokens.partner[opening]]
                if not _has_vector_base(head):
                    continue
                message = ""
                if _converts(body):
                    message = (
                        f"{tokens.texts[index + 1]} converts to a number, and HIP's vector type has operators that its "
                        "objects use first, component by component"
                    )
                elif other := _base_of_itself(head):
                    message = (
                        f"{tokens.texts[index + 1]} has the operators of {other} and, with HIP, of its vector type: "
                        "sums and products of its objects are ambiguous; hold the vector as a member"
                    )
                if message:
                    yield self.finding(unit, unit.span(index + 1), message, Effort.MANUAL)


def _body(unit: Unit, index: int) -> int | None:
    """The brace that opens the class at a keyword, if its head has bases."""
    texts = unit.tokens.texts
    for place in range(index + 1, min(index + 40, len(unit.tokens))):
        if texts[place] == "{":
            return place
        if texts[place] in (";", ")", "=", "("):
            return None
    return None


def _has_vector_base(head: list[str]) -> bool:
    if ":" not in head:
        return False
    bases = head[head.index(":") + 1 :]
    return any(
        _VECTOR.fullmatch(word) and bases[place - 1 : place] not in (["<"], ["::"]) for place, word in enumerate(bases)
    )


def _base_of_itself(head: list[str]) -> str:
    """A class template among the bases that is told the class itself, as those are that bring operators."""
    colon = head.index(":")
    name = head[colon - 1]
    bases = head[colon + 1 :]
    if name not in bases or "<" not in bases:
        return ""
    return bases[bases.index("<") - 1]


def _converts(body: list[str]) -> bool:
    """Whether it has a conversion to a number."""
    return any(word == "operator" and body[place + 1] in _ARITHMETIC for place, word in enumerate(body[:-1]))

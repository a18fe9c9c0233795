"""D003: classes derived from a vector type that convert to a number or take their operators from another base."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.plain_types import VECTORS
from porter.cpp.syntax import Tokens
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

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
    one has two of each with HIP: it gets `porter::plain::float3_base`, which has the components alone, and converts by
    value.
    """

    code = "D003"
    triggers = VECTORS
    text = (
        rf"(?:[\w>]\s*:|\b(?:public|protected|private|virtual)\b)(?:\s*::)?\s*{_VECTOR.pattern}"
        rf"|,\s*{_VECTOR.pattern}\s*\{{"
    )
    examples = (
        reports("struct u64 : public uint2 { __device__ operator uint64_t() const { return 0; } };"),
        reports("class Long final : ulonglong2 { public: __device__ explicit operator unsigned long long() const; };"),
        fixes(
            "template <class S> struct Ops { __device__ S operator+(S) const; };\n"
            "class Vec : public Ops<Vec>, public float3 {\n"
            "  __device__ Vec(float3 f) : Ops<Vec>(), float3(f) { float3 g = float3(f); float3::x = g.x; }\n"
            "  Vec(int);\n};\n"
            "Vec::Vec(int) : float3(zero()) {}\n__device__ float f(float3 v, Other o) { return g(v, float3(v)); }",
            "template <class S> struct Ops { __device__ S operator+(S) const; };\n"
            "class Vec : public Ops<Vec>, public porter::plain::float3_base {\n"
            "  __device__ Vec(float3 f) : Ops<Vec>(), porter::plain::float3_base(f) "
            "{ float3 g = float3(f); porter::plain::float3_base::x = g.x; }\n  Vec(int);\n};\n"
            "Vec::Vec(int) : porter::plain::float3_base(zero()) {}\n"
            "__device__ float f(float3 v, Other o) { return g(v, float3(v)); }",
            effort=Effort.REVIEW,
        ),
        clean("template <class S> struct Counted { int count; };\nstruct Vec : Counted<Vec>, float3 {};"),
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
                if _converts(body):
                    message = (
                        f"{tokens.texts[index + 1]} converts to a number, and HIP's vector type has operators that its "
                        "objects use first, component by component"
                    )
                    yield self.finding(unit, unit.span(index + 1), message, Effort.MANUAL)
                elif (other := _base_of_itself(head)) and _may_have_operators(unit, other):
                    yield self._made_plain(unit, index, opening, other)

    def _made_plain(self, unit: Unit, index: int, opening: int, other: str) -> Finding:
        """With a base that has the components alone."""
        tokens = unit.tokens
        edits = tuple(
            Edit(*unit.span(place), f"porter::plain::{tokens.texts[place]}_base")
            for place in _uses_of_base(tokens, index, opening)
        )
        message = (
            f"{tokens.texts[index + 1]} has the operators of {other} and, with HIP, of its vector type, so its sums "
            "would be ambiguous: a base without operators, that converts to HIP's by value and no longer by reference"
        )
        return self.finding(unit, unit.span(index + 1), message, Effort.REVIEW, edits, ("porter/plain_vector.hpp",))


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


def _may_have_operators(unit: Unit, name: str) -> bool:
    """Whether a class in sight has that name and operators, or none in sight has the name."""
    found = False
    for tokens in unit.program.all_tokens:
        for index in tokens.names.get(name, ()):
            if tokens.texts[index - 1] not in ("class", "struct"):
                continue
            opening = next((p for p in range(index, min(index + 40, len(tokens))) if tokens.texts[p] in ";{"), None)
            if opening is None or tokens.texts[opening] == ";":
                continue
            found = True
            if "operator" in tokens.texts[opening : tokens.partner.get(opening, opening)]:
                return True
    return not found


def _uses_of_base(tokens: Tokens, index: int, opening: int) -> Iterator[int]:
    """Where a class names its vector as its base: in its head, before `::`, and where constructors initialise it."""
    name, closing = tokens.texts[index + 1], tokens.partner[opening]
    vectors = [p for p in range(index + 2, opening) if _VECTOR.fullmatch(tokens.texts[p])]
    yield from vectors
    for vector in {tokens.texts[place] for place in vectors}:
        for place in tokens.names[vector]:
            if opening < place < closing:
                if tokens.texts[place + 1] == "::" or _initialises(tokens, place, opening):
                    yield place
            elif place > closing and _initialises(tokens, place, None) and _constructs(tokens, place, name):
                yield place


def _initialises(tokens: Tokens, place: int, around: int | None) -> bool:
    """Whether a base is initialised here, in a constructor of the class that a brace opens."""
    if tokens.texts[place + 1] not in ("(", "{") or tokens.texts[place - 1] not in (":", ","):
        return False
    first = _initialisers(tokens, place)
    if first is None:
        return False
    return around is None or next(tokens.braces_around(first), None) == around


def _initialisers(tokens: Tokens, place: int) -> int | None:
    """The colon behind a constructor's parameters, before an initialiser."""
    while tokens.texts[place - 1] == ",":
        place -= 2
        if tokens.texts[place] not in (")", "}"):
            return None
        place = _opening(tokens, place) - 1
        while place > 0 and (tokens.kinds[place] == "i" or tokens.texts[place] in ("::", "<", ">")):
            place -= 1
        place += 1
    return place - 1 if tokens.texts[place - 1] == ":" and tokens.texts[place - 2] == ")" else None


def _constructs(tokens: Tokens, place: int, name: str) -> bool:
    """Whether the constructor of a class that is defined outside of it has this initialiser."""
    colon = _initialisers(tokens, place)
    first = _opening(tokens, colon - 1) if colon is not None else 0
    return tokens.texts[max(first - 3, 0) : first] == [name, "::", name]


def _opening(tokens: Tokens, closing: int) -> int:
    return tokens.partner.get(closing, closing)

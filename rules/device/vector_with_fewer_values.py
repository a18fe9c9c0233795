"""C041: braces around fewer values than a vector type has components."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.lex import IDENTIFIER, NUMBER
from porter.cpp.plain_types import VECTORS
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_VECTORS = frozenset(name for name in VECTORS if not name.endswith("1"))
_ZERO = re.compile(r"0+\.?0*(?:[eE][+-]?\d+)?[fFuUlL]*")
_NO_VALUES = frozenset({";", "...", "return", "{"})
_SCALARS = frozenset({"float", "double", "int", "unsigned", "short", "char", "long", "bool", "size_t"})
_COMPONENTS = frozenset("xyzw")


class VectorWithFewerValues(Rule):
    """Vector type with fewer values than components

    `int2 n = {0};` and `float4{x}` set the components that are not named to zero in CUDA, where vector types are plain
    structs. In HIP they are classes: one value in braces goes to every component, without a word, or does not compile
    after `=`; two for a `float4` do not compile. The zeros are written out. Elements of an array without braces of
    their own are left and reported, and so is one value that may be a vector itself.
    """

    code = "C041"
    triggers = _VECTORS
    text = r"\b(?:u?(?:char|short|int|long|longlong)|float|double)[234]\b[^;(){}]*\{"
    hazards = ("vector-type-ctors",)
    examples = (
        fixes("void f() { int2 n = {0}; }", "void f() { int2 n = {0, 0}; }"),
        fixes("void f(float4 *p) { *p = float4{1.0f}; }", "void f(float4 *p) { *p = float4{1.0f, 0, 0, 0}; }"),
        fixes("void f(int a) { float4 v{1.f, 2.f}; }", "void f(int a) { float4 v{1.f, 2.f, 0, 0}; }"),
        fixes(
            "void f(float3 q) { float3 v = {q.x}, w = {0, 1}; }",
            "void f(float3 q) { float3 v = {q.x, 0, 0}, w = {0, 1, 0}; }",
        ),
        fixes("void f() { float4 s[8] = {0}; }", "void f() { float4 s[8] = {}; }"),
        fixes("void f() { int2 s[2] = {{1}, {2, 3}}; }", "void f() { int2 s[2] = {{1, 0}, {2, 3}}; }"),
        reports("void f() { int2 s[2] = {1, 2, 3, 4}; }"),
        fixes("void f(float q) { float4 v{q}; }", "void f(float q) { float4 v{q, 0, 0, 0}; }"),
        reports("void f(T q) { float4 v{q}; }", effort=Effort.REVIEW),
        reports("void g(float q); void f(float4 q) { float4 v{q}; }", effort=Effort.REVIEW),
        clean("void f(float4 a, float4 b) { float4 s[2] = {a, b}; float4 c = {}; float4 d{}; int2 e = {1, 2}; }"),
        clean("struct V : float4 { float w2; }; auto f() -> int2 { return g(); } int2 g() { return {0, 1}; }"),
        clean("void f() { int2 n = {0}; }", path="a.c"),
        clean("template <class... T> void f(T... x) { float4 v{x...}; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per list."""
        if unit.source.path.endswith(".c"):
            return
        for name in unit.tokens.names:
            for index in unit.tokens.names[name] if name in self.triggers else ():
                lists = _lists(unit, index)
                found = [one for opened, is_array in lists for one in self._judged(unit, name, opened, is_array)]
                if found and unit.is_cuda(index):  # asked last: it may take clang to tell
                    yield from found

    def _judged(self, unit: Unit, name: str, opened: int, is_array: bool) -> Iterator[Finding]:
        values = _values(unit, opened)
        rank = int(name[-1])
        if values is None or not values:
            return
        texts = unit.tokens.texts
        if is_array:
            if all(texts[first] == "{" for first, _ in values):
                for first, _ in values:
                    yield from self._judged(unit, name, first, False)
            elif all(_is_number(unit, value) for value in values):
                yield self._elements(unit, name, opened, values)
            return
        if len(values) >= rank or any(texts[first] in (".", "{") for first, _ in values):
            return
        end = unit.tokens.starts[unit.tokens.partner[opened]]
        span = unit.span(opened, unit.tokens.partner[opened])
        if len(values) == 1 and not _is_scalar(unit, values[0]):
            message = (
                f"one value in braces is every component of HIP's {name}, and in CUDA the first, if it is a number"
            )
            yield self.finding(unit, span, message, Effort.REVIEW)
            return
        message = f"{len(values)} of the {rank} components of {name} are given: HIP does not set the others to zero"
        yield self.finding(unit, span, message, Effort.NONE, (Edit(end, end, ", 0" * (rank - len(values))),))

    def _elements(self, unit: Unit, name: str, opened: int, values: list[tuple[int, int]]) -> Finding:
        closed = unit.tokens.partner[opened]
        span = unit.span(opened, closed)
        first, last = values[0]
        if len(values) == 1 and first == last and _ZERO.fullmatch(unit.tokens.texts[first]):
            gone = unit.span(first, last)
            message = f"HIP has no {name} of one number"
            return self.finding(unit, span, message, Effort.NONE, (Edit(gone.start, gone.end, ""),))
        message = f"numbers in a list of {name} without braces of their own: HIP takes each for an element"
        return self.finding(unit, span, message, Effort.MANUAL)


def _lists(unit: Unit, index: int) -> Iterator[tuple[int, bool]]:
    """The braces behind a type, or behind the names that are declared with it, and whether they are an array's."""
    tokens = unit.tokens
    texts, partner = tokens.texts, tokens.partner
    place = index + 1
    if texts[place] == "{":
        yield place, False
        return
    while tokens.kinds[place] == IDENTIFIER:
        place += 1
        is_array = texts[place] == "["
        while texts[place] == "[" and place in partner:
            place = partner[place] + 1
        place += texts[place] == "="
        if texts[place] == "{" and place in partner:
            yield place, is_array
            place = partner[place] + 1
        if texts[place] != ",":
            return
        place += 1


def _values(unit: Unit, opened: int) -> list[tuple[int, int]] | None:
    """First and last token of each value of a list; None where it is no list of values."""
    tokens = unit.tokens
    closed = tokens.partner.get(opened)
    if closed is None:
        return None
    found: list[tuple[int, int]] = []
    first = place = opened + 1
    while place < closed:
        text = tokens.texts[place]
        if text in _NO_VALUES and not (text == "{" and place == first):
            return None
        if text == ",":
            found.append((first, place - 1))
            first = place + 1
        place = tokens.partner.get(place, place) + 1 if text in ("(", "[", "{") else place + 1
    if first < closed:
        found.append((first, closed - 1))
    return found


def _is_number(unit: Unit, value: tuple[int, int]) -> bool:
    first, last = value
    first += unit.tokens.texts[first] in ("-", "+")
    return first == last and unit.tokens.kinds[first] == NUMBER


def _is_scalar(unit: Unit, value: tuple[int, int]) -> bool:
    """Whether a value is a number by its looks: a literal, or a component of a vector."""
    first, last = value
    texts = unit.tokens.texts
    if any(unit.tokens.kinds[place] == NUMBER for place in range(first, last + 1)):
        return True
    if first == last:
        types = {texts[place - 1] for place in unit.tokens.names.get(texts[first], ()) if _declares(unit, place)}
        return bool(types) and types <= _SCALARS
    return last - first >= 2 and unit.tokens.texts[last - 1] == "." and unit.tokens.texts[last] in _COMPONENTS


def _declares(unit: Unit, place: int) -> bool:
    """Whether a name follows a word, and so is likely declared there."""
    tokens = unit.tokens
    return tokens.kinds[place - 1] == IDENTIFIER and tokens.texts[place - 1] not in ("return", "else", "case")

"""L016: default arguments where a member of a class template is defined outside of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.templates import beginning
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_MEMBER = re.compile(r">\s*(::)\s*\w+\s*\(")
_AFTER_HEAD = frozenset({"{", "const", "noexcept", ":"})


class DefaultOutsideTemplateClass(Rule):
    """Default argument outside of the class template

    `template <class T> void A<T>::f(int i = 0) {}` adds a default to a member that the class declares without one. nvcc
    takes it, the standard and clang do not for class templates. The default is left out: calls that rely on it need it
    at the declaration in the class.
    """

    code = "L016"
    triggers = frozenset({"template"})
    text = "(?i:global|device|cuda|hip)"
    examples = (
        fixes(
            "template <class T> void A<T>::f(int i = 0) { cudaFree(0); }",
            "template <class T> void A<T>::f(int i) { cudaFree(0); }",
            effort=Effort.REVIEW,
        ),
        fixes(
            "template <class K, class V> __device__ K A<K, V>::f(K k, int i = g(1, 2), V v = V()) const { }",
            "template <class K, class V> __device__ K A<K, V>::f(K k, int i, V v) const { }",
            effort=Effort.REVIEW,
        ),
        clean("template <class T> __device__ void f(int i = 0) {}"),
        clean("template <class T> struct A { __device__ void f(int i = 0) {} };"),
        clean("__device__ void A::f(int i = 0) {}"),
        clean("template <class T> __device__ void A<T>::f(int i) { for (int k = 0; B<T>::g(k); ++k) {} }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per default."""
        tokens = unit.tokens
        texts = tokens.texts
        for match in _MEMBER.finditer(unit.source.text):
            index = tokens.at(match.start(1))
            if texts[index - 1 : index + 1] != [">", "::"] or texts[index + 2] != "(":
                continue
            opening = index + 2
            closing = tokens.partner.get(opening, -1)
            if closing < opening or texts[closing + 1] not in _AFTER_HEAD:
                continue
            if texts[beginning(tokens, index)] != "template" or "=" in texts[beginning(tokens, index) : index]:
                continue
            for span in _defaults(unit, opening, closing):
                message = "a member of a class template gets no default argument outside of the class: left out"
                yield self.finding(unit, span, message, Effort.REVIEW, (Edit(span.start, span.end, ""),))


def _defaults(unit: Unit, opening: int, closing: int) -> Iterator[Span]:
    """` = value` of each parameter, from the end of its name."""
    tokens = unit.tokens
    place, first = opening + 1, None
    while place <= closing:
        text = tokens.texts[place]
        if text == "=" and first is None:
            first = place
        elif text in (",", ")") and first is not None:
            yield Span(tokens.end(first - 1), tokens.end(place - 1))
            first = None
        if text in ("(", "[", "{") and tokens.partner.get(place, -1) > place:
            place = tokens.partner[place]
        place += 1

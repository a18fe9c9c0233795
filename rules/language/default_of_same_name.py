"""L020: parameters whose default is written as their own name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import IDENTIFIER, Tokens
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_DEFAULT = re.compile(r"=\s*([A-Za-z_]\w*)\s*[,)]")
"""Of any name: to ask for the same one before it, by the regular expression, takes ten times as long."""
_BEHIND_NAME = re.compile("=[A-Za-z_][,)]")
"""The same in the first characters of the tokens."""
_SCOPE = frozenset({".", "->", "::"})
_STATEMENTS = frozenset({"if", "while", "for", "switch", "return", "sizeof"})
_AFTER = frozenset({"const", "noexcept", "override", "final"})


class DefaultOfSameName(Rule):
    """Default that is the parameter's own name

    `static const int n = 8; void f(int n = n);` takes the class's or the template's `n` as the default with nvcc. With
    clang, as the standard has it, the name is that of the parameter already. The parameter gets another one.
    """

    code = "L020"
    text = _DEFAULT.pattern
    examples = (
        fixes(
            "struct A { static const int n = 4; int s; __device__ int f(int *p, int n=n) "
            "{ for (int i = 0; i < n; i++) p[i] = this->n; return A::n; } };",
            "struct A { static const int n = 4; int s; __device__ int f(int *p, int n_=n) "
            "{ for (int i = 0; i < n_; i++) p[i] = this->n; return A::n; } };",
        ),
        fixes(
            "template <size_t n> struct A { int x, n_; A(const int *p, size_t n = n) : x{n ? p[n] : 0} { x += n; } };",
            "template <size_t n> struct A { int x, n_; A(const int *p, size_t n__ = n) : x{n__ ? p[n__] : 0} "
            "{ x += n__; } };",
        ),
        fixes("template <int n> int f(int n = n) noexcept;", "template <int n> int f(int n_ = n) noexcept;"),
        fixes(
            "struct A { static const int n = 4; int f(int n = n) const { return n; } };",
            "struct A { static const int n = 4; int f(int n_ = n) const { return n_; } };",
        ),
        clean("auto f(int n) { return [n = n] { return n; }; }"),
        clean("void g() { for (int n = n0, m = n0; n < m;) f(n = n); }"),
        clean("struct A { int n; A(int m) { if (int n = m) f(m); set(n = n, m); } };"),
        clean("#define SAME(n) f(int n = n)"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per parameter."""
        tokens = unit.tokens
        for match in _BEHIND_NAME.finditer(tokens.first_characters):
            place, name = match.start() - 1, tokens.texts[match.start() + 1]
            if tokens.texts[place] != name or tokens.texts[place + 1] != "=" or tokens.kinds[place] != IDENTIFIER:
                continue
            end = _end(tokens, place)
            if end is None:
                continue
            own = name + "_"
            while own in tokens.names:
                own += "_"
            edits = tuple(
                Edit(*unit.span(use), own)
                for use in (place, *tokens.named(name, _closing(tokens, place), end))
                if tokens.texts[use - 1] not in _SCOPE and tokens.texts[use + 1] != "::"
            )
            message = f"the default of {name} is the parameter itself to clang: it is {own} now"
            yield self.finding(unit, unit.span(place), message, Effort.NONE, edits)


def _opening(tokens: Tokens, place: int) -> int | None:
    """The parenthesis of the parameters that a name stands in."""
    index = place - 1
    while index > 0 and tokens.texts[index] not in ("(", "{", "[", ";", "}"):
        index = (
            tokens.partner[index] - 1 if tokens.texts[index] in (")", "]") and index in tokens.partner else index - 1
        )
    return index if tokens.texts[index] == "(" else None


def _closing(tokens: Tokens, place: int) -> int:
    opening = _opening(tokens, place)
    return tokens.partner.get(opening, place) if opening is not None else place


def _end(tokens: Tokens, place: int) -> int | None:
    """Where the function ends whose parameter is declared here; none where no parameter is."""
    before = tokens.texts[place - 1]
    is_typed = tokens.kinds[place - 1] == "i" or before in ("*", "&", ">")
    opening = _opening(tokens, place)
    if not is_typed or before in _STATEMENTS or opening is None or tokens.directive_of(place) is not None:
        return None
    if tokens.kinds[opening - 1] != "i" or tokens.texts[opening - 1] in _STATEMENTS or opening not in tokens.partner:
        return None
    index = tokens.partner[opening] + 1
    while index < len(tokens) and tokens.texts[index] in _AFTER:
        index += 1
    if index >= len(tokens):
        return None
    match tokens.texts[index]:
        case "{":
            return tokens.partner.get(index)
        case ";" | "=":
            return index
        case ":":
            return _behind_initialisers(tokens, index)
    return None


def _behind_initialisers(tokens: Tokens, index: int) -> int | None:
    """The end of the body that follows the members' initialisers of a constructor."""
    while index < len(tokens) and tokens.texts[index] != ";":
        if tokens.texts[index] == "{" and tokens.texts[index - 1] in (")", "}"):
            return tokens.partner.get(index)
        index = tokens.partner.get(index, index) + 1 if tokens.texts[index] in ("(", "{") else index + 1
    return None

"""R023: components of `char4` and its like as arguments of overloads."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Tokens, tokens_of
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_VECTORS = frozenset({"char1", "char2", "char3", "char4"})
_MEMBERS = frozenset({"x", "y", "z", "w"})
_SIGNED = (["signed", "char"], ["schar"], ["int8_t"])
_AFTER_TYPE = frozenset({"const", "*", "&", "__restrict__", "volatile"})


class CharVectorComponent(Rule):
    """Component of `char4` where `signed char` is meant

    The components of `char1` to `char4` are `signed char` in CUDA and `char` in HIP, which are two types to overloads
    and templates: a call of a function with overloads for `signed char` and `unsigned char` is ambiguous, and a
    specialisation for `signed char` is not taken. The component is cast where it is the argument of a function that
    the project overloads for `signed char`. Where its type is named otherwise (`decltype`, a template parameter), the
    compiler says so.
    """

    code = "R023"
    triggers = _VECTORS
    examples = (
        fixes(
            "int f(signed char c); int f(unsigned char c);\n__device__ int g(char4 c) { return f(c.x); }",
            "int f(signed char c); int f(unsigned char c);\n"
            "__device__ int g(char4 c) { return f(static_cast<signed char>(c.x)); }",
        ),
        fixes(
            "int f(int8_t c, int i); int f(unsigned char c, int i);\n"
            "__device__ int g(const char2 *p, int i) { return f(p[i + 1].y, 3); }",
            "int f(int8_t c, int i); int f(unsigned char c, int i);\n"
            "__device__ int g(const char2 *p, int i) { return f(static_cast<signed char>(p[i + 1].y), 3); }",
        ),
        clean("int f(int c); int f(float c);\n__device__ int g(char4 c) { return f(c.x); }"),
        clean("int f(signed char c); int f(unsigned char c);\n__device__ int g(uchar4 d, char4 c) { return f(d.x); }"),
        clean("int f(signed char c); int f(unsigned char c);\n__device__ int g(char4 c) { return f(c.x + 1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per argument."""
        tokens = unit.tokens
        overloaded: dict[str, bool] = {}
        for name in sorted(_variables(tokens)):
            for index in tokens.names[name]:
                last = _component(tokens, index)
                if (
                    last is None
                    or tokens.texts[index - 1] not in ("(", ",")
                    or not (unit.next_is(last, ",") or unit.next_is(last, ")"))
                ):
                    continue
                callee = _callee(tokens, index)
                if callee is None:
                    continue
                called = tokens.texts[callee]
                if called not in overloaded:
                    overloaded[called] = _takes_signed_char(unit, called)
                if overloaded[called]:
                    span = unit.span(index, last)
                    message = "a component of char in HIP, of signed char in CUDA: the overload for that is meant"
                    text = f"static_cast<signed char>({unit.slice(span)})"
                    yield self.finding(unit, span, message, Effort.NONE, (Edit(*span, text),))


def _variables(tokens: Tokens) -> set[str]:
    """Names that the file declares with such a type."""
    found: set[str] = set()
    for vector in _VECTORS:
        for index in tokens.names.get(vector, ()):
            place = index + 1
            while place < len(tokens) and tokens.texts[place] in _AFTER_TYPE:
                place += 1
            if tokens.kinds[place] == "i":
                found.add(tokens.texts[place])
    return found


def _component(tokens: Tokens, index: int) -> int | None:
    """The last token of `c.x`, `p->x` or `p[i].x`."""
    place = index + 1
    if tokens.texts[place] == "[":
        place = tokens.partner.get(place, place) + 1
    match tokens.texts[place : place + 2]:
        case ["." | "->", member] if member in _MEMBERS:
            return place + 1
    return None


def _callee(tokens: Tokens, index: int) -> int | None:
    """The name before the parenthesis that an argument stands in."""
    depth = 0
    for place in range(index - 1, max(0, index - 200), -1):
        text = tokens.texts[place]
        if text in ")]}":
            depth += 1
        elif text in "([{" and depth:
            depth -= 1
        elif text == "(":
            return place - 1 if tokens.kinds[place - 1] == "i" else None
        elif text in "[{;":
            return None
    return None


def _takes_signed_char(unit: Unit, name: str) -> bool:
    """Whether the file or a header declares a function of that name with a parameter of type `signed char`."""
    for source in (unit.source, *unit.program.headers):
        if name not in source.text:
            continue
        tokens = tokens_of(source)
        for index in tokens.names.get(name, ()):
            closing = tokens.partner.get(index + 1)
            if closing is None or tokens.texts[index + 1] != "(" or tokens.kinds[index - 1] != "i":
                continue
            words = tokens.texts[index + 2 : closing]
            if any(words[i : i + len(kind)] == kind for i in range(len(words)) for kind in _SIGNED):
                return True
    return False

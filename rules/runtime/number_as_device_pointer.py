"""R025: a number that is stored where a CUdeviceptr is expected, and casts that a pointer does not take."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Tokens
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_TYPES = ("CUdeviceptr", "CUdeviceptr_v2")
_POINTERS = frozenset({"0", "NULL", "nullptr"})
_BEFORE_STATEMENT = frozenset({";", "{", "}", ")", "else", ":"})


class NumberAsDevicePointer(Rule):
    """Number stored through a cast to `CUdeviceptr *`

    Buffers of kernel arguments are filled with `*(reinterpret_cast<CUdeviceptr *>(&buffer[offset])) = width;`, for
    pointers and numbers alike: `CUdeviceptr` is an unsigned integer. HIP's `hipDeviceptr_t` is a `void *`, which takes
    no number without a cast; with one the same eight bytes are stored. As a pointer it is also no `reinterpret_cast` of
    a pointer to `const`, which an integer was.
    """

    code = "R025"
    triggers = frozenset(_TYPES)
    examples = (
        fixes(
            "void f(char *b, int w) { *(reinterpret_cast<CUdeviceptr *>(&b[8])) = w; }",
            "void f(char *b, int w) { *(reinterpret_cast<CUdeviceptr *>(&b[8])) = (CUdeviceptr)w; }",
        ),
        fixes(
            "void f(char *b, int w) { *reinterpret_cast<CUdeviceptr *>(b) = w * 2; }",
            "void f(char *b, int w) { *reinterpret_cast<CUdeviceptr *>(b) = (CUdeviceptr)(w * 2); }",
        ),
        fixes(
            "void f(char *b, int w) { *(CUdeviceptr *)(b + 8) = w; *((CUdeviceptr *)b) = g(w); }",
            "void f(char *b, int w) { "
            "*(CUdeviceptr *)(b + 8) = (CUdeviceptr)w; *((CUdeviceptr *)b) = (CUdeviceptr)(g(w)); }",
        ),
        fixes(
            "void f(char *b, int w) { if (w) *(CUdeviceptr *)b = w; else h(*(CUdeviceptr *)b); }",
            "void f(char *b, int w) { if (w) *(CUdeviceptr *)b = (CUdeviceptr)w; else h(*(CUdeviceptr *)b); }",
        ),
        fixes(
            "void f(char *b, int w) { *(CUdeviceptr *)b = static_cast<long>(w); }",
            "void f(char *b, int w) { *(CUdeviceptr *)b = (CUdeviceptr)(static_cast<long>(w)); }",
        ),
        fixes(
            "void f(const char *s) { cuMemGetAddressRange(&b, &n, reinterpret_cast<CUdeviceptr>(s)); }",
            "void f(const char *s) { cuMemGetAddressRange(&b, &n, (CUdeviceptr)(s)); }",
        ),
        fixes(
            "void f(float const *x) { d = reinterpret_cast<CUdeviceptr>(x); }",
            "void f(float const *x) { d = (CUdeviceptr)(x); }",
        ),
        clean(
            "void f(char *s, char *const t) { g(reinterpret_cast<CUdeviceptr>(s), reinterpret_cast<CUdeviceptr>(t)); }"
        ),
        clean("void f(const int s) { g(reinterpret_cast<CUdeviceptr>(s + 1), (CUdeviceptr)s); }"),
        clean("void f(char *b) { CUdeviceptr e, d; *(reinterpret_cast<CUdeviceptr *>(&b[8])) = d; }"),
        clean("void f(char *b, int w) { *(CUdeviceptr *)b = (CUdeviceptr)w; *(CUdeviceptr *)b = nullptr; }"),
        clean("void f(char *b, int w) { *(CUdeviceptr *)b = reinterpret_cast<CUdeviceptr>(b); }"),
        clean("void f(char *b, int w) { g((CUdeviceptr *)b == p, *(CUdeviceptr *)b == q); }"),
        clean("void f(char *b, CUdeviceptr *p) { CUdeviceptr *d = (CUdeviceptr *)b; *d = *p; }"),
        clean("void f(char *b) { *(CUdeviceptr *)b = g"),
        clean("*(CUdeviceptr *)"),
        clean("CUdeviceptr"),
        clean("void f(char *b, int w) { int n = w * (CUdeviceptr *)b[0] = w; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per assignment or cast."""
        tokens = unit.tokens
        for name in _TYPES:
            for index in unit.occurrences(name):
                if _casts_const_away(tokens, index):
                    span = unit.span(index - 2, index + 1)
                    message = "hipDeviceptr_t is a pointer, and a reinterpret_cast keeps const"
                    yield self.finding(unit, span, message, Effort.NONE, (Edit(*span, f"({name})"),))
                    continue
                assigned = _assigned(tokens, index)
                if assigned is None or _is_pointer(unit, *assigned):
                    continue
                first, last = assigned
                span = unit.span(first, last)
                edits = [Edit(span.start, span.start, "(CUdeviceptr)" if first == last else "(CUdeviceptr)(")]
                if first != last:
                    edits.append(Edit(span.end, span.end, ")"))
                message = "hipDeviceptr_t is a pointer to void, which takes no number without a cast"
                yield self.finding(unit, span, message, Effort.NONE, tuple(edits))


def _casts_const_away(tokens: Tokens, index: int) -> bool:
    """Whether a reinterpret_cast to the type is given a name that is declared as a pointer to const."""
    texts = tokens.texts
    if texts[index - 2 : index] != ["reinterpret_cast", "<"] or texts[index + 1 : index + 3] != [">", "("]:
        return False
    if texts[index + 4] != ")":
        return False
    places = tokens.names.get(texts[index + 3], ())
    return any(texts[at - 1] == "*" and "const" in texts[max(0, at - 4) : at - 1] for at in places)


def _assigned(tokens: Tokens, index: int) -> tuple[int, int] | None:
    """First and last token of what is stored through a cast to a pointer to the type at `index`."""
    texts, partner = tokens.texts, tokens.partner
    if texts[index + 1] != "*":
        return None
    if texts[index - 1] == "<" and texts[index - 2] == "reinterpret_cast" and texts[index + 2] == ">":
        first = index - 2
    elif texts[index - 1] == "(" and texts[index + 2] == ")":
        first = index - 1
    else:
        return None
    last = index + 3 + (texts[index + 3] == "&")  # then one token, or what is in parentheses
    last = partner.get(last, last)
    if texts[last + 1] == "[":
        last = partner.get(last + 1, last)
    while texts[first - 1] == "(" and texts[last + 1] == ")":
        first, last = first - 1, last + 1
    if texts[first - 1] != "*" or texts[first - 2] not in _BEFORE_STATEMENT or texts[last + 1] != "=":
        return None
    start = end = last + 2
    while texts[end] not in ("", ";", ",", ")", "}", "="):
        end = partner.get(end, end) + 1
    return (start, end - 1) if texts[end] == ";" and end > start else None


def _is_pointer(unit: Unit, first: int, last: int) -> bool:
    """Whether it is one of the type already, as far as its tokens tell."""
    tokens = unit.tokens
    texts = tokens.texts
    if texts[first] == "(" and texts[first + 1] in _TYPES and texts[first + 2] == ")":
        return True
    if texts[first] in ("reinterpret_cast", "static_cast"):
        return texts[first + 2] in _TYPES
    if first != last:
        return False
    if texts[first] in _POINTERS:
        return True
    return any(_declared(tokens, index) for index in tokens.names.get(texts[first], ()))


def _declared(tokens: Tokens, index: int) -> bool:
    """Whether the name is declared with one of the types there."""
    while index > 2 and tokens.texts[index - 1] == ",":
        index -= 2
    return index > 0 and tokens.texts[index - 1] in _TYPES

"""R025: a number that is stored where a CUdeviceptr is expected, and casts that a pointer does not take."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Tokens
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_TYPES = ("CUdeviceptr", "CUdeviceptr_v2")
_TAKING = (
    *("cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync"),
    *(f"cuMemsetD{bits}{form}" for bits in (8, 16, 32) for form in ("", "Async")),
    *("cuMemFree", "cuMemFreeAsync", "cuMemGetAddressRange", "cuPointerGetAttribute", "cuPointerGetAttributes"),
    *("cuStreamWaitValue32", "cuStreamWaitValue64", "cuStreamWriteValue32", "cuStreamWriteValue64"),
    *("cuMemAdvise", "cuMemPrefetchAsync", "cuMemMap", "cuMemUnmap", "cuMemSetAccess", "cuMemAddressFree"),
)
"""Functions that take one by value."""
_NUMBERS = frozenset({"uintptr_t", "intptr_t"})
_POINTERS = frozenset({"0", "NULL", "nullptr"})
_BEFORE_STATEMENT = frozenset({";", "{", "}", ")", "else", ":"})


class NumberAsDevicePointer(Rule):
    """Number stored through a cast to `CUdeviceptr *`

    Buffers of kernel arguments are filled with `*(reinterpret_cast<CUdeviceptr *>(&buffer[offset])) = width;`, for
    pointers and numbers alike: `CUdeviceptr` is an unsigned integer. HIP's `hipDeviceptr_t` is a `void *`, which takes
    no number without a cast; with one the same eight bytes are stored. As a pointer it is also no `reinterpret_cast` of
    a pointer to `const`, which an integer was. An address that is cast to `uintptr_t` in a call of the driver is cast
    to the type instead.
    """

    code = "R025"
    triggers = frozenset(_TYPES).union(_TAKING)
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
        fixes(
            "void f(int *p) { cuStreamWaitValue32(s, reinterpret_cast<std::uintptr_t>(p + 1), 1, 0); }",
            "void f(int *p) { cuStreamWaitValue32(s, (CUdeviceptr)(p + 1), 1, 0); }",
        ),
        fixes(
            "void f(int *p) { cuMemcpyHtoD((uintptr_t)p, h, (uintptr_t)p & 7); cuMemFree((uintptr_t)(p)); }",
            "void f(int *p) { cuMemcpyHtoD((CUdeviceptr)p, h, (uintptr_t)p & 7); cuMemFree((CUdeviceptr)(p)); }",
        ),
        clean("void f(int *p) { g(cuMemFree, (uintptr_t)p); cuMemFree(q((uintptr_t)p)); }"),
        clean("void f(int *p) { cuMemFree((uintptr_t)p + 8); cuMemFree(8 + (uintptr_t)p); }"),
        clean("void f(int *p) { cuMemFree(8 + reinterpret_cast<uintptr_t>(p)); }"),
        clean("void f(int *p) { cuMemFree((CUdeviceptr)(uintptr_t)p); }"),
        clean("cuMemFree((uintptr_t)"),
        clean("void f(char *b) { *(CUdeviceptr *)b = g"),
        clean("*(CUdeviceptr *)"),
        clean("CUdeviceptr"),
        clean("void f(char *b, int w) { int n = w * (CUdeviceptr *)b[0] = w; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per assignment or cast."""
        tokens = unit.tokens
        for name in _TAKING:
            for index in unit.occurrences(name):
                for first, last in _cast_arguments(tokens, index + 1) if tokens.texts[index + 1] == "(" else ():
                    span = unit.span(first, last)
                    message = "hipDeviceptr_t is a pointer to void, which takes no number without a cast"
                    yield self.finding(unit, span, message, Effort.NONE, (Edit(*span, "(CUdeviceptr)"),))
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


def _cast_arguments(tokens: Tokens, opening: int) -> Iterator[tuple[int, int]]:
    """The casts to an integer of an address that are arguments as a whole: [first, last] of what says the type."""
    texts, partner = tokens.texts, tokens.partner
    first, closing = opening + 1, partner.get(opening, opening)
    while first < closing:
        end = first
        while end < closing and texts[end] != ",":
            end = partner.get(end, end) + 1
        if texts[first] == "reinterpret_cast" and end - first > 4:
            named = first + 4 if texts[first + 2 : first + 4] == ["std", "::"] else first + 2
            if texts[named] in _NUMBERS and texts[named + 1] == ">" and partner.get(named + 2) == end - 1:
                yield first, named + 1
        elif texts[first] == "(" and end - first > 3:
            named = first + 3 if texts[first + 1 : first + 3] == ["std", "::"] else first + 1
            value = named + 2
            if texts[named] in _NUMBERS and texts[named + 1] == ")" and partner.get(value, value) == end - 1:
                yield first, named + 1
        first = end + 1


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

"""R015: arithmetic on CUdeviceptr."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import IDENTIFIER, Tokens
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes, reports

_TYPES = ("CUdeviceptr", "CUdeviceptr_v1", "CUdeviceptr_v2")
_INTEGER_ONLY = frozenset({"%", "&", "|", "^", ">>", "<<", "++", "--", "/", "%=", "&=", "|="})
_END_OF_DECLARATOR = frozenset({",", ";", "=", "[", ")", "{", ":"})


class DevicePointerArithmetic(Rule):
    """Arithmetic on `CUdeviceptr`

    `CUdeviceptr` is an unsigned integer; HIP's `hipDeviceptr_t` is a `void *`, with which C++ cannot calculate. Sums
    and differences go through `char *`, whose steps are bytes too. Alignment tests and other integer arithmetic need
    a conversion to `uintptr_t`, and often back: they are reported.
    """

    code = "R015"
    triggers = frozenset(_TYPES)
    examples = (
        fixes(
            "void f(CUdeviceptr d, size_t n) { cuMemFree(d + n); }",
            "void f(CUdeviceptr d, size_t n) { cuMemFree((char *)d + n); }",
        ),
        fixes(
            "void f(CUdeviceptr *d, size_t n) { g(*d + n, 4 + d[1], d + 1); }",
            "void f(CUdeviceptr *d, size_t n) { g((char *)*d + n, 4 + (char *)d[1], d + 1); }",
        ),
        fixes(
            "struct S { CUdeviceptr base, top; };\nsize_t f(S s, S *t) { return s.top - t->base; }",
            "struct S { CUdeviceptr base, top; };\nsize_t f(S s, S *t) { return (char *)s.top - (char *)t->base; }",
        ),
        fixes(
            "void f(size_t n) { CUdeviceptr d; d += n; d -= n * 2; }",
            "void f(size_t n) { CUdeviceptr d; d = (char *)d + n; d = (char *)d - (n * 2); }",
        ),
        fixes(
            "void f(CUdeviceptr *d) { g(*d + 1); }\nvoid h(CUdeviceptr d) { g(d + 1); }",
            "void f(CUdeviceptr *d) { g((char *)*d + 1); }\nvoid h(CUdeviceptr d) { g((char *)d + 1); }",
        ),
        reports("bool f(CUdeviceptr d) { return d % 256 == 0; }"),
        reports("void f(CUdeviceptr d) { d++; }"),
        clean("void f(CUdeviceptr d, int n) { g((char *)d + n, (unsigned long long)d + n, &d, d); }"),
        clean("void f(CUdeviceptr d, CUdeviceptr *p) { p = p + 1; *p = d; if (d == 0) h(-1, d); }"),
        clean("CUdeviceptr f(int a) { return 0; }\nint g(int d) { return d + 1; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per operand."""
        tokens = unit.tokens
        for name, declared in sorted(_variables(unit).items()):
            for index in tokens.names[name]:
                nearest = max((place for place in declared if place <= index), default=min(declared))
                operand = _operand(tokens, index, declared[nearest])
                if operand is not None:
                    yield from self._judge(unit, *operand)

    def _judge(self, unit: Unit, first: int, last: int) -> Iterator[Finding]:
        tokens = unit.tokens
        span = unit.span(first, last)
        operator = tokens.texts[last + 1]
        message = "hipDeviceptr_t is a pointer to void"
        if operator in ("+=", "-="):
            edits = _assignment(unit, span, last + 1)
            effort = Effort.NONE if edits else Effort.MANUAL
            yield self.finding(unit, span, message, effort, edits)
        elif operator in ("+", "-") or _is_added(tokens, first):
            yield self.finding(unit, span, message, Effort.NONE, (Edit(span.start, span.start, "(char *)"),))
        elif operator in _INTEGER_ONLY:
            message += f": {operator} needs an integer, uintptr_t"
            yield self.finding(unit, span, message, Effort.MANUAL)


def _variables(unit: Unit) -> dict[str, dict[int, bool]]:
    """Variables, parameters and members of the type: the tokens that declare them, and whether as pointer or array."""
    tokens = unit.tokens
    found: dict[str, dict[int, bool]] = {}
    for name in _TYPES:
        for index in unit.occurrences(name):
            place, more = index + 1, True
            while more:
                stars = 0
                while tokens.texts[place] in ("*", "&", "const", "__restrict__"):
                    stars += tokens.texts[place] == "*"
                    place += 1
                after = tokens.texts[place + 1 : place + 2]
                if not after or tokens.kinds[place] != IDENTIFIER or after[0] not in _END_OF_DECLARATOR:
                    break
                found.setdefault(tokens.texts[place], {})[place] = bool(stars) or after[0] == "["
                more = after[0] == ","
                place += 2
    return found


def _operand(tokens: Tokens, index: int, is_pointer: bool) -> tuple[int, int] | None:
    """First and last token of the expression of the pointer's type around a variable; None: it is none, or is cast."""
    texts = tokens.texts
    first = last = index
    while first > 1 and texts[first - 1] in (".", "->") and tokens.kinds[first - 2] == IDENTIFIER:
        first -= 2
    if first and texts[first - 1] in (".", "->", "::"):
        return None
    if texts[last + 1] == "[":
        last = tokens.partner.get(last + 1, last)
        is_pointer = not is_pointer or last == index
    if is_pointer:
        if not first or texts[first - 1] != "*" or _ends_operand(tokens, first - 2):
            return None
        first -= 1
    before = texts[first - 1] if first else ""
    if before == ")" or (first and tokens.kinds[first - 1] == IDENTIFIER and before not in ("return", "case", "else")):
        return None
    return None if before in ("*", "&") and not _ends_operand(tokens, first - 2) else (first, last)


def _ends_operand(tokens: Tokens, index: int) -> bool:
    """Whether an operator after this token has something on its left."""
    if index < 0:
        return False
    text = tokens.texts[index]
    return text in (")", "]") or (tokens.kinds[index] != "p" and text not in ("return", "case", "else"))


def _is_added(tokens: Tokens, first: int) -> bool:
    """Whether the operand is the right side of a binary + or -."""
    return first > 1 and tokens.texts[first - 1] in ("+", "-") and _ends_operand(tokens, first - 2)


def _assignment(unit: Unit, operand: Span, operator: int) -> tuple[Edit, ...]:
    """`d += n` as `d = (char *)d + (n)`; nothing where the end of the right side is not plain."""
    tokens = unit.tokens
    last = operator
    while last + 1 < len(tokens) and tokens.texts[last + 1] not in (";", ")", ",", "]", "}"):
        last = tokens.partner.get(last + 1, last + 1)
    if last == operator or last + 1 >= len(tokens):
        return ()
    sign = tokens.texts[operator][0]
    right = unit.span(operator + 1, last)
    replaced = Edit(*unit.span(operator), f"= (char *){unit.slice(operand)} {sign}")
    if last == operator + 1:
        return (replaced,)
    return (replaced, Edit(right.start, right.start, "("), Edit(right.end, right.end, ")"))

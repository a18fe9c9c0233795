"""L022: member templates whose defaults stand at a declaration before their definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.cpp.syntax import Tokens, template_end
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes, reports

_KEYS = frozenset({"struct", "class", "union"})
_LONGEST_LIST = 200
"""Tokens of a list of template parameters."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    """One template parameter, [first, last) of the tokens; `equals` is where its default begins, or `last`."""

    first: int
    equals: int
    last: int

    def name(self, tokens: Tokens) -> str:
        """The word it is called by; empty without one."""
        word = self.equals - 1
        return tokens.texts[word] if word > self.first and tokens.kinds[word] == "i" else ""


@dataclass(frozen=True, slots=True)
class _Head:
    """`template <parameters> struct name`: the token of the name, and what stands before it."""

    first: int
    name: int
    parameters: tuple[_Parameter, ...]


class DefaultOfMemberTemplate(Rule):
    """Default of a member template that is declared before its definition

    `template <class T> struct A { template <int N, int M = 0> struct B; ... template <int N, int M> struct B { }; };`
    is right C++. When clang instantiates `A`, it finds the default at the declaration no more: "too few template
    arguments for class template 'B'", wherever `B<1>` is used. At the definition in the same class the default says
    the same to all compilers, so it is moved there. Where the class itself uses the template between the two, outside
    of function bodies, the default is needed early: write the argument out.
    """

    code = "L022"
    text = r"=[^;={}]*>\s*(?:struct|class|union)\s+\w+\s*;"
    triggers = frozenset({"template"})
    hazards = ("two-phase-lookup",)
    examples = (
        fixes(
            "template <class T> struct A { template <int N, int M = 0> struct B;"
            " template <int N, int M> struct B { static int f() { return B<N + 1>::f(); } };"
            " int g() { return B<1>::f(); } };",
            "template <class T> struct A { template <int N, int M> struct B;"
            " template <int N, int M = 0> struct B { static int f() { return B<N + 1>::f(); } };"
            " int g() { return B<1>::f(); } };",
        ),
        fixes(
            "template <int W> struct A {\n template <int L, int V, int dummy = 0> struct It;\n"
            " template <int L, int dummy> struct It<L, 0, dummy> { static int f() { return It<L, 1>::f(); } };\n"
            " template <int L, int V, int dummy> struct It { static int f() { return It<L, V + 1>::f(); } };\n};",
            "template <int W> struct A {\n template <int L, int V, int dummy> struct It;\n"
            " template <int L, int dummy> struct It<L, 0, dummy> { static int f() { return It<L, 1>::f(); } };\n"
            " template <int L, int V, int dummy = 0> struct It { static int f() { return It<L, V + 1>::f(); } };\n};",
        ),
        fixes(
            "template <class T> class A { template <class U, class = T> class B;"
            " template <class U, class> class B : U { }; };",
            "template <class T> class A { template <class U, class> class B;"
            " template <class U, class = T> class B : U { }; };",
        ),
        fixes(
            "template <class T> struct A { template <class U, bool = (sizeof(U) > 4), int N = 2> struct B;"
            " struct C { int x; }; template <class U, bool Wide, int N> struct B final { }; };",
            "template <class T> struct A { template <class U, bool, int N> struct B;"
            " struct C { int x; }; template <class U, bool Wide = (sizeof(U) > 4), int N = 2> struct B final { }; };",
        ),
        reports(
            "template <class T> struct A { template <int N, int M = 0> struct B; typedef B<1> first;"
            " template <int N, int M> struct B { }; };"
        ),
        reports(
            "template <class T> struct A { template <class U, class V = U> struct B;"
            " template <class X, class Y> struct B { }; };"
        ),
        clean("struct A { template <int N, int M = 0> struct B; template <int N, int M> struct B { }; };"),
        clean("template <int N, int M = 0> struct B; template <int N, int M> struct B { };"),
        clean(
            "template <class T> struct A { template <int N, int M> struct B;"
            " template <int N, int M = 0> struct B { }; };"
        ),
        clean("template <class T> struct A { template <int N, int M = 0> struct B; };"),
        clean("template <class T> struct A { template <int N, int M = 0> struct B { }; B<1> b; };"),
        clean(
            "template <class T> struct A { template <int N, int M = 0> struct B;"
            " template <int N> struct B<N, 1> { }; };"
        ),
        clean(
            "template <class T> struct A { template <int N, int M = 0> struct B; struct C;"
            " struct D { template <int N, int M> struct B { }; }; };"
        ),
        clean(
            "template <> struct A<int> { template <int N, int M = 0> struct B; template <int N, int M> struct B { }; };"
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per declaration whose definition follows in the same class template."""
        tokens = unit.tokens
        for index in tokens.names.get("template", ()):
            declared = _head(tokens, index)
            if declared is None or tokens.texts[declared.name + 1] != ";" or not _has_default(declared):
                continue
            brace = next(tokens.braces_around(index), None)
            if brace is None or not _is_in_class_template(tokens, index):
                continue
            defined = _definition(tokens, declared, brace)
            if defined is not None:
                yield self._moved(unit, declared, defined)

    def _moved(self, unit: Unit, declared: _Head, defined: _Head) -> Finding:
        tokens = unit.tokens
        name = tokens.texts[declared.name]
        span = Span(tokens.starts[declared.first], tokens.end(declared.name))
        if _is_used_between(tokens, declared, defined) or not _say_the_same(tokens, declared, defined):
            message = (
                f"clang finds the default of {name} no more once the class is instantiated: write the argument out"
            )
            return self.finding(unit, span, message, Effort.MANUAL)
        edits: list[Edit] = []
        for before, after in zip(declared.parameters, defined.parameters, strict=True):
            if before.equals < before.last:
                end = tokens.end(before.last - 1)
                start = tokens.end(before.equals - 1)
                edits += (
                    Edit(start, end, ""),
                    Edit(tokens.end(after.last - 1), tokens.end(after.last - 1), unit.source.text[start:end]),
                )
        message = f"clang finds the default of {name} at its definition alone once the class is instantiated"
        return self.finding(unit, span, message, Effort.NONE, tuple(edits))


def _head(tokens: Tokens, index: int) -> _Head | None:
    """`template <...> struct name`, outside of directives."""
    if tokens.texts[index + 1] != "<" or tokens.directive_of(index) is not None:
        return None
    end = template_end(tokens, index + 1, min(index + _LONGEST_LIST, len(tokens)), parameters=True)
    if end is None or tokens.texts[end] not in _KEYS or tokens.kinds[end + 1] != "i":
        return None
    return _Head(index, end + 1, tuple(_parameters(tokens, index + 2, end - 1)))


def _parameters(tokens: Tokens, first: int, last: int) -> Iterator[_Parameter]:
    """The parts between commas; `<` of a default is taken for a bracket where one closes it."""
    begin = index = first
    equals: int | None = None
    while index < last:
        text = tokens.texts[index]
        if text in ("(", "[", "{"):
            index = tokens.partner.get(index, index)
        elif text == "<":
            index = (template_end(tokens, index, last) or index + 1) - 1
        elif text == "=" and equals is None:
            equals = index
        elif text == ",":
            yield _Parameter(begin, index if equals is None else equals, index)
            begin, equals = index + 1, None
        index += 1
    if begin < last:
        yield _Parameter(begin, last if equals is None else equals, last)


def _has_default(head: _Head) -> bool:
    return any(parameter.equals < parameter.last for parameter in head.parameters)


def _is_in_class_template(tokens: Tokens, index: int) -> bool:
    """Whether a class around a token is a template, which `template <>` alone is not."""
    return any(_class_template(tokens, brace) for brace in tokens.braces_around(index))


def _class_template(tokens: Tokens, brace: int) -> bool:
    """Whether `template <parameters> struct name ... {` ends at a brace."""
    for place in range(brace - 1, max(brace - _LONGEST_LIST, -1), -1):
        if tokens.texts[place] in ("{", "}", ";"):
            return False
        if tokens.texts[place] == "template":
            head = _head(tokens, place)
            if head is not None:
                return bool(head.parameters)
    return False


def _definition(tokens: Tokens, declared: _Head, brace: int) -> _Head | None:
    """The primary template's definition further down in the same class."""
    closed = tokens.partner.get(brace, len(tokens))
    name = tokens.texts[declared.name]
    for place in tokens.named("template", declared.name, closed):
        head = _head(tokens, place)
        if head is None or tokens.texts[head.name] != name or tokens.texts[head.name + 1] not in ("{", ":", "final"):
            continue
        same = next(tokens.braces_around(place), None) == brace and len(head.parameters) == len(declared.parameters)
        return head if same and not _has_default(head) else None
    return None


def _is_used_between(tokens: Tokens, declared: _Head, defined: _Head) -> bool:
    """Whether the class names the template between both where the default counts at once: not in a function's body."""
    brace = next(tokens.braces_around(declared.first))
    for place in tokens.named(tokens.texts[declared.name], declared.name + 1, defined.first):
        if tokens.texts[place - 1] in _KEYS:
            continue
        around = [outer for outer in tokens.braces_around(place) if outer > brace]
        if not any(tokens.texts[outer - 1] in (")", "const", "noexcept") for outer in around):
            return True
    return False


def _say_the_same(tokens: Tokens, declared: _Head, defined: _Head) -> bool:
    """Whether the defaults name no parameter that is called otherwise at the definition."""
    names = [
        (one.name(tokens), other.name(tokens))
        for one, other in zip(declared.parameters, defined.parameters, strict=True)
    ]
    renamed = {name for pair in names if pair[0] != pair[1] for name in pair if name}
    words = (
        tokens.texts[place] for parameter in declared.parameters for place in range(parameter.equals, parameter.last)
    )
    return renamed.isdisjoint(words)

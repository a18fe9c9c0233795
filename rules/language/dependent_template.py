"""L013: calls of member templates of a dependent class without `template`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import Tokens, template_end, template_start
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_PLACE = re.compile(r">\s*::\s*([A-Za-z_]\w*)\s*<")
_MEMBER = re.compile(r"(?:->|\.)\s*([A-Za-z_]\w*)\s*<")
_PLACE_BY_TOKENS, _MEMBER_BY_TOKENS = re.compile(">:[A-Za-z_]<"), re.compile("[.-][A-Za-z_]<")
"""The same in the first characters of tokens."""
_TYPE = re.compile(r"typename(?<=\btypename)\s+(?:::\s*)?[A-Za-z_]\w*\s*[:<]")
_NAMED = re.compile(
    r"typedef(?<=\btypedef)\s+(?:typename\s+)?[A-Za-z_][\w:]*\s*<[^;{}]{1,200}>\s*([A-Za-z_]\w*)\s*;"
    r"|using(?<=\busing)\s+([A-Za-z_]\w*)\s*=\s*(?:typename\s+)?[A-Za-z_][\w:]*\s*<[^;{}]{1,200}>\s*;"
)
"""A name for a class template with arguments."""
_NO_ARGUMENT = frozenset({";", "{", "}", "&&", "||", "="})
_BEFORE_A_BODY = frozenset({")", "const", "noexcept", "mutable", "else", "do", "try", "{", "}", ";", ":"})
_MOST_TOKENS = 200
_FURTHEST = 600
"""Tokens between a parameter and where it is used."""


class DependentTemplate(Rule):
    """Member template of a dependent class without `template`

    In a template `Cast<T>::to<4>(x)` is a comparison unless `template` says that `to` is a template. nvcc guesses what
    is meant; clang, and so HIP's compiler, does not. The keyword is added where a member of a class template, or of a
    name for one with arguments, is called with template arguments inside a function, of a variable whose type is a
    parameter of the template, and in a type after `typename`, where nothing else can be meant; it is allowed, and means
    nothing, where nothing is dependent.
    """

    code = "L013"
    text = f"{_PLACE.pattern}|{_TYPE.pattern}|{_MEMBER.pattern}|{_NAMED.pattern}"
    triggers = frozenset({"template"})
    hazards = ("two-phase-lookup",)
    examples = (
        fixes(
            "template <class T> void f(T *p) { Cast<T, float>::to<4>(p); }",
            "template <class T> void f(T *p) { Cast<T, float>::template to<4>(p); }",
        ),
        fixes(
            "template <int N> __device__ int f(int x)"
            " { if (x) { return Op<int, Pair<N>>::apply<N, int>(x); } return 0; }",
            "template <int N> __device__ int f(int x)"
            " { if (x) { return Op<int, Pair<N>>::template apply<N, int>(x); } return 0; }",
        ),
        fixes(
            "template <class A, class T> struct S { using B = typename std::allocator_traits<A>::rebind_alloc<T>; };",
            "template <class A, class T> struct S"
            " { using B = typename std::allocator_traits<A>::template rebind_alloc<T>; };",
        ),
        fixes(
            "template <class A> struct S { typedef typename A::rebind<int>::other type; };",
            "template <class A> struct S { typedef typename A::template rebind<int>::other type; };",
        ),
        fixes(
            "template <class T, typename A> T *f(const A *a)"
            " { if (a->is<T>()) { return a->as<T>(); } return nullptr; }",
            "template <class T, typename A> T *f(const A *a)"
            " { if (a->template is<T>()) { return a->template as<T>(); } return nullptr; }",
        ),
        fixes(
            "#define CALL(F) template <class R, typename A> R call(A &a) { return a.get<R>().F(); }",
            "#define CALL(F) template <class R, typename A> R call(A &a) { return a.template get<R>().F(); }",
        ),
        fixes(
            "template <class T> void f(T *p) { typedef Tile<4, T> Scan; Scan::run<4>(p); Scan::all(p); }",
            "template <class T> void f(T *p) { typedef Tile<4, T> Scan; Scan::template run<4>(p); Scan::all(p); }",
        ),
        fixes(
            "template <class T> void f(T *p) { using Scan = Tile<T>; int a = Scan::run<T>(p); }",
            "template <class T> void f(T *p) { using Scan = Tile<T>; int a = Scan::template run<T>(p); }",
        ),
        clean("namespace Scan { template <int N> void run(int *); }\nvoid f(int *p) { Scan::run<4>(p); }"),
        clean("template <class T> bool f(int n) { using S = Size<T>; return S::value < n && n > (int)sizeof(T); }"),
        clean("template <class T> void f(T *p) { using S = Tile<T>; S::template run<4>(p); my::S::run<4>(p); }"),
        clean("template <class T> T *f(const Any *a) { return a->as<T>(); }"),
        clean("template <class T> bool f(T a, int b, int c) { return a.size < b && c > (b); }"),
        clean("template <class T> void f(T a) { auto t = a; }\nint g(Tensor a) { return a.item<int>(); }"),
        clean("template <class T> struct S { typename std::vector<T>::iterator a; typename my::traits<T>::type b; };"),
        clean("template <class A> struct S { typename A::template rebind<int>::other a; typename A::type b; };"),
        clean("template <typename T> bool f(T a) { return a < 3; }"),
        clean("template <class T> void f(T *p) { Cast<T>::template to<4>(p); }"),
        clean("template <class T> bool f(int n) { return n > ::limit && Size<T>::value < n; }"),
        clean("template <class T> int f(int n) { return Size<T>::value << (n + 1) | (Size<T>::value <= (n)); }"),
        clean("template <class T> void f(dim3 g) { Op<T>::run<<<(g), 1>>>(); }"),
        clean("template <> template <> void Cast<int>::to<4>(int *p) { *p = 0; }"),
        clean("template <class T> struct S : Base<T> { typename Base<T>::template Inner<4> x; };"),
        clean("template <class T> bool f(int n) { return Size<T>::value < n && n > (int)sizeof(T); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        tokens = unit.tokens
        for index in _in_types(tokens):
            yield self._added(unit, index)
        parameters = _type_parameters(tokens)
        for match in _MEMBER_BY_TOKENS.finditer(tokens.first_characters):
            index = match.start() + 1
            is_member = tokens.kinds[index] == "i" and tokens.texts[index - 1] in (".", "->")
            if is_member and _is_call(tokens, index) and _type_of(tokens, index - 2, index) in parameters:
                yield self._added(unit, index)
        for index in _of_names(unit):
            yield self._added(unit, index)
        for match in _PLACE_BY_TOKENS.finditer(tokens.first_characters):
            index = match.start() + 2
            if tokens.kinds[index] != "i" or tokens.texts[index - 1] != "::" or not _is_call(tokens, index):
                continue
            if _closes_arguments(tokens, index - 2) and _in_function(tokens, index):
                yield self._added(unit, index)

    def _added(self, unit: Unit, index: int) -> Finding:
        span = unit.span(index)
        message = f"clang takes {unit.tokens.texts[index]} for a template where the keyword says so"
        return self.finding(unit, span, message, Effort.NONE, (Edit(span.start, span.start, "template "),))


def _of_names(unit: Unit) -> Iterator[int]:
    """Members with template arguments that are called of a name for a class template."""
    tokens = unit.tokens
    named: dict[str, int] = {}
    for place in sorted(place for keyword in ("typedef", "using") for place in tokens.names.get(keyword, ())):
        match = _NAMED.match(unit.source.text, tokens.starts[place])
        if match is not None:
            named.setdefault(match[1] or match[2], match.end())
    for name, start in named.items():
        for index in tokens.names.get(name, ()):
            is_scope = tokens.texts[index + 1] == "::" and tokens.texts[index - 1] != "::"
            if tokens.starts[index] < start or not is_scope or tokens.kinds[index + 2] != "i":
                continue
            if _is_call(tokens, index + 2) and _in_function(tokens, index):
                yield index + 2


def _in_types(tokens: Tokens) -> Iterator[int]:
    """Members with template arguments in the qualified names after `typename`, where a component before depends."""
    parameters = _type_parameters(tokens)
    for start in tokens.names.get("typename", ()):
        index = start + 1 if tokens.texts[start + 1] != "::" else start + 2
        depends = tokens.texts[index] in parameters
        while tokens.kinds[index] == "i":
            after = index + 1
            if tokens.texts[after] == "<":
                end = template_end(tokens, after, min(after + _MOST_TOKENS, len(tokens)))
                if end is None:
                    break
                if depends and tokens.texts[index - 1] == "::":
                    yield index
                depends = depends or "i" in tokens.kinds[after:end]
                after = end
            if tokens.texts[after] != "::":
                break
            index = after + 1 if tokens.texts[after + 1] != "template" else after + 2


def _type_parameters(tokens: Tokens) -> set[str]:
    """The names of type parameters of the file's templates."""
    keywords = (index for keyword in ("class", "typename") for index in tokens.names.get(keyword, ()))
    return {tokens.texts[index + 1] for index in keywords if tokens.texts[index + 2] in (",", ">", "=")}


def _type_of(tokens: Tokens, variable: int, use: int) -> str | None:
    """The word before the nearest declaration of a variable, if it is declared by one word."""
    name = tokens.texts[variable]
    if tokens.kinds[variable] != "i" or tokens.texts[variable - 1] in (".", "->", "::"):
        return None
    for place in reversed([index for index in tokens.names.get(name, ()) if use - _FURTHEST < index < variable]):
        before = place - 1
        while tokens.texts[before] in ("*", "&", "&&", "const", "__restrict__"):
            before -= 1
        is_declared = tokens.kinds[before] == "i" and tokens.texts[place + 1] in (",", ")", ";", "=", "{")
        if is_declared and tokens.texts[before] not in ("return", "else", "case"):
            return tokens.texts[before] if tokens.texts[before - 1] in ("(", ",", "const", ";", "{", "}") else None
    return None


def _is_call(tokens: Tokens, name: int) -> bool:
    """Whether `< arguments > (` follows a name."""
    if tokens.texts[name + 1] != "<":
        return False
    end = template_end(tokens, name + 1, min(name + _MOST_TOKENS, len(tokens)))
    return end is not None and tokens.texts[end] == "(" and _are_arguments(tokens, name + 2, end - 1)


def _closes_arguments(tokens: Tokens, last: int) -> bool:
    """Whether a `>` ends a list of template arguments in which something has a name."""
    first = template_start(tokens, last, max(last - _MOST_TOKENS, 1))
    if first is None or tokens.kinds[first - 1] != "i":
        return False
    return "i" in tokens.kinds[first:last] and _are_arguments(tokens, first + 1, last)


def _are_arguments(tokens: Tokens, first: int, end: int) -> bool:
    return _NO_ARGUMENT.isdisjoint(tokens.texts[first:end])


def _in_function(tokens: Tokens, index: int) -> bool:
    """Whether the innermost brace around a token opens a block of statements."""
    depth = 0
    for place in range(index - 1, -1, -1):
        text = tokens.texts[place]
        if text == "}":
            depth += 1
        elif text == "{":
            if depth == 0:
                return place > 0 and tokens.texts[place - 1] in _BEFORE_A_BODY
            depth -= 1
    return False

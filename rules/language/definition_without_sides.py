"""L018: definitions and specialisations without the `__device__` of what they define."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.sides import AFTER_PARAMETERS, Declared, Sides, declared, is_outside
from porter.cpp.syntax import Tokens, template_end, template_start
from porter.cpp.templates import beginning, is_beginning
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_DEVICE = re.compile("__device__")
_ASKED = r'__device__|#\s*include\s*(?:"|<[^>\n]*[./])'
"""The declaration stands in the file, or in a header, which is none of C++'s own."""
_MOST_TOKENS = 200
_NOT_IN_HEAD = frozenset(
    {"=", "(", "?", "return", "case", "else", "do", "new", "using", "typedef", "friend", "if", "#", "goto", "throw"}
)


class DefinitionWithoutSides(Rule):
    """Definition without its declaration's sides

    A member that its class declares `__host__ __device__` and that is defined outside of it without these words is for
    both sides to nvcc, as is `template <> void f(int)` of a template that says `__device__`. Clang takes the definition
    for another function, of the host: it refuses it, or finds no template. So it does with a function outside of
    classes that is declared `__device__` and defined without the word: the device's link would miss it. The definition
    gets the declaration's words.
    """

    code = "L018"
    text = _ASKED
    in_sight = _DEVICE.pattern
    examples = (
        fixes(
            "struct alignas(16) A { __host__ __device__ int f(int x) const; };\nint A::f(int x) const { return x; }",
            "struct alignas(16) A { __host__ __device__ int f(int x) const; };\n"
            "__host__ __device__ int A::f(int x) const { return x; }",
        ),
        fixes(
            "#define BOTH inline __host__ __device__\ntemplate <class T> struct A { BOTH T f(); BOTH T f(T); };\n"
            "template <class T> T A<T>::f() { return 1; }",
            "#define BOTH inline __host__ __device__\ntemplate <class T> struct A { BOTH T f(); BOTH T f(T); };\n"
            "template <class T> BOTH T A<T>::f() { return 1; }",
        ),
        fixes(
            "template <int M> struct L { template <class T> static __device__ void ld(T &v, T *p); };\n"
            "#define LOAD(T) \\\n template<> template<> void L<2>::ld(T &v, T *p) { v = *p; }\nLOAD(int)",
            "template <int M> struct L { template <class T> static __device__ void ld(T &v, T *p); };\n"
            "#define LOAD(T) \\\n template<> template<> __device__ void L<2>::ld(T &v, T *p) { v = *p; }\nLOAD(int)",
        ),
        fixes(
            "template <class T> __device__ T one();\ntemplate <> int one<int>() { return 1; }",
            "template <class T> __device__ T one();\ntemplate <> __device__ int one<int>() { return 1; }",
        ),
        fixes(
            "struct A { __device__ A(int); __device__ void f(int); void f(float); int i; };\n"
            "A::A(int n) : i(n) {}\nvoid A::f(int) {}\nvoid A::f(float) {}",
            "struct A { __device__ A(int); __device__ void f(int); void f(float); int i; };\n"
            "__device__ A::A(int n) : i(n) {}\n__device__ void A::f(int) {}\nvoid A::f(float) {}",
        ),
        fixes(
            "#define BOTH __host__ __device__\nnamespace n { BOTH int h(int x, unsigned); __device__ void g(); }\n"
            "namespace n {\nint h(int x, unsigned y) { return x; }\nint h(float x) { return x; }\nvoid g(void) {}\n}",
            "#define BOTH __host__ __device__\nnamespace n { BOTH int h(int x, unsigned); __device__ void g(); }\n"
            "namespace n {\nBOTH int h(int x, unsigned y) { return x; }\nint h(float x) { return x; }\n"
            "__device__ void g(void) {}\n}",
        ),
        fixes(
            "#if FULL\nstruct A { __device__ int f() const; };\n#else\nstruct A { int f() const {} };\n#endif\n"
            "#if FULL\nint A::f() const { return 1; }\n#endif",
            "#if FULL\nstruct A { __device__ int f() const; };\n#else\nstruct A { int f() const {} };\n#endif\n"
            "#if FULL\n__device__ int A::f() const { return 1; }\n#endif",
        ),
        fixes(
            "namespace a::b { __device__ int h(int); }\nnamespace a { namespace b { int h(int x) { return x; } } }",
            "namespace a::b { __device__ int h(int); }\n"
            "namespace a { namespace b { __device__ int h(int x) { return x; } } }",
        ),
        fixes(
            "template <class A, class B, class C, class D, class E, class F, class G, int H, int I, int J, int K>\n"
            "struct Big { __device__ int f(int x); };\n"
            "template <class A, class B, class C, class D, class E, class F, class G, int H, int I, int J, int K>\n"
            "int Big<A, B, C, D, E, F, G, H, I, J, K>::f(int x) { return x; }",
            "template <class A, class B, class C, class D, class E, class F, class G, int H, int I, int J, int K>\n"
            "struct Big { __device__ int f(int x); };\n"
            "template <class A, class B, class C, class D, class E, class F, class G, int H, int I, int J, int K>\n"
            "__device__ int Big<A, B, C, D, E, F, G, H, I, J, K>::f(int x) { return x; }",
        ),
        clean("__device__ int h(int);\n" + 200 * "const " + "int h(int x) { return x; }"),
        clean("__device__ int h(int);\nint h(int);\nint h(int x) { return x; }"),
        clean("namespace a { __device__ int h(int); }\nnamespace b { int h(int x) { return x; } }"),
        clean("namespace a { __device__ int h(int); }\nnamespace { int h(int x) { return x; } }"),
        clean(
            "__device__ int h(int);\n__device__ int h(int x) { return x; }\nstruct A { int h(int x) { return x; } };"
        ),
        clean("__device__ int h(int);\nvoid g(int h(int)) { if (h(2)) { g(h); } }\nstatic int k() { return 2; }"),
        clean("__device__ int h(int);\ntemplate <class T> int h(T x) { return x; }\n__global__ void k() {}"),
        clean("struct A { __device__ int f(); };\n__device__ int A::f() { return 1; }"),
        clean("struct A { int f(); __device__ int g(); };\nint A::f() { return 1; }"),
        clean("#define D __device__\nstruct A { D int f(); };\nD int A::f() { return 1; }"),
        clean("struct A { __device__ static int f(int); };\n__global__ void k(int *p) { if (*p) { *p = A::f(2); } }"),
        clean("struct A { __device__ static int f(int); };\n__device__ int g(int c) { return c ? A::f(2) : A::f(3); }"),
        clean("struct A { __device__ int f(); };\nstruct B { int f(); };\nint B::f() { return 1; }"),
        clean("template <class T> __host__ T one();\ntemplate <> int one<int>() { return 1; }"),
        clean("struct A { __global__ friend void k(); int f(); };\nint A::f() { return 1; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per definition."""
        tokens = unit.tokens
        sources = (unit.source, *unit.program.headers)
        if not any(source.matches(_DEVICE) for source in sources):
            return
        sides = Sides(sources)
        device = sides.for_device()
        for name in sorted(_members(tokens, device) | _specialisations(tokens, device)):
            opening = _parameters(tokens, name)
            if opening is None:
                continue
            first = _first(tokens, name) if _is_defined(tokens, name, opening) else None
            if first is None or sides.of(tokens.texts[first:name]):
                continue
            words = _declaration(tokens, sides, name, opening)
            if words is not None:
                yield self._found(unit, sides, name, first, words)
        yield from self._functions(unit, sides, device)

    def _functions(self, unit: Unit, sides: Sides, device: frozenset[str]) -> Iterator[Finding]:
        """Those outside of classes."""
        tokens = unit.tokens
        for name, opening in _definitions(tokens):
            if tokens.texts[name] not in device:
                continue
            first = _first(tokens, name)
            if first is None or tokens.texts[beginning(tokens, name)] == "template":
                continue
            if sides.of(tokens.texts[first:name]) or "__global__" in tokens.texts[first:name]:
                continue
            prototypes = sides.prototypes(tokens.texts[name])
            here = declared(tokens, name, opening) if prototypes else None
            heads = [one.words for one in prototypes if here is not None and _is_declared_so(one, here)]
            found = {sides.of(words) for words in heads}
            if len(found) == 1 and "__device__" in next(iter(found)):
                yield self._found(unit, sides, name, first, heads[0])

    def _found(self, unit: Unit, sides: Sides, name: int, first: int, words: tuple[str, ...]) -> Finding:
        written = sides.written(words)
        place = unit.tokens.starts[first]
        message = f"{unit.tokens.texts[name]} is declared {written}: clang wants it where it is defined, too"
        return self.finding(unit, unit.span(name), message, Effort.NONE, (Edit(place, place, f"{written} "),))


def _members(tokens: Tokens, names: frozenset[str]) -> set[int]:
    """Where one of some names has a class or namespace before it."""
    return {i for name in names & tokens.names.keys() for i in tokens.names[name] if tokens.texts[i - 1] == "::"}


def _specialisations(tokens: Tokens, names: frozenset[str]) -> set[int]:
    """The names of the functions that `template <>` begins, of some."""
    starts = (i for i in tokens.names.get("template", ()) if tokens.texts[i + 1 : i + 3] == ["<", ">"])
    found = (_specialised(tokens, index) for index in starts)
    return {index for index in found if index is not None and tokens.texts[index] in names}


def _definitions(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """Name and `(` of each function that is defined outside of classes, without a class before its name."""
    place = _next_brace(tokens, 0)
    while place >= 0:
        if place in tokens.partner:
            opening = tokens.partner.get(place - 1, -1) if tokens.texts[place - 1] == ")" else -1
            if opening > 1 and tokens.kinds[opening - 1] == "i" and tokens.texts[opening - 2] != "::":
                yield opening - 1, opening
            if not is_outside(tokens, place + 1):
                place = tokens.partner[place]
        place = _next_brace(tokens, place + 1)


def _next_brace(tokens: Tokens, place: int) -> int:
    """The first `{` from a token on; -1 where there is none."""
    return tokens.first_characters.find("{", place)


def _is_declared_so(one: Declared, here: Declared) -> bool:
    """Whether it is in the same namespace, and the parameters have the same types, whatever their names."""
    return (one.count, one.qualified) == (here.count, here.qualified) and all(
        _types(a) & _types(b) for a, b in zip(one.parameters, here.parameters, strict=True)
    )


def _types(parameter: str) -> frozenset[str]:
    """The text of a parameter, and without what may be its name."""
    head, _, last = parameter.rpartition(" ")
    return frozenset({parameter, head} if head and last.isidentifier() else {parameter})


def _specialised(tokens: Tokens, index: int) -> int | None:
    """The name of the function that `template <>` begins, without a class before it."""
    place = index
    while place < min(index + _MOST_TOKENS, len(tokens) - 1) and tokens.texts[place] not in (";", "{", "}", "::"):
        is_name = tokens.kinds[place] == "i" and tokens.texts[place] != "template"
        if is_name and _parameters(tokens, place) is not None:
            return place
        place += 1
    return None


def _parameters(tokens: Tokens, name: int) -> int | None:
    """The `(` behind a name and its template arguments."""
    after = name + 1
    if after < len(tokens) and tokens.texts[after] == "<":
        after = template_end(tokens, after, min(after + _MOST_TOKENS, len(tokens))) or len(tokens)
    if after < len(tokens) and tokens.texts[after] == "(" and tokens.partner.get(after, -1) > after:
        return after
    return None


def _first(tokens: Tokens, name: int) -> int | None:
    """Where the declaration begins, behind its `template <...>`; none where no definition begins like that."""
    first = beginning(tokens, name)
    if not is_beginning(tokens, first, name):
        return None
    words = tokens.texts[first:name]
    if tokens.directive_of(name) is not None:
        if "template" not in words:
            return None
        first += words.index("template")
    while tokens.texts[first] == "template":
        end = template_end(tokens, first + 1, min(first + _MOST_TOKENS, len(tokens)), parameters=True)
        if end is None or end > name:
            return None
        first = end
    return None if _NOT_IN_HEAD & set(tokens.texts[first:name]) else first


def _is_defined(tokens: Tokens, name: int, opening: int) -> bool:
    """Whether a body follows, or members' initialisers of a constructor."""
    after = tokens.partner[opening] + 1
    while after < len(tokens) and tokens.texts[after] in AFTER_PARAMETERS:
        after += 1
    if after >= len(tokens) or tokens.directive_of(after) is not tokens.directive_of(name):
        return False
    if tokens.texts[after] == ":":
        return _owner(tokens, name) == tokens.texts[name]
    return tokens.texts[after] == "{"


def _owner(tokens: Tokens, name: int) -> str | None:
    """The class before `::`."""
    if tokens.texts[name - 1] != "::":
        return None
    last = name - 2
    if tokens.texts[last] == ">":
        start = template_start(tokens, last, max(last - _MOST_TOKENS, 0))
        last = start - 1 if start else last
    return tokens.texts[last]


def _declaration(tokens: Tokens, sides: Sides, name: int, opening: int) -> tuple[str, ...] | None:
    """The words of the one declaration that is for the device and can be meant."""
    owner = _owner(tokens, name)
    if owner is None:
        heads = list(sides.templates(tokens.texts[name]))
    else:
        here = declared(tokens, name, opening)
        heads = [one.words for one in _meant(sides.members(owner, tokens.texts[name]), here)]
    found = {sides.of(words) for words in heads}
    return heads[0] if len(found) == 1 and "__device__" in next(iter(found)) else None


def _meant(members: tuple[Declared, ...], here: Declared) -> list[Declared]:
    """Those with as many parameters; those with the very same, where that is not enough."""
    as_many = [one for one in members if one.count == here.count]
    same = [one for one in as_many if one.parameters == here.parameters]
    return same or as_many

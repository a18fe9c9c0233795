"""L015: explicit specialisations for other sides than their template."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from porter.cpp.syntax import Head, Tokens, find_heads, tokens_of
from porter.cpp.templates import template_heads
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_DEEPEST_MACRO = 4


class SpecializationOfOtherSides(Rule):
    """Specialisation for other sides than its template

    To nvcc `template <> __device__ float f(int)` specialises `template <class T> __host__ __device__ float f(T)`. Clang
    takes only a template with the same `__host__` and `__device__` for the one that is meant, and finds none. The
    specialisation gets the template's `__host__`; what its body may call is looked at only where it is used.
    """

    code = "L015"
    triggers = frozenset({"template"})
    text = "(?i:device)"
    examples = (
        fixes(
            "template <class T> __host__ __device__ float f(T t);\ntemplate <> __device__ float f(int i) { return i; }",
            "template <class T> __host__ __device__ float f(T t);\n"
            "template <> __host__ __device__ float f(int i) { return i; }",
        ),
        fixes(
            "#define BOTH __host__ __device__\ntemplate <class T> inline BOTH T one() { return 1; }\n"
            "template <> inline __device__ int one<int>() { return 1; }",
            "#define BOTH __host__ __device__\ntemplate <class T> inline BOTH T one() { return 1; }\n"
            "template <> inline __host__ __device__ int one<int>() { return 1; }",
        ),
        clean("template <class T> __device__ float f(T t);\ntemplate <> __device__ float f(int i) { return i; }"),
        clean(
            "#define BOTH __host__ __device__\ntemplate <class T> BOTH float f(T t);\n"
            "template <> BOTH float f(int i) { return i; }"
        ),
        clean("template <class T> __host__ __device__ float f(T t);\n__device__ float f(int i) { return i; }"),
        clean(
            "struct A { template <class T> __host__ __device__ float f(T t); };\n"
            "template <class T> __device__ float f(T t);\ntemplate <> __device__ float f(int i) { return i; }"
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per specialisation."""
        tokens = unit.tokens
        hosts = _Meanings(unit, "__host__")
        templates_of = functools.cache(lambda name: list(_templates(unit, name)))
        for head in find_heads(tokens, "__device__"):
            name = tokens.texts[head.name_first]
            if not _specialises(tokens, head) or tokens.texts[head.name_first - 1] == "::":
                continue
            words = tokens.texts[head.begin : head.name_first]
            if "__device__" not in words or any(map(hosts.has, words)):
                continue
            templates = templates_of(name)
            if templates and all(any(map(hosts.has, one)) for one in templates):
                marker = tokens.starts[head.begin + words.index("__device__")]
                message = f"clang finds no template for this specialisation of {name}: the template is __host__, too"
                edits = (Edit(marker, marker, "__host__ "),)
                yield self.finding(unit, unit.span(head.name_first), message, Effort.NONE, edits)


def _specialises(tokens: Tokens, head: Head) -> bool:
    """Whether `template <>` stands before it."""
    return head.template is not None and tokens.texts[head.template + 1] == ">"


def _templates(unit: Unit, name: str) -> Iterator[list[str]]:
    """The words before a name where a function template of that name is declared, in the file and its headers."""
    for source in (unit.source, *unit.program.headers):
        if name in source.text:
            yield from template_heads(tokens_of(source), name)


class _Meanings:
    """Which words of a unit are a qualifier, or macros of the project that come to it; each is looked for once."""

    def __init__(self, unit: Unit, wanted: str) -> None:
        self._unit = unit
        self._known = {wanted: True}

    def has(self, word: str, depth: int = 0) -> bool:
        """Whether a word comes to the qualifier."""
        if depth == _DEEPEST_MACRO or not word.isidentifier():
            return self._known.get(word, False)
        known = self._known.get(word)
        if known is None:
            self._known[word] = False  # as far as a macro leads back to itself
            known = any(self.has(inner, depth + 1) for inner in self._bodies(word) if inner != word)
            if known or depth == 0:
                self._known[word] = known
            else:
                del self._known[word]  # further out more of it may be read
        return known

    def _bodies(self, word: str) -> Iterator[str]:
        """The words of what macros of a name stand for."""
        for source in (self._unit.source, *self._unit.program.headers):
            if word not in source.text:
                continue
            tokens = tokens_of(source)
            for index in tokens.names.get(word, ()):
                directive = tokens.directive_of(index)
                if directive is not None and directive.name == "define" and directive.first == index:
                    yield from tokens.texts[index + 1 : directive.last]

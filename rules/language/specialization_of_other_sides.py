"""L015: explicit specialisations for other sides than their template."""

from __future__ import annotations

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
        for head in find_heads(tokens, "__device__"):
            name = tokens.texts[head.name_first]
            if not _specialises(tokens, head) or tokens.texts[head.name_first - 1] == "::":
                continue
            words = tokens.texts[head.begin : head.name_first]
            if "__device__" not in words or any(_means(unit, word, "__host__") for word in words):
                continue
            templates = list(_templates(unit, name))
            if templates and all(any(_means(unit, word, "__host__") for word in one) for one in templates):
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


def _means(unit: Unit, word: str, wanted: str, depth: int = 0) -> bool:
    """Whether a word is a qualifier, or a macro of the project that comes to it."""
    if word == wanted:
        return True
    if depth == _DEEPEST_MACRO or not word.isidentifier():
        return False
    for source in (unit.source, *unit.program.headers):
        if word not in source.text:
            continue
        tokens = tokens_of(source)
        for index in tokens.names.get(word, ()):
            directive = tokens.directive_of(index)
            if directive is None or directive.name != "define" or directive.first != index:
                continue
            body = tokens.texts[index + 1 : directive.last]
            if any(_means(unit, inner, wanted, depth + 1) for inner in body if inner != word):
                return True
    return False

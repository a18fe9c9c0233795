"""L019: templates with values among their parameters, given where types alone are declared."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import Tokens, split_commas, template_end, tokens_of
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_PARAMETER = re.compile(
    r"template(?<=\btemplate)\s*<\s*(?:class|typename)\s*\.\.\.\s*\w*\s*>\s*(?:class|typename)\s+(\w+)"
)
"""It begins with a word, for which a text is searched twenty times as fast as for the edge of one."""
_MOST_TOKENS = 400
_BEHIND_PARAMETER = frozenset({",", ">", ">>", "="})


class TemplateOfOtherParameters(Rule):
    """Template with values given as a template of types

    `template <template <class...> class M> struct S;` takes templates whose parameters are all types. nvcc takes
    `Map` of `template <class K, int B = 16> struct Map` there too; clang, as the standard has it, does not. Give it a
    template of types, such as `template <class K> using PlainMap = Map<K>;`.
    """

    code = "L019"
    only_reports = True
    text = _PARAMETER.pattern
    examples = (
        reports(
            "template <class K, class V, int B = 16> struct map { K k; };\n"
            "template <template <class...> class M, class K, class V> using Make = M<K, V>;\n"
            "__device__ Make<map, int, int> m;"
        ),
        reports(
            "template <class K, int B = 16> struct map { K k; };\n"
            "template <template <class...> class M, class K = Pair<Pair<int, int>>> using Make = M<K>;\n"
            "__device__ Make<map> m;"
        ),
        clean(
            "template <class T, int n> struct Name { T t; };\n"
            "template <template <class...> class M, class K> using Make = M<K>;\n"
            "#define TEST(Name) template <class... T> struct Name { T t; }; Make<Name, int> a;\n__device__ int b;"
        ),
        clean(
            "template <class K, class V> struct map { K k; };\n"
            "template <template <class...> class M, class K, class V> using Make = M<K, V>;\n"
            "__device__ Make<map, int, int> m;"
        ),
        clean(
            "template <class, template <class...> class L, template <class T, T> class C> struct Made;\n"
            "template <template <class...> class L, class T, T... v, template <class U, U> class C>\n"
            "struct Made<L<C<T, v>...>, L, C> { L<> a; };\n__device__ int b;"
        ),
        clean(
            "template <class K, int B = 16> struct map { K k; };\n"
            "template <template <class...> class M, class K> using Make = M<K>;\n"
            "template <class K> using plain = map<K>;\n__device__ Make<plain, int> m;"
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per use with such a template."""
        tokens = unit.tokens
        takers = sorted(set(_takers(unit)))
        if not takers:
            return
        valued = frozenset(
            name for source in (unit.source, *unit.program.headers) for name in _valued(tokens_of(source))
        )
        for taker in takers:
            for index in tokens.names.get(taker, ()):
                if tokens.texts[index + 1] != "<" or tokens.directive_of(index) is not None:
                    continue  # in a macro the name can be its parameter
                end = template_end(tokens, index + 1, min(index + _MOST_TOKENS, len(tokens)))
                if end is None:
                    continue
                for first, last in split_commas(tokens, index + 2, end - 1):
                    words = [text for text in tokens.texts[first:last] if text.isidentifier()]
                    if len(words) * 2 - 1 == last - first and words[-1] in valued:
                        message = (
                            f"{words[-1]} has values among its parameters: clang takes no such template for {taker}"
                        )
                        yield self.finding(unit, unit.span(last - 1), message, Effort.MANUAL)


def _takers(unit: Unit) -> Iterator[str]:
    """What the templates with such a parameter declare."""
    tokens = unit.tokens
    for match in _PARAMETER.finditer(unit.source.text):
        place = tokens.at(match.start(1))
        depth = 0
        while place < len(tokens) and (depth >= 0):
            depth += {"<": 1, ">": -1, ">>": -2, ">>>": -3}.get(tokens.texts[place], 0)
            place += 1
        if place + 1 < len(tokens) and tokens.texts[place] in ("using", "struct", "class"):
            yield tokens.texts[place + 1]


def _valued(tokens: Tokens) -> Iterator[str]:
    """Class templates of a file with a parameter that is a value."""
    for index in tokens.names.get("template", ()):
        if tokens.texts[index + 1] != "<":
            continue
        end = template_end(tokens, index + 1, min(index + _MOST_TOKENS, len(tokens)), parameters=True)
        if end is None or end + 1 >= len(tokens) or tokens.texts[end] not in ("struct", "class"):
            continue
        if tokens.texts[end + 2] in _BEHIND_PARAMETER:
            continue  # itself a parameter, which may be a template of values
        parts = list(split_commas(tokens, index + 2, end - 1))
        if any(tokens.texts[first] not in ("class", "typename", "template") for first, last in parts if last > first):
            yield tokens.texts[end + 1]

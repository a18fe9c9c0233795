"""L026: a word that follows a string at once, which C++11 reads as the string's suffix."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import IDENTIFIER
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_ADJACENT = re.compile(r'"(?=[A-Za-z])')
"""By the first characters of tokens."""
_SUFFIXES = frozenset({"s", "sv"})
"""Of the standard library: no others may be without an underscore."""


class WordAfterString(Rule):
    r"""String with a macro right behind it

    `"%"PRIu64"\n"` was C, and is with g++ and nvcc: they warn, and expand the macro. Clang takes the word for a suffix
    of the string and stops, within the body of a macro that nobody uses as well. A blank stands between them then.
    Suffixes of the standard library stay, as do those with an underscore, which are a project's own operators.
    """

    code = "L026"
    text = r'(?m:^(?:[^"\n]*"(?:[^"\\\n]|\\.)*")+?[A-Za-z])'
    examples = (
        fixes('void f(int n) { printf("%"PRIu64"\\n", n); }', 'void f(int n) { printf("%" PRIu64"\\n", n); }'),
        fixes(
            '#define FATAL(msg, ...) fprintf(stderr, "[%s] "msg"\\n", __FILE__, ##__VA_ARGS__)',
            '#define FATAL(msg, ...) fprintf(stderr, "[%s] " msg"\\n", __FILE__, ##__VA_ARGS__)',
        ),
        clean('void f(int n) { printf("%" PRIu64 "\\n", n); }'),
        clean('const char *a = "%"PRIu64;', path="a.c"),
        clean('const wchar_t *a = L"one"L"two";'),
        clean('auto a = "a"s; auto b = "b"sv; auto c = "c"_kernel;'),
        clean('const char *a = "one" "two", *b = u8"three", *c = R"(four)";'),
        clean('#include "a.h"\nextern "C" int f();\nextern"C"{int g();}'),
        clean("char c = 'c'; // \"not\"CODE"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per word; C has no suffixes."""
        tokens = unit.tokens
        if unit.source.path.endswith(".c"):
            return
        for match in _ADJACENT.finditer(tokens.first_characters):
            index = match.start() + 1
            place, word = tokens.starts[index], tokens.texts[index]
            if tokens.kinds[index] != IDENTIFIER or tokens.end(index - 1) != place or word in _SUFFIXES:
                continue
            message = f"{word} would be a suffix of the string before it"
            yield self.finding(unit, unit.span(index), message, Effort.NONE, (Edit(place, place, " "),))

"""L026: a word that follows a string at once, which C++11 reads as the string's suffix."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import IDENTIFIER
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_ADJACENT = re.compile(r'"(?=[A-Za-z])')
"""By the first characters of tokens."""
_FORMAT = re.compile(r"(?:PRI|SCN)[diouxX]\w+")
"""Macros of <inttypes.h>."""


class WordAfterString(Rule):
    r"""String with a macro right behind it

    `"%"PRIu64"\n"` was C, and is with g++ and nvcc: they warn, and expand the macro. Clang takes the word for a suffix
    of the string and stops, within the body of a macro that nobody uses as well. A blank stands between them then.
    Only words that are macros in sight are meant: in a template of C++ code for another program, such as Jinja's,
    strings stand within strings, and every word would look so.
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
        fixes('#define UNIT " ms"\nconst char *a = "1"UNIT;', '#define UNIT " ms"\nconst char *a = "1" UNIT;'),
        clean('m.def("{{ args.replace("double", "float") if a == "weights" else "F" }}");'),
        clean('#define CALL(f) g("{{ f.replace("double", "float") }}")'),
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
            if tokens.kinds[index] != IDENTIFIER or tokens.end(index - 1) != place or not _is_macro(unit, index):
                continue
            message = f"{word} would be a suffix of the string before it"
            yield self.finding(unit, unit.span(index), message, Effort.NONE, (Edit(place, place, " "),))


def _is_macro(unit: Unit, index: int) -> bool:
    """Whether a word is one, of those in sight, or a parameter of the macro in whose body it stands."""
    tokens, word = unit.tokens, unit.tokens.texts[index]
    directive = tokens.directive_of(index)
    if directive is not None and directive.name == "define":
        first = directive.first + 1
        is_parameter = tokens.texts[first] == "(" and word in tokens.texts[first : tokens.partner.get(first, first)]
        if is_parameter and tokens.starts[first] == tokens.end(directive.first):
            return True
    return bool(_FORMAT.fullmatch(word)) or any(
        some.defines(place) for some in unit.program.all_tokens for place in some.names.get(word, ())
    )

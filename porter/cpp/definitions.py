"""What a header defines that device code may come to: functions, macros and constants, each as its own text."""

from __future__ import annotations

import bisect
import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import accumulate

from porter.cpp.heads import find_heads
from porter.cpp.kept_tokens import tokens_of
from porter.cpp.lex import IDENTIFIER, Tokens
from porter.cpp.scopes import class_around
from porter.source import SourceFile

_MARKERS = ("__device__",)
_CONSTANT_WORDS = ("const", "constexpr", "enum")
_BEFORE_A_BODY = frozenset({")", "}", "const", "noexcept", "override", "else", "do", "try", "mutable"})
_LONGEST = 4000
"""Tokens of an enumeration or a constant's declaration; a longer one is a table."""


class Definitions:
    """The definitions of one header by name."""

    def __init__(self, tokens: Tokens) -> None:
        self._texts: defaultdict[str, dict[str, frozenset[str]]] = defaultdict(dict)
        self._tokens = tokens
        self._names_of_constants: set[str] = set()
        self._macros()
        self._functions()
        self._constants()
        del self._tokens

    def of(self, name: str) -> Mapping[str, frozenset[str]]:
        """Texts that define a name, each with the words in it."""
        return self._texts.get(name, {})

    def is_constant(self, name: str) -> bool:
        """Whether a name is that of a constant at the top level or in a class: a variable may have it, too."""
        return name in self._names_of_constants

    def _add(self, names: Iterable[str], first: int, last: int, start: int, end: int, form: str = "{}") -> None:
        tokens = self._tokens
        words = frozenset(tokens.texts[i] for i in range(first, last) if tokens.kinds[i] == IDENTIFIER)
        text = form.format(tokens.text[start:end])
        for name in names:
            self._texts[name][text] = words

    def _macros(self) -> None:
        tokens = self._tokens
        for directive in tokens.directives:
            if directive.name == "define" and directive.first < directive.last:
                name = tokens.texts[directive.first]
                self._add((name,), directive.first + 1, directive.last, directive.start, directive.end)

    def _functions(self) -> None:
        tokens = self._tokens
        for marker in _MARKERS:
            for head in find_heads(tokens, marker):
                if not head.is_definition or head.body is None or head.directive is not None:
                    continue
                name = tokens.texts[head.name_first]
                for index in range(head.name_first, head.name_last - 1):
                    if tokens.texts[index] == "::":
                        name = tokens.texts[index + 1]
                around = class_around(tokens, head.begin)
                form = "{}" if around is None else f"struct {around} {{{{ {{}} }}}};"
                is_called = around is not None and tokens.texts[head.name_first : head.name_first + 2] == [
                    "operator",
                    "(",
                ]
                names = (name, around) if around is not None and is_called else (name,)
                self._add(names, head.begin, head.end, tokens.starts[head.begin], tokens.end(head.end - 1), form)

    def _constants(self) -> None:
        tokens, line = self._tokens, self._tokens.first_characters
        blocks = sorted(
            (index, tokens.partner[index])
            for index in range(1, len(line))
            if line[index] == "{" and tokens.texts[index - 1] in _BEFORE_A_BODY and index in tokens.partner
        )
        outer = list(accumulate((closing for _, closing in blocks), max))
        for word in _CONSTANT_WORDS:
            for index in tokens.names.get(word, ()):
                end = line.find(";", index)
                place = bisect.bisect_right(blocks, (index, index))
                inside = place > 0 and index < outer[place - 1]
                if inside or not 0 <= end - index < _LONGEST or tokens.directive_of(index) is not None:
                    continue
                opening = line.find("{", index, end)
                if word == "enum" and opening >= 0:
                    names = [i for i in range(opening + 1, end) if tokens.texts[i - 1] in ("{", ",")]
                elif "=" in tokens.texts[index:end] and opening < 0:
                    names = [tokens.texts.index("=", index) - 1]
                else:
                    continue
                constants = [tokens.texts[named] for named in names if tokens.kinds[named] == IDENTIFIER]
                self._names_of_constants.update(constants)
                self._add(constants, index, end, tokens.starts[index], tokens.end(end))


_CANDIDATE = re.compile(r"[A-Za-z_$\x80-\xff](?=[(=])")
"""First characters of a token before a parenthesis or an `=`."""
_ENUM = re.compile(r"\benum\b[^;{}()]{0,200}\{([^{}]*)\}")
_WORD = re.compile(r"[A-Za-z_]\w*")
_CALL_OPERATOR = re.compile(r"\boperator\s*\(\s*\)")
"""Objects of its class are called: who names the class comes to it."""


@functools.lru_cache(maxsize=512)
def candidates(header: SourceFile) -> frozenset[str]:
    """Names that a header may define for device code, by a quick look: mostly it defines none that a file uses."""
    tokens = tokens_of(header)
    texts, text = tokens.texts, header.text
    found = {texts[match.start()] for match in _CANDIDATE.finditer(tokens.first_characters)}
    found.update(texts[one.first] for one in tokens.directives if one.name == "define" and one.first < one.last)
    if "operator" in tokens.names and _CALL_OPERATOR.search(text) is not None:
        found.update(texts[index + 1] for word in ("struct", "class") for index in tokens.names.get(word, ()))
    for body in _ENUM.findall(text) if "enum" in text else ():
        found.update(_WORD.findall(body))
    return frozenset(found)


@functools.lru_cache(maxsize=512)
def definitions_of(header: SourceFile) -> Definitions:
    """The definitions of a header, kept: units that include it share them."""
    return Definitions(tokens_of(header))

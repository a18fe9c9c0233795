"""What a compiler refuses of a kernel that is cut out, and that is no code of the device: left out, line by line."""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from porter.cpp.lex import Tokens, lex

_REFUSED = re.compile(r"^([^\n]+?)[:(](\d+)(?::\d+)?\)?: (?:fatal |catastrophic )?error\b", re.MULTILINE)
"""Of clang and of nvcc: file and line."""
_MARKER = re.compile(r'^#line (\d+) "((?:[^"\\]|\\.)*)"$', re.MULTILINE)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.MULTILINE)
_OF_DEVICE = frozenset({"__device__", "__global__", "__constant__", "__shared__", "constexpr"})
_CLASSES = frozenset({"struct", "class", "union"})
_LABELS = frozenset({"public", "private", "protected"})
_BRANCHES = {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}
_MOST_LINES = 200


def pruned(text: str, said: str, wanted: Iterable[str]) -> str | None:
    """The text without the declarations around the lines that a compiler refuses; None where none can be left out.

    Nothing is left out that says that it is for the device, or that holds or declares one of the names that are wanted.
    """
    cutter = _Cutter(text, frozenset(wanted))
    cuts = sorted({cut for place in _places(text, said) if (cut := cutter.declaration(place)) is not None})
    for start, end in cuts:
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text if cuts else None


def _places(text: str, said: str) -> Iterator[int]:
    """Where the refused lines begin, in a text with line markers."""
    markers = [(match.end() + 1, int(match[1]), _plain(match[2])) for match in _MARKER.finditer(text)]
    lines = dict.fromkeys((_plain(file), int(line)) for file, line in _REFUSED.findall(said))
    for file, line in list(lines)[:_MOST_LINES]:
        for number, (start, first, name) in enumerate(markers):
            end = markers[number + 1][0] if number + 1 < len(markers) else len(text)
            if name == file and first <= line <= first + text.count("\n", start, end):
                place = start
                for _ in range(line - first):
                    place = text.find("\n", place) + 1
                yield place


def _plain(file: str) -> str:
    return os.path.normpath(file.replace("\\\\", "\\"))


@dataclass
class _Cutter:
    text: str
    wanted: frozenset[str]

    @cached_property
    def tokens(self) -> Tokens:
        return lex(self.text)

    @cached_property
    def device(self) -> frozenset[str]:
        """What marks code of the device: its words, and macros with one of them."""
        bodies = {match[1]: frozenset(re.findall(r"\w+", match[2])) for match in _MACRO.finditer(self.text)}
        found = set(_OF_DEVICE)
        while more := {name for name, words in bodies.items() if not words.isdisjoint(found)} - found:
            found |= more
        return frozenset(found)

    def declaration(self, place: int) -> tuple[int, int] | None:
        """The innermost declaration around a place that stands in a class or namespace."""
        tokens = self.tokens
        index = bisect.bisect_left(tokens.starts, place, 0, len(tokens))
        if index >= len(tokens) or tokens.directive_of(index) is not None:
            return None
        while index > 0 and tokens.texts[index] == "}":  # something is missing before it
            index -= 1
        opened = -1
        for brace in self._around(index):
            if not self._is_scope(brace):
                index = brace
                break
            opened = brace
        first, last = self._first(index, opened), self._last(index)
        words = {tokens.texts[i] for i in range(first, last)}
        if last <= first or not words.isdisjoint(self.device | self.wanted):
            return None
        return self._balanced(tokens.starts[first], tokens.end(last - 1))

    def _around(self, index: int) -> list[int]:
        """The `{` around a token, the outermost first."""
        found: list[int] = []
        place = bisect.bisect_left(self._opened, index) - 1
        while place >= 0:
            brace = self._opened[place]
            if self.tokens.partner[brace] > index:
                found.append(brace)
                place = self._outer[place]
            else:
                place -= 1
        return found[::-1]

    @cached_property
    def _opened(self) -> list[int]:
        """Every `{` that is closed."""
        return [i for i in sorted(self.tokens.partner) if self.tokens.texts[i] == "{"]

    @cached_property
    def _outer(self) -> list[int]:
        """The place in that list of the one around each; -1: none is."""
        stack: list[int] = []
        found: list[int] = []
        for place, brace in enumerate(self._opened):
            while stack and self.tokens.partner[self._opened[stack[-1]]] < brace:
                stack.pop()
            found.append(stack[-1] if stack else -1)
            stack.append(place)
        return found

    def _is_scope(self, brace: int) -> bool:
        """Whether a `{` opens a namespace or a class."""
        texts = self.tokens.texts
        head = texts[self._first(brace, -1) : brace]
        if "namespace" in head or (head[:1] == ["extern"] and len(head) == 2):
            return True
        after = self._after_template(head)
        return bool(_CLASSES & set(after)) and "(" not in after and "=" not in after

    @staticmethod
    def _after_template(head: list[str]) -> list[str]:
        depth, end = 0, 0
        for place, word in enumerate(head if head[:1] == ["template"] else []):
            depth += {"<": 1, ">": -1, ">>": -2}.get(word, 0)
            end = place + 1 if word in (">", ">>") and depth <= 0 else end
        return head[end:]

    def _first(self, index: int, opened: int) -> int:
        """The first token of the declaration that a token is part of."""
        tokens, at = self.tokens, index - 1
        while at > opened:
            word = tokens.texts[at]
            if tokens.directive_of(at) is not None or word in (";", "{", "}"):
                break
            if word == ":" and tokens.texts[at - 1] in _LABELS:
                break
            at = tokens.partner.get(at, at) - 1 if word in (")", "]") else at - 1
        return at + 1

    def _last(self, index: int) -> int:
        """After the last token of the declaration that a token is part of."""
        tokens, at = self.tokens, index
        while (at := self._code(at)) < len(tokens):
            word = tokens.texts[at]
            if word == "}":
                return at
            if word == ";":
                return at + 1
            if word in ("(", "[", "{"):
                closed = tokens.partner.get(at)
                if closed is None:
                    return at
                if word == "{" and tokens.texts[self._code(closed + 1)] not in (";", ",", "{", "=", ")"):
                    return closed + 1
                at = closed
            at += 1
        return at

    def _code(self, index: int) -> int:
        """The first token from a place on that is no directive's."""
        while (directive := self.tokens.directive_of(index)) is not None:
            index = max(directive.last, index + 1)
        return index

    def _balanced(self, start: int, end: int) -> tuple[int, int] | None:
        """The stretch, from an `#ifndef` on whose `#endif` it has; None where a branch cuts through it otherwise."""
        directives = self.tokens.directives
        inside = [one.name for one in directives if start <= one.start < end]
        depth = sum(_BRANCHES.get(name, 0) for name in inside)
        before = next((one for one in reversed(directives) if one.start < start), None)
        if depth == 1:
            return self._to_the_end(start, end)
        if depth == -1 and inside[0] == "endif" and before is not None and _BRANCHES.get(before.name) == 1:
            return before.start, end
        return (start, end) if depth == 0 else None

    def _to_the_end(self, start: int, end: int) -> tuple[int, int] | None:
        """A declaration whose rest stands in branches, with all of them: `template <typename T>`, then `#if`."""
        depth = 1
        for one in self.tokens.directives:
            if one.start >= end:
                depth += _BRANCHES.get(one.name, 0)
                if depth == 0:
                    words = set(re.findall(r"\w+", self.text[start : one.end]))
                    return (start, one.end) if words.isdisjoint(self.device | self.wanted) else None
        return None

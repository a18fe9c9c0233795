"""A fast C++/CUDA lexer: significant tokens, comments and preprocessor directives of one file."""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

IDENTIFIER, NUMBER, STRING, CHARACTER, PUNCTUATION = "insqp"
"""Token kinds, one character each: `Tokens.kinds` is a string."""

_PATTERN = re.compile(
    r"""
      (?P<n>\.?[0-9](?:[eEpP][+-]|'?[0-9A-Za-z_.\x80-\xff])*)
    | (?P<s>(?:u8|[uUL])?(?:R"(?P<raw>[^\s()\\"]{0,16})\((?s:.)*?\)(?P=raw)"
        |"[^"\\\n]*(?:\\(?:\r\n|(?s:.))[^"\\\n]*)*"?))
    | (?P<q>(?:u8|[uUL])?'[^'\\\n]*(?:\\(?:\r\n|(?s:.))[^'\\\n]*)*'?)
    | (?P<i>[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*)
    | (?P<c>//[^\\\n]*(?:\\(?:\r\n|(?s:.))[^\\\n]*)* | /\*(?s:.)*?(?:\*/|\Z))
    | (?P<h>^[ \t]*(?:\#|%:)|(?<=\*/)[ \t]*\#)
    | (?P<p><<<|>>>|<<=|>>=|\.\.\.|->\*|::|->|\#\#|\+\+|--|<<|>>|&&|\|\||[<>=!+*/%&|^-]=|[^\s\\])
    """,
    re.VERBOSE | re.MULTILINE,
)
_LOGICAL_LINE = re.compile(
    r"""(?:[^\\\n/"]+ | \\(?:\r\n|(?s:.)) | "(?:[^"\\\n]|\\(?:\r\n|(?s:.)))*"?
        | //[^\\\n]*(?:\\(?:\r\n|(?s:.))[^\\\n]*)*
        | /\*(?s:.)*?(?:\*/|\Z) | /)*""",
    re.VERBOSE,
)
_DIRECTIVE = re.compile(r"[ \t]*(?:\#|%:)(?:[ \t]|\\\r?\n|/\*.*?\*/)*([A-Za-z_]\w*)?")
_INCLUDE = re.compile(r"""[ \t]*(?:\#|%:)[ \t]*(?:include|include_next|import)[ \t]*(?:<([^>\n]*)>|"([^"\n]*)")""")


class Comment(NamedTuple):
    """One comment with its delimiters."""

    start: int
    end: int


class Directive(NamedTuple):
    """One preprocessor line: `name` is `define`, `if`, ...; tokens [first, last) follow the name."""

    name: str
    start: int
    end: int
    first: int
    last: int


class Include(NamedTuple):
    """One #include; [start, end) is the name between the delimiters."""

    name: str
    angled: bool
    start: int
    end: int
    line_start: int
    line_end: int


@dataclass(frozen=True)
class Tokens:
    """Parallel sequences over the significant tokens of a file (no comments, no white space)."""

    text: str
    kinds: str
    starts: list[int]
    texts: list[str]
    comments: tuple[Comment, ...]
    directives: tuple[Directive, ...]
    includes: tuple[Include, ...]

    def __len__(self) -> int:
        return len(self.starts)

    def end(self, index: int) -> int:
        """Offset after a token."""
        return self.starts[index] + len(self.texts[index])

    @cached_property
    def names(self) -> dict[str, list[int]]:
        """Identifier -> indices of its tokens, in order; macro bodies and inactive regions included."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for index, (kind, text) in enumerate(zip(self.kinds, self.texts, strict=True)):
            if kind == IDENTIFIER:
                found[text].append(index)
        return dict(found)

    @cached_property
    def partner(self) -> dict[int, int]:
        """Matching bracket for each ( ) [ ] { } token that has one; directives do not pair with code."""
        pairs: dict[int, int] = {}
        inside = {i for d in self.directives for i in range(d.first, d.last)}
        _pair(self, (i for i in range(len(self)) if i not in inside), pairs)
        for directive in self.directives:
            _pair(self, iter(range(directive.first, directive.last)), pairs)
        return pairs

    def at(self, offset: int) -> int:
        """Index of the first token that starts at or after an offset."""
        return bisect.bisect_left(self.starts, offset)

    def directive_of(self, index: int) -> Directive | None:
        """The preprocessor line a token belongs to."""
        place = bisect.bisect_right(self._directive_firsts, index) - 1
        if place >= 0 and index < self.directives[place].last:
            return self.directives[place]
        return None

    @cached_property
    def _directive_firsts(self) -> list[int]:
        return [directive.first for directive in self.directives]


def lex(text: str) -> Tokens:
    """Splits a file (latin-1 view of its bytes) into tokens; never fails, whatever the bytes are."""
    kinds: list[str] = []
    starts: list[int] = []
    texts: list[str] = []
    comments: list[Comment] = []
    directives: list[Directive] = []
    includes: list[Include] = []
    pending: tuple[str, int, int, int] | None = None
    limit = 0
    skip = 0
    for match in _PATTERN.finditer(text):
        start = match.start()
        if start < skip:
            continue
        kind = match.lastgroup
        if pending is not None and start >= limit:
            directives.append(Directive(*pending, len(starts)))
            pending = None
        if kind == "c":
            comments.append(Comment(start, match.end()))
            continue
        if kind == "h":
            if pending is None:
                name, limit, body = _directive(text, start)
                skip = body
                pending = (name, start, limit, len(starts))
                if name in _INCLUDES and (include := _INCLUDE.match(text, start)):
                    includes.append(_include(include, start, limit))
                    skip = limit
                continue
            kind, start = PUNCTUATION, match.end() - 1
            kinds.append(kind)
            starts.append(start)
            texts.append(text[start])
            continue
        kinds.append(kind or PUNCTUATION)
        starts.append(start)
        texts.append(match.group())
    if pending is not None:
        directives.append(Directive(*pending, len(starts)))
    return Tokens(text, "".join(kinds), starts, texts, tuple(comments), tuple(directives), tuple(includes))


_INCLUDES = frozenset({"include", "include_next", "import"})


def _directive(text: str, start: int) -> tuple[str, int, int]:
    """Name, end of the logical line, and where what follows the name begins."""
    head = _DIRECTIVE.match(text, start)
    line = _LOGICAL_LINE.match(text, start)
    assert line is not None
    end = line.end()
    if end > start and text[end - 1] == "\r":
        end -= 1
    if head is None:
        return "", end, end
    return head.group(1) or "", end, min(head.end(), end)


def _include(match: re.Match[str], start: int, end: int) -> Include:
    angled = match.group(1) is not None
    group = 1 if angled else 2
    return Include(match.group(group), angled, match.start(group), match.end(group), start, end)


def _pair(tokens: Tokens, indices: Iterable[int], pairs: dict[int, int]) -> None:
    """Pairs brackets in one stretch; a closing bracket skips back over unclosed ones of another shape."""
    texts = tokens.texts
    stack: list[int] = []
    for index in indices:
        text = texts[index]
        if text in _CLOSES:
            stack.append(index)
        elif text in _OPENS:
            wanted = _OPENS[text]
            for depth in range(len(stack) - 1, max(-1, len(stack) - 8), -1):
                if texts[stack[depth]] == wanted:
                    opened = stack[depth]
                    del stack[depth:]
                    pairs[opened] = index
                    pairs[index] = opened
                    break


_CLOSES = {"(": ")", "[": "]", "{": "}"}
_OPENS = {")": "(", "]": "[", "}": "{"}

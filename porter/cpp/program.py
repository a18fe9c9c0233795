"""One view of the program: a file together with the project's headers that it includes, each lexed once per process."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from porter.cpp.declared import is_declared
from porter.cpp.definitions import candidates, definitions_of
from porter.cpp.headers import Included, headers_of
from porter.cpp.lex import Tokens, lex
from porter.cpp.prescan import defines_kernel_macro
from porter.source import SourceFile

_MOST_FILES = 400
_MOST_BROUGHT = 300
"""Definitions that a file gets of its headers."""
_MOST_KEPT = 1 << 20
"""Characters of the files whose tokens a process keeps: some fifty bytes of memory for each."""


class _Kept:
    """Tokens by content, the least recently used given up first."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[bytes, Tokens] = OrderedDict()
        self._size = 0

    def of(self, source: SourceFile) -> Tokens:
        tokens = self._tokens.get(source.data)
        if tokens is not None:
            self._tokens.move_to_end(source.data)
            return tokens
        tokens = self._tokens[source.data] = lex(source.text)
        self._size += len(source.data)
        while self._size > _MOST_KEPT and len(self._tokens) > 1:
            given_up, _ = self._tokens.popitem(last=False)
            self._size -= len(given_up)
        return tokens


_kept = _Kept()
has_kernel_macro = functools.lru_cache(maxsize=4096)(defines_kernel_macro)


def tokens_of(source: SourceFile) -> Tokens:
    """The tokens of a file; units that include it share them."""
    return _kept.of(source)


@dataclass(frozen=True)
class Program:
    """A file and what it includes."""

    source: SourceFile
    tokens: Tokens
    read: Included | None = field(default=None, repr=False)

    @cached_property
    def headers(self) -> tuple[SourceFile, ...]:
        """The project's headers that the file includes, directly or not, inner ones first."""
        if self.read is None:
            return ()
        names = [include.name for include in self.tokens.includes]
        return tuple(headers_of(self.source, names, self.read, _MOST_FILES, "porter/"))

    @cached_property
    def makes_kernels(self) -> bool:
        """Whether the file or a header defines a macro that makes kernels."""
        return any(map(has_kernel_macro, (self.source.data, *(header.data for header in self.headers))))

    def brought(self, words: Iterable[str]) -> str:
        """The definitions in headers of what some words of the file come to, directly or not, as one text."""
        found: dict[str, None] = {}
        waiting = frozenset(words)
        seen: frozenset[str] = frozenset()
        while waiting and len(found) < _MOST_BROUGHT:
            fresh: set[str] = set()
            for header in self.headers:
                for name in sorted(waiting & candidates(header)):
                    known = definitions_of(header)
                    if known.is_constant(name) and is_declared(self.tokens, name):
                        continue  # a variable of the file's own
                    for text, inside in known.of(name).items():
                        found[text] = None
                        fresh |= inside
            seen |= waiting
            waiting = frozenset(fresh - seen)
        return "\n".join(found)

    def declares(self, name: str) -> bool:
        """Whether the file or a header of the project that it includes declares a name."""
        return is_declared(self.tokens, name) or any(
            name in header.text and is_declared(tokens_of(header), name) for header in self.headers
        )

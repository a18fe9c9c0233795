"""The tokens of files, each lexed once per process while it is in use: units share the headers that they include."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from porter.cpp.lex import Tokens, lex
from porter.source import SourceFile

_MOST_KEPT = 1 << 22
"""Characters of the files whose tokens a process keeps, some fifteen bytes of memory for each: less than the headers
that one unit includes would be no use, as the next one asks for them in the same order."""


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


_Fact = TypeVar("_Fact")
_MOST_TEXTS = 4096
_kept = _Kept()
_facts: OrderedDict[bytes, dict[Hashable, object]] = OrderedDict()


def tokens_of(source: SourceFile) -> Tokens:
    """The tokens of a file; units that include it share them."""
    return _kept.of(source)


def fact_of(source: SourceFile, key: Hashable, find: Callable[[Tokens], _Fact]) -> _Fact:
    """What is found in the tokens of a file, kept when these are given up: a unit may include more than is kept."""
    known = _facts.setdefault(source.data, {})
    if key not in known:
        known[key] = find(tokens_of(source))
        while len(_facts) > _MOST_TEXTS:
            _facts.popitem(last=False)
    return cast(_Fact, known[key])

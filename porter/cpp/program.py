"""One view of the program: a file together with the project's headers that it includes, each lexed once per process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from porter.cpp.declared import is_declared
from porter.cpp.definitions import candidates, definitions_of
from porter.cpp.headers import MOST_FILES, OURS, Included, headers_of
from porter.cpp.kept_tokens import tokens_of
from porter.cpp.lex import Tokens
from porter.cpp.prescan import aliases_of, defines_kernel_macro, head_macros, kernel_heads, type_aliases
from porter.source import SourceFile

_MOST_BROUGHT = 300
"""Definitions that a file gets of its headers."""


has_kernel_macro = functools.lru_cache(maxsize=4096)(defines_kernel_macro)
_type_aliases = functools.lru_cache(maxsize=4096)(type_aliases)
_aliases_of = functools.lru_cache(maxsize=4096)(aliases_of)
_head_macros = functools.lru_cache(maxsize=4096)(head_macros)
_kernel_heads = functools.lru_cache(maxsize=4096)(kernel_heads)


@dataclass(frozen=True)
class Program:
    """A file and what it includes."""

    source: SourceFile
    tokens: Tokens
    read: Included | None = field(default=None, repr=False)
    beside: Callable[[], tuple[SourceFile, ...]] | None = field(default=None, repr=False)

    @cached_property
    def headers(self) -> tuple[SourceFile, ...]:
        """The project's headers that the file includes, directly or not, inner ones first."""
        if self.read is None:
            return ()
        names = [include.name for include in self.tokens.includes]
        return tuple(headers_of(self.source, names, self.read, MOST_FILES, OURS))

    @property
    def all_tokens(self) -> Iterator[Tokens]:
        """The tokens of the file and of each header."""
        yield self.tokens
        yield from self.header_tokens

    @property
    def header_tokens(self) -> Iterator[Tokens]:
        """The tokens of each header."""
        return map(tokens_of, self.headers)

    @cached_property
    def makes_kernels(self) -> bool:
        """Whether the file or a header defines a macro that makes kernels."""
        return any(map(has_kernel_macro, (self.source.data, *(header.data for header in self.headers))))

    def names_type(self, types: frozenset[str]) -> bool:
        """Whether the file names one of some types, or what a header calls it (`using bf16 = __nv_bfloat16;`)."""
        known = self.tokens.names
        if not types.isdisjoint(known):
            return True
        sources = (*self.headers, *self._beside)
        return any(name in known for header in sources for name in _type_aliases(header.data, types))

    @cached_property
    def head_macros(self) -> frozenset[str]:
        """Macros of headers that the file uses, and that begin functions: `#define KERNEL __global__ void`."""
        return self._used_heads(_head_macros)

    @cached_property
    def kernel_heads(self) -> frozenset[str]:
        """Those of them that begin kernels."""
        return self._used_heads(_kernel_heads) if self.head_macros else frozenset()

    def _used_heads(self, macros: Callable[[bytes], frozenset[str]]) -> frozenset[str]:
        known = self.tokens.names
        sources = (*self.headers, *self._beside)
        direct = frozenset().union(*(macros(source.data) for source in sources))
        found = direct.union(*(_aliases_of(source.data, direct) for source in sources)) if direct else direct
        return frozenset(name for name in found if name in known)

    @cached_property
    def _beside(self) -> tuple[SourceFile, ...]:
        """Of a header: what a source that includes it includes besides, where it leaves something to the source."""
        own = {self.source.path, *(header.path for header in self.headers)}
        return tuple(header for header in self.beside() if header.path not in own) if self.beside is not None else ()

    def brought(self, words: Iterable[str]) -> str:
        """The definitions in headers of what some words of the file come to, directly or not, as one text.

        What neither the file nor its headers declare is looked for where the source has it that includes the file.
        """
        found: dict[str, None] = {}
        waiting = frozenset(words)
        seen: frozenset[str] = frozenset()
        while waiting and len(found) < _MOST_BROUGHT:
            fresh: set[str] = set()
            left = set(waiting)
            for header in self.headers:
                for name in sorted(waiting & candidates(header)):
                    known = definitions_of(header)
                    if known.is_constant(name) and is_declared(self.tokens, name):
                        continue  # a variable of the file's own
                    for text, inside in known.of(name).items():
                        found[text] = None
                        fresh |= inside
                        left.discard(name)
            for header in self._beside:
                for name in sorted(left & candidates(header)):
                    if not is_declared(self.tokens, name):
                        for text, inside in definitions_of(header).of(name).items():
                            found[text] = None
                            fresh |= inside
            seen |= waiting
            waiting = frozenset(fresh - seen)
        return "\n".join(found)

    def declares(self, name: str) -> bool:
        """Whether the file or a header of the project that it includes declares a name."""
        return is_declared(self.tokens, name) or self.headers_declare(name)

    def headers_declare(self, name: str) -> bool:
        """Whether a header of the project that the file includes declares a name."""
        return any(name in header.text and is_declared(tokens_of(header), name) for header in self.headers)

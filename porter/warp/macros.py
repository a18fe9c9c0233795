"""The macros of a file as device code has them: replacements that are statements, expressions, or say a word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from porter.cpp.constants import Constants, Macro
from porter.cpp.lex import Tokens
from porter.cpp.nodes import Node
from porter.cpp.statements import parse_expression, parse_statements
from porter.warp.collectives import BARRIERS, Collective
from porter.warp.collectives import named as warp_wide


@dataclass(frozen=True)
class Macros:
    """The macros of some tokens."""

    tokens: Tokens
    constants: Constants

    @cached_property
    def bodies(self) -> Mapping[str, tuple[tuple[Macro, Node], ...]]:
        """The function-like macros with their replacements read as statements: one of those that are written alike."""
        texts = self.tokens.texts
        found: dict[str, tuple[tuple[Macro, Node], ...]] = {}
        for name, macros in self.constants.macros.items():
            if any(macro.parameters is not None for macro in macros):
                written = {(m.parameters, *texts[m.first : m.last]): m for m in reversed(macros) if m.first < m.last}
                found[name] = tuple(
                    (m, parse_statements(self.tokens, m.first, m.last)) for m in reversed(written.values())
                )
        return found

    @cached_property
    def expressions(self) -> Mapping[str, tuple[Node, ...]]:
        """The object-like macros whose replacements are expressions."""
        return {
            name: tuple(parse_expression(self.tokens, m.first, m.last) for m in macros if m.first < m.last)
            for name, macros in self.constants.macros.items()
            if all(m.parameters is None for m in macros)
        }

    @cached_property
    def named(self) -> Mapping[str, Collective]:
        """The warp-wide functions that macros give another name: `#define SHFL __shfl_sync`."""
        texts = self.tokens.texts
        return {
            name: found
            for name, macros in self.constants.macros.items()
            for macro in macros
            if macro.parameters is None and (found := warp_wide("".join(texts[macro.first : macro.last]))) is not None
        }

    @cached_property
    def meeting(self) -> frozenset[str]:
        """Macros without parameters that wait for the block: `#define BARRIER __syncthreads()`."""
        return self.saying(BARRIERS)

    @cached_property
    def shared(self) -> frozenset[str]:
        """Macros without parameters that say `__shared__`."""
        return self.saying(frozenset({"__shared__"}))

    def saying(self, words: frozenset[str]) -> frozenset[str]:
        """Macros without parameters that say one of some words."""
        texts = self.tokens.texts
        if words.isdisjoint(self.tokens.names):
            return frozenset()
        return frozenset(
            name
            for name, macros in self.constants.macros.items()
            if any(m.parameters is None and not words.isdisjoint(texts[m.first : m.last]) for m in macros)
        )

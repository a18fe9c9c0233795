"""Which namespaces a name can be found in: by its scope, what stands for one, those around it and those opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from porter.cpp.scopes import find_scopes
from porter.cpp.syntax import IDENTIFIER, Tokens, chain_start
from porter.engine.renames import namespace_aliases, opened_namespaces, without_alias

_MOST_ALIASES = 4
"""Names in a row that stand for each other: `namespace a = b;` after `namespace b = c;`."""


@dataclass(frozen=True)
class Reach:
    """The names that stand for namespaces in a file and its headers, what they open, and what they use of others."""

    aliases: tuple[tuple[str, str], ...]
    opened: frozenset[str]
    used: frozenset[tuple[str, str]]
    """`using a::b;` -> (b, a)."""

    @classmethod
    def of(cls, program: Iterable[Tokens]) -> Reach:
        """What the files of a program say of namespaces."""
        files = tuple(program)
        aliases = {name: scope for one in files for name, scope in (*_macros(one), *namespace_aliases(one).items())}
        opened = {_written_out(scope, aliases) for one in files for scope in opened_namespaces(one, {})}
        used = {(name, _written_out(scope, aliases)) for one in files for name, scope in _used(one)}
        return cls(tuple(aliases.items()), frozenset(opened), frozenset(used))

    def scope(self, tokens: Tokens, index: int) -> str:
        """What stands before a name, aliases and macros written out: `at::cuda`; nothing where nothing does."""
        first = chain_start(tokens, index)
        return _written_out("".join(tokens.texts[first : max(first, index - 1)]), dict(self.aliases))

    def found_in(self, tokens: Tokens, index: int) -> frozenset[str]:
        """Every namespace that can have the name at a token: the scope alone, and below each that is open there."""
        before = tokens.texts[index - 1] if index else ""
        if before in (".", "->"):
            return frozenset()
        scope = self.scope(tokens, index)
        if before == "::" and tokens.texts[chain_start(tokens, index)] == "::":
            return frozenset({scope})
        around = tuple(_around(tokens, index))
        used = {space for name, space in self.used if name == tokens.texts[index] and not scope}
        bases = {"", *around, *self.opened, *(_joined(outer, inner) for outer in around for inner in self.opened)}
        return frozenset({*(_joined(base, scope) for base in bases), *used})

    def is_below(self, tokens: Tokens, index: int, roots: frozenset[str]) -> bool:
        """Whether a name's scope goes through one of some namespaces, or one of them is open where it has none."""
        first = chain_start(tokens, index)
        if first < index:
            return not roots.isdisjoint({*tokens.texts[first:index], *self.scope(tokens, index).split("::")})
        return any(not roots.isdisjoint(space.split("::")) for space in self.found_in(tokens, index))


def _around(tokens: Tokens, index: int) -> Iterator[str]:
    """The namespaces around a token: `at::native`, then `at`."""
    names = [
        part
        for scope in find_scopes(tokens)
        if not scope.is_class and scope.opening < index < scope.closing
        for part in scope.name.split("::")
    ]
    for count in range(len(names), 0, -1):
        yield "::".join(names[:count])


def _used(tokens: Tokens) -> Iterator[tuple[str, str]]:
    texts = tokens.texts
    for index in tokens.names.get("using", ()):
        end = index + 1
        while texts[end] == "::" or tokens.kinds[end] == IDENTIFIER:
            end += 1
        if texts[index + 1] != "namespace" and texts[end] == ";" and texts[end - 2] == "::":
            yield texts[end - 1], "".join(texts[index + 1 : end - 2])


def _macros(tokens: Tokens) -> Iterator[tuple[str, str]]:
    """Macros without arguments that stand for a scope: `#define NS at::native`."""
    for directive in tokens.directives:
        name, first, last = directive.first, directive.first + 1, directive.last
        if directive.name != "define" or first >= last:
            continue
        if all(tokens.texts[i] == "::" or tokens.kinds[i] == IDENTIFIER for i in range(first, last)):
            yield tokens.texts[name], "".join(tokens.texts[first:last])


def _written_out(scope: str, aliases: dict[str, str]) -> str:
    for _ in range(_MOST_ALIASES):
        longer = without_alias(scope, aliases)
        if longer == scope:
            break
        scope = longer
    return scope


def _joined(outer: str, inner: str) -> str:
    return f"{outer}::{inner}" if outer and inner else outer or inner

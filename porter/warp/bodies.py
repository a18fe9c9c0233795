"""The kernels and device functions of a file with their parsed bodies, and the cached model of a unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from porter.cpp.brackets import split_commas, written
from porter.cpp.constants import Constants, Macro
from porter.cpp.heads import Head, find_heads, find_lambdas
from porter.cpp.lex import IDENTIFIER, Tokens, joined, lex
from porter.cpp.nesting import Nesting
from porter.cpp.nodes import Node
from porter.engine.unit import Unit
from porter.warp.function import Function, bare, default_values
from porter.warp.macros import Macros
from porter.warp.operations import Operations

__all__ = ["LAMBDA", "Bodies", "Function", "bodies_in_sight", "bodies_of", "mentions_in_sight"]


@dataclass(frozen=True)
class Bodies:
    """Device code of one file."""

    tokens: Tokens
    constants: Constants
    own: int | None = None
    """How many of the tokens are the file's own; None: all. Behind them stands what it uses of its headers."""

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """The file's kernels and device functions that have bodies, in order."""
        return tuple(filter(self.is_own, self.all_functions))

    def is_own(self, function: Function) -> bool:
        """Whether a function stands in the file itself."""
        return self.own is None or function.head.begin < self.own

    @cached_property
    def all_functions(self) -> tuple[Function, ...]:
        """Those and the functions of headers in sight."""
        tokens = self.tokens
        heads: dict[int, tuple[Head, bool]] = {}
        for marker in ("__device__", "__global__"):
            for head in find_heads(tokens, marker):
                if head.is_definition and head.body is not None:
                    heads[head.body] = (head, marker == "__global__")
        found = [
            Function(tokens, head, bare(written(tokens, head.name_first, head.name_last)), is_kernel)
            for _, (head, is_kernel) in sorted(heads.items())
        ]
        lambdas = tuple(find_lambdas(tokens))
        if not lambdas:
            return tuple(found)
        bodies = Nesting([(body, head.end) for body, (head, _) in heads.items()])
        outer = (head for head in lambdas if next(bodies.around(head.begin), None) is None)
        found += [Function(tokens, head, _name_of_lambda(tokens, head), is_kernel=False) for head in outer]
        return tuple(sorted(found, key=lambda function: function.head.body or 0))

    @cached_property
    def by_name(self) -> Mapping[str, tuple[Function, ...]]:
        """All functions of a name."""
        found: dict[str, list[Function]] = {}
        for function in self.all_functions:
            found.setdefault(function.name, []).append(function)
        for name, functions in self._instances.items():
            found.setdefault(name, []).extend(functions)
        return {name: tuple(functions) for name, functions in found.items()}

    @cached_property
    def _instances(self) -> Mapping[str, tuple[Function, ...]]:
        """Functions that macros make, by the names that they have where the macros are used: `MAKE(sum, float)`."""
        tokens, found = self.tokens, dict[str, tuple[Function, ...]]()
        for function in self.all_functions:
            directive = function.head.directive
            macro = None if directive is None else tokens.texts[directive.first]
            for made in self.constants.macros.get(macro or "", ()):
                if made.parameters and directive is not None and made.place == directive.first:
                    for name in _names_made(tokens, function.head, made):
                        found[name] = (*found.get(name, ()), function)
        return found

    def defaults(self, name: str) -> tuple[tuple[Node, ...], ...]:
        """The default values of the parameters of each function of a name: where it is defined, where declared."""
        known = self._defaults.get(name)
        if known is None:
            defined = [function.defaults for function in self.by_name.get(name, ())]
            declared = [default_values(self.tokens, *place) for place in self._declarations(name)] if defined else []
            known = self._defaults[name] = (*defined, *declared)
        return known

    @cached_property
    def _defaults(self) -> dict[str, tuple[tuple[Node, ...], ...]]:
        return {}

    def _declarations(self, name: str) -> Iterator[tuple[int, int]]:
        """The parentheses of declarations of a function that have default values: a call has none."""
        tokens = self.tokens
        for index in tokens.names.get(name, ()):
            closing = tokens.partner.get(index + 1, -1) if tokens.texts[index + 1] == "(" else -1
            if tokens.texts[closing + 1 : closing + 2] in ([";"], ["const"]) and "=" in tokens.texts[index:closing]:
                yield index + 1, closing

    @cached_property
    def members(self) -> frozenset[str]:
        """Names of functions that may be members: those in classes, behind a scope, and of headers."""
        return frozenset(
            function.name for function in self.all_functions if not self.is_own(function) or function.owner is not None
        )

    @cached_property
    def memo(self) -> dict[object, object]:
        """Results of walks over these bodies."""
        return {}

    def forget(self) -> None:
        """Drops the results: walks know their bodies, and would keep them and the file until garbage is collected."""
        seen = self.memo.pop(_IN_SIGHT, self)
        self.memo.clear()
        if seen is not self:
            cast(Bodies, seen).forget()

    def calls(self, function: Function, name: str) -> bool:
        """Whether a function's text mentions a name, read from the tokens."""
        return bool(self.tokens.named(name, (function.head.body or 0) + 1, function.head.end))

    @cached_property
    def macros(self) -> Macros:
        """Its macros."""
        return Macros(self.tokens, self.constants)

    @cached_property
    def operations(self) -> Operations:
        """What its functions and macros come to."""
        return Operations(
            self.tokens, self.macros, self.all_functions, self._nesting, self.by_name, self._instances, self.members
        )

    def callers(self, name: str) -> tuple[Function, ...]:
        """The functions whose texts mention a name, those of headers included, in order."""
        known = self._callers.get(name)
        if known is None:
            around = {number for index in self.tokens.names.get(name, ()) for number in self._nesting.around(index)}
            known = self._callers[name] = tuple(self.all_functions[number] for number in sorted(around))
        return known

    @cached_property
    def _callers(self) -> dict[str, tuple[Function, ...]]:
        return {}

    @cached_property
    def _nesting(self) -> Nesting:
        return Nesting([(function.head.body or 0, function.head.end) for function in self.all_functions])

    def function_at(self, index: int) -> Function | None:
        """The function whose declaration contains a token."""
        around = list(self._declared.around(index + 1))
        return self.functions[around[-1]] if around else None

    @cached_property
    def _declared(self) -> Nesting:
        return Nesting([(function.head.begin, function.head.end + 1) for function in self.functions])


def _names_made(tokens: Tokens, head: Head, macro: Macro) -> Iterator[str]:
    """The names of a function that a macro makes, one for each use of the macro."""
    parts = [text for text in tokens.texts[head.name_first : head.name_last] if text != "##"]
    parameters = macro.parameters or ()
    if parameters and not set(parameters).isdisjoint(parts):
        for index in tokens.names.get(macro.name, ()):
            if index != macro.place and tokens.texts[index + 1] == "(" and (closed := tokens.partner.get(index + 1)):
                values = (written(tokens, a, b) for a, b in split_commas(tokens, index + 2, closed))
                given = dict(zip(parameters, values, strict=False))
                yield "".join(given.get(part, part) for part in parts)


def _name_of_lambda(tokens: Tokens, head: Head) -> str:
    """That of the variable that a lambda is the value of."""
    is_value = tokens.texts[head.begin - 1] == "=" and tokens.kinds[head.begin - 2] == IDENTIFIER
    return tokens.texts[head.begin - 2] if is_value else LAMBDA


LAMBDA = "(lambda)"
"""The name of functions that have none: nobody calls them by it."""
_last: list[tuple[Unit, Bodies]] = []
_IN_SIGHT = "in sight"


def bodies_of(unit: Unit) -> Bodies:
    """The device code of a unit; kept for the rules that ask one after the other."""
    if not _last or _last[0][0] is not unit:
        for _, bodies in _last:
            bodies.forget()
        _last[:] = [(unit, Bodies(unit.tokens, Constants(unit.tokens)))]
    return _last[0][1]


def bodies_in_sight(unit: Unit) -> Bodies:
    """The device code of a unit together with the helpers, macros and constants of its headers that it comes to.

    The file's own tokens come first, so that places in it are the same as in the unit; `functions` are its own.
    """
    memo = bodies_of(unit).memo
    if _IN_SIGHT not in memo:
        memo[_IN_SIGHT] = _in_sight(unit)
    return cast(Bodies, memo[_IN_SIGHT])


def mentions_in_sight(unit: Unit, names: frozenset[str]) -> bool:
    """Whether a unit, or what it uses of its headers, has one of some names."""
    return not names.isdisjoint(unit.identifiers) or not names.isdisjoint(bodies_in_sight(unit).tokens.names)


def _in_sight(unit: Unit) -> Bodies:
    own = bodies_of(unit)
    heads = unit.program.head_macros - own.constants.macros.keys()
    known = _joined(unit, own, unit.program.brought(heads)) if heads else own
    words = heads.union(*(function.words for function in known.functions))
    brought = unit.program.brought(words - own.by_name.keys() - own.constants.macros.keys()) if words else ""
    return _joined(unit, own, brought)


def _joined(unit: Unit, own: Bodies, brought: str) -> Bodies:
    """The device code of a unit with a text from its headers."""
    if not brought:
        return own
    count = len(unit.tokens)
    tokens = joined(unit.tokens, lex(brought))
    if tokens is not None:
        return Bodies(tokens, Constants(tokens), count)
    tokens = lex(f"{unit.source.text}\n{brought}")
    # a comment, string or bracket that the file leaves open would swallow or pair with what stands behind it
    sound = tokens.starts[:count] == unit.tokens.starts[:count] and all(
        (index < count) == (partner < count) for index, partner in tokens.partner.items()
    )
    return Bodies(tokens, Constants(tokens), count) if sound else own

"""What the parts of the reader share: the tokens, the place in the namespaces, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from porter.names.derive.declarations import Declaration, Prototype
from porter.names.derive.syntax import NOT_NAMES
from porter.names.derive.tokens import Macro

Namespaces = Callable[[str], "list[str] | None"]
"""What a macro word opens: namespace components; [] when it closes as many as it opened; None: not such a macro."""


def no_namespaces(word: str) -> list[str] | None:
    """For C headers."""
    return None


@dataclass
class Scope:
    """Where a declaration stands."""

    names: tuple[str, ...] = ()
    members: bool = False
    """Inside a class."""
    public: bool = True


@dataclass
class Reader:
    """State of reading one header."""

    header: str
    texts: list[str]
    namespaces: Namespaces
    values: dict[str, int]
    found: list[Declaration] = field(default_factory=list)
    macros: Mapping[str, Macro] = field(default_factory=dict)
    """Function-like macros of the header, whose uses may stand for declarations."""

    def declare(
        self,
        scope: Scope,
        name: str,
        kind: str,
        *,
        overloads: list[Prototype] | None = None,
        value: int | None = None,
        target: str = "",
        owner: str = "",
    ) -> None:
        """Records a declaration in a scope, unless it is private there or the name is a word of the language."""
        if scope.public and name not in NOT_NAMES:
            qualified = "::".join((*scope.names, name))
            self.found.append(
                Declaration(qualified, kind, self.header, overloads or [], value, target, owner, scope.members)
            )

"""What the parts of the reader share: the tokens, the place in the namespaces, and what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from porter.names.derive.declarations import Declaration, Prototype

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
        """Records a declaration in a scope, unless it is private there."""
        if scope.public:
            qualified = "::".join((*scope.names, name))
            self.found.append(
                Declaration(qualified, kind, self.header, overloads or [], value, target, owner, scope.members)
            )

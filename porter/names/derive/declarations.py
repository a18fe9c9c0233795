"""What a header declares: the values that flow through the derivation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Parameter(NamedTuple):
    """One parameter as written; `optional` when it has a default value."""

    type: str
    name: str = ""
    optional: bool = False


class Prototype(NamedTuple):
    """One overload of a function."""

    result: str
    parameters: tuple[Parameter, ...]
    template: bool = False

    @property
    def required(self) -> int:
        """Number of arguments a call must give."""
        return sum(not parameter.optional for parameter in self.parameters)


@dataclass
class Declaration:
    """One public name of a set of headers."""

    name: str
    kind: str
    header: str
    overloads: list[Prototype] = field(default_factory=list)
    value: int | None = None
    target: str = ""
    """What a typedef, alias macro or using-declaration stands for."""
    owner: str = ""
    """The enum of an enumerator, the struct of a field."""
    member: bool = False
    """Declared inside of a class."""
    binding: bool = False
    """Seen through a language binding, which shows neither default arguments nor templates."""
    preprocessed: bool = False
    """Seen in what the preprocessor left of some of the headers: other headers may have more overloads."""


class Harvest:
    """The names of one set of headers; a name declared twice keeps all its overloads."""

    def __init__(self) -> None:
        self.names: dict[str, Declaration] = {}
        self.fields: dict[str, dict[str, Declaration]] = {}
        self.headers: set[str] = set()

    def add(self, found: Declaration) -> None:
        """Adds a declaration; functions win over macros of the same name, definitions over forward declarations."""
        known = self.names.get(found.name)
        if known is None:
            self.names[found.name] = found
            return
        if found.kind == "function" and known.kind in ("macro", "template"):
            known.kind = "function"
        known.overloads += [p for p in found.overloads if p not in known.overloads]
        known.target = known.target or found.target
        if known.value is None:
            known.value = found.value

    def add_field(self, found: Declaration) -> None:
        """Adds a member of a struct."""
        self.fields.setdefault(found.owner, {}).setdefault(found.name, found)

    def extend(self, declarations: Iterable[Declaration]) -> None:
        """Adds many declarations."""
        for found in declarations:
            if found.kind == "field":
                self.add_field(found)
            else:
                self.add(found)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[Declaration]:
        return iter(self.names.values())

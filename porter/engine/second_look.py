"""Clang's view of a file that was edited: what it said of the original, wherever an edit did not write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from porter.engine.edits import unmoved
from porter.engine.semantics import Declaration, Semantics
from porter.model import Edit, Kernel


@dataclass(frozen=True)
class SecondLook:
    """Answers about an edited file; only what edits wrote has to be parsed."""

    original: Semantics
    trail: tuple[Sequence[Edit], ...]
    parse: Callable[[], Semantics | None]

    @cached_property
    def _edited(self) -> Semantics | None:
        return self.parse()

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Kernels with typed parameters, where the original has them."""
        return self.original.kernels

    @property
    def declared(self) -> frozenset[str]:
        """Names that the project itself declares, as seen from the original."""
        return self.original.declared

    @property
    def own_errors(self) -> int:
        """Clang's errors in the original, outside function bodies."""
        return self.original.own_errors

    def is_inactive(self, offset: int) -> bool:
        """Whether no pass compiles an offset."""
        view, place = self._at(offset)
        return view is not None and view.is_inactive(place)

    def declaration_at(self, offset: int) -> Declaration | None:
        """What the identifier at an offset refers to."""
        view, place = self._at(offset)
        return None if view is None else view.declaration_at(place)

    def type_at(self, offset: int) -> str | None:
        """Canonical type of the expression whose token starts at an offset."""
        view, place = self._at(offset)
        return None if view is None else view.type_at(place)

    def call_argument_types(self, offset: int) -> tuple[str | None, ...] | None:
        """Canonical argument types of the call whose callee starts at an offset."""
        view, place = self._at(offset)
        return None if view is None else view.call_argument_types(place)

    def _at(self, offset: int) -> tuple[Semantics | None, int]:
        before = unmoved(offset, self.trail)
        return (self._edited, offset) if before is None else (self.original, before)

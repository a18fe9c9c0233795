"""What rules may ask clang about a file."""

from __future__ import annotations

from typing import Protocol

from porter.model import Kernel


class Declaration(Protocol):
    """What clang says an identifier refers to."""

    @property
    def origin(self) -> str:
        """`cuda`, `std` or `project`."""

    @property
    def kind(self) -> str:
        """What was declared."""

    @property
    def name(self) -> str:
        """Its qualified name."""

    @property
    def type(self) -> str:
        """Its type as clang spells it."""


class Semantics(Protocol):
    """Clang's view of a file, as far as rules need it; `porter.cpp.clang.view.Parsed` is one."""

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Kernels with typed parameters."""

    @property
    def declared(self) -> frozenset[str]:
        """Names that the project itself declares, as seen from this file."""

    def is_inactive(self, offset: int) -> bool:
        """Whether no pass compiles an offset."""

    @property
    def own_errors(self) -> int:
        """Clang's errors in this very file, outside function bodies."""

    def declaration_at(self, offset: int) -> Declaration | None:
        """What the identifier at an offset refers to."""

    def type_at(self, offset: int) -> str | None:
        """Canonical type of the expression whose token starts at an offset."""

    def call_argument_types(self, offset: int) -> tuple[str | None, ...] | None:
        """Canonical argument types of the call whose callee starts at an offset."""

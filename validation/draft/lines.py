"""A drafted argument as a line of a case file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from porter.validation.cases.argument_rows import TODO
from porter.validation.draft.expression import Value


@dataclass(frozen=True)
class Slot:
    """One member of a structure that is passed by value."""

    dtype: str
    value: Value | str
    """A number or size; of an address the array's name."""
    at: int | None = None
    """Its byte, where that is not the next place that its type allows."""


@dataclass(frozen=True)
class Line:
    """One parameter, or an array that a structure points to."""

    name: str
    kind: str
    dtype: str = ""
    value: Value | None = None
    """Of a scalar."""
    sides: tuple[Value | str, ...] = ()
    values: str = ""
    below: Value | None = None
    """Its elements are places in an array of this length."""
    keys: tuple[str, ...] = ()
    fields: tuple[Slot, ...] = ()
    """Of a structure."""
    size: int | None = None
    """Of a structure: its bytes, where they are not what its members take."""
    whole: str = ""
    """The line, where it is made elsewhere."""
    adds: bool = False
    """Whether floating-point values are added to it in no order."""

    def text(self, show: Callable[[Value], str]) -> str:
        """As a case file has it."""
        if self.whole or self.kind == "null":
            return self.whole or f"null {self.name}"
        if self.kind == "struct":
            inside = ", ".join(_in_table(slot, show) for slot in self.fields)
            size = f", size = {self.size}" if self.size is not None else ""
            return f"{{ name = '{self.name}', kind = 'struct'{size}, fields = [{inside}] }}"
        if self.kind == "scalar":
            return f"scalar {self.name}: {self.dtype} = {show(self.value) if self.value is not None else TODO}"
        sides = ", ".join(show(side) if isinstance(side, Value) else side for side in self.sides)
        keys = f" {{{', '.join(self.keys)}}}" if self.keys else ""
        values = self.values if self.below is None else f" = integers(0, {show(self.below)})"
        return f"{self.kind} {self.name}: {self.dtype}[{sides}]{keys}{values}"


def _in_table(slot: Slot, show: Callable[[Value], str]) -> str:
    text = show(slot.value) if isinstance(slot.value, Value) else slot.value
    shown = text if re.fullmatch(r"-?\d+(?:\.\d+)?", text) else f"'{text}'"
    return f"['{slot.dtype}', {shown}{f', {slot.at}' if slot.at is not None else ''}]"

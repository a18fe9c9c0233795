"""The argument lines of a drafted case: type, direction, length and value of each parameter."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from porter.validation.cases.argument_rows import TODO
from porter.validation.draft.assumed import is_empty, member_type
from porter.validation.draft.expression import Unknown, Value, divided, number, symbol
from porter.validation.draft.image import image_line
from porter.validation.draft.kernel import (
    Use,
    adds_floats,
    constant_length,
    counted_places,
    guard_of,
    is_offsets,
    places_of,
    use_of,
)
from porter.validation.draft.template import Instance
from porter.validation.draft.torch import View, view_in
from porter.validation.draft.types import Element, bytes_of, dtype_of, elements_of, structure_of
from porter.validation.draft.unit import SourceText

from porter.cpp.constants import number as integer
from porter.model import Parameter

_FLOATS = ("float16", "bfloat16", "float32", "float64")


@dataclass(frozen=True)
class Line:
    """One parameter."""

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
    fields: tuple[tuple[str, Value], ...] = ()
    """Of a structure: type and value of each member."""
    whole: str = ""
    """The line, where it is made elsewhere."""
    adds: bool = False
    """Whether floating-point values are added to it in no order."""

    def text(self, show: Callable[[Value], str]) -> str:
        """As a case file has it."""
        if self.whole or self.kind == "null":
            return self.whole or f"null {self.name}"
        if self.kind == "struct":
            inside = ", ".join(f"['{dtype}', {_in_table(show(value))}]" for dtype, value in self.fields)
            return f"{{ name = '{self.name}', kind = 'struct', fields = [{inside}] }}"
        if self.kind == "scalar":
            return f"scalar {self.name}: {self.dtype} = {show(self.value) if self.value is not None else TODO}"
        sides = ", ".join(show(side) if isinstance(side, Value) else side for side in self.sides)
        keys = f" {{{', '.join(self.keys)}}}" if self.keys else ""
        values = self.values if self.below is None else f" = integers(0, {show(self.below)})"
        return f"{self.kind} {self.name}: {self.dtype}[{sides}]{keys}{values}"


def lines_of(unit: SourceText, instance: Instance, notes: list[str]) -> tuple[Line, ...]:
    """One per parameter; what was assumed goes to the notes."""
    body = unit.body(instance.kernel)
    maker = _Maker(unit, instance, body, notes)
    made = [maker.line(place, parameter) for place, parameter in enumerate(instance.kernel.parameters)]
    return tuple(_with_values(made, body))


@dataclass
class _Maker:
    unit: SourceText
    instance: Instance
    body: str
    notes: list[str]

    def line(self, place: int, parameter: Parameter) -> Line:
        host = self.unit.host
        image = image_line(parameter.name, parameter.type, self.body, host.text, host.functions)
        if image is not None:
            return Line(parameter.name, "image", whole=image)
        view = view_in(parameter.type)
        if view is not None:
            return Line(parameter.name, "view", whole=_view(parameter, view, self.instance, self.body))
        if "*" in parameter.type or re.search(r"\[[^\]]*\]\s*$", parameter.type):
            return self._array(place, parameter)
        return self._scalar(place, parameter)

    @property
    def _position(self) -> int:
        return self.instance.launch.span.start if self.instance.launch else len(self.unit.host.text)

    def _kind(self, parameter: Parameter) -> str:
        """Its type without pointers, template parameters and their members replaced."""
        return member_type(self.unit.host, self.instance.type_of(parameter.type), self.instance.template)

    def _given(self, place: int) -> str | None:
        return self.instance.given[place] if place < len(self.instance.given) else None

    # -- scalars --------------------------------------------------------------------------------------

    def _scalar(self, place: int, parameter: Parameter) -> Line:
        host, kind = self.unit.host, self._kind(parameter)
        dtype = dtype_of(kind) or dtype_of(host.plain_type(kind))
        if dtype is None and host.is_enumeration(kind):
            dtype = "int32"
        if dtype is None:
            return self._by_value(parameter, kind, self._given(place))
        given = self._given(place)
        value: Value | None = None
        try:
            value = host.value(given, self._position) if given else None
        except Unknown:
            pass
        is_float = dtype in _FLOATS
        if value is None:
            value = host.size(parameter.name, None)
        return Line(parameter.name, "scalar", dtype, value if is_float or not value.real else _truncated(value))

    def _by_value(self, parameter: Parameter, kind: str, given: str | None) -> Line:
        """A vector or structure of plain members: as the host sets them, else 1."""
        host, fields = self.unit.host, []
        record = host.record(host.plain_type(kind))
        element = elements_of(host, kind)
        if element is not None and record is None:
            members = tuple((element.dtype, 1, "xyzw"[i]) for i in range(min(element.lanes, 4)))
        elif record is not None:
            typed = [(elements_of(host, member), count, name) for member, count, name in record[0]]
            if any(one is None for one, _, _ in typed):
                return Line(parameter.name, "scalar", f"{TODO}({kind})")
            members = tuple((one.dtype, one.lanes * count, name) for one, count, name in typed if one is not None)
        elif is_empty(host, kind):
            return Line(parameter.name, "struct", fields=(("uint8", number(0)),))
        else:
            return Line(parameter.name, "scalar", f"{TODO}({kind})")
        for dtype, count, name in members:
            value = self._member(given, name)
            if value is None:
                self.notes.append(f"{parameter.name}.{name}: taken to be 1")
            fields += [(dtype, value or number(1))] * count
        return Line(parameter.name, "struct", fields=tuple(fields))

    def _member(self, given: str | None, name: str) -> Value | None:
        """A number, or an expression over sizes, that the host gives a member."""
        if given is None or not re.fullmatch(r"\w+", given):
            return None
        try:
            value = self.unit.host.value(f"{given}.{name}", self._position)
        except Unknown:
            return None
        return value if value.number is not None or value.text != name else None

    # -- arrays ---------------------------------------------------------------------------------------

    def _array(self, place: int, parameter: Parameter) -> Line:
        host, name = self.unit.host, parameter.name
        kind = self._kind(parameter)
        element = elements_of(host, kind) if parameter.type.count("*") + ("[" in parameter.type) == 1 else None
        element = self._rows(parameter, element)
        lanes = element.lanes if element else 1
        given = self._given(place)
        cleared = False
        side: Value | str = TODO
        if given is not None:
            try:
                structure = structure_of(host, kind) if element is None else None
                size = element.size if element else bytes_of(structure) if structure else 1
                extent = self.unit.arrays.extent(given, self._position, size)
                if extent.is_null:
                    return Line(name, "null")
                assert extent.elements is not None
                side, cleared = extent.elements, extent.is_cleared
            except Unknown:
                pass
        if side == TODO:
            side = self._length_in_kernel(name)
        use = use_of(name, parameter.type, self.body)
        structure = structure_of(host, kind) if element is None and parameter.type.count("*") == 1 else None
        if structure is not None:
            values = " = zeros" if cleared else " = integers(0, 100)"
            return Line(name, "in" if use.kind == "in" else "inout", structure, sides=(side,), values=values)
        if not use.is_clear:
            self.notes.append(f"{name}: taken to be read and written")
        dtype = element.dtype if element else f"{TODO}({' '.join(parameter.type.split())})"
        sides = (side, number(lanes)) if lanes > 1 else (side,)
        values = " = zeros" if cleared and use.kind == "inout" else use.values
        return Line(name, use.kind, dtype, sides=sides, values=values)

    def _rows(self, parameter: Parameter, element: Element | None) -> Element | None:
        """`float x[][28]` is about rows of 28."""
        inner = re.findall(r"\[([^\]]*)\]", parameter.type)[1:]
        try:
            for side in inner if element else ():
                count = self.unit.host.value(side, self._position).number
                element = (
                    None if count is None or element is None else Element(element.dtype, element.lanes * int(count))
                )
        except Unknown:
            return None
        return element

    def _length_in_kernel(self, name: str) -> Value | str:
        """From a guard around the index, or indices that are numbers."""
        length = constant_length(name, self.body)
        if length is not None:
            return number(length)
        scalars = [p.name for p in self.instance.kernel.parameters if "*" not in p.type]
        guard = guard_of(name, self.body, scalars)
        if guard is None:
            return TODO
        place = [p.name for p in self.instance.kernel.parameters].index(guard)
        given = self._given(place)
        try:
            return self.unit.host.value(given, self._position) if given else symbol(guard)
        except Unknown:
            return symbol(guard)


def _in_table(text: str) -> str:
    return text if re.fullmatch(r"-?\d+(?:\.\d+)?", text) else f"'{text}'"


def _truncated(value: Value) -> Value:
    return number(int(value.factor)) if value.number is not None else Value(text=f"int({value.shown()})")


def _with_values(made: list[Line], body: str) -> list[Line]:
    """Indices stay inside what they index; offsets grow; results of a race for places have no order, and no
    known number."""
    lines = {line.name: line for line in made}
    floats = tuple(line.name for line in made if "float" in line.dtype)
    unordered = counted_places(body)
    adds = adds_floats(body, floats)
    found: list[Line] = []
    for line in made:
        if line.sides and line.dtype not in _FLOATS and not line.values and line.kind in ("in", "inout"):
            line = _index_values(line, lines, body)
        if line.name in unordered and "(" not in line.dtype and line.kind in ("out", "inout"):
            line = replace(line, keys=("any_order", "partial"))
        found.append(replace(line, adds=adds))
    return found


def _index_values(line: Line, lines: dict[str, Line], body: str) -> Line:
    if is_offsets(line.name, body):
        return replace(line, values=" = arange")
    arrays = tuple(name for name, other in lines.items() if other.sides)
    scalars = tuple(name for name, other in lines.items() if other.kind == "scalar")
    found = places_of(line.name, body, arrays, scalars)
    if found is None:
        is_count = line.dtype.startswith("int") and bytes_of(line.dtype) > 1
        return replace(line, values=" = integers(0, 100)") if is_count else line
    side = lines[found.array].sides[0]
    bound = lines[found.of].value if found.of else side if found.is_plain else None
    if found.every and isinstance(side, Value):
        times = integer(found.every)
        by = number(times) if times is not None else lines[found.every].value
        bound = divided(side, by) if by is not None else None
    if isinstance(bound, Value) and (bound.number is None or bound.number > 0):
        return replace(line, below=bound)
    return replace(line, values=" = integers(0, 2)")


def _view(parameter: Parameter, view: View, instance: Instance, body: str) -> str:
    """An accessor: how many dimensions it has is known, how long they are is not."""
    dtype = dtype_of(instance.type_of(view.element)) or TODO
    name = re.escape(parameter.name)
    inside = body.partition("{")[2]
    element = rf"\b{name}(?:\s*\[[^;=\]]*\])+\s*"
    use = Use(f"{TODO}(in, out, inout or scratch)")
    if re.search(element + r"[-+*/|&^]=|\batomic\w+\s*\(\s*&?\s*" + element, inside, re.IGNORECASE):
        use = Use("inout", " = zeros")
    elif re.search(element + "=(?!=)", inside):
        use = Use("out")
    elif re.search(element, inside) or re.match(r"\s*const\b", parameter.type):
        use = Use("in")
    sides = ", ".join([TODO] * view.dimensions)
    return f"{use.kind} {parameter.name}: {dtype}[{sides}] {{view={view.kind}}}{use.values}"

"""The argument lines of a drafted case: type, direction, length and value of each parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from porter.validation.cases.argument_rows import TODO
from porter.validation.cases.case import ADDRESS as POINTER
from porter.validation.draft.assumed import is_empty, member_type
from porter.validation.draft.behind import MANY, ROW, Behind, as_pointer
from porter.validation.draft.expression import Unknown, Value, divided, number, symbol
from porter.validation.draft.generators import PHILOX, members_of
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
from porter.validation.draft.lines import Line, Slot
from porter.validation.draft.structures import Part, Structure, elements_behind, is_mentioned, structure
from porter.validation.draft.template import Instance
from porter.validation.draft.torch import View, view_in
from porter.validation.draft.types import Element, bare, bytes_of, dtype_of, elements_of, structure_of
from porter.validation.draft.unit import SourceText

from porter.cpp.constants import number as integer
from porter.model import Parameter

_POINTER = 8
_CONSTANT = re.compile(r"\bconst\b[^*]*\*")
"""What a pointer leads to is only read."""
_FLOATS = ("float16", "bfloat16", "float32", "float64")


def lines_of(unit: SourceText, instance: Instance, notes: list[str]) -> tuple[Line, ...]:
    """One per parameter, then the arrays that structures point to; what was assumed goes to the notes."""
    body = unit.body(instance.kernel)
    maker = _Maker(unit, instance, body, notes)
    template = instance.template
    written = [replace(one, type=_passed_as(one.type, template)) for one in instance.kernel.parameters]
    parameters = [replace(one, type=as_pointer(unit.host, one.type)) for one in written]
    made = [maker.line(place, one) for place, one in enumerate(parameters) if not _is_of_pack(one, instance)]
    return tuple(_with_values([*made, *maker.behind], body))


def _passed_as(kind: str, template: Mapping[str, str]) -> str:
    """A parameter's type, with the pointer that its template parameter stands for: an iterator."""
    told = template.get(bare(kind), "")
    return told if told.endswith("*") and "*" not in kind else kind


def _is_of_pack(parameter: Parameter, instance: Instance) -> bool:
    """Whether a parameter stands for as many as an empty pack has."""
    return "..." in parameter.type and not instance.empty.isdisjoint(re.findall(r"\w+", parameter.type))


@dataclass
class _Maker:
    unit: SourceText
    instance: Instance
    body: str
    notes: list[str]
    behind: list[Line] = field(default_factory=list)

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

    @cached_property
    def _reached(self) -> str:
        """The text of the kernel's body and of what it calls."""
        return self.unit.reached(self.instance.kernel).partition("{")[2]

    @cached_property
    def _followed(self) -> Behind:
        return Behind(self.unit.host, self.instance.template, self.notes, self._reached)

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
                return self._by_layout(parameter, kind, given)
            members = tuple((one.dtype, one.lanes * count, name) for one, count, name in typed if one is not None)
        elif is_empty(host, kind):
            return Line(parameter.name, "struct", fields=(Slot("uint8", number(0)),))
        else:
            return self._by_layout(parameter, kind, given)
        for dtype, count, name in members:
            value = self._member(given, name)
            if value is None:
                self.notes.append(f"{parameter.name}.{name}: taken to be 1")
            fields += [Slot(dtype, value or number(1))] * count
        return Line(parameter.name, "struct", fields=tuple(fields))

    def _by_layout(self, parameter: Parameter, kind: str, given: str | None) -> Line:
        """A class member by member, or a number behind a name that only clang knows."""
        made = structure(self.unit.host, self._whole(parameter), self.instance.template)
        if made is None:
            return Line(parameter.name, "scalar", f"{TODO}({kind})")
        if made.plain is None:
            return self._struct(parameter, made)
        if made.plain.element is None or made.plain.count > 1:
            return Line(parameter.name, "scalar", f"{TODO}({kind})")
        try:
            value = self.unit.host.value(given, self._position) if given else None
        except Unknown:
            value = None
        value = number(0) if made.plain.is_enumeration else value or self.unit.host.size(parameter.name, None)
        return Line(parameter.name, "scalar", made.plain.element.dtype, value)

    def _whole(self, parameter: Parameter) -> str:
        """The type of a class as written, or the one that a template parameter stands for."""
        words = bare(parameter.type)
        return self.instance.template.get(words, words)

    def _struct(self, parameter: Parameter, made: Structure) -> Line:
        """A class by value whose members are told one by one: an array for each pointer, a size for each integer."""
        place = [one.name for one in self.instance.kernel.parameters].index(parameter.name)
        given, slots, end = self._given(place), list[Slot](), 0
        many = sum(part.element is None for part in made.parts) > MANY
        for part in made.parts:
            is_null = part.element is None and many and not is_mentioned(part, self._reached)
            dtype = part.element.dtype if part.element else "uint64" if is_null else POINTER
            width = bytes_of(dtype) if part.element else 8
            count = part.element.lanes * part.count if part.element else 1
            natural = -(-end // width) * width == part.at
            value = number(0) if is_null else self._held(parameter, part, given)
            slots += [Slot(dtype, value, None if natural or n else part.at) for n in range(count)]
            end = part.at + width * count
        whole = max(bytes_of(s.dtype) if s.dtype != POINTER else 8 for s in slots)
        size = None if -(-end // whole) * whole == made.size else made.size
        return Line(parameter.name, "struct", fields=tuple(slots), size=size)

    def _held(self, parameter: Parameter, part: Part, given: str | None) -> Value | str:
        """What a member holds: the host's value, a size, 1, or the name of an array."""
        name = f"{parameter.name}_{part.name}"
        if part.element is None:
            self.behind.append(self._pointed(parameter, part, name, given))
            return name
        value = number(0) if part.is_enumeration else self._member(given, part.name)
        if value is None and part.element.dtype not in (*_FLOATS, "bool"):
            return self.unit.host.size(name, None)
        if value is None:
            self.notes.append(f"{parameter.name}.{part.name}: taken to be 1")
        return value or number(1)

    def _pointed(self, parameter: Parameter, part: Part, name: str, given: str | None) -> Line:
        """The array behind a member of a structure."""
        host = self.unit.host
        inner = structure(host, part.pointed, self.instance.template) if "*" not in part.pointed else None
        if "*" in part.pointed or (inner is not None and inner.has_pointers):
            behind = self._followed
            own, *rest = behind.array(name, part.pointed, (self._whole(parameter),))
            self.behind += rest
            return own
        element = elements_of(host, part.pointed) if "*" not in part.pointed else None
        record = structure_of(host, part.pointed) if element is None and "*" not in part.pointed else None
        if element is None and record is None and inner is not None:
            known = elements_behind(host, part.pointed, self.instance.template)
            element, record = (known, None) if isinstance(known, Element) else (None, known)
        if element is None and record is None:
            self.notes.append(f"{parameter.name}.{part.name}: taken to point to bytes")
            element = Element("uint8")
        use = use_of(f"{parameter.name}.{part.name}", f"{part.pointed}*", self.body)
        if not use.is_clear:
            self.notes.append(f"{name}: taken to be read and written")
        if record is not None:
            return Line(name, "inout", record, sides=(self._length(given, part, bytes_of(record)),))
        assert element is not None
        side = self._length(given, part, element.size)
        sides = (side, number(element.lanes)) if element.lanes > 1 else (side,)
        kind = "inout" if use.kind == "out" else use.kind
        return Line(name, kind, element.dtype, sides=sides, values=use.values)

    def _length(self, given: str | None, part: Part, size: int) -> Value | str:
        """As the host allocates what it puts there."""
        if given is None or not re.fullmatch(r"\w+", given):
            return TODO
        try:
            extent = self.unit.arrays.extent(f"{given}.{part.name}", self._position, size)
        except Unknown:
            return TODO
        return TODO if extent.elements is None else extent.elements

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
        known = None
        pointers = self._with_pointers(parameter, kind)
        if element is None and parameter.type.count("*") == 1 and structure_of(host, kind) is None:
            known = elements_behind(host, kind, self.instance.template)
            element = known if isinstance(known, Element) else None
        if element is None and kind == "void" and parameter.type.count("*") == 1:
            element = Element("uint8")
            self.notes.append(f"{name}: taken to point to bytes")
        element = self._rows(parameter, element)
        lanes = element.lanes if element else 1
        given = self._given(place)
        cleared = False
        side: Value | str = TODO
        if given is not None:
            try:
                record = structure_of(host, kind) if element is None else None
                size = element.size if element else bytes_of(record) if record else pointers.size if pointers else 1
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
        if element is None and pointers is not None:
            return self._linked(parameter, pointers, side, use)
        record = structure_of(host, kind) if element is None and parameter.type.count("*") == 1 else None
        record = record or (known if isinstance(known, str) else None)
        if record is not None:
            values = " = zeros" if cleared else " = integers(0, 100)"
            if members_of(kind) is not None:
                self.notes.append(f"{name}: states of random numbers that curand_init did not make")
                values = PHILOX if "Philox" in kind else " = integers(0, 2147483647)"
            return Line(name, "in" if use.kind == "in" else "inout", record, sides=(side,), values=values)
        if not use.is_clear:
            self.notes.append(f"{name}: taken to be read and written")
        dtype = element.dtype if element else f"{TODO}({' '.join(parameter.type.split())})"
        sides = (side, number(lanes)) if lanes > 1 else (side,)
        values = " = zeros" if cleared and use.kind == "inout" else use.values
        return Line(name, use.kind, dtype, sides=sides, values=values)

    def _with_pointers(self, parameter: Parameter, kind: str) -> Structure | None:
        """The elements of an array, where they are pointers or classes that have some."""
        stars = parameter.type.count("*") + ("[" in parameter.type)
        if stars == 2:
            pointed = f"const {kind}" if _CONSTANT.search(parameter.type) else kind
            return Structure((Part(ROW, 0, None, 1, pointed),), _POINTER, _POINTER)
        made = structure(self.unit.host, kind, self.instance.template) if stars == 1 else None
        return made if made is not None and made.has_pointers else None

    def _linked(self, parameter: Parameter, made: Structure, side: Value | str, use: Use) -> Line:
        """An array of those, and after the parameters what they point to."""
        name = parameter.name
        if side == TODO and not re.search(rf"(?<![\w.>]){name}\s*(?:\[|\+)", self.body.partition("{")[2]):
            side = number(1)
        kind = self._whole(parameter)
        own_kind = () if made.parts[0].name == ROW and made.size == _POINTER else (bare(kind),)
        constant = "in" if _CONSTANT.search(parameter.type) or not own_kind else ""
        if use.kind != "in" and not constant:
            self.notes.append(f"{name}: taken to be read and written")
        behind = self._followed
        own, *rest = behind.structures(name, constant or "inout", made, own_kind, side)
        self.behind += rest
        return own

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

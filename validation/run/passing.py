"""From arrays in row order to what a kernel is passed, and back: layout, padding, poison."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes
from porter.validation.cases.case import Argument, Case, CaseError, Symbols
from porter.validation.cases.dtypes import Array
from porter.validation.cases.inputs import Filled, shape_of
from porter.validation.cases.links import WIDTH, Link, part_of
from porter.validation.cases.sampling import Sampling
from porter.validation.cases.structs import Behind, struct_value
from porter.validation.cases.views import ViewArgument, view_of
from porter.validation.devices.core.image import ImageArgument


@dataclass(frozen=True)
class Placed:
    """One array argument in device memory: its shape there, and which part of it is the array."""

    argument: Argument
    shape: tuple[int, ...]
    outer: tuple[int, ...]
    """The shape with padding, in memory order."""
    lead: int = 0
    """Elements in front, which are not the array's."""

    @property
    def axes(self) -> tuple[int, ...]:
        """Memory order -> row order."""
        count = len(self.shape)
        return tuple(range(count)) if self.argument.layout == "row" else tuple(reversed(range(count)))

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one index to the next, in row order."""
        steps = [math.prod(self.outer[axis + 1 :]) for axis in range(len(self.outer))]
        return tuple(steps[axis] for axis in self.axes)

    def view(self, flat: Array) -> Array:
        """The array in row order inside its memory."""
        flat = flat.reshape(-1)[self.lead :]
        if self.argument.member is not None:
            return self.argument.member.view(flat).reshape(self.shape)
        if not self.shape:
            return flat.reshape(())
        inner = tuple(slice(0, self.shape[axis]) for axis in self.axes)
        part: Array = flat.reshape(self.outer)[inner].transpose(self.axes)
        return part

    def offset(self, index: Sequence[int]) -> int:
        """Bytes from the start of the memory to an element."""
        width = dtypes.storage(self.argument.dtype).itemsize
        if (member := self.argument.member) is not None:
            place, inner = divmod(int(np.ravel_multi_index(index, self.shape)), member.count)
            return place * member.size + member.offset + inner * width
        if not self.shape:
            return self.lead * width
        places = [index[axis] for axis in self.axes]
        return (self.lead + int(np.ravel_multi_index(places, self.outer))) * width


def place(case: Case, argument: Argument, symbols: Symbols) -> Placed:
    """Where an array's elements lie; raises CaseError."""
    shape = shape_of(case, argument, symbols)
    outer = list(shape if argument.layout == "row" else reversed(shape))
    if argument.pitch is not None and outer:
        pitch = case.integer(argument.pitch, symbols, "arguments")
        if pitch < outer[-1]:
            message = f"{argument.name}: a pitch of {pitch} for rows of {outer[-1]}"
            raise CaseError(case.path, argument.line, message)
        outer[-1] = pitch
    lead = 0 if argument.offset is None else case.integer(argument.offset, symbols, "arguments")
    if not 0 <= lead < 1 << 20:
        raise CaseError(case.path, argument.line, f"{argument.name}: an offset of {lead} elements")
    return Placed(argument, shape, tuple(outer), lead)


@dataclass(frozen=True)
class Packed:
    """The arguments of one launch."""

    values: tuple[Any, ...]
    placed: Mapping[str, Placed]
    position: Mapping[str, int]
    which: int
    """Which of the two poisons stands for `nothing was written`."""
    links: tuple[Link, ...] = ()
    """Where the addresses of some of them go."""

    def written(self, name: str, after: Array) -> tuple[Array, NDArray[np.bool_]]:
        """An output in row order, and where it differs from its poison (everywhere, for what is in and out)."""
        placed = self.placed[name]
        array = np.ascontiguousarray(placed.view(after)).reshape(placed.shape)
        if placed.argument.kind == "inout":
            return array, np.ones(placed.shape, np.bool_)
        return array, ~dtypes.is_poison(array, placed.argument.dtype, self.which)

    def is_padding_intact(self, name: str, after: Array) -> bool:
        """Whether nothing was written between the rows, and in front of them."""
        placed = self.placed[name]
        if placed.argument.pitch is None and not placed.lead:
            return True
        changed = dtypes.bits(after) != dtypes.bits(content_of(self.values[self.position[name]]))
        placed.view(changed)[...] = False
        return not changed.any()


def pack(case: Case, filled: Filled, symbols: Symbols, which: int) -> Packed:
    """Fresh copies for one launch: inputs cloned, outputs poisoned."""
    values: dict[str, Any] = {}
    placed: dict[str, Placed] = {}
    for argument in case.arguments:
        if argument.member is not None:
            placed[argument.name] = place(case, argument, symbols)
            if argument.parameter not in values:
                memory = _structures(placed[argument.name])
                values[argument.parameter] = Behind(memory) if argument.behind else memory
            memory = content_of(values[argument.parameter])
            placed[argument.name].view(memory)[...] = filled.arrays[argument.name]
        elif argument.is_array:
            placed[argument.name] = place(case, argument, symbols)
            memory = _memory(placed[argument.name], filled.arrays.get(argument.name), which)
            values[argument.name] = _passed(placed[argument.name], memory)
        elif argument.kind == "scalar":
            values[argument.name] = filled.scalars[argument.name]
        else:
            values[argument.name] = struct_value(case, argument, symbols) if argument.kind == "struct" else 0
    places = {name: index for index, name in enumerate(case.launched)}
    position = {one.name: places[one.parameter] for one in case.arguments}
    passed = tuple(values[name] for name in case.launched)
    return Packed(passed, placed, position, which, tuple(_links(case, placed, passed, position, symbols)))


def _links(
    case: Case, placed: Mapping[str, Placed], values: Sequence[Any], position: Mapping[str, int], symbols: Symbols
) -> Iterator[Link]:
    """The addresses in arrays of structures and in variables: each pointer has a part of the array of its own."""
    arrays = {one.parameter: one for one in case.arguments if one.is_array}
    for pointer in (*case.arguments, *case.constants):
        member = pointer.member
        if member is None or not pointer.points_to:
            continue
        is_variable = pointer.name not in position
        there = placed[pointer.name] if not is_variable else place(case, pointer, symbols)
        target = arrays[pointer.points_to]
        lead = placed[target.name].lead * dtypes.storage(target.dtype).itemsize
        width = target.member.size if target.member else dtypes.storage(target.dtype).itemsize
        count, index = math.prod(there.shape), position[target.name]
        part = part_of(content_of(values[index]).nbytes - lead, count, width)
        for number in range(count):
            row, column = divmod(number, member.count)
            at = row * member.size + member.offset + column * WIDTH
            yield Link(member.array if is_variable else position[pointer.name], at, index, lead + number * part)


def variables(case: Case, filled: Filled, symbols: Symbols) -> tuple[tuple[str, Array], ...]:
    """The variables that are set before a launch; those of structures as the bytes of all their members."""
    values: dict[str, Array] = {}
    for constant in case.constants:
        if constant.member is None:
            values[constant.name] = filled.arrays[constant.name]
            continue
        placed = place(case, constant, symbols)
        memory = values.setdefault(constant.parameter, _structures(placed))
        placed.view(memory)[...] = filled.arrays[constant.name]
    return tuple(values.items())


def _structures(placed: Placed) -> Array:
    """The memory of an array of structures; what is between members is zero."""
    member = placed.argument.member
    assert member is not None
    return np.zeros(math.prod(placed.shape) // member.count * member.size, np.uint8)


def _passed(placed: Placed, memory: Array) -> Any:
    """As the device takes it: by address, or in a struct or object that knows its shape."""
    argument = placed.argument
    start = placed.lead * dtypes.storage(argument.dtype).itemsize
    if argument.image is not None:
        return _image(placed, argument.image, memory)
    if argument.behind:
        return Behind(memory, start)
    if argument.view is not None:
        return view_of(argument.view, memory, placed.shape, placed.strides, start)
    return ViewArgument(memory, start=start) if placed.lead else memory


def _image(placed: Placed, sampling: Sampling, memory: Array) -> ImageArgument:
    image = ImageArgument(memory.reshape(placed.shape), sampling)
    wrong = image.wrong()
    if wrong is not None:
        raise ValueError(f"{placed.argument.name}: {wrong}")
    return image


def content_of(value: Any) -> Array:
    """The elements of an array argument, as they were before the launch."""
    if isinstance(value, ViewArgument | Behind):
        return np.asarray(value.array)
    return np.asarray(value.texels.reshape(-1) if isinstance(value, ImageArgument) else value)


def _memory(placed: Placed, content: Array | None, which: int) -> Array:
    memory = dtypes.poisoned((placed.lead + int(np.prod(placed.outer, dtype=np.int64)),), placed.argument.dtype, which)
    if content is not None:
        placed.view(memory)[...] = content
    return memory


def dimensions(case: Case, symbols: Symbols) -> tuple[tuple[int, int, int], tuple[int, int, int], int]:
    """Grid, block and dynamic shared memory; raises CaseError."""
    sizes: list[tuple[int, int, int]] = []
    for key, expressions in (("grid", case.grid), ("block", case.block)):
        sides = [case.integer(expression, symbols, key) for expression in expressions]
        if any(not 0 <= side < 2**31 for side in sides):
            raise case.error(f"{key} of {sides}", key)
        x, y, z = (*sides, 1, 1)[:3]
        sizes.append((x, y, z))
    shared = case.integer(case.shared, symbols, "shared")
    if not 0 <= shared < 2**31:
        raise case.error(f"shared memory of {shared} bytes", "shared")
    return sizes[0], sizes[1], shared

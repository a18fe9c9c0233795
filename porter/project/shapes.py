"""The shape of JSON that anybody may have written: a value as it should be, or what is wrong with it.

Shapes are types, `[each]` of a list, `(one, by, one)` of a list of so many, and a dict of shapes by key.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import UnionType
from typing import Any, TypeAlias, get_args

Shape: TypeAlias = Any
"""As above: Python has no name for a type and what is made of types."""


def shaped(shape: Shape) -> Callable[[Any], Any]:
    """A function that gives back what has the shape, and raises TypeError or ValueError for all else.

    Mostly nothing is wrong, and there are thousands of values: whether that is so is found out first, without words.
    """
    fits = _fitting(shape)

    def checked(value: Any) -> Any:
        if not fits(value):
            _refuse(value, shape)
        return value

    return checked


def typed(value: Any, *types: type) -> Any:
    """The value if it is of one of these types: what is read may have been written by anybody."""
    if type(value) not in types:
        raise TypeError(f"{value!r:.60} where {types[0].__name__} is expected")
    return value


def _types(shape: Shape) -> tuple[type, ...]:
    """Those that a value may be of; none: the shape is more than a type."""
    return (get_args(shape) or (shape,)) if isinstance(shape, type | UnionType) else ()


def _fitting(shape: Shape) -> Callable[[Any], bool]:
    if types := frozenset(_types(shape)):
        return lambda value: type(value) in types
    if isinstance(shape, dict):
        members = tuple((key, _fitting(one)) for key, one in shape.items())
        return lambda value: (
            type(value) is dict and value.keys() == shape.keys() and all(fits(value[key]) for key, fits in members)
        )
    if isinstance(shape, tuple):
        return _row(shape)
    if types := frozenset(_types(shape[0])):
        return lambda value: type(value) is list and types.issuperset(map(type, value))
    each = _fitting(shape[0])
    return lambda value: type(value) is list and all(map(each, value))


def _row(shape: tuple[Shape, ...]) -> Callable[[Any], bool]:
    """A row of plain types is one look-up: all that its types can be are written out."""
    rows = frozenset(itertools.product(*map(_types, shape)))
    if rows:
        return lambda value: type(value) is list and tuple(map(type, value)) in rows
    members = tuple(map(_fitting, shape))
    return lambda value: (
        type(value) is list
        and len(value) == len(members)
        and all(fits(one) for fits, one in zip(members, value, strict=True))
    )


def _refuse(value: Any, shape: Shape) -> None:
    """Raises where a part of the value has not the shape that it should have."""
    if types := _types(shape):
        typed(value, *types)
    elif isinstance(shape, dict):
        if typed(value, dict).keys() != shape.keys():
            raise ValueError(f"{sorted(value)!r:.60} where {', '.join(shape)} are expected")
        for key, one in shape.items():
            _refuse(value[key], one)
    else:
        each = shape if isinstance(shape, tuple) else shape * len(typed(value, list))
        for one, kind in zip(typed(value, list), each, strict=True):
            _refuse(one, kind)

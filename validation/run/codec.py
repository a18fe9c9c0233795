"""Frozen dataclasses as plain JSON and back, by their annotations: what crosses machines needs no pickle."""

from __future__ import annotations

import base64
import dataclasses
import enum
import functools
import sys
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

Value = TypeVar("Value")


def plain(value: Any) -> Any:
    """Dataclasses, enumerations, paths, bytes, tuples and numpy's numbers as JSON has them."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, str):
        return [plain(one) for one in value]
    if hasattr(value, "item"):
        return value.item()
    if isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"{type(value).__name__} is no value that can be sent")


def made(kind: type[Value], value: Any) -> Value:
    """The dataclass that `plain` was given."""
    found: Value = _made(kind, value)
    return found


@functools.cache
def _hint(kind: type, name: str) -> Any:
    """One at a time: an annotation whose module nobody has loaded is in nobody's way while nothing of it comes."""
    owner = next(one for one in kind.__mro__ if name in vars(one).get("__annotations__", {}))
    alone = types.SimpleNamespace(__annotations__={name: owner.__annotations__[name]})
    return typing.get_type_hints(alone, globalns=vars(sys.modules[owner.__module__]))[name]


@functools.cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in dataclasses.fields(kind) if one.init)


def _member(kind: type, name: str, value: Any) -> Any:
    return None if value is None else _made(_hint(kind, name), value)


def _made(kind: Any, value: Any) -> Any:
    if value is None or kind is Any:
        return value
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        (inner,) = (one for one in arguments if one is not type(None))
        return _made(inner, value)
    if dataclasses.is_dataclass(kind):
        assert isinstance(kind, type)
        return kind(**{name: _member(kind, name, value[name]) for name in _names(kind) if name in value})
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if kind is Path:
        return Path(value)
    if kind is bytes:
        return base64.b64decode(value)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_made(arguments[0], one) for one in value)
        return tuple(_made(hint, one) for hint, one in zip(arguments, value, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        return {key: _made(arguments[1], one) for key, one in value.items()}
    return value

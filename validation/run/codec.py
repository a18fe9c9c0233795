"""Frozen dataclasses as plain JSON and back, by their annotations: what crosses machines needs no pickle."""

from __future__ import annotations

import base64
import dataclasses
import enum
import functools
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
        return {name: plain(getattr(value, name)) for name in _hints(type(value))}
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
def _hints(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.init}


def _made(kind: Any, value: Any) -> Any:
    if value is None or kind is Any:
        return value
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        (inner,) = (one for one in arguments if one is not type(None))
        return _made(inner, value)
    if dataclasses.is_dataclass(kind):
        assert isinstance(kind, type)
        return kind(**{name: _made(hint, value[name]) for name, hint in _hints(kind).items() if name in value})
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

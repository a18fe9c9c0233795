"""What Triton hands to a launch, as what a compiled kernel takes: constants go, tuples and descriptors become many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


def flattened(names: Iterable[str], kinds: Iterable[Any], values: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Name and value per parameter of the compiled kernel; `kinds` is Triton's signature."""
    for name, kind, value in zip(names, kinds, values, strict=True):
        if kind == "constexpr":
            continue
        if isinstance(kind, tuple):
            yield from flattened([f"{name}[{index}]" for index in range(len(kind))], kind, value)
        elif str(kind).startswith("tensordesc"):
            yield from ((name, part) for part in _descriptor(value))
        else:
            yield name, _value(str(kind), value)


def _value(kind: str, value: Any) -> Any:
    if kind.startswith("*"):
        return getattr(value, "base", value) if not hasattr(value, "untyped_storage") else value
    if kind in ("bf16", "fp16"):
        return _half(kind, float(value))
    if kind.startswith(("fp", "f")):
        return float(value)
    return int(value)


def _half(kind: str, value: float) -> bytes:
    if kind == "fp16":
        return bytes(np.float16(value).tobytes())
    bits = int(np.float32(value).view(np.uint32))
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")


def _descriptor(value: Any) -> Iterator[Any]:
    """A host-side descriptor as GPUs without descriptors take it: shape and strides twice."""
    yield value.base
    yield from (int(size) for size in value.shape)
    yield from (int(stride) for stride in value.strides)
    yield int(getattr(value, "padding", "zero") == "nan")
    yield int(getattr(value, "round_f32_to_tf32", False))
    yield from (int(size) for size in value.shape)
    yield from (int(stride) for stride in value.strides)

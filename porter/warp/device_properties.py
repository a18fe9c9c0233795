"""Members of CUDA's device properties, recognised by what the file says about their owner."""

from __future__ import annotations

from porter.engine.unit import Unit

_PROPERTIES = frozenset({"cudaDeviceProp", "hipDeviceProp_t", "cudaDeviceProperties"})
_GETTERS = frozenset({"getCurrentDeviceProperties", "getDeviceProperties", "GetDeviceProperties"})
_DECLARATION_LENGTH = 16


def is_device_property(unit: Unit, first: int, last: int) -> bool:
    """Whether a member chain starts from CUDA's device properties."""
    tokens = unit.tokens
    inside = tokens.texts[first:last]
    if any(text in _GETTERS for text in inside):
        return True
    owner = next((t for t in reversed(inside) if t.isidentifier()), "")
    for index in tokens.names.get(owner, ()):
        before = tokens.texts[max(0, index - 4) : index]
        if not _PROPERTIES.isdisjoint(before) or _comes_from_getter(unit, index):
            return True
    declared = any(name in tokens.names for name in _PROPERTIES)
    return declared and "prop" in owner.lower()


def _comes_from_getter(unit: Unit, index: int) -> bool:
    """`auto *props = at::cuda::getCurrentDeviceProperties()`"""
    texts = unit.tokens.texts
    if texts[index + 1] != "=":
        return False
    rest = texts[index + 2 : index + _DECLARATION_LENGTH]
    value = rest[: rest.index(";")] if ";" in rest else rest
    return not _GETTERS.isdisjoint(value)

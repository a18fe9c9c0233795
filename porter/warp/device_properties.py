"""Members of CUDA's device properties, recognised by what the file says about their owner."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.cpp.lex import IDENTIFIER, Tokens
from porter.engine.unit import Unit

_PROPERTIES = frozenset({"cudaDeviceProp", "hipDeviceProp_t", "cudaDeviceProperties"})
_GETTER = re.compile(r"get_?(?:current_?)?device_?prop(?:ertie)?s?", re.IGNORECASE)
_BEFORE = 10
"""Tokens before a name in which its type begins."""
_DECLARATION_LENGTH = 16
_ALIASES = 3
"""Names for names that are followed: `auto &q = p;`."""


def is_device_property(unit: Unit, first: int, last: int) -> bool:
    """Whether a member chain starts from CUDA's device properties."""
    tokens = unit.tokens
    inside = _outside_of_brackets(tokens, first, last)
    if any(map(_GETTER.fullmatch, inside)):
        return True
    owner = next((text for text in reversed(inside) if text.isidentifier()), "")
    types = _types(tokens)
    if _holds_properties(tokens, owner, types, _ALIASES):
        return True
    declared = any(name in tokens.names for name in types)
    return declared and "prop" in owner.lower()


def speaks_of_properties(unit: Unit, first: int, last: int) -> bool:
    """Whether a member chain names properties or a device."""
    return any("prop" in text.lower() or "device" in text.lower() for text in unit.tokens.texts[first:last])


def _outside_of_brackets(tokens: Tokens, first: int, last: int) -> list[str]:
    """The texts of a chain without what stands in its indices and, where names stand outside, its arguments."""
    texts: list[str] = []
    index = first
    while index < last:
        is_call = tokens.texts[index] == "(" and tokens.kinds[index - 1] == IDENTIFIER
        closed = tokens.partner.get(index) if tokens.texts[index] == "[" or is_call else None
        if closed is not None and index > first:
            index = closed + 1
            continue
        texts.append(tokens.texts[index])
        index += 1
    return texts


def _types(tokens: Tokens) -> frozenset[str]:
    """CUDA's names of the type and those that `using` and `typedef` give it here."""
    found = set(_PROPERTIES)
    for name in _PROPERTIES & tokens.names.keys():
        for index in tokens.names[name]:
            if tokens.texts[index - 1] == "=" and tokens.texts[index - 3] == "using":
                found.add(tokens.texts[index - 2])
            elif "typedef" in tokens.texts[max(0, index - 2) : index] and tokens.texts[index + 2] == ";":
                found.add(tokens.texts[index + 1])
    return frozenset(found)


def _holds_properties(tokens: Tokens, name: str, types: frozenset[str], depth: int) -> bool:
    """Whether a variable, parameter or function of a name is declared with the type, or set to what has it."""
    texts = tokens.texts
    for index in tokens.names.get(name, ()):
        if not types.isdisjoint(_type_before(texts, index)):
            return True
        if texts[index + 1] in ("=", "(", "{") and depth:
            rest = texts[index + 2 : index + _DECLARATION_LENGTH]
            value = rest[: rest.index(";")] if ";" in rest else rest
            if texts[index - 1] in ("=", "new"):
                continue
            if any(map(_GETTER.fullmatch, value)) or (texts[index + 1] == "=" and not types.isdisjoint(value)):
                return True
            if _is_deduced(texts, index):
                kinds = tokens.kinds[index + 2 : index + 2 + len(value)]
                owners = [text for text, kind in zip(value, kinds, strict=False) if kind == IDENTIFIER]
                if "warpSize" not in value and any(
                    _holds_properties(tokens, owner, types, depth - 1) for owner in owners if owner != name
                ):
                    return True
    return False


def _is_deduced(texts: Sequence[str], index: int) -> bool:
    return "auto" in texts[max(0, index - 3) : index]


def _type_before(texts: Sequence[str], index: int) -> list[str]:
    """The tokens of a declaration before its name, back to where it begins."""
    found: list[str] = []
    depth = 0
    for text in reversed(texts[max(0, index - _BEFORE) : index]):
        depth += (text == ">") - (text == "<")
        if text in (";", "{", "}", ")", "=", ".", "->") or (text in ("(", ",") and depth <= 0):
            break
        found.append(text)
    return found

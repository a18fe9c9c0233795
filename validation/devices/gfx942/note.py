"""The note of a code object: MessagePack, read into the words that the assembler would write."""

from __future__ import annotations

import struct

from porter.validation.devices.gfx942.text import Metadata, Unreadable

_NAME, _TYPE = b"AMDGPU\0", 32
_FORMS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i",
          0xD3: ">q"}  # fmt: skip
_LENGTHS = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I",
            0xDE: ">H", 0xDF: ">I"}  # fmt: skip
_DEEPEST = 32


def metadata_of(notes: bytes) -> Metadata | None:
    """The metadata among the notes of one section or segment; None when there is none."""
    at = 0
    while at + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, at)
        name = notes[at + 12 : at + 12 + name_size]
        start = at + 12 + (name_size + 3) // 4 * 4
        if kind == _TYPE and name == _NAME:
            return read_metadata(notes[start : start + size])
        at = start + (size + 3) // 4 * 4
    return None


def read_metadata(data: bytes) -> Metadata:
    """A map; scalars are text, as in assembly. Raises Unreadable."""
    try:
        value, _ = _value(data, 0, 0)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise Unreadable(f"the metadata of the code object is damaged: {error}", 0) from None
    if not isinstance(value, dict):
        raise Unreadable("the metadata of the code object is no map", 0)
    return value


def _value(data: bytes, at: int, depth: int) -> tuple[object, int]:
    head = data[at]
    at += 1
    if depth > _DEEPEST:
        raise Unreadable("the metadata of the code object is nested too deeply", 0)
    if head < 0x80 or head >= 0xE0:
        return str(head if head < 0x80 else head - 0x100), at
    if head in (0xC0, 0xC2, 0xC3):
        return {0xC0: "", 0xC2: "false", 0xC3: "true"}[head], at
    if head in _FORMS:
        (number,) = struct.unpack_from(_FORMS[head], data, at)
        return str(number), at + struct.calcsize(_FORMS[head])
    if head < 0xC0:
        count = head & (0x0F if head < 0xA0 else 0x1F)
        kind = "map" if head < 0x90 else "list" if head < 0xA0 else "text"
    elif head in _LENGTHS:
        (count,) = struct.unpack_from(_LENGTHS[head], data, at)
        at += struct.calcsize(_LENGTHS[head])
        kind = "text" if head < 0xDC else "list" if head < 0xDE else "map"
    else:
        raise Unreadable(f"the metadata of the code object has a value of type {head:#x}", 0)
    if kind == "text":
        if at + count > len(data):
            raise IndexError("it ends too early")
        return data[at : at + count].decode("utf-8", "replace"), at + count
    found: Metadata = {}
    items: list[object] = []
    for _ in range(count):
        if kind == "map":
            key, at = _value(data, at, depth + 1)
        value, at = _value(data, at, depth + 1)
        if kind == "map":
            found[str(key)] = value
        else:
            items.append(value)
    return (found if kind == "map" else items), at

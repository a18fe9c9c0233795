"""C's printf for text that kernels print: the host's own snprintf, one conversion at a time."""

from __future__ import annotations

import ctypes
import functools
import re
import struct
from typing import Protocol

_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0']*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    rb"(?P<length>hh|h|ll|l|j|z|t|L|q)?(?P<kind>[diouxXcspaAeEfFgGn%])"
)
_SIZES = {b"hh": 4, b"h": 4, b"": 4, b"l": 8, b"ll": 8, b"j": 8, b"z": 8, b"t": 8, b"L": 8, b"q": 8}


_WIDEST = 1 << 16


class Arguments(Protocol):
    """Where the values come from, in the order of the conversions."""

    def word(self, size: int) -> int:
        """The next value of 4 or 8 bytes, as bits."""
        ...

    def string(self) -> bytes:
        """The next value as text."""
        ...


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _print(specification: bytes, value: ctypes.c_int64 | ctypes.c_double | ctypes.c_char_p) -> bytes:
    buffer = ctypes.create_string_buffer(512)
    size = ctypes.c_size_t(len(buffer))
    needed = _libc().snprintf(buffer, size, specification, value)
    if needed >= len(buffer):
        buffer = ctypes.create_string_buffer(needed + 1)
        _libc().snprintf(buffer, ctypes.c_size_t(needed + 1), specification, value)
    return buffer.raw[: max(needed, 0)]


def _signed(word: int, size: int) -> int:
    return word - (1 << 8 * size) if word >> (8 * size - 1) & 1 else word


def _number(given: bytes | None, arguments: Arguments) -> bytes:
    """A width or precision, no wider than anybody means."""
    if not given:
        return b""
    if given != b"*":
        return b"%d" % (min(int(given), _WIDEST) if len(given) < 10 else _WIDEST)
    return b"%d" % max(-_WIDEST, min(_WIDEST, _signed(arguments.word(4) & 0xFFFFFFFF, 4)))


def _convert(match: re.Match[bytes], arguments: Arguments) -> bytes:
    kind, length = match["kind"], match["length"] or b""
    if kind == b"%":
        return b"%"
    flags, width = match["flags"], _number(match["width"], arguments)
    if width.startswith(b"-"):  # a negative width from an argument means: left
        flags, width = flags + b"-", width[1:]
    precision = b"" if match["precision"] is None else b"." + _number(match["precision"], arguments)
    if precision.startswith(b".-"):  # a negative precision counts as none
        precision = b""
    start = b"%" + flags + width + precision
    if kind == b"s":
        return _print(start + b"s", ctypes.c_char_p(arguments.string()))
    if kind in b"aAeEfFgG":
        value = struct.unpack("<d", arguments.word(8).to_bytes(8, "little"))[0]
        return _print(start + kind, ctypes.c_double(value))
    if kind == b"p":
        return f"{arguments.word(8):#x}".encode().rjust(int(width or 0))
    if kind == b"n":  # nothing is written back
        arguments.word(8)
        return b""
    size = _SIZES[length]
    word = arguments.word(size) & ((1 << 8 * size) - 1)
    if kind == b"c":
        return (
            bytes([word & 255]).rjust(int(width or 0)) if b"-" not in flags else bytes([word & 255]).ljust(int(width))
        )
    short = length if length in (b"h", b"hh") else b"ll"
    value = _signed(word, size) if kind in b"di" else word
    return _print(start + short + kind, ctypes.c_int64(value))


def render(template: bytes, arguments: Arguments) -> bytes:
    """The text that printf makes of a format and its values; an unknown conversion stays as it is."""
    return _CONVERSION.sub(lambda match: _convert(match, arguments), template)

"""Messages of services.c as text: vprintf and assertions."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from porter.validation.devices.core.memory import Memory
from porter.validation.devices.core.messages import Assertion, Message, Spoken
from porter.validation.devices.core.printf import render

_PRINT = 0


class _Values:
    """The bytes of one vprintf: every value at a multiple of its size, strings behind them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def word(self, size: int) -> int:
        self.at = (self.at + size - 1) // size * size + size
        return int.from_bytes(self.data[self.at - size : self.at], "little")

    def string(self) -> bytes:
        return self.data[self.word(8) :].partition(b"\0")[0]


def _assertion(memory: Memory, message: Message) -> Assertion:
    text, file, line, function = struct.unpack("<4Q", message.data)
    said, where, inside = (memory.read_string(a).decode("utf-8", "replace") for a in (text, file, function))
    sentence = f"{where}:{line}: {inside}: Assertion `{said}` failed."
    return Assertion(message.block, message.wave, sentence, where, line)


def spoken(memory: Memory, messages: Sequence[Message]) -> Spoken:
    """What was printed, in the order the calls ended, and which assertions failed."""
    text = bytearray()
    assertions: list[Assertion] = []
    for message in messages:
        if message.kind == _PRINT:
            (format_address,) = struct.unpack("<Q", message.data[:8])
            text += render(memory.read_string(format_address), _Values(message.data[8:]))
        else:
            assertions.append(_assertion(memory, message))
    return Spoken(text.decode("utf-8", "replace"), tuple(assertions))

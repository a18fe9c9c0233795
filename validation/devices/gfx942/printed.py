"""Messages of hostcall.c as text: printf of HIP, and assertions."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from porter.validation.devices.core.memory import Memory
from porter.validation.devices.core.messages import Assertion, Message, Spoken
from porter.validation.devices.core.printf import render

_END, _LENGTH, _ID = 2, 5, 8  # descriptor: end flag, first bit of the word count, first bit of the message's number


class _Values:
    """The bytes of one printf after its control word: format, then each argument, all padded to 8."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def word(self, size: int) -> int:
        self.at += 8
        return int.from_bytes(self.data[self.at - 8 : self.at], "little")

    def string(self) -> bytes:
        end = self.data.find(b"\0", self.at)
        text = self.data[self.at : end if end >= 0 else len(self.data)]
        self.at += (len(text) + 8) // 8 * 8
        return text


_ASSERTION = re.compile(r"^(?P<file>.+?):(?P<line>\d+): .*assertion .* failed", re.I | re.S)


def _assertion(message: Message, text: str) -> Assertion | None:
    match = _ASSERTION.match(text)
    return Assertion(message.block, message.wave, text.strip(), match["file"], int(match["line"])) if match else None


def spoken(memory: Memory, messages: Sequence[Message]) -> Spoken:
    """What was printed, in the order the calls ended; an assertion prints before it traps."""
    open_calls: dict[int, bytearray] = {}
    text = bytearray()
    assertions: list[Assertion] = []
    for message in messages:
        words = struct.unpack("<8Q", message.data)
        number = words[0] >> _ID
        count = words[0] >> _LENGTH & 7
        open_calls.setdefault(number, bytearray()).extend(message.data[8 : 8 + 8 * count])
        if words[0] & _END:
            values = _Values(bytes(open_calls.pop(number)[8:]))  # the control word only tells stdout from stderr
            line = render(values.string(), values)
            text += line
            if found := _assertion(message, line.decode("utf-8", "replace")):
                assertions.append(found)
    return Spoken(text.decode("utf-8", "replace"), tuple(assertions))

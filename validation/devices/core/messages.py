"""What a launch says to the host: messages in the order they were sent (core_message in services.c)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from porter.validation.devices.core import abi
from porter.validation.devices.core.memory import Memory


@dataclass(frozen=True)
class Message:
    """Bytes of one message; the kind is the device's own numbering."""

    kind: int
    site: int
    lane: int
    wave: int
    block: tuple[int, int, int]
    data: bytes


@dataclass(frozen=True)
class Assertion:
    """An assertion that failed: who said so, the sentence, and where the assertion stands."""

    block: tuple[int, int, int]
    wave: int
    text: str
    file: str
    line: int


@dataclass(frozen=True)
class Spoken:
    """What the messages come to."""

    printed: str = ""
    assertions: tuple[Assertion, ...] = ()


Reader = Callable[[Memory, Sequence[Message]], Spoken]


def unheard(memory: Memory, messages: Sequence[Message]) -> Spoken:
    """For a device that sends none."""
    return Spoken()


def messages_of(launch: abi.Launch) -> tuple[Message, ...]:
    """The launch's messages."""
    if not launch.messages:
        return ()
    data = ctypes.string_at(launch.messages, launch.message_bytes)
    size = ctypes.sizeof(abi.MessageHead)
    found: list[Message] = []
    at = 0
    while at < len(data):
        head = abi.MessageHead.from_buffer_copy(data, at)
        x, y, z = head.block
        body = data[at + size : at + size + head.bytes]
        found.append(Message(head.kind, head.site, head.lane, head.wave, (x, y, z), body))
        at += size + (head.bytes + 7) // 8 * 8
    return tuple(found)

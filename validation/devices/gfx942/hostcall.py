"""What the runtime gives the device libraries: a buffer for hostcalls, and room for the allocator's books."""

from __future__ import annotations

import struct

from porter.validation.devices.core.memory import Memory

PACKETS = 64
_SIGNAL, _MAILBOX, _HEADERS, _PAYLOADS = 64, 128, 256, 4096
_HEADER = struct.Struct("<QQII")
_PAYLOAD_BYTES = 64 * 64  # eight words a lane
BOOKS_BYTES = 256 * 1024  # all zero to begin with


def place_buffer(memory: Memory) -> int:
    """A fresh hostcall buffer: all packets on the free stack, a doorbell that interrupts."""
    block = memory.allocate(_PAYLOADS + PACKETS * _PAYLOAD_BYTES, "hostcall buffer")
    base = block.base
    # a packet is named by its index, plus a tag that is never zero
    names = [index | PACKETS for index in range(PACKETS)]
    buffer = struct.pack("<6Q", base + _HEADERS, base + _PAYLOADS, base + _SIGNAL, names[-1], 0, PACKETS - 1)
    signal = struct.pack("<QQQI", 1, 0, base + _MAILBOX, 1)
    headers = b"".join(_HEADER.pack(following, 0, 0, 0) for following in (0, *names[:-1]))
    memory.write(base, buffer.ljust(_SIGNAL, b"\0") + signal)
    memory.write(base + _HEADERS, headers)
    return base

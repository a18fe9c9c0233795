"""PTX texts in nvcc's fat binaries."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_MAGIC = 0xBA55ED50
_START = struct.pack("<I", _MAGIC)
_PTX, _ELF = 1, 2
_LZ4, _ZSTD = 0x2000, 0x8000
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class BadFatBinary(Exception):
    """Nothing to be had from it, and why."""


@dataclass(frozen=True)
class Entry:
    """One entry: PTX or machine code, for an architecture (80 for sm_80)."""

    kind: int
    architecture: int
    content: bytes


def entries(data: bytes) -> Iterator[Entry]:
    """Every entry of the fat binaries that follow each other in `data`."""
    at = 0
    while at + 16 <= len(data):
        magic, _, head, size = struct.unpack_from("<IHHQ", data, at)
        if magic != _MAGIC:
            if at == 0:
                raise BadFatBinary(f"no fat binary: it begins with {magic:#x}")
            at += 4  # padding between them
            continue
        yield from _of_one(data, at + head, min(at + head + size, len(data)))
        at += head + size


def _of_one(data: bytes, at: int, end: int) -> Iterator[Entry]:
    while at + 64 <= end:
        kind, _, head, size = struct.unpack_from("<HHIQ", data, at)
        if head < 64:
            return
        (compressed,) = struct.unpack_from("<I", data, at + 16)
        (architecture,) = struct.unpack_from("<I", data, at + 28)
        flags, _, whole = struct.unpack_from("<QQQ", data, at + 40)
        if kind in (_PTX, _ELF):
            content = data[at + head : at + head + size]
            if kind == _PTX:
                content = _unpacked(content, compressed, whole, flags)
            yield Entry(kind, architecture, content)
        at += head + size


def _unpacked(content: bytes, compressed: int, whole: int, flags: int) -> bytes:
    if flags & _ZSTD or content.startswith(_ZSTD_MAGIC):
        import zstandard

        return zstandard.ZstdDecompressor().decompress(content[:compressed] if compressed else content, whole)
    if flags & _LZ4:
        import lz4.block

        return bytes(lz4.block.decompress(content[:compressed], uncompressed_size=whole))
    return content


def ptx_texts(data: bytes) -> list[str]:
    """The PTX of every fat binary in `data`: the newest of each; raises BadFatBinary when there is none."""
    found: list[str] = []
    machine = 0
    for piece in _pieces(data):
        if not piece.startswith(_START):  # PTX as it is, which the driver API takes too
            found.append(piece.rstrip(b"\0").decode("utf-8", "replace"))
            continue
        texts = [entry for entry in entries(piece) if entry.kind == _PTX]
        machine += not texts
        if texts:
            newest = max(texts, key=lambda entry: entry.architecture)
            found.append(newest.content.split(b"\0", 1)[0].decode("utf-8", "replace"))
    if not found:
        raise BadFatBinary(
            "no PTX in it, machine code only: compile with -arch=compute_80 or -gencode arch=compute_80,code=compute_80"
        )
    return found


def _pieces(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 16 <= len(data):
        magic, _, head, size = struct.unpack_from("<IHHQ", data, at)
        if magic != _MAGIC:
            text = data[at:].split(b"\0", 1)[0]
            if b".version" not in text:
                raise BadFatBinary(f"no fat binary: it begins with {magic:#x}")
            yield data[at : at + len(text) + 1]
            at += len(text) + 1
            continue
        yield data[at : at + head + size]
        at += head + size

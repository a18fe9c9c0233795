"""Code objects in files: alone, in clang's offload bundles, in the fat binaries that hipcc makes."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

_PLAIN, _COMPRESSED, _ELF = b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\x7fELF"
_OFFLOADED = b"\x10\xff\x10\xad"
_AMDGPU = 224  # e_machine
_MAY_HOLD = re.compile(r"\.(so(\.[\d.]+)?|co|hsaco|o|a|bin|pyd)$")
"""Members of a wheel that are looked into."""


@dataclass(frozen=True)
class CodeObject:
    """One code object: for which target, as in amdgcn-amd-amdhsa--gfx942, and its bytes."""

    target: str
    content: bytes
    member: str = ""
    """Of a wheel: the file in it."""


class NoCodeObject(Exception):
    """The file holds none, and why."""


def _entries(data: bytes, at: int) -> tuple[list[CodeObject], int]:
    """The bundle at an offset: its code objects, and where it ends."""
    (count,) = struct.unpack_from("<Q", data, at + len(_PLAIN))
    place, found, end = at + len(_PLAIN) + 8, [], at
    for _ in range(count):
        offset, size, length = struct.unpack_from("<3Q", data, place)
        name = data[place + 24 : place + 24 + length].decode("ascii", "replace")
        place += 24 + length
        end = max(end, at + offset + size, place)
        content = data[at + offset : at + offset + size]
        if name.startswith("hip") and content.startswith(_ELF):
            found.append(CodeObject(name.partition("-")[2], content))
    return found, end


_HEADS = {1: ("<IQ", None), 2: ("<IIQ", 0), 3: ("<QQQ", 0)}
"""By version of a compressed bundle: what follows magic, version and method; where in it the whole size stands."""
_ZLIB, _ZSTD = 0, 1


def _uncompressed(data: bytes, at: int) -> tuple[bytes, int]:
    """The plain bundle in a compressed one, and how long that is (at least)."""
    version, method = struct.unpack_from("<HH", data, at + 4)
    if version not in _HEADS or method not in (_ZLIB, _ZSTD):
        raise NoCodeObject(f"a compressed offload bundle of version {version}, method {method}: not known")
    form, place = _HEADS[version]
    head = struct.unpack_from(form, data, at + 8)
    start, size = at + 8 + struct.calcsize(form), None if place is None else head[place]
    content = data[start : at + size if size else len(data)]
    try:
        if method == _ZLIB:
            return zlib.decompressobj().decompress(content), size or len(_COMPRESSED)
        import zstandard

        return zstandard.ZstdDecompressor().decompressobj().decompress(content), size or len(_COMPRESSED)
    except (zlib.error, ValueError, RuntimeError) as error:
        raise NoCodeObject(f"a compressed offload bundle cannot be opened: {error}") from error
    except ImportError as error:
        raise NoCodeObject("a compressed offload bundle: pip install zstandard") from error


def in_bundles(data: bytes) -> list[CodeObject]:
    """Every code object of the bundles in some bytes."""
    found: list[CodeObject] = []
    at = 0
    while True:
        places = [p for p in (data.find(_PLAIN, at), data.find(_COMPRESSED, at)) if p >= 0]
        if not places:
            return found
        at = min(places)
        if data.startswith(_PLAIN, at):
            more, end = _entries(data, at)
            at = max(end, at + 1)
        else:
            plain, size = _uncompressed(data, at)
            more = in_bundles(plain)
            at += size
        found += more


def _bare(data: bytes) -> list[CodeObject]:
    """Code objects that lie in a library without a bundle around them: ELF files for AMDGPU."""
    found: list[CodeObject] = []
    at = data.find(_ELF, 1)  # a file that begins with one is no other's container
    while at >= 0:
        if len(data) >= at + 64 and data[at + 4] == 2 and struct.unpack_from("<H", data, at + 18)[0] == _AMDGPU:
            (sections,) = struct.unpack_from("<Q", data, at + 40)
            each, count = struct.unpack_from("<HH", data, at + 58)
            found.append(CodeObject("", data[at : at + sections + each * count]))
        at = data.find(_ELF, at + 4)
    return found


def _offloaded(data: bytes) -> list[CodeObject]:
    """Code objects in the binaries of LLVM's newer offload driver (`.llvm.offloading`)."""
    found: list[CodeObject] = []
    at = data.find(_OFFLOADED)
    while at >= 0:
        try:
            _, size, entry, _ = struct.unpack_from("<I3Q", data, at + 4)
            strings, count, start, length = struct.unpack_from("<4Q", data, at + entry + 8)
            pairs = [struct.unpack_from("<2Q", data, at + strings + 16 * index) for index in range(min(count, 64))]
        except struct.error:
            break
        texts = {_text(data, at + key): _text(data, at + value) for key, value in pairs}
        content = data[at + start : at + start + length]
        if "amdgcn" in texts.get("triple", "") and content.startswith(_ELF):
            found.append(CodeObject(f"{texts['triple']}--{texts.get('arch', '')}".replace("---", "--"), content))
        at = data.find(_OFFLOADED, at + max(size, 4))
    return found


def _text(data: bytes, at: int) -> str:
    return data[at : data.find(b"\0", at)].decode("utf-8", "replace")


def code_objects(path: Path) -> tuple[CodeObject, ...]:
    """Every code object in a file: .co, .hsaco, bundle, object file, archive, library, program, or wheel."""
    try:
        if zipfile.is_zipfile(path):
            return _in_wheel(path)
        return in_bytes(path.read_bytes())
    except (ELFError, NoCodeObject, zipfile.BadZipFile) as error:
        raise NoCodeObject(f"{path}: {error}") from error


def _in_wheel(path: Path) -> tuple[CodeObject, ...]:
    """Those of every member; members without any are passed over, unless all are."""
    found: list[CodeObject] = []
    refused: NoCodeObject | None = None
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not _MAY_HOLD.search(member.filename):
                continue
            try:
                inside = in_bytes(archive.read(member))
            except ELFError:
                continue
            except NoCodeObject as error:
                refused = refused or error
                continue
            found += [replace(one, member=member.filename) for one in inside]
    if not found:
        raise refused or NoCodeObject("no libraries or code objects in it")
    return tuple(found)


def in_bytes(data: bytes) -> tuple[CodeObject, ...]:
    """Every code object in the bytes of a file; raises NoCodeObject."""
    if not data.startswith(_ELF):
        found = in_bundles(data) or _offloaded(data) or _bare(data)
        if not found:
            raise NoCodeObject("neither an ELF file nor an offload bundle")
        return tuple(found)
    elf = ELFFile(io.BytesIO(data))
    if elf.header.e_machine in (_AMDGPU, "EM_AMDGPU"):
        return (CodeObject("", data),)
    section = elf.get_section_by_name(".hip_fatbin")
    found = in_bundles(section.data()) if section is not None else []
    found = found or _offloaded(data) or _bare(data)
    if not found:
        raise NoCodeObject("no GPU code in it (neither a bundle in .hip_fatbin nor a code object)")
    return tuple(found)

"""Code objects in files: alone, in clang's offload bundles, in the fat binaries that hipcc makes."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

_PLAIN, _COMPRESSED, _ELF = b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\x7fELF"
_AMDGPU = 224  # e_machine
_BUNDLERS = ("clang-offload-bundler-20", "clang-offload-bundler-19", "clang-offload-bundler-18",
             "clang-offload-bundler-17", "clang-offload-bundler")  # fmt: skip


@dataclass(frozen=True)
class CodeObject:
    """One code object: for which target, as in amdgcn-amd-amdhsa--gfx942, and its bytes."""

    target: str
    content: bytes


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


def _uncompressed(data: bytes) -> list[CodeObject]:
    """A compressed bundle, taken apart by clang's own tool."""
    tool = next((path for name in _BUNDLERS if (path := shutil.which(name))), None)
    if tool is None:
        raise NoCodeObject("a compressed offload bundle, and no clang-offload-bundler to open it")
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "packed"
        packed.write_bytes(data)
        listed = subprocess.run([tool, "--list", "--type=o", f"--input={packed}"], capture_output=True, text=True,
                                check=False)  # fmt: skip
        if listed.returncode:
            raise NoCodeObject(f"{tool}: {listed.stderr.strip()}")
        found: list[CodeObject] = []
        for name in listed.stdout.split():
            if not name.startswith("hip"):
                continue
            out = Path(folder) / "object"
            command = [tool, "--unbundle", "--type=o", f"--input={packed}", f"--targets={name}", f"--output={out}"]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                raise NoCodeObject(f"{tool}: {run.stderr.strip()}")
            found.append(CodeObject(name.partition("-")[2], out.read_bytes()))
        return found


def _in_bundles(data: bytes) -> list[CodeObject]:
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
            version, _ = struct.unpack_from("<HH", data, at + 4)
            size = struct.unpack_from("<I" if version == 2 else "<Q", data, at + 8)[0] if version >= 2 else None
            more = _uncompressed(data[at : at + size] if size else data[at:])
            at += size or len(_COMPRESSED)
        found += more


def code_objects(path: Path) -> tuple[CodeObject, ...]:
    """Every code object in a file: .co, .hsaco, bundle, object file, library or program."""
    data = path.read_bytes()
    if not data.startswith(_ELF):
        found = _in_bundles(data)
        if not found:
            raise NoCodeObject(f"{path}: neither an ELF file nor an offload bundle")
        return tuple(found)
    try:
        elf = ELFFile(io.BytesIO(data))
        if elf.header.e_machine in (_AMDGPU, "EM_AMDGPU"):
            return (CodeObject("", data),)
        section = elf.get_section_by_name(".hip_fatbin")
        found = _in_bundles(section.data()) if section is not None else []
    except ELFError as error:
        raise NoCodeObject(f"{path}: {error}") from error
    if not found:
        raise NoCodeObject(f"{path}: no GPU code in it (no .hip_fatbin section with a code object)")
    return tuple(found)

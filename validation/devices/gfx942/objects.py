"""A code object as a program: kernels from its descriptors and its note, code disassembled when it is wanted."""

from __future__ import annotations

import io
import struct

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection
from porter.validation.devices.core.hostcc import fingerprint
from porter.validation.devices.gfx942.disassembly import Functions, tool
from porter.validation.devices.gfx942.note import metadata_of
from porter.validation.devices.gfx942.text import CodeImage, Metadata, Program, Unreadable, kernel_info
from porter.validation.toolchain.store import identity

_SHF_WRITE, _SHF_ALLOC, _SHF_EXECINSTR = 1, 2, 4
_RELATIVE64, _ABS64 = 13, 3


Symbols = dict[str, dict[str, tuple[int, int]]]


def _symbols(elf: ELFFile) -> Symbols:
    """By type, then by name: address and size of the defined symbols."""
    found: Symbols = {"STT_FUNC": {}, "STT_OBJECT": {}, "STT_NOTYPE": {}}
    for section in elf.iter_sections():
        if not isinstance(section, SymbolTableSection):
            continue
        for symbol in section.iter_symbols():
            kind = found.get(symbol["st_info"]["type"])
            if kind is not None and symbol["st_shndx"] != "SHN_UNDEF":
                kind[symbol.name] = (symbol["st_value"], symbol["st_size"])
    return found


def _bits(word: int, first: int, count: int = 1) -> int:
    return word >> first & ((1 << count) - 1)


def _directives(descriptor: bytes, gfx90a: bool) -> dict[str, int]:
    """The kernel descriptor in the words of the assembler (LLVM's AMDGPU usage, "Kernel Descriptor")."""
    rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIHH", descriptor, 48)
    users = ("private_segment_buffer", "dispatch_ptr", "queue_ptr", "kernarg_segment_ptr", "dispatch_id",
             "flat_scratch_init", "private_segment_size")  # fmt: skip
    found = {f"user_sgpr_{name}": _bits(properties, bit) for bit, name in enumerate(users)}
    rounding = ("float_round_mode_32", "float_round_mode_16_64", "float_denorm_mode_32", "float_denorm_mode_16_64")
    found |= {name: _bits(rsrc1, 12 + 2 * i, 2) for i, name in enumerate(rounding)}
    found |= {"dx10_clamp": _bits(rsrc1, 21), "ieee_mode": _bits(rsrc1, 23)}
    found |= {f"system_sgpr_workgroup_id_{axis}": _bits(rsrc2, 7 + i) for i, axis in enumerate("xyz")}
    found |= {
        "system_sgpr_workgroup_info": _bits(rsrc2, 10),
        "system_sgpr_private_segment_wavefront_offset": _bits(rsrc2, 0) * gfx90a,
        "user_sgpr_kernarg_preload_length": _bits(preload, 0, 7),
        "user_sgpr_kernarg_preload_offset": _bits(preload, 7, 9),
    }
    return found


def _pointers(elf: ELFFile) -> dict[int, int]:
    """Where addresses are stored in the image, and which."""
    found: dict[int, int] = {}
    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection) or section.name != ".rela.dyn":
            continue
        table = elf.get_section(section["sh_link"])
        assert isinstance(table, SymbolTableSection)
        for entry in section.iter_relocations():
            if entry["r_info_type"] == _RELATIVE64:
                found[entry["r_offset"]] = entry["r_addend"]
            elif entry["r_info_type"] == _ABS64:
                symbol = table.get_symbol(entry["r_info_sym"])
                if symbol["st_shndx"] != "SHN_UNDEF":  # what is missing stays null
                    found[entry["r_offset"]] = symbol["st_value"] + entry["r_addend"]
            else:
                raise Unreadable(f"relocation of type {entry['r_info_type']} in the code object", 0)
    return found


def _sections(elf: ELFFile) -> tuple[tuple[int, bytes, str, bool], ...]:
    found = []
    for section in elf.iter_sections():
        if section["sh_flags"] & _SHF_ALLOC and section["sh_size"] and section.name != ".relro_padding":
            data = bytes(section["sh_size"]) if section["sh_type"] == "SHT_NOBITS" else section.data()
            found.append((section["sh_addr"], data, section.name, bool(section["sh_flags"] & _SHF_WRITE)))
    return tuple(sorted(found))


def _bytes_at(image: CodeImage, address: int, count: int) -> bytes:
    for start, data, _, _ in image.sections:
        if start <= address < start + len(data):
            return data[address - start : address - start + count]
    raise Unreadable(f"nothing is loaded at {address:#x}", 0)


def _kernels(
    objects: dict[str, tuple[int, int]], metadata: Metadata, program: Program, image: CodeImage
) -> dict[str, int]:
    """Puts the kernels into the program; by name: where their code begins, as their descriptors say."""
    listed = metadata.get("amdhsa.kernels")
    entries: dict[str, int] = {}
    for entry in listed if isinstance(listed, list) else []:
        name, descriptor = str(entry[".name"]), str(entry[".symbol"])
        if descriptor not in objects:
            continue
        place = objects[descriptor][0]
        content = _bytes_at(image, place, 64)
        if len(content) < 64:
            raise Unreadable(f"the descriptor of {name} is cut off", 0)
        found = _directives(content, "gfx90a" in program.target)
        program.kernels[name] = kernel_info(entry, {name: found})
        entries[name] = place + struct.unpack_from("<q", content, 16)[0]
    return entries


def _metadata(elf: ELFFile) -> Metadata:
    sections = [s.data() for s in elf.iter_sections() if s["sh_type"] == "SHT_NOTE"]
    segments = [s.data() for s in elf.iter_segments() if s["p_type"] == "PT_NOTE"]
    found = next((found for data in (*sections, *segments) if (found := metadata_of(data)) is not None), None)
    return found if found is not None else {}


def read_object(content: bytes) -> Program:
    """One code object: its kernels and data now, its code when it is wanted."""
    tool("llvm-objdump")
    try:
        return _read(ELFFile(io.BytesIO(content)), content)
    except (ELFError, KeyError, ValueError, struct.error) as error:
        raise Unreadable(f"a damaged code object: {type(error).__name__}: {error}", 0) from None


def _read(elf: ELFFile, content: bytes) -> Program:
    metadata = _metadata(elf)
    pointers = _pointers(elf)
    symbols = _symbols(elf)
    objects, named = symbols["STT_OBJECT"], dict(symbols["STT_FUNC"])
    data = {name: place for name, place in objects.items() if not name.endswith(".kd")}
    origin = fingerprint(identity(tool("llvm-objdump"), ""), content)
    program = Program(target=str(metadata.get("amdhsa.target", "")), origin=origin)
    image = program.image = CodeImage(_sections(elf), data, pointers)
    for name, address in _kernels(objects, metadata, program, image).items():
        named.setdefault(name, (address, 0))
    labels = {name: address for name, (address, _) in (named | symbols["STT_NOTYPE"]).items()}
    code = tuple((s["sh_addr"], s["sh_addr"] + s["sh_size"]) for s in elf.iter_sections()
                 if s["sh_flags"] & _SHF_EXECINSTR)  # fmt: skip
    functions = Functions(content, code, named, labels)
    for address in set(pointers.values()):
        functions.at(address)
    program.functions = functions
    return program


def describe_object(content: bytes) -> tuple[str, tuple[Metadata, ...]]:
    """The target and what the note says of each kernel; needs no tool. Raises Unreadable."""
    try:
        metadata = _metadata(ELFFile(io.BytesIO(content)))
    except (ELFError, KeyError, ValueError, struct.error) as error:
        raise Unreadable(f"a damaged code object: {type(error).__name__}: {error}", 0) from None
    listed = metadata.get("amdhsa.kernels")
    return str(metadata.get("amdhsa.target", "")), tuple(listed if isinstance(listed, list) else ())

"""A code object as a program: disassembled by llvm-objdump, with kernels from its descriptors and its note."""

from __future__ import annotations

import io
import re
import struct
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection
from porter.validation.devices.gfx942.layout import reached_addresses
from porter.validation.devices.gfx942.lines import SYSTEM
from porter.validation.devices.gfx942.text import (
    CodeImage,
    Function,
    Instruction,
    Label,
    Metadata,
    Program,
    Unreadable,
    kernel_info,
    parse_instruction,
    parse_metadata,
)
from porter.validation.toolchain.programs import find
from porter.validation.toolchain.result import Missing

_SHF_WRITE, _SHF_ALLOC, _SHF_EXECINSTR = 1, 2, 4
_RELATIVE64, _ABS64 = 13, 3
_LINE = re.compile(r"^\s+(?P<text>\S.*?)\s*// (?P<address>[0-9A-F]{12,16}):")
_SOURCE = re.compile(r"^; (?P<file>.+):(?P<line>\d+)$")


def _tool(name: str) -> str:
    found = find(name)
    if isinstance(found, Missing):
        raise Unreadable(f"the code object cannot be read: {found.reason}", 0)
    return found.path


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise Unreadable(f"{command[0]}: {done.stderr.decode('utf-8', 'replace').strip()}", 0)
    return done.stdout.decode("utf-8", "replace")


def _disassembled(listing: str) -> dict[int, Instruction]:
    """Instructions by address; those from system headers are charged to the line before."""
    found: dict[int, Instruction] = {}
    seen: dict[str, Instruction] = {}
    file, source_line = None, 0
    for number, line in enumerate(listing.splitlines(), 1):
        if match := _SOURCE.match(line):
            if not SYSTEM.search(match["file"]):
                file, source_line = match["file"], int(match["line"])
        elif match := _LINE.match(line):
            address = int(match["address"], 16)
            made = seen.get(match["text"])
            if made is None:
                made = seen.setdefault(match["text"], parse_instruction(match["text"], number))
            found[address] = replace(made, line=number, file=file, source_line=source_line, address=address)
        elif line.endswith(">:"):
            file, source_line = None, 0
    return found


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


def _branch_target(instruction: Instruction, labels: dict[str, int]) -> int | None:
    """The address; an operand that is no number is one of the file's symbols."""
    name = instruction.mnemonic
    if not name.startswith(("s_cbranch", "s_branch")):
        return None
    operand = instruction.operands[0].split()[0]
    try:
        words = int(operand, 0)
    except ValueError:
        if operand not in labels:
            raise Unreadable(f"jump to unknown label: {instruction.text}", instruction.line) from None
        return labels[operand]
    return instruction.address + 4 + 4 * (words - 0x10000 if words & 0x8000 else words)


def _starts(instructions: dict[int, Instruction], named: dict[str, tuple[int, int]]) -> dict[int, str]:
    """Functions by address: of several names the one with a size; labels inside functions are none."""
    found: dict[int, str] = {}
    spans = [(address, address + size) for address, size in named.values() if size]
    for name, (address, size) in sorted(named.items(), key=lambda item: item[1][1]):
        if address in instructions and (size or not any(low < address < high for low, high in spans)):
            found[address] = name
    return found


def _functions(
    instructions: dict[int, Instruction],
    named: dict[str, tuple[int, int]],
    pointed_at: set[int],
    labels: dict[str, int],
) -> dict[str, Function]:
    """Functions from the symbols, and from what is called without having one (stripped files)."""
    starts = _starts(instructions, named)
    inside = [(address, address + size) for address, size in named.values()]
    reached = {
        address
        for address in reached_addresses(instructions.values()) | pointed_at
        if address in instructions and not any(low < address < high for low, high in inside)
    }
    starts |= {address: f"function at {address:#x}" for address in reached - set(starts)}
    targets = {t for i in instructions.values() if (t := _branch_target(i, labels)) is not None}
    found: dict[str, Function] = {}
    current: Function | None = None
    for address, item in sorted(instructions.items()):
        if address in starts:
            current = found[starts[address]] = Function(starts[address])
        if current is None or item.mnemonic == "s_code_end":
            continue
        if address in targets:
            current.items.append(Label(f"at_{address:x}"))
        target = _branch_target(item, labels)
        if target is not None:
            if target not in instructions:
                raise Unreadable(f"branch out of the code: {item.text}", item.line)
            item = replace(item, operands=(f"at_{target:x}",))
        current.items.append(item)
    for name, (address, _) in named.items():  # other names of the same code
        if name not in found and (same := found.get(starts.get(address, ""))) is not None:
            found[name] = replace(same, name=name)
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


def _kernels(objects: dict[str, tuple[int, int]], metadata: Metadata, program: Program, image: CodeImage) -> None:
    listed = metadata.get("amdhsa.kernels")
    for entry in listed if isinstance(listed, list) else []:
        name, descriptor = str(entry[".name"]), str(entry[".symbol"])
        if descriptor not in objects:
            continue
        found = _directives(_bytes_at(image, objects[descriptor][0], 64), "gfx90a" in program.target)
        program.kernels[name] = kernel_info(entry, {name: found})


def read_object(content: bytes) -> Program:
    """One code object."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "code.o"
        path.write_bytes(content)
        listing = _run(_tool("llvm-objdump"), "-d", "-l", "--no-show-raw-insn", str(path))
        note = _run(_tool("llvm-readelf"), "--notes", str(path))
    elf = ELFFile(io.BytesIO(content))
    lines = note.splitlines()
    start = next((i for i, line in enumerate(lines) if line.strip() == "---"), len(lines))
    end = next((i for i, line in enumerate(lines) if line.strip() == "..."), len(lines))
    metadata = parse_metadata(lines[start:end])
    instructions = _disassembled(listing)
    pointers = _pointers(elf)
    symbols = _symbols(elf)
    objects, functions = symbols["STT_OBJECT"], symbols["STT_FUNC"]
    data = {name: place for name, place in objects.items() if not name.endswith(".kd")}
    program = Program(target=str(metadata.get("amdhsa.target", "")))
    labels = {name: address for name, (address, _) in (functions | symbols["STT_NOTYPE"]).items()}
    program.functions = _functions(instructions, functions, set(pointers.values()), labels)
    program.image = CodeImage(_sections(elf), data, pointers)
    _kernels(objects, metadata, program, program.image)
    return program

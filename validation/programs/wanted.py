"""Which runtime libraries a program asks for, by the dynamic linker's own view of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from porter.validation.programs.libraries import StandIn, asked_for
from porter.validation.programs.sides import SIDES, Side
from porter.validation.toolchain.invoke import invoke

from porter.system.programs import on_this_machine

_LIBRARY = re.compile(r"\b(libcudart\.so|libamdhip64\.so)\.(\d+(?:\.\d+)?)")
_OTHER = re.compile(r"\blib(?:cuda|nvrtc|hiprtc)\.so\.[\d.]+")
STATIC = (
    "the CUDA runtime is linked statically, so that no library can take its place: link it dynamically, with "
    "`-cudart shared` (NVCC_APPEND_FLAGS='-cudart shared' in the environment of the build; "
    "CMAKE_CUDA_RUNTIME_LIBRARY=Shared with CMake)"
)


@dataclass(frozen=True)
class Wanted:
    """The libraries, as side and version; all there are where a program may load them later."""

    libraries: tuple[tuple[Side, str], ...]
    stand_ins: tuple[tuple[StandIn, str], ...] = ()
    """Those for libraries that it is linked to, with the version of the runtime."""
    is_certain: bool = True
    """False where a program may load any of them later."""
    early: bool = False
    """The program's own paths come before the environment's: the libraries have to be loaded ahead."""
    static: bool = False
    """It holds CUDA code and asks for no library."""


def wanted(program: Path) -> Wanted:
    """What a program, or the interpreter of a script, asks for."""
    every = tuple((side, version) for side in SIDES.values() for version, _ in side.versions)
    try:
        with program.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                return Wanted(every, is_certain=False)
            elf = ELFFile(file)
            has_code = elf.get_section_by_name(".nv_fatbin") is not None
            early = _has_rpath(elf)
    except (OSError, ELFError):
        return Wanted(every, is_certain=False)
    linked = _linked(program)
    named = {match.groups() for match in _LIBRARY.finditer(linked)}
    found = tuple((side, v) for side, v in every if (side.library, v) in named)
    if not found:  # the driver API alone, or a compiler: the newest runtime that has the name
        others = set(_OTHER.findall(linked))
        found = tuple((side, v) for side, v in reversed(every) if others & set(side.files(v)[1:]))[:1]
    if not found and has_code:
        return Wanted((), static=True)
    asked = tuple((row, version) for side, version in found for row in asked_for(side, version, linked))
    return Wanted(found or every, asked, bool(found), early and bool(found))


def _has_rpath(elf: ELFFile) -> bool:
    section = elf.get_section_by_name(".dynamic")
    return isinstance(section, DynamicSection) and any(tag.entry.d_tag == "DT_RPATH" for tag in section.iter_tags())


def _linked(program: Path) -> str:
    """Every library it is linked to, directly or not."""
    ldd = on_this_machine("ldd")
    shown = invoke((ldd, str(program)), 20).output if ldd else ""
    with program.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".dynamic")
        if isinstance(section, DynamicSection):
            tags = [tag for tag in section.iter_tags() if tag.entry.d_tag == "DT_NEEDED"]
            shown += " " + " ".join(str(getattr(tag, "needed", "")) for tag in tags)
    return shown

"""Which runtime libraries a program asks for, by the dynamic linker's own view of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from porter.validation.programs.libraries import StandIn, asked_for
from porter.validation.programs.sides import SIDES, Side
from porter.validation.toolchain.invoke import invoke

from porter.system.programs import on_this_machine
from porter.system.remembered import remembered

_LIBRARY = re.compile(r"\b(libcudart\.so|libamdhip64\.so)\.(\d+(?:\.\d+)?)")
_OTHER = re.compile(r"\blib(?:cuda|nvrtc|hiprtc)\.so\.[\d.]+")
_SYSTEMS = re.compile(r"(?:libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|libgomp|ld-linux[\w-]*)\.so\.\d+")
_FATBIN_HEADER = 16
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
        sections = _Sections(*json.loads(remembered("code and needed", program, lambda: json.dumps(_read(program)))))
    except (OSError, _NoProgram):
        return Wanted(every, is_certain=False)
    linked = sections.needed if _is_all(sections.needed) else f"{_loaded(program)} {sections.needed}"
    named = {match.groups() for match in _LIBRARY.finditer(linked)}
    found = tuple((side, v) for side, v in every if (side.library, v) in named)
    if not found:  # the driver API alone, or a compiler: the newest runtime that has the name
        others = set(_OTHER.findall(linked))
        found = tuple((side, v) for side, v in reversed(every) if others & set(side.files(v)[1:]))[:1]
    if not found and sections.has_code:
        return Wanted((), static=True)
    asked = tuple((row, version) for side, version in found for row in asked_for(side, version, linked))
    return Wanted(found or every, asked, bool(found), sections.early and bool(found))


def _is_all(needed: str) -> bool:
    """Whether the libraries that a program names ask for none of ours: they are its own runtime and the system's."""
    own = _LIBRARY.sub("", needed)
    return own != needed and all(_SYSTEMS.fullmatch(name) for name in own.split())


class _NoProgram(Exception):
    """A script, say, or a file that is damaged."""


class _Sections(NamedTuple):
    """What the file itself tells."""

    has_code: bool
    """Whether it holds CUDA code."""
    early: bool
    needed: str
    """The libraries that it names."""


def _read(program: Path) -> _Sections:
    """By pyelftools, which takes as long to be imported as a small program to run."""
    with program.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            raise _NoProgram
        from elftools.common.exceptions import ELFError
        from elftools.elf.dynamic import DynamicSection
        from elftools.elf.elffile import ELFFile

        try:
            elf = ELFFile(file)
            section = elf.get_section_by_name(".dynamic")
            tags = list(section.iter_tags()) if isinstance(section, DynamicSection) else []
            needed = [str(getattr(tag, "needed", "")) for tag in tags if tag.entry.d_tag == "DT_NEEDED"]
            early = any(tag.entry.d_tag == "DT_RPATH" for tag in tags)
            return _Sections(_has_code(elf.get_section_by_name(".nv_fatbin")), early, " ".join(needed))
        except ELFError as error:
            raise _NoProgram from error


def _has_code(section: Any) -> bool:
    """Whether there is more than the header that nvcc gives to every program that it links."""
    return section is not None and section["sh_size"] > _FATBIN_HEADER


def _loaded(program: Path) -> str:
    """Every library it is linked to, directly or not, as the dynamic linker finds them now."""
    ldd = on_this_machine("ldd")
    return invoke((ldd, str(program)), 20).output if ldd else ""

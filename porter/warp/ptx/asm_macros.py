"""Inline assembly of a file, with the macros of its headers that stand for parts of templates and constraints."""

from __future__ import annotations

from porter.cpp.asm import Assembly, StringMacro, assemblies, string_macros
from porter.cpp.preprocessor import ABSENT, UNKNOWN, Macro
from porter.engine.unit import Unit
from porter.engine.worlds import TOOLKIT

_VALUES = {
    **dict.fromkeys(("__CUDA_ARCH__", "PORTER_CUDA_ARCH"), Macro(True, 700)),
    **TOOLKIT,
    **dict.fromkeys(("__HIPCC__", "__HIP_PLATFORM_AMD__", "__HIP__", "__AMDGCN__"), Macro(True, 1)),
    "__HIP_PLATFORM_NVIDIA__": ABSENT,
}
"""What conditions between the strings of a statement ask for: as arch.hpp has it, in the device pass."""


def statements(unit: Unit) -> list[Assembly]:
    """All inline assembly statements; headers are read only where something would be missing without them."""
    macros = string_macros(unit.source.text)
    found = list(assemblies(unit.tokens, macros, _meaning))
    if all(assembly.complete and assembly.template is not None for assembly in found):
        return found
    return list(assemblies(unit.tokens, {**_of_headers(unit), **macros}, _meaning))


def _of_headers(unit: Unit) -> dict[str, tuple[StringMacro, ...]]:
    """The macros of the project's headers that the file includes, directly or not."""
    found: dict[str, tuple[StringMacro, ...]] = {}
    for source in unit.program.headers:
        for name, bodies in string_macros(source.text).items():
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *bodies)))
    return found


def _meaning(name: str) -> Macro:
    return _VALUES.get(name, UNKNOWN)

"""Inline assembly of a file, with the macros of its headers that stand for parts of templates and constraints."""

from __future__ import annotations

from porter.cpp.asm import Assembly, StringMacro, assemblies, string_macros
from porter.engine.unit import Unit


def statements(unit: Unit) -> list[Assembly]:
    """All inline assembly statements; headers are read only where something would be missing without them."""
    macros = string_macros(unit.source.text)
    found = list(assemblies(unit.tokens, macros))
    if all(assembly.complete and assembly.template is not None for assembly in found):
        return found
    return list(assemblies(unit.tokens, {**_of_headers(unit), **macros}))


def _of_headers(unit: Unit) -> dict[str, tuple[StringMacro, ...]]:
    """The macros of the project's headers that the file includes, directly or not."""
    found: dict[str, tuple[StringMacro, ...]] = {}
    for source in unit.program.headers:
        for name, bodies in string_macros(source.text).items():
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *bodies)))
    return found

"""Inline assembly of a file, with the macros of its headers that stand for parts of templates and constraints."""

from __future__ import annotations

import re

from porter.cpp.asm import Assembly, StringMacro, assemblies, string_macros
from porter.engine.unit import Unit

_MOST_HEADERS = 100
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


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
    if unit.included_file is None:
        return found
    seen: set[str] = set()
    waiting = [(unit.source.path, include.name) for include in unit.tokens.includes]
    while waiting and len(seen) < _MOST_HEADERS:
        source = unit.included_file(*waiting.pop())
        if source is None or source.path in seen:
            continue
        seen.add(source.path)
        for name, bodies in string_macros(source.text).items():
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *bodies)))
        waiting += [(source.path, name) for name in _INCLUDE.findall(source.text)]
    return found

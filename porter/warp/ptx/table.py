"""What each PTX instruction is in C++."""

from __future__ import annotations

from collections.abc import Mapping

from porter.cpp.asm import Assembly
from porter.engine.support import SupportRow
from porter.warp.ptx import arithmetic, carry, exchanges, matrix, mbarrier, memory, packed, video
from porter.warp.ptx.template import Unknown
from porter.warp.ptx.writer import Translation, Writer

FAMILIES = (arithmetic, carry, exchanges, matrix, mbarrier, memory, packed, video)
"""The modules whose import fills the table."""


def translate(assembly: Assembly, registers: Mapping[str, SupportRow], continues: bool = False) -> Translation:
    """The statement in C++; raises Unknown with what has no translation.

    Where macros have several definitions, those that can be translated must agree.
    """
    found: list[Translation] = []
    problems: list[Unknown] = []
    for reading in (assembly, *assembly.others):
        try:
            found.append(_translated(reading, registers, continues))
        except Unknown as unknown:
            problems.append(unknown)
    if not found:
        raise problems[0]
    if any(other.text != found[0].text for other in found):
        raise Unknown("a template whose macros have several definitions")
    return found[0]


def _translated(assembly: Assembly, registers: Mapping[str, SupportRow], continues: bool) -> Translation:
    if assembly.template is None:
        raise Unknown("a template that is put together from macros")
    if not assembly.complete:
        raise Unknown("operands that a macro writes")
    return Writer(assembly, registers, continues=continues).write()

"""What each PTX instruction is in C++."""

from __future__ import annotations

import re
from collections.abc import Mapping

from porter.cpp.asm import Assembly
from porter.engine.support import SupportRow
from porter.warp.ptx import arithmetic, carry, exchanges, matrix, mbarrier, memory, packed, video
from porter.warp.ptx.template import Unknown
from porter.warp.ptx.writer import Translation, Writer

_WORD = re.compile(r"[A-Za-z_]\w*")
FAMILIES = (arithmetic, carry, exchanges, matrix, mbarrier, memory, packed, video)
"""The modules whose import fills the table."""


def translate(assembly: Assembly, registers: Mapping[str, SupportRow], continues: bool = False) -> Translation:
    """The statement in C++; raises Unknown with what has no translation.

    Where a macro has several uses, every one must have the same translation.
    """
    found = [_agreed(use, registers, continues) for use in (assembly, *assembly.uses)]
    if any(other.text != found[0].text for other in found):
        raise Unknown("a template that the uses of its macro make different things of")
    for name in sorted(assembly.parameters.intersection(_WORD.findall(_own_text(found[0].text, assembly)))):
        raise Unknown(f"a macro whose parameter {name} is called like a part of the translation")
    return found[0]


def _own_text(text: str, assembly: Assembly) -> str:
    """A translation without what it has of the statement."""
    parts = (assembly.written.strings, *(operand.expression for operand in (*assembly.outputs, *assembly.inputs)))
    for part in sorted(filter(None, parts), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(part)}(?!\w)", " ", text)
    return text


def _agreed(assembly: Assembly, registers: Mapping[str, SupportRow], continues: bool) -> Translation:
    """One use: where macros have several definitions, those that can be translated must agree."""
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

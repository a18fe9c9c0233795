"""What each PTX instruction is in C++."""

from __future__ import annotations

from collections.abc import Mapping

import porter.warp.ptx_arithmetic
import porter.warp.ptx_carry
import porter.warp.ptx_matrix
import porter.warp.ptx_memory
import porter.warp.ptx_video
import porter.warp.ptx_warp  # noqa: F401  (these fill the table)
from porter.support import SupportRow
from porter.warp.asm import Assembly
from porter.warp.ptx import Unknown
from porter.warp.ptx_writer import Translation, Writer


def translate(assembly: Assembly, registers: Mapping[str, SupportRow]) -> Translation:
    """The statement in C++; raises Unknown with what has no translation.

    Where macros have several definitions, those that can be translated must agree.
    """
    found: list[Translation] = []
    problems: list[Unknown] = []
    for reading in (assembly, *assembly.others):
        try:
            found.append(_translated(reading, registers))
        except Unknown as unknown:
            problems.append(unknown)
    if not found:
        raise problems[0]
    if any(other.text != found[0].text for other in found):
        raise Unknown("a template whose macros have several definitions")
    return found[0]


def _translated(assembly: Assembly, registers: Mapping[str, SupportRow]) -> Translation:
    if assembly.template is None:
        raise Unknown("a template that is put together from macros")
    if not assembly.complete:
        raise Unknown("operands that a macro writes")
    return Writer(assembly, registers).write()

"""Whether a wrong result is the compiler's: the same port compiled otherwise, in the trial that failed. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from porter.validation.devices.device import Program
from porter.validation.verdict.outcome import Status

_VALUES = frozenset({Status.WRONG_VALUES, Status.NON_FINITE, Status.NONDETERMINISTIC})


@dataclass(frozen=True)
class Suspect:
    """Flags that leave out a part of the compiler, and what it says when they mend a result."""

    flags: tuple[str, ...]
    verdict: str
    trace: str = ""
    """In the name of an instruction that this part of the compiler leaves: where there is none, it changed nothing."""


SUSPECTS = (
    Suspect(("-mllvm", "-amdgpu-sdwa-peephole=0"), "the compiler's SDWA peephole changes the result", "_sdwa"),
    Suspect(
        ("-mllvm", "-amdgpu-codegenprepare-disable-idiv-expansion"),
        "the compiler divides by something small in 24 bits, though the number divided has more",
        "_rcp_",
    ),
    Suspect(
        ("-ffp-contract=on",),
        "the compiler joins products and sums of different statements, and what differs hangs on their rounding",
        "fm|(?:mac|mad)_(?:f|mix|legacy)|dot|rsq",
    ),
    Suspect(("-O0",), "the compiler, or code without a defined result that optimisation brings out"),
)
"""In the order in which they are asked: a pass that is known to be wrong in some versions before all of them."""


def compiler_verdict(
    program: Program | None,
    status: Status,
    passes: Callable[[Program], bool],
    mnemonics: Collection[str] | None = None,
) -> str:
    """What to say of the compiler; nothing where no suspect mends the result, or where it did not make the code.

    `mnemonics`: those of the code that was run, where they are known; only who left a trace in them is asked.

    A fault is not asked about: its place says more, and code at fault may do anything when compiled otherwise.
    """
    if program is None or program.language != "hip" or program.is_object or program.triton is not None:
        return ""
    if status not in _VALUES:
        return ""
    for suspect in SUSPECTS:
        if suspect.trace and mnemonics is not None and not any(re.search(suspect.trace, name) for name in mnemonics):
            continue
        if passes(replace(program, options=(*program.options, *suspect.flags))):
            return f"compiled with {' '.join(suspect.flags)} the same port is right: {suspect.verdict}"
    return ""

"""Whether a wrong result is the compiler's, or that of code without a defined result: the same port compiled otherwise,
in the trial that failed. Pure."""

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
    finer: tuple[Suspect, ...] = ()
    """Asked when this one mends: what it leaves out, part by part."""


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
    Suspect(
        ("-O0",),
        "the compiler, or code without a defined result that optimisation brings out",
        finer=(
            Suspect(
                ("-fno-strict-aliasing",),
                "it reads memory by another type than it was written by, which the original's compiler lets pass",
            ),
            Suspect(("-fwrapv",), "it counts on signed integers that wrap around"),
        ),
    ),
)
"""In the order in which they are asked: a pass that is known to be wrong in some versions before all of them."""


@dataclass(frozen=True)
class Undefined:
    """What C++ leaves open and GPUs do each in a way of its own; clang makes code that traps there."""

    check: str
    """As `-fsanitize` calls it."""
    verdict: str

    @property
    def flags(self) -> tuple[str, ...]:
        """For clang itself, as its driver takes none of them for AMD's GPUs; each place traps for itself."""
        looking = ("-Xclang", f"-fsanitize={self.check}", "-Xclang", f"-fsanitize-trap={self.check}")
        return (*looking, "-mllvm", "-ubsan-unique-traps")


UNDEFINED = (
    Undefined(
        "shift-exponent",
        "shifts by the width of the word or more: NVIDIA's GPUs shift everything out, gfx942 takes the distance modulo "
        "the width (porter::shift_left and porter::shift_right of porter/bits.hpp shift as the original)",
    ),
    Undefined("integer-divide-by-zero", "divides an integer by zero, which each GPU answers in a way of its own"),
    Undefined(
        "float-cast-overflow",
        "converts a number to an integer type that cannot hold it, which each compiler does in a way of its own",
    ),
    Undefined("array-bounds", "uses an index beyond the end of an array"),
    Undefined("bool", "reads a bool that is neither true nor false"),
    Undefined("return", "comes to the end of a function that has to return a value"),
)
_ALL = Undefined(",".join(one.check for one in UNDEFINED), "")


def undefined_verdict(program: Program | None, status: Status, trap: Callable[[Program], str | None]) -> str:
    """Where the port, in the trial that failed, leaves what C++ defines; nothing where it does not.

    `trap`: where a program traps, None when it does not (or does not compile). Asked once for all, then one by one.
    """
    asked = _asked_about(program, status)
    if asked is None or trap(_with(asked, _ALL.flags)) is None:
        return ""
    found = ((trap(_with(asked, one.flags)), one.verdict) for one in UNDEFINED)
    return "; ".join(f"at {where} it {verdict}" for where, verdict in found if where is not None)


def _asked_about(program: Program | None, status: Status) -> Program | None:
    if program is None or program.language != "hip" or program.is_object or program.triton is not None:
        return None
    return program if status in _VALUES else None


def _with(program: Program, flags: tuple[str, ...]) -> Program:
    return replace(program, options=(*program.options, *flags))


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
    asked = _asked_about(program, status)
    if asked is None:
        return ""
    for suspect in SUSPECTS:
        if suspect.trace and mnemonics is not None and not any(re.search(suspect.trace, name) for name in mnemonics):
            continue
        if passes(_with(asked, suspect.flags)):
            finer = (one for one in suspect.finer if passes(_with(asked, one.flags)))
            named = next(finer, suspect)
            return f"compiled with {' '.join(named.flags)} the same port is right: {named.verdict}"
    return ""

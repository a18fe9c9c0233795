"""Which registers an instruction reads and writes."""

from __future__ import annotations

from collections.abc import Iterator

from porter.validation.devices.ptx.model import Instruction, Operand

_NO_RESULT = {
    "st", "red", "bra", "brx", "call", "ret", "exit", "trap", "brkpt", "membar", "fence", "cp", "prefetch",
    "prefetchu", "nanosleep", "discard", "applypriority", "pmevent", "sust", "sured", "stmatrix", "multimem",
    "griddepcontrol", "setmaxnreg", "stackrestore",
}  # fmt: skip
SYNCS = {"shfl", "vote", "match", "redux", "elect", "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"}
"""Instructions that lanes of a warp execute together (those of them that say `.sync`)."""
_OLDER = {"shfl", "vote"}
"""Those that had a form without it, for the lanes that are there (before sm_70; `__any` compiles to it still)."""


def has_result(instruction: Instruction) -> bool:
    """True when the first operand is written."""
    base, modifiers = instruction.base, instruction.modifiers
    if base in ("bar", "barrier"):
        return "red" in modifiers
    if base == "wmma":
        return "store" not in modifiers
    if base == "mbarrier":
        return modifiers[0] in ("arrive", "test_wait", "try_wait", "pending_count") and instruction.operands[
            0
        ].kind in (
            "reg",
            "sink",
        )
    return base not in _NO_RESULT


def registers(operand: Operand) -> Iterator[str]:
    """Every register an operand names."""
    if operand.kind == "reg":
        yield operand.text
    for part in operand.parts:
        yield from registers(part)


CARRY = "%carry"
"""The condition code that .cc instructions leave and addc, subc and madc take."""


def writes(instruction: Instruction) -> tuple[str, ...]:
    """Registers written."""
    if not instruction.operands or not has_result(instruction):
        return ()
    first = instruction.operands[0]
    found = () if first.kind == "memory" else tuple(registers(first))
    return (*found, CARRY) if "cc" in instruction.modifiers else found


def reads(instruction: Instruction) -> tuple[str, ...]:
    """Registers read; a result under a predicate is also read, because its old value may stay."""
    found: list[str] = []
    rest = instruction.operands
    if rest and has_result(instruction) and rest[0].kind != "memory":
        rest = rest[1:]
        if instruction.guard is not None:
            found += writes(instruction)
    for operand in rest:
        found += registers(operand)
    if instruction.guard is not None:
        found.append(instruction.guard.text)
    if instruction.base in ("addc", "subc", "madc"):
        found.append(CARRY)
    return tuple(found)


def is_sync(instruction: Instruction) -> bool:
    """True for what the lanes of a warp must reach together, block barriers aside."""
    return (instruction.base in SYNCS and (instruction.base in _OLDER or "sync" in instruction.modifiers)) or (
        instruction.base == "bar" and instruction.modifiers[:1] == ("warp",)
    )


def is_barrier(instruction: Instruction) -> bool:
    """True for a barrier of the block (or of the cluster)."""
    return instruction.base == "barrier" or (instruction.base == "bar" and not is_sync(instruction))

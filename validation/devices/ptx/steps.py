"""Order the instructions of a block: lane-wise ones together, everything else one by one."""

from __future__ import annotations

from dataclasses import dataclass

from porter.validation.devices.ptx.alu import RULES
from porter.validation.devices.ptx.effects import is_sync, reads, writes
from porter.validation.devices.ptx.model import Instruction

WINDOW = 256
"""Instructions looked at together: enough to fuse, few enough to build quickly."""

_DIRECTED = {"rz", "rm", "rp"}
_FLOATS = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"}


@dataclass(frozen=True)
class Step:
    """A group of lane-wise instructions for one loop, or one other instruction."""

    code: tuple[Instruction, ...]
    is_group: bool


def is_lane_wise(instruction: Instruction) -> bool:
    """True for what needs nothing but the lane's own registers."""
    modifiers = instruction.modifiers
    if instruction.base in ("ld", "st") and modifiers[0].partition("::")[0] == "param":
        address = instruction.operands[instruction.base == "ld"]
        return address.kind == "memory" and address.parts[0].kind == "symbol"
    return instruction.base in RULES


def is_slow(instruction: Instruction) -> bool:
    """True for what would keep a loop from becoming vector code."""
    modifiers = instruction.modifiers
    if instruction.base in ("div", "rem", "div_full"):
        return bool(_DIRECTED & set(modifiers)) or not _FLOATS & set(modifiers)
    if instruction.base in ("add", "sub", "mul", "fma", "sqrt", "rcp"):
        return bool(_DIRECTED & set(modifiers)) and ("f64" in modifiers or instruction.base in ("sqrt", "rcp"))
    if instruction.base == "cvt":
        return bool(_DIRECTED & set(modifiers)) and any(m in ("s64", "u64") for m in modifiers)
    return False


def _stands_alone(instruction: Instruction) -> bool:
    return instruction.base == "call" or is_sync(instruction)


def schedule(code: list[Instruction], constants: dict[str, Instruction]) -> list[Step]:
    """Steps in an order that changes no result: memory accesses keep theirs."""
    steps: list[Step] = []
    pending: list[Instruction] = []

    def close() -> None:
        steps.extend(_arrange(pending))
        pending.clear()

    for instruction in code:
        if any(name in constants for name in writes(instruction)):
            continue
        if _stands_alone(instruction):
            close()
            steps.append(Step((instruction,), False))
            continue
        pending.append(instruction)
        if len(pending) >= WINDOW:
            close()
    close()
    return steps


def _arrange(pending: list[Instruction]) -> list[Step]:
    steps: list[Step] = []
    left = [(i, set(reads(i)), set(writes(i)), is_lane_wise(i) and not is_slow(i)) for i in pending]
    while left:
        group, left = _ready(left, lane_wise=True)
        if group:
            steps.append(Step(tuple(group), True))
        others, left = _ready(left, lane_wise=False)
        for other in others:
            steps.append(Step((other,), is_lane_wise(other)))
    return steps


_Entry = tuple[Instruction, set[str], set[str], bool]


def _ready(left: list[_Entry], lane_wise: bool) -> tuple[list[Instruction], list[_Entry]]:
    """What can go before everything that stays behind."""
    taken: list[Instruction] = []
    rest: list[_Entry] = []
    read: set[str] = set()
    written: set[str] = set()
    stopped = False
    for entry in left:
        instruction, uses, defines, wise = entry
        touches = uses & written or defines & written or defines & read
        if wise != lane_wise or touches or (stopped and not lane_wise):
            rest.append(entry)
            read |= uses
            written |= defines
            if not wise:
                stopped = True
            continue
        taken.append(instruction)
    return taken, rest

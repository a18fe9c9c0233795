"""One function prepared for translation: blocks, steps, where its registers and variables live."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.validation.devices.ptx import cfg
from porter.validation.devices.ptx.allocate import (
    Liveness,
    Rows,
    assign,
    bits_of,
    constants,
    liveness,
    storage,
    tainted,
)
from porter.validation.devices.ptx.effects import CARRY, is_sync, reads, writes
from porter.validation.devices.ptx.model import Function, Instruction, layout
from porter.validation.devices.ptx.steps import Step, schedule


@dataclass
class Unit:
    """A function and everything the emitters need to know of it."""

    function: Function
    graph: cfg.Graph
    constants: dict[str, Instruction]
    live: Liveness
    steps: dict[int, list[Step]]
    needed: dict[int, list[int]]
    """By block: registers alive after each step."""
    rows: Rows
    tainted: set[str]
    undefined: set[str]
    pcs: dict[int, int] = field(default_factory=dict)
    locals: dict[str, int] = field(default_factory=dict)
    """Offsets of local variables in the frame."""
    frame_bytes: int = 0
    saved: dict[int, int] = field(default_factory=dict)
    """By block that ends in a call of itself: where its registers are saved."""
    parameter_rows: int = 0
    parameter_base: int = 0

    def kind(self, register: str) -> str:
        """Type of a register."""
        return "pred" if register == CARRY else self.function.registers[register]

    def is_alive(self, block: int, step: int, register: str) -> bool:
        """True when a register's value is wanted after a step."""
        index = self.live.number.get(register)
        return index is not None and bool(self.needed[block][step] >> index & 1)


_SOURCES = ("ld", "ldu", "atom", "shfl")


_WRITTEN = frozenset({"global", "const", "param"})


def _taint_sources(function: Function, graph: cfg.Graph, written: frozenset[str]) -> set[str]:
    """Results of what may read memory that nothing wrote, or a lane that is not there; all of `written` is."""
    found: set[str] = set()
    for block in graph.blocks.values():
        for instruction in block.code:
            modifiers = instruction.modifiers
            if (
                (instruction.base in ("ld", "ldu") and written.isdisjoint(modifiers))
                or instruction.base in ("shfl", "ldmatrix")
                or (instruction.base == "ld" and "param" in modifiers and not function.is_kernel)
            ):
                found.update(writes(instruction))
    return found


def prepare(function: Function, first_row: dict[str, int], poison: bool, followed: bool = False) -> Unit:
    """Analyse one function; its rows follow those of the functions before it. `followed`: device memory, too."""
    graph = cfg.build(function)
    steady = constants(function, graph)
    live = liveness(function, graph, set(steady))
    steps: dict[int, list[Step]] = {}
    needed: dict[int, list[int]] = {}
    for number in graph.order:
        steps[number] = schedule(graph.blocks[number].code, steady)
        needed[number] = _needed(steps[number], graph.blocks[number], live)
    kinds = {name: storage("pred" if name == CARRY else function.registers[name]) for name in live.names}
    rows = assign(_intervals(graph, steps, needed, live), kinds, first_row)
    undefined = {live.names[i] for i in bits_of(live.live_in[0])}
    written = _WRITTEN - {"global"} if followed else _WRITTEN
    unclean = tainted(function, graph, undefined, _taint_sources(function, graph, written)) if poison else set()
    unit = Unit(function, graph, steady, live, steps, needed, rows, unclean - set(steady), undefined)
    _place_locals(unit)
    unit.parameter_rows = 0 if function.is_kernel else (layout(function.parameters) + 3) // 4
    return unit


def _needed(steps: list[Step], block: cfg.Block, live: Liveness) -> list[int]:
    alive = live.live_out[block.number]
    if block.last is not None:
        alive = _before(block.last, alive, live)
    after: list[int] = []
    for step in reversed(steps):
        after.append(alive)
        for instruction in reversed(step.code):
            alive = _before(instruction, alive, live)
    return after[::-1]


def _before(instruction: Instruction, alive: int, live: Liveness) -> int:
    if instruction.guard is None:
        for name in writes(instruction):
            if name in live.number:
                alive &= ~(1 << live.number[name])
    for name in reads(instruction):
        if name in live.number:
            alive |= 1 << live.number[name]
    return alive


def _intervals(
    graph: cfg.Graph, steps: dict[int, list[Step]], needed: dict[int, list[int]], live: Liveness
) -> dict[str, tuple[int, int]]:
    """Stretches of code in which a register must keep its row."""
    found: dict[int, tuple[int, int]] = {}
    position = 0

    def extend(index: int) -> None:
        start, end = found.get(index, (position, position))
        found[index] = (min(start, position), max(end, position))

    for number in graph.order:
        for index in bits_of(live.live_in[number]):
            extend(index)
        for step, alive in zip(steps[number], needed[number], strict=True):
            position += 1
            inside: set[int] = set()
            for instruction in step.code:
                for name in reads(instruction):
                    index = live.number.get(name, -1)
                    if index >= 0 and index not in inside:
                        extend(index)
                for name in writes(instruction):
                    index = live.number.get(name, -1)
                    if index >= 0:
                        inside.add(index)
                        if alive >> index & 1:
                            extend(index)
        position += 1
        last = graph.blocks[number].last
        for name in reads(last) if last is not None else ():
            if name in live.number:
                extend(live.number[name])
        for name in writes(last) if last is not None else ():
            if name in live.number:
                extend(live.number[name])
        for index in bits_of(live.live_out[number]):
            extend(index)
        position += 1
    return {live.names[index]: interval for index, interval in found.items()}


def _place_locals(unit: Unit) -> None:
    end = 0
    for name, variable in unit.function.variables.items():
        if variable.space == "local":
            end = (end + variable.align - 1) // variable.align * variable.align
            unit.locals[name] = end
            end += variable.size
    unit.frame_bytes = (end + 15) // 16 * 16


def starts_with_sync(block: cfg.Block) -> bool:
    """True for a block at whose start lanes meet."""
    return bool(block.code) and is_sync(block.code[0])

"""Where registers live: which are constant, which need a row of the warp's memory, which may be uninitialised."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from porter.validation.devices.ptx.cfg import Graph
from porter.validation.devices.ptx.effects import CARRY, reads, writes
from porter.validation.devices.ptx.model import WIDTHS, Function, Instruction, Operand, Unsupported


@dataclass
class Liveness:
    """Registers as numbers; sets of them as the bits of an int."""

    names: list[str]
    number: dict[str, int]
    live_in: dict[int, int] = field(default_factory=dict)
    live_out: dict[int, int] = field(default_factory=dict)


def bits_of(numbers: int) -> list[int]:
    """The members of a set."""
    found: list[int] = []
    while numbers:
        low = numbers & -numbers
        found.append(low.bit_length() - 1)
        numbers ^= low
    return found


def instructions_of(graph: Graph, number: int) -> list[Instruction]:
    """A block's instructions, its last one included."""
    block = graph.blocks[number]
    return [*block.code, block.last] if block.last is not None else list(block.code)


def liveness(function: Function, graph: Graph, ignored: set[str]) -> Liveness:
    """Live registers at both ends of every block; constants are left out."""
    names = [name for name in [*function.registers, CARRY] if name not in ignored]
    result = Liveness(names, {name: i for i, name in enumerate(names)})
    used: dict[int, int] = {}
    defined: dict[int, int] = {}
    for number in graph.order:
        use = kill = 0
        for instruction in instructions_of(graph, number):
            for name in reads(instruction):
                index = result.number.get(name)
                if index is not None and not kill >> index & 1:
                    use |= 1 << index
            if instruction.guard is None:
                for name in writes(instruction):
                    if name in result.number:
                        kill |= 1 << result.number[name]
        used[number], defined[number] = use, kill
        result.live_in[number] = result.live_out[number] = 0
    changed = True
    while changed:
        changed = False
        for number in reversed(graph.order):
            out = 0
            for successor in graph.blocks[number].successors:
                out |= result.live_in[successor]
            into = used[number] | (out & ~defined[number])
            result.live_out[number] = out
            if into != result.live_in[number]:
                result.live_in[number] = into
                changed = True
    return result


def constants(function: Function, graph: Graph) -> dict[str, Instruction]:
    """Registers whose only definition gives the same value whenever it runs: read again where they are needed."""
    definition: dict[str, Instruction | None] = {}
    for number in graph.order:
        for instruction in instructions_of(graph, number):
            for name in writes(instruction):
                definition[name] = None if name in definition or instruction.guard is not None else instruction
    return {name: i for name, i in definition.items() if i is not None and _is_constant(i, function)}


_STEADY = (
    "%tid.",
    "%ntid.",
    "%ctaid.",
    "%nctaid.",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%lanemask_",
    "%gridid",
    "%warpsz",
)


def _is_constant(instruction: Instruction, function: Function) -> bool:
    if instruction.base == "ld" and instruction.modifiers[0] == "param":
        address = instruction.operands[1]
        return (
            function.is_kernel
            and address.parts[0].kind == "symbol"
            and instruction.operands[0].kind == "reg"
            and any(p.name == address.parts[0].text for p in function.parameters)
        )
    if instruction.base != "mov" or instruction.operands[0].kind != "reg":
        return False
    source = instruction.operands[1]
    if source.kind == "sreg":
        return source.text.startswith(_STEADY)
    return source.kind in ("int", "f32", "f64") or (source.kind == "symbol" and function.is_kernel)


def storage(kind: str, instruction: Instruction | None = None) -> str:
    """`q` for registers of 64 bits, `r` for all others."""
    width = WIDTHS[kind]
    if width > 64 and instruction is not None:
        raise Unsupported(f"register type .{kind}", instruction)
    return "q" if width == 64 else "r"


@dataclass
class Rows:
    """Rows by register, for one function."""

    row: dict[str, int] = field(default_factory=dict)
    count: dict[str, int] = field(default_factory=lambda: {"r": 0, "q": 0})


def assign(intervals: dict[str, tuple[int, int]], kinds: dict[str, str], first: dict[str, int]) -> Rows:
    """Rows for registers by the stretch of code in which each is alive; a row serves several."""
    rows = Rows(count=dict(first))
    free: dict[str, list[int]] = {"r": [], "q": []}
    busy: list[tuple[int, str, int]] = []
    for name, (start, end) in sorted(intervals.items(), key=lambda item: (item[1], item[0])):
        while busy and busy[0][0] < start:
            _, pool, row = heapq.heappop(busy)
            free[pool].append(row)
        pool = kinds[name]
        if free[pool]:
            row = free[pool].pop()
        else:
            row = rows.count[pool]
            rows.count[pool] += 1
        rows.row[name] = row
        heapq.heappush(busy, (end, pool, row))
    return rows


def tainted(function: Function, graph: Graph, undefined: set[str], sources: set[str]) -> set[str]:
    """Registers that may hold what nothing wrote: sources, undefined ones, and what is computed from them."""
    found = undefined | sources
    flows: dict[str, set[str]] = {}
    for number in graph.order:
        for instruction in instructions_of(graph, number):
            if instruction.base in ("ld", "atom", "tex", "tld4", "suld"):
                continue
            for source in reads(instruction):
                flows.setdefault(source, set()).update(writes(instruction))
    pending = list(found)
    while pending:
        for reached in flows.get(pending.pop(), ()):
            if reached not in found:
                found.add(reached)
                pending.append(reached)
    return found


def flat(operand: Operand) -> tuple[Operand, ...]:
    """The elements of a vector or pair, or the operand itself."""
    return operand.parts if operand.kind in ("vector", "pair") else (operand,)

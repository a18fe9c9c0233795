"""One kernel, with every function it can reach, as one C function that runs a warp."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from porter.validation.devices.core.launch import SiteKind
from porter.validation.devices.core.pieces import Form, assemble
from porter.validation.devices.core.translated import translation
from porter.validation.devices.ptx.cfg import Block, is_builtin_call
from porter.validation.devices.ptx.emit_control import ControlEmitter
from porter.validation.devices.ptx.emit_image import ImageEmitter
from porter.validation.devices.ptx.emit_matrix import MatrixEmitter
from porter.validation.devices.ptx.emit_memory import fenced
from porter.validation.devices.ptx.emitter import RESERVED, RESERVED_BYTES
from porter.validation.devices.ptx.model import Function, Instruction, Operand, Program, Unsupported
from porter.validation.devices.ptx.steps import is_lane_wise
from porter.validation.devices.ptx.unit import prepare, starts_with_sync

STACK_BYTES = 64 * 1024
"""Local memory for kernels whose calls have no known depth."""


@dataclass(frozen=True)
class Translation:
    """C for one kernel, and what is known of it."""

    source: str
    sites: tuple[SiteKind, ...]
    segments: int
    symbols: tuple[str, ...]
    shared_bytes: int
    private_bytes: int
    uses_heap: bool


_NOTHING = {"membar", "fence", "prefetch", "prefetchu", "pmevent", "discard", "applypriority", "griddepcontrol",
            "brkpt", "setmaxnreg"}  # fmt: skip


class Translator(MatrixEmitter, ControlEmitter, ImageEmitter):
    """Walks the blocks of all functions and writes C."""

    def translate(self) -> Translation:
        """The C text."""
        functions = self._reachable()
        self._place_shared(functions)
        rows = {"r": 0, "q": 0}
        for function in functions:
            self.collect_calls(function)
            unit = prepare(function, rows, self.poison, self.followed)
            rows = dict(unit.rows.count)
            unit.parameter_base = rows["r"]
            rows["r"] += unit.parameter_rows
            self.units[function.name] = unit
        self._number_blocks()
        private = self._frames()
        for function in functions:
            self._function(function)
        source = "\n".join([*self._prologue(rows), *assemble(self.lines, self._form()), ""])
        return Translation(
            source, tuple(self.sites), self.segment + 1, tuple(self.symbols), self.shared_bytes, private, self.uses_heap
        )

    # ---- what belongs to the kernel ----------------------------------------------------------------------

    def _reachable(self) -> list[Function]:
        """The kernel, what it calls, and everything whose address is taken if it calls by address."""
        found = {self.kernel.name: self.kernel}
        pending = [self.kernel]
        indirect = False
        while pending:
            function = pending.pop()
            function.complete()
            names: list[str] = []
            for item in function.items:
                if isinstance(item, Instruction):
                    names += _symbols(item.operands)
                    indirect |= (
                        item.base == "call" and not is_builtin_call(item) and self.call_parts(item)[1].kind == "reg"
                    )
            if indirect:
                names += [r.symbol for v in self.program.variables.values() for r in v.relocations]
            for name in names:
                target = self.program.functions.get(self.program.aliases.get(name, name))
                if target is not None and target.has_body and not target.is_kernel and target.name not in found:
                    found[target.name] = target
                    pending.append(target)
        return list(found.values())

    def _place_shared(self, functions: list[Function]) -> None:
        """Shared variables from 0 on; what is declared extern starts behind them."""
        used = {name for f in functions for i in f.items if isinstance(i, Instruction) for name in _symbols(i.operands)}
        variables = [(n, v) for n, v in self.program.variables.items() if v.space == "shared" and n in used]
        variables += [(n, v) for f in functions for n, v in f.variables.items() if v.space == "shared"]
        end = 0
        dynamic: list[str] = []
        align = 16
        for name, variable in variables:
            if variable.size == 0 or variable.external:
                dynamic.append(name)
                align = max(align, variable.align)
                continue
            end = (end + variable.align - 1) // variable.align * variable.align
            self.shared[name] = end
            end += variable.size
        self.reserves = any(isinstance(i, Instruction) and RESERVED in i.text for f in functions for i in f.items)
        if self.reserves:
            self.reserved = (end + 15) // 16 * 16
            end = self.reserved + RESERVED_BYTES
        self.shared_bytes = (end + align - 1) // align * align if dynamic else end
        for name in dynamic:
            self.shared[name] = self.shared_bytes

    def _number_blocks(self) -> None:
        number = 0
        for unit in self.units.values():
            for block in unit.graph.order:
                unit.pcs[block] = number
                number += 1

    def _callees(self, name: str) -> set[str]:
        found: set[str] = set()
        for block in self.units[name].graph.blocks.values():
            if block.last is not None and block.last.base == "call":
                found |= self._targets(block.last)
        return found

    def _targets(self, call: Instruction) -> set[str]:
        target = self.call_parts(call)[1]
        if target.kind == "reg":
            return set(self.units) - {self.kernel.name}
        return {self.program.aliases.get(target.text, target.text)} & set(self.units)

    def _frames(self) -> int:
        """Where recursive calls save registers; returns the bytes of local memory."""
        callees = {name: self._callees(name) for name in self.units}
        reach: dict[str, set[str]] = {}
        for name in callees:
            seen: set[str] = set()
            pending = list(callees[name])
            while pending:
                other = pending.pop()
                if other not in seen:
                    seen.add(other)
                    pending += callees[other]
            reach[name] = seen
        for name, unit in self.units.items():
            self.unit = unit
            for block in unit.graph.blocks.values():
                if block.number not in unit.pcs or block.last is None or block.last.base != "call":
                    continue
                if any(name == target or name in reach[target] for target in self._targets(block.last)):
                    unit.saved[block.number] = unit.frame_bytes
            most = 0
            for number in unit.saved:
                most = max(
                    most, sum(8 if pool == "q" else 4 for pool, _ in self._saved_rows(unit.graph.blocks[number]))
                )
            unit.frame_bytes += (most + 15) // 16 * 16
        recursive = any(name in reach[name] for name in self.units)
        depth: dict[str, int] = {}

        def deepest(name: str) -> int:
            if name not in depth:
                depth[name] = self.units[name].frame_bytes + max((deepest(c) for c in callees[name]), default=0)
            return depth[name]

        if recursive:
            return sum(unit.frame_bytes for unit in self.units.values()) + STACK_BYTES
        return deepest(self.kernel.name)

    # ---- code --------------------------------------------------------------------------------------------

    def _function(self, function: Function) -> None:
        self.unit = self.units[function.name]
        graph = self.unit.graph
        returns = {graph.blocks[n].following: graph.blocks[n] for n in self.unit.saved}
        reductions = {
            b.following: b.last
            for b in graph.blocks.values()
            if b.last is not None and b.last.base in ("bar", "barrier") and "red" in b.last.modifiers
        }
        for number in graph.order:
            block = graph.blocks[number]
            self.block = number
            self._begin(block)
            if number == graph.order[0] and not function.is_kernel:
                self.emit_entry()
            if number in returns:
                self.emit_return_site(returns[number])
            if number in reductions:
                self.emit_barrier_result(reductions[number])
            for place, step in enumerate(self.unit.steps[number]):
                self.step = place
                if step.is_group:
                    self.emit_group(step.code)
                else:
                    self._single(step.code[0], block)
            self.step = max(len(self.unit.steps[number]) - 1, 0)
            self.emit_last(block)

    def _begin(self, block: Block) -> None:
        pc = self.unit.pcs[block.number]
        length = max(len(block.code) + (block.last is not None), 1)
        first = len(self.sites)
        key = f"KEY(w->x.depth, {pc}u)" if len(self.units) > 1 else f"KEY(0, {pc}u)"
        self.emit(
            f"B{pc}:",
            f"if (UNLIKELY(w->x.core.quantum <= w->x.limit || w->x.threshold <= {key})) "
            f"{{ e = ptx_pause(&w->x, {pc}, {first}); goto moved; }}",
        )
        if block.spins:
            self.emit(f"if (UNLIKELY(++w->x.spins > SPIN_LIMIT)) {{ e = ptx_spin(&w->x, {pc}); goto moved; }}")
        self.segment += 1
        self.emit(
            f"w->x.core.quantum -= {length};",
            f"w->x.core.segments[{self.segment}].runs++; "
            f"w->x.core.segments[{self.segment}].lanes += (uint64_t)__builtin_popcount(w->x.active);",
        )

    def _single(self, instruction: Instruction, block: Block) -> None:
        base = instruction.base
        if base in ("ld", "ldu"):
            self.emit_load(instruction)
        elif base == "st":
            self.emit_store(instruction)
        elif base in ("atom", "red"):
            self.emit_atomic(instruction)
        elif base == "tex":
            self.emit_texture(instruction)
        elif base == "tld4":
            self.emit_gather(instruction)
        elif base in ("suld", "sust"):
            self.emit_surface(instruction)
        elif base == "cp":
            self.emit_copy(instruction)
        elif base == "call":
            self.emit_builtin(instruction)
        elif base in ("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"):
            self.emit_matrix(instruction, self.unit.pcs[block.number])
        elif starts_with_sync(block) and instruction is block.code[0]:
            self.emit_sync(instruction, self.unit.pcs[block.number])
        elif base == "activemask":
            self._active_mask(instruction)
        elif base == "nanosleep":
            self.site(instruction, "scalar")
            self.emit("w->x.spins += 8;")
        elif base in ("membar", "fence") and not any(m.startswith("proxy") for m in instruction.modifiers):
            self.site(instruction, "scalar")
            self.emit(fenced(instruction.modifiers))
        elif base in _NOTHING:
            self.site(instruction, "scalar")
        elif is_lane_wise(instruction):
            self.emit_group((instruction,))
        else:
            raise Unsupported("unknown instruction", instruction)

    def _active_mask(self, instruction: Instruction) -> None:
        self.site(instruction)
        row = self.target_row(instruction.operands[0])
        if row != "NULL":
            loop = f"for (int l = 0; l < LANES; l++) {row}[l] = w->x.mask[l] ? w->x.active : {row}[l];"
            self.emit(f"{{ show_mask(&w->x); {loop} }}")
        self.emit(*self.clear_bad((instruction.operands[0].text,), "w->x.active"))

    def _prologue(self, rows: dict[str, int]) -> list[str]:
        kernel = self.units[self.kernel.name]
        self.unit = kernel
        zero = [
            f"memset({self.row(name)}, 0, sizeof {self.row(name)});"
            for name in sorted(kernel.undefined)
            if self.row(name)
        ]
        bad = [
            f"w->bad[{slot}] = ~0u;"
            for (function, name), slot in self.bad.items()
            if name in self.units[function].undefined
        ]
        return [
            '#include "lanes.h"',
            "typedef struct W { Warp x;",
            f"uint32_t r[{max(rows['r'], 1)}][LANES] ALIGNED; uint64_t q[{max(rows['q'], 1)}][LANES] ALIGNED;",
            f"uint32_t arguments[{self.argument_rows}][LANES] ALIGNED;",
            f"uint32_t returns[{self._return_rows()}][LANES] ALIGNED;",
            f"uint32_t bad[{max(len(self.bad), 1)}]; }} W;",
            "const uint32_t wave_bytes = (sizeof(W) + 63) / 64 * 64;",
            "void wave_init(Wave *core) {",
            "W *w = (W *)core; ptx_start(&w->x); memset(w->bad, 0, sizeof w->bad);",
            *zero,
            *bad,
            *self._zero_reserved(),
            "}",
        ]

    def _zero_reserved(self) -> list[str]:
        """A block finds the system's shared memory zero."""
        if not self.reserves:
            return []
        block = "core->block"
        return [
            f"memset({block}->shared + {self.reserved}, 0, {RESERVED_BYTES});",
            f"if ({block}->initialised) memset({block}->initialised + {self.reserved}, 1, {RESERVED_BYTES});",
        ]

    def _form(self) -> Form:
        variables = (
            "int e;",
            f"const uint32_t dynamic_shared = w->x.core.launch->shared_bytes - {self.shared_bytes}u;",
            "(void)dynamic_shared;",
            "const uint64_t launch_quantum = w->x.core.launch->quantum; (void)launch_quantum;",
        )
        labels = (
            "next: __attribute__((unused)); return ptx_next(&w->x);",
            "moved: __attribute__((unused)); return e == NEXT ? ptx_next(&w->x) : e;",
        )
        return Form("W", "w->x.core.pc", variables, labels, "return ptx_next(&w->x);")

    def _return_rows(self) -> int:
        own = [sum((v.size + 15) // 4 for v in unit.function.returns) for unit in self.units.values()]
        return max([self.return_rows, *own])


def translated(program: Program, kernel: Function, poison: bool) -> Translation:
    """The C of a kernel; the same text is not translated again."""
    return translation(
        *(Translation, Path(__file__).parent, program.origin, kernel.name, poison),
        lambda: Translator(program, kernel, poison).translate(),
    )


def _symbols(operands: tuple[Operand, ...]) -> list[str]:
    found: list[str] = []
    for operand in operands:
        if operand.kind == "symbol":
            found.append(operand.text)
        found += _symbols(operand.parts)
    return found

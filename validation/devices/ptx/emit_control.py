"""Emit branches, calls, returns and exits."""

from __future__ import annotations

from porter.validation.devices.ptx.cfg import Block
from porter.validation.devices.ptx.emit_calls import CallEmitter
from porter.validation.devices.ptx.model import Instruction, Operand, Unsupported


class ControlEmitter(CallEmitter):
    """What ends a block."""

    def emit_last(self, block: Block) -> None:
        """The end of a block: its last instruction, or what follows."""
        last = block.last
        if last is None:
            if block.following is None:
                self._leave(None)
            else:
                self._go(self.unit.pcs[block.following], self.unit.pcs[block.number])
            return
        after = None if block.following is None else self.unit.pcs[block.following]
        pc = self.unit.pcs[block.number]
        if last.base == "bra":
            self._branch(last, self.unit.pcs[block.targets[0]], after, pc)
        elif last.base == "brx":
            self._branch_indexed(last, [self.unit.pcs[t] for t in block.targets], pc)
        elif last.base in ("ret", "exit", "trap"):
            self._end(last, after, pc)
        elif last.base == "call":
            if after is None:
                raise Unsupported("call that nothing follows", last)
            self.emit_call(last, block, pc, after)
        else:
            if after is None:
                raise Unsupported("barrier that nothing follows", last)
            self.emit_barrier(last, pc, after)
            self._go(after, pc)

    def _go(self, target: int, pc: int) -> None:
        if target != pc + 1:
            self.emit(f"goto B{target};")

    def _condition(self, guard: Operand, instruction: Instruction, index: int) -> None:
        """C for `t`, the lanes for which a guard holds."""
        value = self.lane_value(guard, "pred", instruction)
        self.emit(
            "uint32_t g[LANES] ALIGNED;",
            f"for (int l = 0; l < LANES; l++) g[l] = {value};",
            "const uint32_t t = (uint32_t)pack_mask(g) & w->x.active;",
        )
        self.emit(*self.refuse_bad([guard.text], "w->x.active", index))

    def _branch(self, instruction: Instruction, target: int, after: int | None, pc: int) -> None:
        index = self.site(instruction, "scalar")
        if instruction.guard is None:
            self._go(target, pc)
            return
        if after is None:
            raise Unsupported("branch that nothing follows", instruction)
        self.emit("{")
        self._condition(instruction.guard, instruction, index)
        if target == after:
            self.emit("}")
            self._go(after, pc)
            return
        first, second, lanes = (target, after, "w->x.active & ~t") if target < after else (after, target, "t")
        stay = "t == w->x.active" if first == target else "t == 0"
        go_all = "t == 0" if first == target else "t == w->x.active"
        self.emit(
            f"if ({stay}) goto B{first};",
            f"if ({go_all}) goto B{second};",
            f"w->x.core.worker->divergence[{index}]++;",
            f"{{ const uint32_t away = {lanes};",
            f"ptx_park(&w->x, {second}, away, PATH_READY, {index}, 0);",
            f"w->x.active &= ~away; goto B{first}; }}",
            "}",
        )

    def _branch_indexed(self, instruction: Instruction, targets: list[int], pc: int) -> None:
        index = self.site(instruction, "scalar")
        value = self.lane_value(instruction.operands[0], "u32", instruction)
        self.emit(*self.refuse_bad([instruction.operands[0].text], "w->x.active", index))
        self.emit("{ uint32_t to[LANES] ALIGNED;", f"for (int l = 0; l < LANES; l++) to[l] = {value};")
        for number, target in enumerate(targets):
            self.emit(
                "{ uint32_t lanes = 0;",
                f"for (int l = 0; l < LANES; l++) lanes |= (uint32_t)(to[l] == {number}u) << l;",
                "lanes &= w->x.active;",
                f"ptx_park(&w->x, {target}, lanes, PATH_READY, {index}, 0); w->x.active &= ~lanes; }}",
            )
        self.emit(f"if (w->x.active) return ptx_trap(&w->x, {index}, FAULT_BAD_JUMP, 0);", "goto next; }")

    def _leave(self, instruction: Instruction | None) -> None:
        if self.unit.function.is_kernel or (instruction is not None and instruction.base == "exit"):
            self.emit("e = ptx_exit(&w->x, w->x.active); goto moved;")
        else:
            self.emit("e = ptx_return(&w->x); goto moved;")

    def _end(self, instruction: Instruction, after: int | None, pc: int) -> None:
        index = self.site(instruction, "scalar")
        if instruction.guard is None:
            if instruction.base == "trap":
                self.emit(f"return ptx_trap(&w->x, {index}, FAULT_TRAP, 0);")
            else:
                self._leave(instruction)
            return
        assert after is not None
        self.emit("{")
        self._condition(instruction.guard, instruction, index)
        if instruction.base == "trap":
            self.emit(f"if (t) return ptx_trap(&w->x, {index}, FAULT_TRAP, 0); }}")
            self._go(after, pc)
            return
        self.emit(
            f"if (t == 0) goto B{after};",
            f"ptx_park(&w->x, {after}, w->x.active & ~t, PATH_READY, {index}, 0);",
            "w->x.active = t; }",
        )
        self._leave(instruction)

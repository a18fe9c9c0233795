"""Emit vector instructions that are no plain table row: lane reads, v_cmpx, relative addressing, MFMA."""

from __future__ import annotations

from dataclasses import replace

from porter.validation.devices.gfx942 import alu, matrix, scalar
from porter.validation.devices.gfx942.code import GROUP_LIMIT, Unsupported
from porter.validation.devices.gfx942.emit_scalar import ScalarEmitter
from porter.validation.devices.gfx942.operands import Operand, parse
from porter.validation.devices.gfx942.text import Instruction


class VectorEmitter(ScalarEmitter):
    """Everything that runs once per lane, but memory."""

    def _vector(self, instruction: Instruction, operands: list[Operand]) -> None:
        if self.relative is not None:
            self._relative(instruction, operands)
            return
        if any(o.kind == "symbol" for o in operands):
            operands = [self._symbol_constant(o, instruction) for o in operands]
        if self.writer.group.count >= GROUP_LIMIT:
            self.writer.flush()
        alu.emit(self.writer, instruction, operands)

    def _symbol_constant(self, operand: Operand, instruction: Instruction) -> Operand:
        """LDS symbols are constants known at translation."""
        if operand.kind != "symbol":
            return operand
        if operand.symbol in self.program.lds:
            return Operand("int", operand.text, value=self.kernel.shared_bytes)
        raise Unsupported(f"symbol {operand.symbol} as a vector source", instruction)

    def _compare_to_exec(self, instruction: Instruction, operands: list[Operand]) -> None:
        """v_cmpx_*: as v_cmp_*, and EXEC takes the result as well (12.9)."""
        plain = Instruction(
            instruction.mnemonic.replace("v_cmpx_", "v_cmp_"), instruction.form, instruction.operands,
            instruction.modifiers, instruction.text, instruction.line, instruction.file, instruction.source_line,
        )  # fmt: skip
        if alu.row_for(plain) is None:
            raise Unsupported("unknown instruction", instruction)
        target = operands[0]
        if target.kind == "exec":
            target = Operand("s", "scratch pair", _SPARE, 2)
        alu.emit(self.writer, plain, [target, *operands[1:]])
        self.writer.emit(*self._poison_fault(f"PS64({target.index})", len(self.sites) - 1))
        self.writer.emit(f"w->exec = S64({target.index});")
        self._new_segment()

    def _matrix(self, instruction: Instruction, operands: list[Operand]) -> None:
        self.writer.emit(*matrix.lines(instruction, operands, self.registers))

    def _relative(self, instruction: Instruction, operands: list[Operand]) -> None:
        """Register numbers with M0 added (S_SET_GPR_IDX_ON, 12.5): by way of spare rows."""
        row = alu.row_for(instruction)
        if row is None or instruction.form in ("sdwa", "dpp"):
            raise Unsupported("this use of s_set_gpr_idx_on", instruction)
        count = len(row.results)
        moved, back = list(operands), list[str]()
        for place, operand in enumerate(operands):
            bit = 8 if place == 0 else 0 if place < count else 1 << (place - count)
            if operand.kind != "v" or not (self.relative or 0) & bit:
                continue
            spare = self.spare + 2 * min(place, 3)
            moved[place] = replace(operand, index=spare)
            self.writer.emit(*self._copied(spare, operand, False))
            back += self._copied(spare, operand, True) if place == 0 else []
        alu.emit(self.writer, instruction, moved)
        self.writer.emit(*back)

    def _copied(self, spare: int, operand: Operand, back: bool) -> list[str]:
        """C that copies rows at M0 beyond an operand to spare ones, or back."""
        lines = ["{", f"const uint32_t at = {self.registers.row(operand)} + (w->m0 & 255);",
                 f"if (at + {operand.count} > {self.registers.vgprs})",
                 f"return core_fault(&w->core, FAULT_UNSUPPORTED, {len(self.sites) - 1}, 0, at, 0);"]  # fmt: skip
        for k in range(operand.count):
            pair = (f"at + {k}", f"{spare + k}") if back else (f"{spare + k}", f"at + {k}")
            lines.append(f"memcpy(V({pair[0]}), V({pair[1]}), sizeof V(0));")
            lines += [f"P({pair[0]}) = P({pair[1]});"] if self.poison else []
        return [*lines, "}"]

    def _do_s_set_gpr_idx_on(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        source, mode = instruction.operands
        self.relative = _index_mode(mode)
        value = self._scalar_value(parse(source), "u32", instruction)
        self.writer.emit(f"w->m0 = (w->m0 & ~0xffu) | ({value} & 0xff) | {self.relative} << 12;")

    def _do_s_set_gpr_idx_mode(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        if self.relative is None:
            raise Unsupported("s_set_gpr_idx_mode outside a region", instruction)
        self.relative = _index_mode(instruction.operands[0])
        self.writer.emit(f"w->m0 = (w->m0 & ~0xf000u) | {self.relative} << 12;")

    def _do_s_set_gpr_idx_idx(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        value = self._scalar_value(parse(instruction.operands[0]), "u32", instruction)
        self.writer.emit(f"w->m0 = (w->m0 & ~0xffu) | ({value} & 0xff);")

    def _do_s_set_gpr_idx_off(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        self.relative = None

    def _do_v_readfirstlane_b32(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        to, source = operands
        if not source.is_vector:
            self._scalar(index, instruction, operands, scalar.ROWS["s_mov_b32"])
            return
        lane = "(w->exec ? first_lane(w->exec) : 0)"
        self._read_lane(to, source, lane, instruction)

    def _do_v_readlane_b32(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        to, source, lane = operands
        self._read_lane(to, source, f"({self._scalar_value(lane, 'u32', instruction)} & 63)", instruction)

    def _read_lane(self, to: Operand, source: Operand, lane: str, instruction: Instruction) -> None:
        row = self.registers.row(source)
        target = self._scalar_target(to, instruction)
        lines = ["{", f"const uint64_t lane = {lane};", f"{target} = V({row})[lane];"]
        if self.poison and to.kind == "s":
            lines.append(f"PS({to.index}) = P({row}) >> lane & 1 ? 0xffffffffu : 0;")
        self.writer.emit(*lines, "}")

    def _do_v_writelane_b32(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        to, source, lane = operands
        row = self.registers.row(to)
        value = self._scalar_value(source, "u32", instruction)
        place = self._scalar_value(lane, "u32", instruction)
        lines = ["{", f"const uint32_t lane = {place} & 63;", f"V({row})[lane] = {value};"]
        if self.poison:
            # a lane has one bit for its poison: a spilled mask with some good bits counts as good
            bad = f"(uint64_t)(PS({source.index}) == 0xffffffffu)" if source.kind == "s" else "0ull"
            lines.append(f"P({row}) = (P({row}) & ~(1ull << lane)) | {bad} << lane;")
        self.writer.emit(*lines, "}")

    def _do_v_swap_b32(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        a, b = (self.registers.row(o) for o in operands)
        self.writer.emit(
            "show_mask(w);",
            f"for (int l = 0; l < 64; l++) {{ const uint32_t x = V({a})[l], y = V({b})[l];",
            f"V({a})[l] = w->mask[l] ? y : x; V({b})[l] = w->mask[l] ? x : y; }}",
        )
        if self.poison:
            self.writer.emit(f"{{ const uint64_t x = P({a}), y = P({b}), on = w->exec;",
                             f"P({a}) = (x & ~on) | (y & on); P({b}) = (y & ~on) | (x & on); }}")  # fmt: skip


def _index_mode(mode: str) -> int:
    """The bits of gpr_idx(SRC0,DST) or of a number."""
    names = {"SRC0": 1, "SRC1": 2, "SRC2": 4, "DST": 8}
    inner = mode.replace("gpr_idx(", "").rstrip(")")
    return sum(names[n.strip()] for n in inner.split(",") if n.strip()) if "gpr_idx" in mode else int(mode, 0)


_SPARE = 100  # an SGPR pair no compiled kernel uses: SGPR 100 and 101

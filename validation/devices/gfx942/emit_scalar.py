"""Emit scalar instructions: rows of scalar.py, EXEC, branches, calls, barriers."""

from __future__ import annotations

import re

from porter.validation.devices.gfx942 import memory, scalar
from porter.validation.devices.gfx942.code import Unsupported, is_wide, scalar_indices
from porter.validation.devices.gfx942.emitter import Emitter
from porter.validation.devices.gfx942.layout import HOSTCALL_BUFFER
from porter.validation.devices.gfx942.operands import EXEC, Operand, parse
from porter.validation.devices.gfx942.rows import SOURCE_NAMES, Row
from porter.validation.devices.gfx942.text import Instruction


class ScalarEmitter(Emitter):
    """Everything that runs once per wave."""

    def _scalar(self, index: int, instruction: Instruction, operands: list[Operand], row: Row) -> None:
        if instruction.modifiers:
            raise Unsupported(f"modifier {instruction.modifiers[0][0]!r}", instruction)
        results = [kind for kind in row.results if kind != "scc"]
        sources = list(row.sources)
        given = operands[len(results) :]
        if "scc" in sources:
            sources.remove("scc")
        if len(given) != len(sources):
            raise Unsupported(f"{len(given)} sources where {len(sources)} are known", instruction)
        lines = ["{"]
        for name, operand, kind in zip(SOURCE_NAMES, given, sources, strict=False):
            lines.append(self._scalar_source(name, operand, kind, instruction))
        if "scc" in row.sources:
            lines.append(f"const uint32_t {SOURCE_NAMES[len(sources)]} = w->scc;")
        exec_written = self._scalar_results(row, operands, results, lines, instruction)
        lines += self._scalar_poison(row, operands[: len(results)], given, results, sources)
        lines.append("}")
        reads = {i for o, k in zip(given, sources, strict=True) for i in scalar_indices(o, 2 if is_wide(k) else 1)}
        writes = {i for o, k in zip(operands, results, strict=False) for i in scalar_indices(o, 2 if is_wide(k) else 1)}
        if row.reads_result:
            reads |= writes
        if exec_written or any(o.kind == "exec" for o in operands):
            self.writer.emit(*lines)
            if exec_written:
                self._new_segment()
        else:
            self.writer.emit_scalar(lines, reads, writes)

    def _scalar_source(self, name: str, operand: Operand, kind: str, instruction: Instruction) -> str:
        if kind in ("k", "uk"):
            value = operand.value & 0xFFFF
            signed = value - 0x10000 if value & 0x8000 else value
            return f"const int32_t {name} = {signed};" if kind == "k" else f"const uint32_t {name} = {value};"
        types = {"u32": "uint32_t", "i32": "int32_t", "u64": "uint64_t", "i64": "int64_t"}
        return f"const {types[kind]} {name} = ({types[kind]}){self._scalar_value(operand, kind, instruction)};"

    def _scalar_results(
        self, row: Row, operands: list[Operand], results: list[str], lines: list[str], instruction: Instruction
    ) -> bool:
        types = {"u32": "uint32_t", "i32": "int32_t", "u64": "uint64_t", "i64": "int64_t"}
        if row.reads_result:
            kind = results[0]
            lines.append(
                f"const {types[kind]} d = ({types[kind]}){self._scalar_value(operands[0], kind, instruction)};"
            )
        exec_written = False
        for kind, expression in zip(row.results, row.expressions, strict=True):
            if kind == "scc":
                lines.append(f"w->scc = ({expression}) != 0;")
                continue
            lines.append(f"const {types[kind]} r = ({types[kind]})({expression});")
        if results:
            lines.append(self._assign(operands[0], results[0], instruction))
            exec_written = operands[0].kind == "exec"
        return exec_written

    def _assign(self, operand: Operand, kind: str, instruction: Instruction) -> str:
        if operand.kind == "exec" and not is_wide(kind):
            shift = 32 * (operand.index - EXEC)
            return f"w->exec = (w->exec & ~(0xffffffffull << {shift})) | (uint64_t)(uint32_t)r << {shift};"
        return f"{self._scalar_target(operand, instruction, is_wide(kind))} = r;"

    def _scalar_poison(
        self, row: Row, targets: list[Operand], given: list[Operand], results: list[str], sources: list[str]
    ) -> list[str]:
        if not self.poison:
            return []
        terms = _scalar_poison_terms(given, sources)
        if row.reads_result and targets[0].kind == "s":
            terms.append(f"(uint64_t)PS({targets[0].index})")
        if "scc" in row.sources:
            terms.append("(uint64_t)w->scc_poison")
        if not terms:
            lines = ["const uint64_t bad = 0;"]
        elif row.mnemonic.startswith("s_cselect"):
            first, second = (
                (_scalar_poison_terms([operand], [kind]) or ["0ull"])[0]
                for operand, kind in zip(given, sources, strict=True)
            )
            lines = [f"const uint64_t bad = w->scc_poison ? ~0ull : c ? {first} : {second};"]
        elif _BITWISE.search(row.mnemonic) and len(given) == 2:
            lines = self._bitwise_poison(row, given, sources)
        elif _BITWISE.search(row.mnemonic):
            lines = [f"const uint64_t bad = {terms[0]};"]
        else:
            lines = [f"const uint64_t bad = {' | '.join(terms)} ? ~0ull : 0;"]
        if targets and targets[0].kind == "s":
            name = "PS64" if is_wide(results[0]) else "PS"
            lines.append(f"{name}({targets[0].index}) = bad;")
        elif targets and targets[0].kind == "exec" and terms:
            lines += self._poison_fault("bad", len(self.sites) - 1)
        if "scc" in row.results:
            lines.append("w->scc_poison = bad != 0;")
        return lines

    @staticmethod
    def _bitwise_poison(row: Row, given: list[Operand], sources: list[str]) -> list[str]:
        """A bit is poisoned when it depends on a poisoned bit: try them all as 0 and as 1."""
        lines = []
        for name, operand, kind in zip("ab", given, sources, strict=True):
            bad = (_scalar_poison_terms([operand], [kind]) or ["0ull"])[0]
            lines.append(f"const uint64_t {name}0 = (uint64_t){name} & ~{bad}, {name}1 = (uint64_t){name} | {bad};")
        tried = []
        for choice in ("00", "01", "10", "11"):
            expression = row.expressions[0]
            for name, bit in zip("ab", choice, strict=True):
                expression = re.sub(rf"\b{name}\b", name + bit, expression)
            tried.append(f"(uint64_t)({expression})")
        differences = " | ".join(f"({tried[0]} ^ {other})" for other in tried[1:])
        return [*lines, f"const uint64_t bad = {differences};"]

    def _save_exec(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        name = instruction.mnemonic.split("_")[1]
        saves = instruction.mnemonic.endswith("_saveexec_b64")
        table = scalar.SAVEEXEC if saves else scalar.WREXEC
        if name not in table:
            raise Unsupported("unknown instruction", instruction)
        to, source = operands
        target = self._scalar_target(to, instruction, wide=True)
        lines = ["{", f"const uint64_t exec = w->exec, a = {self._scalar_value(source, 'u64', instruction)};"]
        if self.poison and source.kind == "s":
            lines += self._poison_fault(f"PS64({source.index}) & exec", index)
        lines += [
            f"w->exec = {table[name]};",
            f"{target} = {'exec' if saves else 'w->exec'};",
            "w->scc = w->exec != 0; w->scc_poison = 0;",
            f"if (w->exec && w->exec != exec && !(w->exec & ~exec)) w->core.worker->divergence[{index}]++;",
        ]
        if self.poison and to.kind == "s":
            lines.append(f"PS64({to.index}) = 0;")
        self.writer.emit(*lines, "}")
        self._new_segment()

    def _target(self, instruction: Instruction) -> int:
        name = instruction.operands[-1]
        if name not in self.linear.labels:
            raise Unsupported(f"jump to unknown label {name}", instruction)
        return self.linear.labels[name]

    def _branch(self, index: int, instruction: Instruction) -> None:
        condition = scalar.BRANCHES[instruction.mnemonic]
        if "scc" in instruction.mnemonic:
            self.writer.emit(*self._poison_fault("(uint64_t)w->scc_poison", index))
        elif "vcc" in instruction.mnemonic:
            self.writer.emit(*self._poison_fault("PS64(106) & w->exec", index))
        self.writer.emit(f"if ({condition}) goto B{self._target(instruction)};")

    def _scalar_address(self, base: Operand, offset: Operand, instruction: Instruction) -> str:
        """C for the address of a scalar access."""
        parts = [f"S64({base.index})", str(int(instruction.modifier("offset") or "0", 0))]
        if offset.is_constant:
            parts.append(str(offset.value))
        elif offset.kind == "s":
            parts.append(f"S({offset.index})")
        else:
            raise Unsupported("offset of scalar load", instruction)
        return " + ".join(parts)

    def _scalar_load(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        words = memory.SCALAR_LOADS[instruction.mnemonic]
        to, base, offset = operands
        extra = [n for n, _ in instruction.modifiers if n not in ("offset", "glc")]
        if extra or to.kind != "s" or to.count != words:
            raise Unsupported("form of scalar load", instruction)
        at = self._scalar_address(base, offset, instruction)
        lines = self._poison_fault(f"(uint64_t)(PS64({base.index}) != 0)", index)
        lines.append(f"if (gfx_scalar_load(w, {index}, {at}, {words}, {to.index})) return FAULTED;")
        reads = {base.index, base.index + 1} | scalar_indices(offset, 1)
        self.writer.emit_scalar(lines, reads, {to.index + k for k in range(words)})

    def _scalar_store(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        """S_STORE and S_ATOMIC; an atomic gives the old value back with glc."""
        data, base, offset = operands
        extra = [n for n, _ in instruction.modifiers if n not in ("offset", "glc", "nv")]
        if extra or data.kind != "s" or base.kind != "s":
            raise Unsupported("form of scalar store", instruction)
        at = self._scalar_address(base, offset, instruction)
        self.writer.emit(*self._poison_fault(f"(uint64_t)(PS64({base.index}) != 0)", index))
        if (words := memory.SCALAR_STORES.get(instruction.mnemonic)) is not None:
            self._call(f"gfx_scalar_store(w, {index}, {at}, {words}, {data.index})")
            return
        op = memory.SCALAR_ATOMICS[instruction.mnemonic]
        returns = int(instruction.modifier("glc") is not None)
        self._call(f"gfx_scalar_atomic(w, {index}, {op.name}, {int(op.wide)}, {at}, {data.index}, {returns})")

    def _scalar_buffer_load(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        words = memory.SCALAR_BUFFER_LOADS[instruction.mnemonic]
        to, base, offset = operands
        extra = [n for n, _ in instruction.modifiers if n not in ("offset", "glc")]
        if extra or to.kind != "s" or to.count != words or base.kind != "s" or base.count != 4:
            raise Unsupported("form of scalar buffer load", instruction)
        immediate = int(instruction.modifier("offset") or "0", 0)
        place = f"{self._scalar_value(offset, 'u32', instruction)} + {immediate}"
        self.writer.emit(*self._poison_fault(f"(PS64({base.index}) | PS64({base.index + 2})) != 0", index))
        self._call(f"gfx_scalar_buffer_load(w, {index}, {base.index}, {place}, {words}, {to.index})")

    def _do_s_endpgm(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        self.writer.emit("return WAVE_DONE;")

    def _do_s_barrier(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        self.writer.emit(f"w->core.pc = {index + 1};", f"return core_barrier(&w->core, {index}, w->exec);")

    def _do_s_trap(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        number = int(instruction.operands[0], 0)
        self.writer.emit(
            "{ const uint32_t lane = w->exec ? (uint32_t)first_lane(w->exec) : 0;",
            f"return core_fault(&w->core, FAULT_TRAP, {index}, lane, {number}, 0); }}",
        )

    def _do_s_sendmsg(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        if not re.fullmatch(r"sendmsg\((MSG_INTERRUPT|1)\)", ",".join(instruction.operands)):
            raise Unsupported("message", instruction)
        self._call(f"gfx_interrupt(w, {index}, SYMBOL({self._symbol(HOSTCALL_BUFFER)}))")

    def _move_relative(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        """S_MOVRELS, S_MOVRELD: a register number with M0 added (12.3)."""
        words = 2 if instruction.mnemonic.endswith("b64") else 1
        to, source = operands
        if to.kind != "s" or source.kind != "s":
            raise Unsupported("operands of a relative move", instruction)
        moved, fixed = (source, to) if "movrels" in instruction.mnemonic else (to, source)
        lines = [
            "{",
            f"const uint32_t at = {moved.index} + w->m0, still = {fixed.index};",
            f"if (at > {102 - words}) return core_fault(&w->core, FAULT_UNSUPPORTED, {index}, 0, at, 0);",
        ]
        pair = ("still", "at") if moved is source else ("at", "still")
        for name in ("s", "s_poison"):
            lines.append(f"memmove(&w->{name}[{pair[0]}], &w->{name}[{pair[1]}], {4 * words});")
        self.writer.emit(*lines, "}")

    _do_s_movrels_b32 = _do_s_movrels_b64 = _do_s_movreld_b32 = _do_s_movreld_b64 = _move_relative

    def _do_s_getpc_b64(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        target = self._scalar_target(operands[0], instruction, wide=True)
        poison = [f"PS64({operands[0].index}) = 0;"] if self.poison else []
        self.writer.emit(f"{target} = {self._place(index, after=True)};", *poison)

    def _do_s_call_b64(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        target = self._scalar_target(operands[0], instruction, wide=True)
        poison = [f"PS64({operands[0].index}) = 0;"] if self.poison else []
        self.writer.emit(f"{target} = {self._place(index, after=True)};", *poison)
        self.writer.emit(f"goto B{self._target(instruction)};")

    def _do_s_setpc_b64(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        self._jump_to(index, self._scalar_value(operands[0], "u64", instruction))

    def _do_s_swappc_b64(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        poison = [f"PS64({operands[0].index}) = 0;"] if self.poison else []
        back = f"{self._scalar_target(operands[0], instruction, wide=True)} = {self._place(index, after=True)};"
        self._jump_to(index, self._scalar_value(operands[1], "u64", instruction), back, *poison)

    def _jump_to(self, index: int, address: str, *before: str) -> None:
        self.jumps_indirectly = True
        self.writer.emit(
            f"{{ const uint64_t target = {address};",
            *before,
            f"w->core.barrier_site = {index}; return jump_to(w, target); }}",
        )

    def _do_s_memtime(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        target = self._scalar_target(operands[0], instruction, wide=True)
        poison = [f"PS64({operands[0].index}) = 0;"] if self.poison else []
        self.writer.emit(
            "{ const Launch *launch = w->core.launch; /* instructions so far stand for time */",
            "const uint64_t before = launch->budget - (uint64_t)w->core.budget + launch->quantum;",
            f"{target} = before - (uint64_t)w->core.quantum; }}",
            *poison,
        )

    _do_s_memrealtime = _do_s_memtime

    def _do_s_getreg_b32(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        to, register = parse(instruction.operands[0]), instruction.operands[1]
        match = re.match(r"hwreg\(HW_REG_(\w+)(?:,\s*(\d+),\s*(\d+))?\)", ",".join(instruction.operands[1:]))
        if not match:
            raise Unsupported(f"hardware register {register}", instruction)
        source = {"MODE": "w->mode", "HW_ID": "0u", "XCC_ID": "0u", "SQ_HW_ID": "0u"}.get(match[1])
        if source is None:
            raise Unsupported(f"hardware register {match[1]}", instruction)
        offset, width = int(match[2] or 0), int(match[3] or 32)
        poison = [f"PS({to.index}) = 0;"] if self.poison else []
        self.writer.emit(
            f"{self._scalar_target(to, instruction)} = ({source} >> {offset}) & {(1 << width) - 1:#x}u;", *poison
        )

    def _do_s_setreg_imm32_b32(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        match = re.match(r"hwreg\(HW_REG_(\w+)(?:,\s*(\d+),\s*(\d+))?\)$", instruction.operands[0])
        if not match or match[1] != "MODE":
            raise Unsupported(f"hardware register {instruction.operands[0]}", instruction)
        value = self._scalar_value(parse(instruction.operands[1]), "u32", instruction)
        self._call(f"gfx_set_mode(w, {index}, {int(match[2] or 0)}, {int(match[3] or 32)}, {value})")

    _do_s_setreg_b32 = _do_s_setreg_imm32_b32


_BITWISE = re.compile(r"^s_(and|or|xor|andn2|orn2|nand|nor|xnor|not|mov)_b(32|64)$")


def _scalar_poison_terms(given: list[Operand], sources: list[str]) -> list[str]:
    """C for the poison of scalar sources, a bit per bit."""
    return [
        f"PS64({o.index})" if is_wide(kind) else f"(uint64_t)PS({o.index})"
        for o, kind in zip(given, sources, strict=True)
        if o.kind == "s"
    ]

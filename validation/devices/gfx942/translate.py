"""One kernel, with every function it can call, as one C function that runs a wave."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from porter.validation.devices.core.launch import SiteKind
from porter.validation.devices.core.pieces import Form, assemble
from porter.validation.devices.core.result import Site
from porter.validation.devices.gfx942 import alu, matrix, memory, scalar
from porter.validation.devices.gfx942.code import Unsupported
from porter.validation.devices.gfx942.emit_entry import EntryEmitter
from porter.validation.devices.gfx942.emit_memory import MemoryEmitter
from porter.validation.devices.gfx942.emit_vector import VectorEmitter
from porter.validation.devices.gfx942.exactness import doubt_of
from porter.validation.devices.gfx942.layout import HOSTCALL_BUFFER, IMAGE, code_address
from porter.validation.devices.gfx942.operands import BadOperand, Operand, parse
from porter.validation.devices.gfx942.text import Instruction


@dataclass(frozen=True)
class Translation:
    """C for one kernel, and what is known of it."""

    source: str
    sites: tuple[SiteKind, ...]
    segments: int
    symbols: tuple[str, ...]
    uses_heap: bool


class Translator(VectorEmitter, MemoryEmitter, EntryEmitter):
    """Walks the linear program and writes C."""

    def translate(self) -> Translation:
        """The C text."""
        starts = self._block_starts()
        stops = starts | {i for i, item in enumerate(self.linear.items) if _SHARED_MEMORY.match(item.mnemonic)}
        ends = [*sorted(stops), len(self.linear.items)]
        lengths = {index: after - index for index, after in itertools.pairwise(ends)}
        for index, instruction in enumerate(self.linear.items):
            if index in stops:
                self.writer.flush()
                self._stop(index, lengths[index])
            if index in starts:
                self._new_segment()
            self._instruction(index, instruction)
        self.writer.flush()
        code = assemble(self.writer.lines, Form("Lanes", "w->core.pc"))
        source = "\n".join([*self._prologue(), *self._indirect_jump(starts), *code, ""])
        uses_heap = bool(self.linear.host_functions) or HOSTCALL_BUFFER in self.symbols
        return Translation(source, tuple(self.sites), self.segment + 1, tuple(self.symbols), uses_heap)

    def _block_starts(self) -> set[int]:
        starts = set(self.linear.entries.values())
        for index, instruction in enumerate(self.linear.items):
            name = instruction.mnemonic
            if name in scalar.BRANCHES or name == "s_call_b64":
                starts.add(self._target(instruction))
                starts.add(index + 1)
            elif name in ("s_barrier", "s_swappc_b64", "s_setpc_b64", "s_endpgm", "s_call_b64") or "gws" in name:
                starts.add(index + 1)
        return {start for start in starts if start < len(self.linear.items)}

    def _stop(self, index: int, length: int) -> None:
        """A place where another wave may get its turn: block starts, and accesses that other waves could see."""
        self.writer.lines.append(f"B{index}:")
        self.writer.lines.append(
            f"if (UNLIKELY(w->core.quantum <= 0)) "
            f"{{ w->core.pc = {index}; w->core.barrier_site = {index}; return WAVE_YIELD; }}"
        )
        self.writer.lines.append(f"w->core.quantum -= {length};")

    def _prologue(self) -> list[str]:
        flush = self.kernel.directives.get("float_denorm_mode_32", 3) != 3
        return [
            "#define DYNAMIC_MODE" if self.dynamic_mode else "#define FLUSH_F32" if flush else "",
            '#include "lanes.h"',
            f"#define ROWS {self.registers.rows}",
            f"const uint32_t wave_bytes = (sizeof(Lanes) + ROWS * {256 + 8 * self.poison} + 63) / 64 * 64;",
            *self._initialiser(),
        ]

    def _indirect_jump(self, starts: set[int]) -> list[str]:
        """C for a jump to an address."""
        if not self.jumps_indirectly:
            return []
        base = "" if self.program.image is None else f" - SYMBOL({self._symbol(IMAGE)})"
        lines = ["static int jump_to(Lanes *w, uint64_t target) {", f"for (;;) switch (target{base}) {{"]
        lines += [f"case {self._code_address(s):#x}ull: w->core.pc = {s}; return GO;" for s in sorted(starts)]
        for name, handler in self.linear.host_functions.items():
            lines += [
                f"case {code_address(self.program, name):#x}ull:",
                f"if ({handler}(w, w->core.barrier_site)) return FAULTED;",
                "target = S64(30); break;",
            ]
        fault = "core_fault(&w->core, FAULT_BAD_JUMP, w->core.barrier_site, 0, target, 0)"
        return [*lines, f"default: return {fault};", "}", "}"]

    def _instruction(self, index: int, instruction: Instruction) -> None:
        kind, space, operations = self._classify(instruction)
        site = Site(instruction.text, instruction.line, instruction.file, instruction.source_line)
        moved = memory.bytes_moved(instruction.mnemonic)
        doubt = doubt_of(instruction.mnemonic, instruction.form)
        self.sites.append(SiteKind(site, kind, self.segment, space, operations, moved, doubt))
        try:
            if self.clamps and instruction.mnemonic in _ENDLESS:
                raise Unsupported("not known what FP16_OVFL does to it", instruction)
            operands = [parse(text) for text in self._plain_operands(instruction)]
            self._dispatch(index, instruction, operands)
        except BadOperand as error:
            raise Unsupported(str(error), instruction) from error
        except (KeyError, IndexError, ValueError) as error:
            raise Unsupported(f"not understood ({error!r})", instruction) from error

    @staticmethod
    def _plain_operands(instruction: Instruction) -> tuple[str, ...]:
        if instruction.mnemonic in scalar.BRANCHES or instruction.mnemonic in _NO_OPERANDS:
            return ()
        if instruction.mnemonic.startswith(("s_setreg", "s_getreg", "s_sendmsg", "s_trap", "s_set_gpr_idx")):
            return ()
        return instruction.operands

    @staticmethod
    def _classify(instruction: Instruction) -> tuple[str, str | None, int]:
        name = instruction.mnemonic
        if name in matrix.ROWS:
            return "matrix", None, matrix.ROWS[name].operations
        if name.startswith("v_"):
            return "vector", None, 0
        for prefix, space in (
            ("global_", "global"),
            ("flat_", "global"),
            ("scratch_", "private"),
            ("buffer_", "global"),
        ):
            if name.startswith(prefix) and name not in scalar.NO_EFFECT:
                return space if space != "private" else "scratch", space, 0
        if name.startswith("ds_"):
            return "shared", "shared", 0
        return "scalar", None, 0

    def _dispatch(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        name = instruction.mnemonic
        if name == "buffer_wbl2":
            self.writer.emit("core_fence(&w->core, 1);")
        if name in scalar.NO_EFFECT:
            return
        if self.relative is not None and name.startswith("v_") and alu.row_for(instruction) is None:
            raise Unsupported("this use of s_set_gpr_idx_on", instruction)
        if name in matrix.ROWS:
            self._matrix(instruction, operands)
        elif alu.row_for(instruction) is not None:
            self._vector(instruction, operands)
        elif name.startswith("v_cmpx_"):
            self._compare_to_exec(instruction, operands)
        elif name in scalar.ROWS:
            self._scalar(index, instruction, operands, scalar.ROWS[name])
        elif name in scalar.BRANCHES:
            self._branch(index, instruction)
        elif name in memory.SCALAR_LOADS:
            self._scalar_load(index, instruction, operands)
        elif name in memory.SCALAR_STORES or name in memory.SCALAR_ATOMICS:
            self._scalar_store(index, instruction, operands)
        elif name in memory.SCALAR_BUFFER_LOADS:
            self._scalar_buffer_load(index, instruction, operands)
        elif name.startswith(("global_", "flat_", "scratch_")):
            self._flat(index, instruction, operands)
        elif name.startswith("buffer_"):
            self._buffer(index, instruction, operands)
        elif name.startswith("ds_"):
            self._ds(index, instruction, operands)
        elif handler := getattr(self, "_do_" + name, None):
            handler(index, instruction, operands)
        elif name.endswith(("_saveexec_b64", "_wrexec_b64")):
            self._save_exec(index, instruction, operands)
        else:
            raise Unsupported("unknown instruction", instruction)


_SHARED_MEMORY = re.compile(r"(global|flat|buffer)_(load|store|atomic)|ds_(?!b?permute|swizzle|gws|nop)")
_ENDLESS = frozenset({"v_rcp_f16", "v_rsq_f16", "v_log_f16", "v_exp_f16", "v_ldexp_f16", "v_div_fixup_f16"})
"""Infinity may be the result of a finite value."""
_NO_OPERANDS = set(scalar.NO_EFFECT) | {"s_endpgm", "s_barrier"}

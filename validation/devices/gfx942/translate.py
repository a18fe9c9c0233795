"""One kernel, with every function it can call, as one C function that runs a wave."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.validation.devices.core.launch import SiteKind
from porter.validation.devices.core.result import Site
from porter.validation.devices.gfx942 import alu, matrix, memory, scalar, vector
from porter.validation.devices.gfx942.code import (
    GROUP_LIMIT,
    Registers,
    Unsupported,
    Writer,
    is_wide,
    scalar_indices,
    scalar_word,
)
from porter.validation.devices.gfx942.operands import EXEC, BadOperand, Operand, constant_bits, parse
from porter.validation.devices.gfx942.rows import SOURCE_NAMES, Row
from porter.validation.devices.gfx942.text import Function, Instruction, KernelInfo, Label, Program

CODE_BASE = 0x500000000000  # functions have addresses that no data has
FUNCTION_SPAN = 1 << 24
HOSTCALLS = ("__ockl_hostcall_internal", "__ockl_hostcall_preview")


@dataclass(frozen=True)
class Translation:
    """C for one kernel, and what is known of it."""

    source: str
    sites: tuple[SiteKind, ...]
    segments: int
    symbols: tuple[str, ...]


@dataclass
class _Block:
    """A basic block: where it starts in the linear program, and its name if any."""

    start: int
    end: int = 0


class _Linear:
    """All reachable functions laid out one after the other."""

    def __init__(self, program: Program, kernel: str) -> None:
        self.program = program
        self.items: list[Instruction] = []
        self.addresses: list[int] = []
        self.labels: dict[str, int] = {}
        self.entries: dict[str, int] = {}
        self.hostcalls: list[str] = []
        pending = [kernel]
        while pending:
            name = pending.pop()
            if name in self.entries or name in self.hostcalls:
                continue
            function = program.functions[name]
            if name in HOSTCALLS:  # talks to a host thread that is not there: calling it is reported
                self.hostcalls.append(name)
                continue
            self._append(function)
            pending += [callee for callee in _referenced(function, program) if callee not in self.entries]
            pending += _referenced_by_data(program) if self._loads_pointers(function) else []

    @staticmethod
    def _loads_pointers(function: Function) -> bool:
        return any(isinstance(i, Instruction) and i.mnemonic == "s_swappc_b64" for i in function.items)

    def _append(self, function: Function) -> None:
        self.entries[function.name] = len(self.items)
        for item in function.items:
            if isinstance(item, Label):
                self.labels[item.name] = len(self.items)
            else:
                place = len(self.items) - self.entries[function.name]
                self.addresses.append(code_address(self.program, function.name) + 8 * place)
                self.items.append(item)
        self.labels[function.name] = self.entries[function.name]


def code_address(program: Program, function: str) -> int:
    """Where a function lies: the same for every kernel of a module, so that data can hold its address."""
    return CODE_BASE + FUNCTION_SPAN * list(program.functions).index(function)


def _symbol_names(instruction: Instruction) -> list[str]:
    return [re.split(r"[@+\s-]", o, maxsplit=1)[0] for o in instruction.operands if "@" in o]


def resolve(name: str, program: Program) -> str:
    """Follow aliases made with .set."""
    seen: set[str] = set()
    while name in program.aliases and name not in seen:
        seen.add(name)
        name = program.aliases[name]
    return name


def _referenced(function: Function, program: Program) -> list[str]:
    names = [n for i in function.items if isinstance(i, Instruction) for n in _symbol_names(i)]
    return [n for n in dict.fromkeys(resolve(n, program) for n in names) if n in program.functions]


def _referenced_by_data(program: Program) -> list[str]:
    """Functions whose address lies in data: tables of function pointers."""
    names = [resolve(name, program) for datum in program.data.values() for _, name, _ in datum.relocations]
    return [n for n in dict.fromkeys(names) if n in program.functions and n not in program.kernels]


class Translator:
    """Walks the linear program and writes C."""

    def __init__(self, program: Program, kernel: KernelInfo, poison: bool) -> None:
        self.program = program
        self.kernel = kernel
        self.linear = _Linear(program, kernel.name)
        vgprs = max(kernel.vgprs - kernel.agprs, self._highest("v"), 1)
        agprs = max(kernel.agprs, self._highest("a"))
        self.registers = Registers(vgprs, vgprs + agprs)
        self.writer = Writer(self.registers, poison)
        self.poison = poison
        self.sites: list[SiteKind] = []
        self.segment = -1
        self.symbols: dict[str, int] = {}
        self.relative: int | None = None  # S_SET_GPR_IDX_ON's mode, inside such a region

    def _highest(self, kind: str) -> int:
        pattern = re.compile(rf"\b{'a(?:cc)?' if kind == 'a' else kind}(?:(\d+)\b|\[(\d+)(?::(\d+))?\])")
        top = 0
        for item in self.linear.items:
            for operand in item.operands:
                for match in pattern.finditer(operand):
                    top = max(top, int(match[3] or match[2] or match[1]) + 1)
        return top

    # ---- the whole -----------------------------------------------------------------------------------

    def translate(self) -> Translation:
        """The C text."""
        starts = self._block_starts()
        for index, instruction in enumerate(self.linear.items):
            if index in starts:
                self.writer.flush()
                self._begin_block(index, starts)
            self._instruction(index, instruction)
        self.writer.flush()
        source = "\n".join([*self._prologue(starts), *self.writer.lines, *self._epilogue(starts), ""])
        return Translation(source, tuple(self.sites), self.segment + 1, tuple(self.symbols))

    def _block_starts(self) -> set[int]:
        starts = set(self.linear.entries.values())
        for index, instruction in enumerate(self.linear.items):
            name = instruction.mnemonic
            if name in scalar.BRANCHES:
                starts.add(self._target(instruction))
                starts.add(index + 1)
            elif name in ("s_barrier", "s_swappc_b64", "s_setpc_b64", "s_endpgm", "s_call_b64") or "gws" in name:
                starts.add(index + 1)
        return {start for start in starts if start < len(self.linear.items)}

    def _target(self, instruction: Instruction) -> int:
        name = instruction.operands[0]
        if name not in self.linear.labels:
            raise Unsupported(f"jump to unknown label {name}", instruction)
        return self.linear.labels[name]

    def _begin_block(self, index: int, starts: set[int]) -> None:
        following = [s for s in starts if s > index]
        length = (min(following) if following else len(self.linear.items)) - index
        self.writer.lines.append(f"B{index}:")
        self.writer.lines.append(
            f"if (UNLIKELY(w->core.quantum <= 0)) "
            f"{{ w->core.pc = {index}; w->core.barrier_site = {index}; return WAVE_YIELD; }}"
        )
        self.writer.lines.append(f"w->core.quantum -= {length};")
        self._new_segment()

    def _new_segment(self) -> None:
        self.segment += 1
        self.writer.lines.append(f"SEGMENT({self.segment});")

    def _prologue(self, starts: set[int]) -> list[str]:
        flush = self.kernel.directives.get("float_denorm_mode_32", 3) != 3
        return [
            "#define FLUSH_F32" if flush else "",
            '#include "lanes.h"',
            f"#define ROWS {self.registers.rows}",
            f"const uint32_t wave_bytes = (sizeof(Lanes) + ROWS * {256 + 8 * self.poison} + 63) / 64 * 64;",
            *self._initialiser(),
            "enum WaveEvent wave_step(Wave *core) {",
            "Lanes *restrict w = (Lanes *)core;",
            "uint64_t target = 0;",
            "switch (w->core.pc) {",
            *(f"case {s}: goto B{s};" for s in sorted(starts)),
            "}",
        ]

    def _epilogue(self, starts: set[int]) -> list[str]:
        lines = ["", "return WAVE_DONE;", "dispatch: __attribute__((unused)); switch (target) {"]
        lines += [f"case {self._code_address(s):#x}ull: goto B{s};" for s in sorted(starts)]
        unsupported = "return core_fault(&w->core, FAULT_UNSUPPORTED, w->core.barrier_site, 0, 0, 0);"
        lines += [f"case {code_address(self.program, n):#x}ull: {unsupported}" for n in self.linear.hostcalls]
        lines += [
            "}",
            "return core_fault(&w->core, FAULT_BAD_JUMP, w->core.barrier_site, 0, target, 0);",
            "}",
        ]
        return lines

    # ---- kernel entry (AMDGPU usage, "Initial Kernel Execution State") ------------------------------

    def _initialiser(self) -> list[str]:
        d = self.kernel.directives
        lines = [
            "void wave_init(Wave *core) {",
            "Lanes *w = (Lanes *)core;",
            "Launch *launch = core->launch;",
            "memset(w->s, 0, sizeof w->s);",
            f"memset(w->s_poison, {255 if self.poison else 0}, sizeof w->s_poison);",
            "core->rows = &w->v[0][0];",
            f"w->mode = {_mode(d):#x}; w->m0 = 0xffffffff; w->scc = 0; w->scc_poison = 0;",
            "w->exec = core->live; w->mask_of = ~w->exec; show_mask(w);",
            f"core->pc = {self.linear.entries[self.kernel.name]};",
        ]
        if self.poison:
            lines += ["core->row_poison = (uint64_t *)&w->v[ROWS][0];", "memset(core->row_poison, 255, ROWS * 8);"]
            lines += ["core->row_poison[0] = 0;"]
        lines += [f"for (int i = 0; i < ROWS; i++) memset(w->v[i], {0}, sizeof w->v[i]);"]
        lines += self._user_sgprs(d)
        lines += [
            "uint32_t bx = launch->block[0], by = launch->block[1];",
            "for (uint32_t l = 0; l < 64; l++) {",
            "uint32_t t = core->index * 64 + l;",
            "w->v[0][l] = t % bx | t / bx % by << 10 | t / bx / by << 20;",
            "}",
            "}",
        ]
        return lines

    def _user_sgprs(self, d: dict[str, int]) -> list[str]:
        """Architected order: user SGPRs that are enabled, then work-group ids."""
        at, lines = 0, []

        def give(count: int, *values: str) -> None:
            nonlocal at
            for value in values:
                lines.append(f"w->s[{at}] = {value}; w->s_poison[{at}] = 0;")
                at += 1
            at += count - len(values)

        if d.get("user_sgpr_private_segment_buffer"):
            give(4)
        if d.get("user_sgpr_dispatch_ptr"):
            give(2, *_halves(f"SYMBOL({self._symbol('dispatch packet')})"))
        if d.get("user_sgpr_queue_ptr"):
            give(2, *_halves(f"SYMBOL({self._symbol('queue')})"))
        if d.get("user_sgpr_kernarg_segment_ptr"):
            give(2, *_halves("launch->arguments"))
        if d.get("user_sgpr_dispatch_id"):
            give(2, "0", "0")
        if d.get("user_sgpr_flat_scratch_init"):
            give(2, "0", "0")
        if d.get("user_sgpr_private_segment_size"):
            give(1, "launch->private_bytes")
        for k in range(d.get("user_sgpr_kernarg_preload_length", 0)):
            offset = d.get("user_sgpr_kernarg_preload_offset", 0) + k
            give(1, f"((const uint32_t *)launch->arguments)[{offset}]")
        for axis, letter in enumerate("xyz"):
            if d.get(f"system_sgpr_workgroup_id_{letter}", 0):
                give(1, f"core->block->id[{axis}]")
        if d.get("system_sgpr_workgroup_info"):
            give(1, "0")
        return lines

    def _symbol(self, name: str) -> int:
        return self.symbols.setdefault(name, len(self.symbols))

    def _code_address(self, index: int) -> int:
        after = index - len(self.linear.addresses)
        return self.linear.addresses[-1] + 8 * (after + 1) if after >= 0 else self.linear.addresses[index]

    # ---- one instruction -----------------------------------------------------------------------------

    def _instruction(self, index: int, instruction: Instruction) -> None:
        kind, space, operations = self._classify(instruction)
        site = Site(instruction.text, instruction.line, instruction.file, instruction.source_line)
        self.sites.append(SiteKind(site, kind, self.segment, space, operations))
        try:
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
        if name in scalar.NO_EFFECT:
            return
        if self.relative is not None and name not in ("s_set_gpr_idx_off", "v_mov_b32", "s_set_gpr_idx_on"):
            raise Unsupported("only v_mov_b32 is known under s_set_gpr_idx_on", instruction)
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
        elif name.startswith(("global_", "flat_", "scratch_")):
            self._flat(index, instruction, operands)
        elif name.startswith("ds_"):
            self._ds(index, instruction, operands)
        elif handler := getattr(self, "_do_" + name, None):
            handler(index, instruction, operands)
        elif name.endswith(("_saveexec_b64", "_wrexec_b64")):
            self._save_exec(index, instruction, operands)
        else:
            raise Unsupported("unknown instruction", instruction)

    # ---- vector --------------------------------------------------------------------------------------

    def _vector(self, instruction: Instruction, operands: list[Operand]) -> None:
        if self.relative is not None:
            self._relative_move(instruction, operands)
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
        self.writer.emit(*matrix.lines(instruction, operands, self.registers, self.poison))

    def _relative_move(self, instruction: Instruction, operands: list[Operand]) -> None:
        """v_mov_b32 with M0 added to register numbers (S_SET_GPR_IDX_ON, 12.5)."""
        mode = self.relative or 0
        to, source = operands
        if mode & ~9 or not to.is_vector or instruction.form in ("sdwa", "dpp"):
            raise Unsupported("this use of s_set_gpr_idx_on", instruction)
        into = f"{self.registers.row(to)} + {'(w->m0 & 255)' if mode & 8 else '0'}"
        lines = ["{", f"const uint32_t into = {into};"]
        if source.is_vector:
            lines.append(
                f"const uint32_t from = {self.registers.row(source)} + {'(w->m0 & 255)' if mode & 1 else '0'};"
            )
            value, bad = "w->v[from][l]", "P(from)"
        else:
            lines.append("const uint32_t from = 0;")
            value, bad = self._scalar_value(source, "u32", instruction), "0ull"
        lines += [
            f"if (into >= ROWS || from >= ROWS) return core_fault(&w->core, FAULT_UNSUPPORTED, {len(self.sites) - 1}, 0, into, 0);",
            "show_mask(w);",
            f"for (int l = 0; l < 64; l++) w->v[into][l] = w->mask[l] ? {value} : w->v[into][l];",
        ]
        if self.poison:
            lines.append(f"P(into) = (P(into) & ~w->exec) | ({bad} & w->exec);")
        self.writer.emit(*lines, "}")

    def _do_s_set_gpr_idx_on(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        source, mode = instruction.operands
        names = {"SRC0": 1, "SRC1": 2, "SRC2": 4, "DST": 8}
        inner = mode.replace("gpr_idx(", "").rstrip(")")
        bits = sum(names[n.strip()] for n in inner.split(",") if n.strip()) if "gpr_idx" in mode else int(mode, 0)
        value = self._scalar_value(parse(source), "u32", instruction)
        self.writer.emit(f"w->m0 = (w->m0 & ~0xffu) | ({value} & 0xff) | {bits} << 12;")
        self.relative = bits

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

    # ---- scalar --------------------------------------------------------------------------------------

    def _scalar_value(self, operand: Operand, kind: str, instruction: Instruction) -> str:
        if operand.kind in ("s", "exec"):
            if not is_wide(kind):
                return scalar_word(operand.index)
            if operand.kind == "exec":
                return "w->exec"
            if operand.count < 2:
                raise Unsupported(f"{operand.text} is one register where two are read", instruction)
            return f"S64({operand.index})"
        if operand.is_constant:
            bits = constant_bits(operand, kind)
            return f"{bits:#x}ull" if is_wide(kind) else f"{bits:#x}u"
        if operand.kind == "m0":
            return "w->m0"
        if operand.kind == "scc":
            return "w->scc"
        if operand.kind == "aperture":
            return (
                "(uint64_t)" + ("SHARED_APERTURE", "PRIVATE_APERTURE", "0xffffffffull", "0xffffffffull")[operand.index]
            )
        if operand.kind in ("vccz", "execz"):
            return "(uint32_t)!S64(106)" if operand.kind == "vccz" else "(uint32_t)!w->exec"
        if operand.kind == "symbol":
            return self._address_part(operand, instruction)
        raise Unsupported(f"operand {operand.text!r} as a scalar source", instruction)

    def _address_part(self, operand: Operand, instruction: Instruction) -> str:
        """`name@rel32@lo+4` and its kin: relative to the literal, which sits 4 bytes into the instruction."""
        name = resolve(operand.symbol, self.program)
        if name in self.program.lds:
            return f"{self.kernel.shared_bytes:#x}u"
        relocation, _, half = operand.relocation.partition("@")
        if relocation == "gotpcrel32":
            absolute = f"SYMBOL({self._symbol('got ' + name)})"
        elif name in self.linear.entries:
            absolute = f"{self._code_address(self.linear.entries[name]):#x}ull"
        elif name in self.program.functions:
            absolute = f"{code_address(self.program, name):#x}ull"
        else:
            absolute = f"SYMBOL({self._symbol('data ' + name)})"
        if relocation in ("rel32", "gotpcrel32"):
            here = self._code_address(len(self.sites) - 1) + 4
            absolute = f"({absolute} + {operand.value} - {here:#x}ull)"
        elif relocation != "abs32":
            raise Unsupported(f"relocation {operand.relocation!r}", instruction)
        return f"(uint32_t)({absolute} >> 32)" if half == "hi" else f"(uint32_t){absolute}"

    def _scalar_target(self, operand: Operand, instruction: Instruction, wide: bool = False) -> str:
        if operand.kind == "s":
            return f"S64({operand.index})" if wide else f"S({operand.index})"
        if operand.kind == "exec" and wide:
            return "w->exec"
        if operand.kind == "m0" and not wide:
            return "w->m0"
        raise Unsupported(f"scalar result {operand.text!r}", instruction)

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
                lines.append(
                    f"w->scc = (uint32_t)(({expression}) & {'1' if '>>' in expression and '!=' not in expression else '-1'}) != 0;"
                )
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

    def _poison_fault(self, lanes: str, site: int) -> list[str]:
        if not self.poison:
            return []
        return [f"if (UNLIKELY(({lanes}) != 0) && gfx_poison(w, {site}, ({lanes}))) return FAULTED;"]

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

    def _branch(self, index: int, instruction: Instruction) -> None:
        condition = scalar.BRANCHES[instruction.mnemonic]
        if "scc" in instruction.mnemonic:
            self.writer.emit(*self._poison_fault("(uint64_t)w->scc_poison", index))
        elif "vcc" in instruction.mnemonic:
            self.writer.emit(*self._poison_fault("PS64(106) & w->exec", index))
        self.writer.emit(f"if ({condition}) goto B{self._target(instruction)};")

    def _scalar_load(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        words = memory.SCALAR_LOADS[instruction.mnemonic]
        to, base, offset = operands
        extra = [n for n, _ in instruction.modifiers if n not in ("offset", "glc")]
        if extra or to.kind != "s" or to.count != words:
            raise Unsupported("form of scalar load", instruction)
        parts = [f"S64({base.index})", str(int(instruction.modifier("offset") or "0", 0))]
        if offset.is_constant:
            parts.append(str(offset.value))
        elif offset.kind == "s":
            parts.append(f"S({offset.index})")
        else:
            raise Unsupported("offset of scalar load", instruction)
        lines = self._poison_fault(f"(uint64_t)(PS64({base.index}) != 0)", index)
        lines.append(f"if (gfx_scalar_load(w, {index}, {' + '.join(parts)}, {words}, {to.index})) return FAULTED;")
        reads = {base.index, base.index + 1} | scalar_indices(offset, 1)
        self.writer.emit_scalar(lines, reads, {to.index + k for k in range(words)})

    # ---- control -------------------------------------------------------------------------------------

    def _do_s_endpgm(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        self.writer.emit("return WAVE_DONE;")

    def _do_s_barrier(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        self.writer.emit(f"w->core.pc = {index + 1};", f"return core_barrier(&w->core, {index}, w->exec);")

    def _do_s_trap(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        number = int(instruction.operands[0], 0)
        self.writer.emit(
            f"return core_fault(&w->core, FAULT_TRAP, {index}, w->exec ? (uint32_t)first_lane(w->exec) : 0, {number}, 0);"
        )

    def _do_s_sendmsg(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        self.writer.emit(f"return core_fault(&w->core, FAULT_UNSUPPORTED, {index}, 0, 0, 0);")

    def _do_s_getpc_b64(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        target = self._scalar_target(operands[0], instruction, wide=True)
        poison = [f"PS64({operands[0].index}) = 0;"] if self.poison else []
        self.writer.emit(f"{target} = {self._code_address(index) + 8:#x}ull;", *poison)

    def _do_s_setpc_b64(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        self.writer.emit(f"target = {self._scalar_value(operands[0], 'u64', instruction)};",
                         f"w->core.barrier_site = {index}; goto dispatch;")  # fmt: skip

    def _do_s_swappc_b64(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        poison = [f"PS64({operands[0].index}) = 0;"] if self.poison else []
        self.writer.emit(
            f"target = {self._scalar_value(operands[1], 'u64', instruction)};",
            f"{self._scalar_target(operands[0], instruction, wide=True)} = {self._code_address(index) + 8:#x}ull;",
            *poison,
            f"w->core.barrier_site = {index}; goto dispatch;",
        )

    def _do_s_memtime(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        target = self._scalar_target(operands[0], instruction, wide=True)
        poison = [f"PS64({operands[0].index}) = 0;"] if self.poison else []
        self.writer.emit("{ uint64_t steps = w->core.launch->budget - (uint64_t)w->core.budget + w->core.launch->quantum;",
                         f"{target} = steps - (uint64_t)w->core.quantum; }}", *poison)  # fmt: skip

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

    # ---- memory --------------------------------------------------------------------------------------

    def _flat(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        space, _, suffix = instruction.mnemonic.partition("_")
        action, _, what = suffix.partition("_")
        _only(instruction, "offset", "sc0", "sc1", "nt", "glc", "slc")
        enum = _SPACES[space]
        if action == "load" and what in memory.LOADS:
            at = self._flat_address(space, instruction, operands[1:])
            row = self._row(operands[0], instruction)
            self._call(f"gfx_load(w, {index}, {enum}, {memory.LOADS[what]}, {at}, {row})")
        elif action == "store" and what in memory.STORES:
            at = self._flat_address(space, instruction, [operands[0], *operands[2:]])
            row = self._row(operands[1], instruction)
            self._call(f"gfx_store(w, {index}, {enum}, {memory.STORES[what]}, {at}, {row})")
        elif action == "atomic" and what in memory.ATOMICS and space != "scratch":
            self._flat_atomic(index, space, what, instruction, operands)
        else:
            raise Unsupported("unknown instruction", instruction)

    def _call(self, call: str) -> None:
        self.writer.emit(f"if ({call}) return FAULTED;")

    def _flat_atomic(
        self, index: int, space: str, what: str, instruction: Instruction, operands: list[Operand]
    ) -> None:
        """Atomics return the old value when sc0 (glc before gfx940) is set."""
        op = memory.ATOMICS[what]
        returns = instruction.modifier("sc0") is not None or instruction.modifier("glc") is not None
        takes = 3 if space == "global" else 2
        returns = returns or len(operands) == takes + 1
        rest = operands[1:] if returns else operands
        at = self._flat_address(space, instruction, [rest[0], *rest[2:]])
        result = self._row(operands[0], instruction) if returns else -1
        data = self._row(rest[1], instruction)
        other = data + (2 if op.wide else 1) if op.name == "AT_CMPSWAP" else 0
        self._call(
            f"gfx_atomic(w, {index}, {_SPACES[space]}, {op.name}, {int(op.wide)}, {at}, {data}, {other}, {result})"
        )

    def _row(self, operand: Operand, instruction: Instruction) -> int:
        if not operand.is_vector:
            raise Unsupported(f"operand {operand.text!r} where a vector register is needed", instruction)
        return self.registers.row(operand)

    def _flat_address(self, space: str, instruction: Instruction, where: list[Operand]) -> str:
        """Per lane: VGPR pair, or SGPR pair + VGPR offset; scratch: VGPR and SGPR offsets (12.15)."""
        vector_part, base = where[0], where[1] if len(where) > 1 else None
        uniform = [f"(uint64_t){int(instruction.modifier('offset') or '0', 0)}ll"]
        if base is not None and base.kind == "s":
            uniform.append(f"S({base.index})" if space == "scratch" else f"S64({base.index})")
            if space != "scratch":
                self.writer.emit(*self._poison_fault(f"-(uint64_t)(PS64({base.index}) != 0)", len(self.sites) - 1))
        elif base is not None and base.is_constant and space == "scratch":
            uniform.append(f"{base.value}ull")
        elif base is not None and base.kind != "off":
            raise Unsupported(f"address base {base.text!r}", instruction)
        return self._address(space, vector_part, base, " + ".join(uniform), instruction)

    def _address(
        self, space: str, vector_part: Operand, base: Operand | None, uniform: str, instruction: Instruction
    ) -> str:
        if vector_part.kind == "off":
            return f"(Address){{ADDRESS_UNIFORM, 0, {uniform}}}"
        row = self._row(vector_part, instruction)
        wide = space == "flat" or (space == "global" and (base is None or base.kind == "off"))
        if wide and vector_part.count != 2:
            raise Unsupported("64-bit address in one register", instruction)
        return f"(Address){{{'ADDRESS_PAIR' if wide else 'ADDRESS_ROW'}, {row}, {uniform}}}"

    def _ds(self, index: int, instruction: Instruction, operands: list[Operand]) -> None:
        name = instruction.mnemonic[3:]
        _only(instruction, "offset", "offset0", "offset1")
        shared = f"w, {index}, SPACE_SHARED"
        if name in ("permute_b32", "bpermute_b32"):
            self._permute(instruction, operands)
        elif name == "swizzle_b32":
            to, source = (self._row(o, instruction) for o in operands)
            self.writer.emit(f"gfx_swizzle(w, {source}, {_swizzle(instruction):#x}, {to});")
        elif name.startswith(("read2", "write2")):
            self._ds_pair(index, instruction, operands, name)
        elif name.startswith("read_") and name[5:] in memory.DS_LOADS:
            at, row = self._ds_address(operands[1], instruction), self._row(operands[0], instruction)
            self._call(f"gfx_load({shared}, {memory.DS_LOADS[name[5:]]}, {at}, {row})")
        elif name.startswith("write_") and name[6:] in memory.DS_STORES:
            at, row = self._ds_address(operands[0], instruction), self._row(operands[1], instruction)
            self._call(f"gfx_store({shared}, {memory.DS_STORES[name[6:]]}, {at}, {row})")
        elif name in memory.DS_ATOMICS:
            self._ds_atomic(index, instruction, operands, name)
        elif name in ("gws_barrier", "gws_sema_br"):
            self.writer.emit(f"w->core.pc = {index + 1};", "return WAVE_GRID_BARRIER;")
        elif name != "gws_init":
            raise Unsupported("unknown instruction", instruction)

    def _permute(self, instruction: Instruction, operands: list[Operand]) -> None:
        to, address, data = (self._row(o, instruction) for o in operands)
        backward = int("bpermute" in instruction.mnemonic)
        offset = int(instruction.modifier("offset") or "0", 0)
        self.writer.emit(f"gfx_permute(w, {backward}, {address}, {data}, {offset}, {to});")

    def _ds_address(self, address: Operand, instruction: Instruction, offset: int | None = None) -> str:
        if offset is None:
            offset = int(instruction.modifier("offset") or "0", 0)
        return f"(Address){{ADDRESS_WRAPPED, {self._row(address, instruction)}, {offset}}}"

    def _ds_pair(self, index: int, instruction: Instruction, operands: list[Operand], name: str) -> None:
        """READ2, WRITE2 and their ST64 forms: two accesses, offsets in elements (or 64 elements)."""
        size = 8 if name.endswith("b64") else 4
        stride = size * (64 if "st64" in name else 1)
        width = "W_64" if size == 8 else "W_32"
        offsets = [int(instruction.modifier(f"offset{k}") or "0", 0) * stride for k in (0, 1)]
        address = operands[1] if name.startswith("read2") else operands[0]
        first, second = (self._ds_address(address, instruction, offset) for offset in offsets)
        if name.startswith("read2"):
            row = self._row(operands[0], instruction)
            self._call(f"gfx_load_pair(w, {index}, {width}, {first}, {second}, {row})")
            return
        for at, data in zip((first, second), operands[1:], strict=True):
            self._call(f"gfx_store(w, {index}, SPACE_SHARED, {width}, {at}, {self._row(data, instruction)})")

    def _ds_atomic(self, index: int, instruction: Instruction, operands: list[Operand], name: str) -> None:
        op = memory.DS_ATOMICS[name]
        returns = "_rtn" in name
        rest = operands[1:] if returns else operands
        result = self._row(operands[0], instruction) if returns else -1
        data = self._row(rest[1], instruction)
        other = self._row(rest[2], instruction) if len(rest) > 2 else 0
        if op.name == "AT_CMPSWAP":  # DS compares with its first data operand, FLAT with its second
            data, other = other, data
        at = self._ds_address(rest[0], instruction)
        self._call(f"gfx_atomic(w, {index}, SPACE_SHARED, {op.name}, {int(op.wide)}, {at}, {data}, {other}, {result})")


_SPACES = {"global": "SPACE_GLOBAL", "flat": "SPACE_FLAT", "scratch": "SPACE_PRIVATE"}


def _only(instruction: Instruction, *allowed: str) -> None:
    """Refuse modifiers that are not among the known ones."""
    for name, _ in instruction.modifiers:
        if name not in allowed:
            raise Unsupported(f"modifier {name!r}", instruction)


_BITWISE = re.compile(r"^s_(and|or|xor|andn2|orn2|nand|nor|xnor|not|mov)_b(32|64)$")


def _scalar_poison_terms(given: list[Operand], sources: list[str]) -> list[str]:
    """C for the poison of scalar sources, a bit per bit."""
    return [
        f"PS64({o.index})" if is_wide(kind) else f"(uint64_t)PS({o.index})"
        for o, kind in zip(given, sources, strict=True)
        if o.kind == "s"
    ]


_SPARE = 100  # an SGPR pair no compiled kernel uses: SGPR 100 and 101
_NO_OPERANDS = set(scalar.NO_EFFECT) | {"s_endpgm", "s_barrier"}
_SWIZZLE = re.compile(r"swizzle\((\w+)\s*,\s*(.*)\)")


def _swizzle(instruction: Instruction) -> int:
    """The offset field of ds_swizzle_b32, from a number or LLVM's swizzle(...) notation."""
    text = instruction.modifier("offset") or "0"
    match = _SWIZZLE.match(text)
    if not match:
        return int(text, 0)
    mode, rest = match[1], match[2]
    parts = [part.strip().strip('"') for part in rest.split(",")]
    if mode == "QUAD_PERM":
        return 0x8000 | sum(int(p) << 2 * i for i, p in enumerate(parts))
    if mode == "BITMASK_PERM":
        and_mask = or_mask = xor_mask = 0
        for char in parts[0]:
            and_mask, or_mask, xor_mask = and_mask << 1, or_mask << 1, xor_mask << 1
            and_mask |= char in "pi"
            or_mask |= char == "1"
            xor_mask |= char == "i"
        return and_mask | or_mask << 5 | xor_mask << 10
    if mode == "SWAP":
        return 0x1F | int(parts[0], 0) << 10
    if mode == "REVERSE":
        return 0x1F | (int(parts[0], 0) - 1) << 10
    if mode == "BROADCAST":
        size, lane = int(parts[0], 0), int(parts[1], 0)
        return (32 - size) & 0x1F | lane << 5
    raise Unsupported(f"swizzle {mode}", instruction)


def _halves(value: str) -> tuple[str, str]:
    return f"(uint32_t)({value})", f"(uint32_t)(({value}) >> 32)"


def _mode(d: dict[str, int]) -> int:
    """The MODE register at entry: rounding, denormals, DX10_CLAMP, IEEE."""
    return (
        d.get("float_round_mode_32", 0)
        | d.get("float_round_mode_16_64", 0) << 2
        | d.get("float_denorm_mode_32", 3) << 4
        | d.get("float_denorm_mode_16_64", 3) << 6
        | d.get("dx10_clamp", 1) << 8
        | d.get("ieee_mode", 1) << 9
    )


def is_known(mnemonic: str) -> bool:
    """True when there is an emitter for the instruction (all of its usual forms)."""
    base = re.sub(r"(_sdwa_SDWA|_dpp_DPP|_e32|_e64|_sdwa|_dpp)$", "", mnemonic)
    compared = base.replace("v_cmpx_", "v_cmp_")
    tables = (vector.ROWS, vector.PACKED, vector.MIXED, scalar.ROWS, scalar.BRANCHES, memory.SCALAR_LOADS, matrix.ROWS)
    if base in scalar.NO_EFFECT or any(compared in rows for rows in tables):
        return True
    if hasattr(Translator, "_do_" + base):
        return True
    if match := re.match(r"s_(\w+?)_(saveexec|wrexec)_b64$", base):
        return match[1] in (scalar.SAVEEXEC if match[2] == "saveexec" else scalar.WREXEC)
    if match := re.match(r"(global|flat|scratch)_(load|store|atomic)_(\w+)$", base):
        names: dict[str, object] = {
            **(memory.LOADS if match[2] == "load" else memory.STORES if match[2] == "store" else memory.ATOMICS)
        }
        return match[3] in names and not (match[1] == "scratch" and match[2] == "atomic")
    if base.startswith("ds_"):
        name = base[3:]
        pair = re.fullmatch(r"(read|write)2(st64)?_b(32|64)", name)
        plain = name.removeprefix("read_") in memory.DS_LOADS or name.removeprefix("write_") in memory.DS_STORES
        return bool(pair) or plain or name in memory.DS_ATOMICS or name in _DS_OTHERS
    return False


_DS_OTHERS = ("permute_b32", "bpermute_b32", "swizzle_b32", "gws_init", "gws_barrier", "gws_sema_br")

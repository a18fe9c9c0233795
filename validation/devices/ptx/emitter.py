"""What the emitters of one kernel share: the C text, sites, symbols, rows; and groups of lane-wise instructions."""

from __future__ import annotations

from porter.validation.devices.core.launch import SiteKind
from porter.validation.devices.core.result import Site
from porter.validation.devices.ptx.alu import RULES
from porter.validation.devices.ptx.alu_move import special
from porter.validation.devices.ptx.code import C_TYPES, Group, constant, mask_of, typed
from porter.validation.devices.ptx.effects import reads, writes
from porter.validation.devices.ptx.lane import Lane
from porter.validation.devices.ptx.lines import source_of
from porter.validation.devices.ptx.model import WIDTHS, Function, Instruction, Operand, Program, Unsupported, Variable
from porter.validation.devices.ptx.unit import Unit

WORKSPACE = "%grid_workspace"
"""The first symbol: see alu_move.GRID_WORKSPACE."""
RESERVED = "%reserved_smem_offset_"
RESERVED_BYTES = 1024
"""Shared memory of the system, where cooperative groups of several warps meet."""
_RESERVED_PARTS = {"begin": 0, "end": RESERVED_BYTES, "0": 0, "1": RESERVED_BYTES // 2}


class Emitter:
    """State of one translation."""

    def __init__(self, program: Program, kernel: Function, poison: bool, followed: bool = False) -> None:
        self.program = program
        self.kernel = kernel
        self.poison = poison
        self.followed = followed
        """Values of device memory too, which the host may have left unwritten."""
        self.lines: list[str] = []
        self.sites: list[SiteKind] = []
        self.segment = -1
        self.symbols: dict[str, int] = {WORKSPACE: 0}
        self.shared: dict[str, int] = {}
        self.shared_bytes = 0
        self.reserved = 0
        """Where the system's shared memory starts."""
        self.reserves = False
        self.units: dict[str, Unit] = {}
        self.bad: dict[tuple[str, str], int] = {}
        self.unit: Unit
        self.group = Group()
        self.block = 0
        self.step = 0
        self.names = 0
        self.calls: dict[str, dict[str, tuple[str, int]]] = {}
        """By function: call parameters, the area they lie in and their offset."""

    # ---- sites -------------------------------------------------------------------------------------------

    def site(
        self, instruction: Instruction, kind: str = "vector", space: str | None = None, operations: int = 0
    ) -> int:
        """Number the instruction for faults and counters."""
        file, line = source_of(self.program, instruction)
        place = Site(instruction.text, instruction.line, file, line)
        doubt = "approximate" if "approx" in instruction.modifiers else ""
        if instruction.base in ("mma", "wmma") and operations and "s32" not in instruction.modifiers:
            doubt = "order of an H100"
        self.sites.append(SiteKind(place, kind, max(self.segment, 0), space, operations, doubt=doubt))
        return len(self.sites) - 1

    def emit(self, *lines: str) -> None:
        """Add C."""
        self.lines += lines

    # ---- registers ---------------------------------------------------------------------------------------

    def width(self, operand: Operand) -> int:
        """Bits of a register."""
        return WIDTHS[self.unit.kind(operand.text)]

    def row(self, name: str) -> str | None:
        """C for a register's row; None when its value is never wanted."""
        row = self.unit.rows.row.get(name)
        if row is None:
            return None
        return f"w->{'q' if WIDTHS[self.unit.kind(name)] == 64 else 'r'}[{row}]"

    def variable(self, name: str) -> str:
        """C variable of a register inside a group."""
        return f"{'q' if WIDTHS[self.unit.kind(name)] == 64 else 'r'}{self.unit.live.number[name]}"

    def lane_value(self, operand: Operand, kind: str, instruction: Instruction) -> str:
        """C for an operand's value in lane `l`, outside groups."""
        if operand.kind == "reg" and operand.text not in self.unit.constants:
            row = self.row(operand.text)
            if row is None:
                raise Unsupported(f"register {operand.text} is never written", instruction)
            text = typed(f"{row}[l]", kind, self.width(operand))
            text = f"~{text}" if operand.negate else text
            return f"({text} + {operand.value})" if operand.value else text
        return self._steady(operand, kind, instruction)

    def _steady(self, operand: Operand, kind: str, instruction: Instruction) -> str:
        """C for what is no register with a row."""
        if operand.kind in ("int", "f32", "f64"):
            return typed(constant(operand, kind, instruction), kind, max(WIDTHS[kind], 32))
        if operand.kind == "reg":
            return self._rematerialised(operand, kind)
        if operand.kind == "sreg" and operand.text.removeprefix(RESERVED) in _RESERVED_PARTS:
            return typed(f"{self.reserved + _RESERVED_PARTS[operand.text.removeprefix(RESERVED)]}u", kind, 32)
        if operand.kind == "sreg":
            found = special(operand.text)
            if found is None:
                raise Unsupported(f"special register {operand.text}", instruction)
            return typed(f"({found[0]})", kind, found[2])
        if operand.kind == "symbol":
            return typed(f"({self.address(operand, instruction)})", kind, 64)
        raise Unsupported(f"operand {operand.kind}", instruction)

    def _rematerialised(self, operand: Operand, kind: str) -> str:
        definition = self.unit.constants[operand.text]
        width = self.width(operand)
        own = "pred" if width == 1 else f"b{width}"
        source = definition.operands[1]
        if definition.base == "ld":
            bits = self.parameter(definition, source, definition.modifiers[-1])
        elif source.kind in ("f32", "f64"):
            bits = constant(source, "f64" if width == 64 else "f32", definition)
        else:
            bits = self._steady(source, own, definition)
        text = typed(f"({bits})", kind, 64 if width == 64 else 32 if width < 16 else width)
        text = f"(~{text})" if operand.negate else text
        return f"({text} + {operand.value})" if operand.value else text

    def parameter(self, instruction: Instruction, address: Operand, kind: str, extra: int = 0) -> str:
        """C for a kernel parameter's bits."""
        name = address.parts[0].text
        found = next((p for p in self.kernel.parameters if p.name == name), None)
        if found is None:
            raise Unsupported(f"parameter {name}", instruction)
        c_type = f"{'int' if kind.startswith('s') else 'uint'}{WIDTHS[kind]}_t"
        offset = found.offset + address.value + extra
        cast = "" if kind.startswith("s") else f"(uint{max(WIDTHS[kind], 32)}_t)"
        value = f"*(const {c_type} *)(w->x.core.launch->arguments + {offset})"
        if kind.startswith("s") and WIDTHS[kind] < 32:
            target = self.width(instruction.operands[0]) if instruction.operands[0].kind == "reg" else 32
            return f"(uint32_t)(int32_t){value}" + (" & 0xffffu" if target == 16 else "")
        return f"{cast}{value}"

    def address(self, operand: Operand, instruction: Instruction) -> str:
        """C for the address of a variable, function or parameter, in its own state space."""
        name = operand.text
        offset = f" + {operand.value}" if operand.value else ""
        if name in self.unit.locals:
            return f"(uint64_t)(w->x.base + {self.unit.locals[name] + operand.value})"
        if name in self.shared:
            return f"{self.shared[name] + operand.value}ull"
        resolved = self.program.aliases.get(name, name)
        if resolved in self.program.functions:
            index = list(self.program.functions).index(resolved)
            return f"(CODE_BASE + {16 * index + operand.value})"
        if name in self.program.variables:
            return f"w->x.core.launch->symbols[{self.symbol(name)}]{offset}"
        for parameter in self.kernel.parameters if self.unit.function.is_kernel else ():
            if parameter.name == name:
                return f"w->x.core.launch->arguments + {parameter.offset + operand.value}"
        raise Unsupported(f"address of {name}", instruction)

    def symbol(self, name: str) -> int:
        """Number a variable of the module."""
        return self.symbols.setdefault(name, len(self.symbols))

    # ---- poison ------------------------------------------------------------------------------------------

    def bad_slot(self, name: str) -> str | None:
        """C for the lanes of a register that hold nothing the kernel wrote; None for registers that always do."""
        if name not in self.unit.tainted:
            return None
        slot = self.bad.setdefault((self.unit.function.name, name), len(self.bad))
        return f"w->bad[{slot}]"

    def bad_of(self, names: tuple[str, ...] | list[str]) -> str | None:
        """C for the lanes in which any of the registers is poisoned."""
        found = [slot for slot in dict.fromkeys(self.bad_slot(name) for name in names) if slot]
        return f"({' | '.join(found)})" if found else None

    def refuse_bad(self, names: tuple[str, ...] | list[str], lanes: str, index: int) -> list[str]:
        """C that reports a poisoned register where it decides something."""
        bad = self.bad_of([name for name in names if name not in self.unit.constants])
        if bad is None:
            return []
        return [
            f"{{ const uint32_t wrong = {bad} & ({lanes});",
            f"if (UNLIKELY(wrong)) {{ ptx_poison(&w->x, {index}, wrong); return WAVE_FAULT; }} }}",
        ]

    def clear_bad(self, names: tuple[str, ...], active: str) -> list[str]:
        """What was written is clean."""
        return [f"{slot} &= ~({active});" for slot in (self.bad_slot(n) for n in names) if slot]

    # ---- groups ------------------------------------------------------------------------------------------

    def emit_group(self, code: tuple[Instruction, ...]) -> None:
        """One loop over the lanes."""
        self.group = Group()
        self.bad_named: dict[str, str] = {}
        for instruction in code:
            self.site(instruction)
            self._one(instruction)
        self._close()

    def _one(self, instruction: Instruction) -> None:
        self.current = instruction
        if instruction.base in ("ld", "st") and instruction.base not in RULES:
            self.parameter_access(instruction)
        else:
            lane = Lane(instruction, self)
            try:
                RULES[instruction.base](lane)
            except (IndexError, ValueError, KeyError) as error:
                raise Unsupported(f"form of instruction ({error})", instruction) from error
        self._poison(instruction)

    def parameter_access(self, instruction: Instruction) -> None:
        """ld.param and st.param: see emit_calls."""
        raise NotImplementedError

    def value(self, operand: Operand, kind: str, instruction: Instruction) -> str:
        """C for an operand in the open group."""
        if operand.kind == "reg" and operand.text not in self.unit.constants:
            name = self.variable(operand.text)
            if operand.text not in self.group.written:
                self.group.loaded.setdefault(operand.text)
            text = typed(name, kind, self.width(operand))
            text = f"(~{text})" if operand.negate else text
            return f"({text} + {operand.value})" if operand.value else text
        text = self._steady(operand, kind, instruction)
        is_steady = operand.kind != "sreg" or (special(operand.text) or ("", False, 0))[1]
        if "w->" in text and "[l]" not in text and is_steady:
            return self.group.uniform.setdefault(text, f"k{len(self.group.uniform)}")
        return text

    def assign(self, operand: Operand, bits: str, instruction: Instruction) -> None:
        """A register's new bits in the open group."""
        name = operand.text
        variable = self.variable(name)
        guard = instruction.guard
        if guard is not None:
            if name not in self.group.written:
                self.group.loaded.setdefault(name)
            condition = self.value(guard, "pred", instruction)
            bits = f"{condition} ? {bits} : {variable}"
        self.group.lines.append(f"{variable} = {bits};")
        self.group.written.setdefault(name)

    def line(self, text: str) -> None:
        """C inside the loop."""
        self.group.lines.append(text)

    def fresh(self) -> str:
        """A name for a C variable."""
        self.names += 1
        return f"t{self.names}"

    def _poison_name(self, name: str) -> str | None:
        slot = self.bad_slot(name)
        if slot is None:
            return None
        return self.bad_named.setdefault(name, f"b{self.unit.live.number[name]}")

    def _poison(self, instruction: Instruction) -> None:
        targets = [name for name in writes(instruction) if name in self.unit.tainted]
        if not targets:
            return
        if instruction.base == "selp":
            a, b, p = instruction.operands[1:4]
            pick = self._packed(p, instruction)
            parts = [self._poison_name(o.text) or "0u" if o.kind == "reg" else "0u" for o in (a, b, p)]
            value = f"({parts[0]} & {pick}) | ({parts[1]} & ~{pick}) | {parts[2]}"
        else:
            plain = instruction._replace(guard=None)
            value = " | ".join(n for n in map(self._poison_name, dict.fromkeys(reads(plain))) if n) or "0u"
        for target in targets:
            name = self._poison_name(target)
            kept = value
            if instruction.guard is not None:
                on = self._packed(instruction.guard, instruction)
                kept = f"(({value}) & {on}) | ({name} & ~{on})"
            self.group.poison.append(f"{name} = {kept};")

    def _packed(self, predicate: Operand, instruction: Instruction) -> str:
        """Bits of a predicate, to be had after the loop."""
        number = self.group.packed
        self.group.packed += 1
        # taken before the instruction's own results change it
        self.group.lines.append(f"g{number}[l] = {self.value(predicate, 'pred', instruction)};")
        return f"h{number}"

    def _close(self) -> None:
        group = self.group
        out = ["{", "show_mask(&w->x); const uint32_t *const m = w->x.mask; (void)m;"]
        out += [f"const __auto_type {name} = {text};" for text, name in group.uniform.items()]
        out += [f"uint32_t g{i}[LANES] ALIGNED;" for i in range(group.packed)]
        out.append("for (int l = 0; l < LANES; l++) {")
        for name in group.loaded:
            pool = "q" if self.width(Operand("reg", name)) == 64 else "r"
            row = self.row(name)
            value = "0" if row is None else f"{row}[l]"
            out.append(f"{C_TYPES[pool]} {self.variable(name)} = {value};")
        for name in group.written:
            if name not in group.loaded:
                pool = "q" if self.width(Operand("reg", name)) == 64 else "r"
                out.append(f"{C_TYPES[pool]} {self.variable(name)};")
        out += group.lines
        for name in group.written:
            if self.unit.is_alive(self.block, self.step, name):
                row = self.row(name)
                out.append(f"{row}[l] = m[l] ? {self.variable(name)} : {row}[l];")
        out.append("}")
        if group.packed:
            out += [f"const uint32_t h{i} = (uint32_t)pack_mask(g{i});" for i in range(group.packed)]
        if group.poison:
            for name, variable in self.bad_named.items():
                out.append(f"uint32_t {variable} = {self.bad_slot(name)};")
            out += group.poison
            for name in group.written:
                if name in self.bad_named:
                    slot = self.bad_slot(name)
                    out.append(f"{slot} = ({slot} & ~w->x.active) | ({self.bad_named[name]} & w->x.active);")
        out.append("}")
        self.lines += out


def bytes_of(variable: Variable) -> int:
    """Size of a variable, at least one byte."""
    return max(variable.size, 1)


__all__ = ["Emitter", "bytes_of", "mask_of"]

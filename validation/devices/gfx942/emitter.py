"""What the emitters of one kernel share: registers, symbols, scalar operands, faults."""

from __future__ import annotations

import re

from porter.validation.devices.core.launch import SiteKind
from porter.validation.devices.gfx942.code import Mode, Registers, Unsupported, Writer, is_wide, scalar_word
from porter.validation.devices.gfx942.layout import IMAGE, Linear, code_address, resolve
from porter.validation.devices.gfx942.operands import Operand, constant_bits
from porter.validation.devices.gfx942.text import Instruction, KernelInfo, Program


class Emitter:
    """State of one translation."""

    def __init__(self, program: Program, kernel: KernelInfo, poison: bool) -> None:
        self.program = program
        self.kernel = kernel
        self.linear = Linear(program, kernel.name)
        vgprs = max(kernel.vgprs - kernel.agprs, self._highest("v"), 2)
        agprs = max(kernel.agprs, self._highest("a"))
        self.spare = vgprs + agprs  # a row that no operand names, for what goes through a register on its way
        self.registers = Registers(vgprs, self.spare + max(map(_spare_rows, self.linear.items), default=0))
        rounds = kernel.directives.get("float_round_mode_32", 0) or kernel.directives.get("float_round_mode_16_64", 0)
        self.clamps = bool(kernel.directives.get("fp16_overflow", 0)) or any(map(_sets_overflow, self.linear.items))
        self.dynamic_mode = (
            bool(rounds) or self.clamps or any(i.mnemonic.startswith("s_setreg") for i in self.linear.items)
        )
        named = kernel.directives.get
        self.writer = Writer(
            self.registers,
            poison,
            Mode(self.dynamic_mode, bool(named("ieee_mode", 1)), named("float_denorm_mode_32", 3),
                 named("float_denorm_mode_16_64", 3)),
        )  # fmt: skip
        self.poison = poison
        self.sites: list[SiteKind] = []
        self.segment = -1
        self.symbols: dict[str, int] = {}
        self.jumps_indirectly = False
        self.relative: int | None = None  # S_SET_GPR_IDX_ON's mode, inside such a region

    def _highest(self, kind: str) -> int:
        pattern = re.compile(rf"\b{'a(?:cc)?' if kind == 'a' else kind}(?:(\d+)\b|\[(\d+)(?::(\d+))?\])")
        top = 0
        for item in self.linear.items:
            for operand in item.operands:
                for match in pattern.finditer(operand):
                    top = max(top, int(match[3] or match[2] or match[1]) + 1)
        return top

    def _new_segment(self) -> None:
        self.segment += 1
        self.writer.lines.append(f"SEGMENT({self.segment});")

    def _symbol(self, name: str) -> int:
        return self.symbols.setdefault(name, len(self.symbols))

    def _code_address(self, index: int) -> int:
        after = index - len(self.linear.addresses)
        return self.linear.addresses[-1] + 8 * (after + 1) if after >= 0 else self.linear.addresses[index]

    def _place(self, index: int, after: bool = False) -> str:
        """C for the address of an instruction, or of what follows it (one that is four bytes long)."""
        if self.program.image is None:
            return f"{self._code_address(index) + 8 * after:#x}ull"
        return f"(SYMBOL({self._symbol(IMAGE)}) + {self._code_address(index) + 4 * after:#x}ull)"

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

    def _poison_fault(self, lanes: str, site: int) -> list[str]:
        if not self.poison:
            return []
        return [f"if (UNLIKELY(({lanes}) != 0) && gfx_poison(w, {site}, ({lanes}))) return FAULTED;"]

    def _call(self, call: str) -> None:
        self.writer.emit(f"if ({call}) return FAULTED;")

    def _row(self, operand: Operand, instruction: Instruction) -> int:
        if not operand.is_vector:
            raise Unsupported(f"operand {operand.text!r} where a vector register is needed", instruction)
        return self.registers.row(operand)


def _sets_overflow(instruction: Instruction) -> bool:
    """Whether an instruction may set FP16_OVFL, bit 23 of MODE."""
    if not instruction.mnemonic.startswith("s_setreg"):
        return False
    match = re.match(r"hwreg\(HW_REG_MODE(?:,\s*(\d+),\s*(\d+))?\)", ",".join(instruction.operands))
    first, width = (int(match[1] or 0), int(match[2] or 32)) if match else (0, 32)
    return first <= 23 < first + width


def _spare_rows(instruction: Instruction) -> int:
    if instruction.mnemonic == "s_set_gpr_idx_on":  # a result and three sources, two rows each
        return 8
    return int("_lds_" in instruction.mnemonic or instruction.modifier("lds") is not None)


def allow_only(instruction: Instruction, *allowed: str) -> None:
    """Refuse modifiers that are not among the known ones."""
    for name, _ in instruction.modifiers:
        if name not in allowed:
            raise Unsupported(f"modifier {name!r}", instruction)

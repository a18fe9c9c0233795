"""C text for one kernel: groups of lane-wise instructions fused into one loop, everything else in between."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from porter.validation.devices.gfx942.operands import EXEC, VCC, Operand, constant_bits
from porter.validation.devices.gfx942.text import Instruction

GROUP_LIMIT = 40
LANE_TYPES = {"b64", "u64", "i64", "f64"}


class Unsupported(Exception):
    """An instruction or a form of it that the device does not know: the kernel is not run."""

    def __init__(self, why: str, instruction: Instruction) -> None:
        super().__init__(f"{why}: {instruction.text} (assembly line {instruction.line})")
        self.instruction = instruction


def is_wide(kind: str) -> bool:
    """True for types of two registers."""
    return kind in LANE_TYPES


@dataclass
class Group:
    """Lane-wise instructions that run in one loop; results are written back once, under EXEC."""

    lines: list[str] = field(default_factory=list)
    loaded: dict[int, None] = field(default_factory=dict)
    written: dict[int, None] = field(default_factory=dict)
    scalars: dict[int, None] = field(default_factory=dict)
    masks_in: dict[int, None] = field(default_factory=dict)
    masks_out: dict[int, None] = field(default_factory=dict)
    hoisted: list[str] = field(default_factory=list)
    poison: list[str] = field(default_factory=list)
    count: int = 0
    mask: str = "w->mask"
    active: str = "w->exec"
    rounding: str | None = None
    """Which field of MODE rounds the results, in kernels that change it."""

    @property
    def scalar_reads(self) -> set[int]:
        """SGPRs the loop reads."""
        return set(self.scalars) | {i + k for i in self.masks_in for k in (0, 1)}

    @property
    def scalar_writes(self) -> set[int]:
        """SGPRs written after the loop."""
        return {i + k for i in self.masks_out for k in (0, 1)}


@dataclass(frozen=True)
class Registers:
    """Which row of the wave's vector registers an operand lives in."""

    vgprs: int
    rows: int

    def row(self, operand: Operand, offset: int = 0) -> int:
        """The row of a VGPR or AGPR."""
        return operand.index + offset + (self.vgprs if operand.kind == "a" else 0)


@dataclass(frozen=True)
class Mode:
    """What a kernel's descriptor says of floating point, and whether the kernel changes it."""

    changes: bool = False
    ieee: bool = True
    denormals_32: int = 3
    denormals_16_64: int = 3


class Writer:
    """Collects C lines; keeps one group open and moves scalar work in front of it where that changes nothing."""

    def __init__(self, registers: Registers, poison: bool, mode: Mode = Mode()) -> None:
        self.registers = registers
        self.poison = poison
        self.mode = mode
        self.dynamic_mode = mode.changes
        self.lines: list[str] = []
        self.group = Group()

    def scales_results(self, kind: str) -> bool:
        """Whether OMOD does anything for results of this type."""
        return not self.mode.ieee and not (self.mode.denormals_32 if kind == "f32" else self.mode.denormals_16_64) & 2

    def flush(self) -> None:
        """Write the open group."""
        group, self.group = self.group, Group()
        if not group.lines:
            return
        out = ["{", *group.hoisted]
        if self.dynamic_mode:
            out.append("const uint32_t flush_inputs = !(w->mode & 16), flush_outputs = !(w->mode & 32);")
        if group.rounding is not None:
            out.append(f"gfx_round({group.rounding});")
        out += [f"const uint32_t s{i} = {scalar_word(i)};" for i in group.scalars]
        for i in group.masks_in:
            source = "w->exec" if i == EXEC else f"S64({i})"
            out.append(f"uint32_t qi{i}[64] ALIGNED; expand_mask({source}, qi{i});")
        out += [f"uint32_t qo{i}[64] ALIGNED;" for i in group.masks_out]
        if group.written and group.mask == "w->mask":
            out.append("show_mask(w);")
        out.append("for (int l = 0; l < 64; l++) {")
        out += [f"uint32_t v{r} = V({r})[l];" for r in group.loaded]
        out += [f"uint32_t v{r};" for r in group.written if r not in group.loaded]
        out += [f"uint32_t q{i} = qi{i}[l];" for i in group.masks_in]
        out += [f"uint32_t q{i};" for i in group.masks_out if i not in group.masks_in]
        out += group.lines
        out += [f"V({r})[l] = {group.mask}[l] ? v{r} : V({r})[l];" for r in group.written]
        out += [f"qo{i}[l] = q{i};" for i in group.masks_out]
        out.append("}")
        if group.rounding is not None:
            out.append("gfx_round(0);")
        out += [f"S64({i}) = pack_mask(qo{i}) & {group.active};" for i in group.masks_out]
        out += group.poison
        out.append("}")
        self.lines += out

    def emit(self, *lines: str) -> None:
        """Write lines after the open group."""
        self.flush()
        self.lines += lines

    def emit_scalar(self, lines: list[str], reads: set[int], writes: set[int]) -> None:
        """Write scalar work, in front of the open group when the two do not touch."""
        group = self.group
        touched = group.scalar_writes
        if reads & touched or writes & (touched | group.scalar_reads):
            self.flush()
        self.lines += lines


def scalar_word(index: int) -> str:
    """C for one 32-bit scalar register by number."""
    if index == EXEC:
        return "(uint32_t)w->exec"
    if index == EXEC + 1:
        return "(uint32_t)(w->exec >> 32)"
    if index == M0:
        return "w->m0"
    return f"S({index})"


M0 = 124


def scalar_indices(operand: Operand, words: int) -> set[int]:
    """SGPR numbers an operand names."""
    if operand.kind in ("s", "exec"):
        return {operand.index + k for k in range(words)}
    if operand.kind == "m0":
        return {M0}
    return set()


_SEL = {
    "DWORD": "({x})",
    "BYTE_0": "({x} & 255)",
    "BYTE_1": "({x} >> 8 & 255)",
    "BYTE_2": "({x} >> 16 & 255)",
    "BYTE_3": "({x} >> 24)",
    "WORD_0": "({x} & 0xffff)",
    "WORD_1": "({x} >> 16)",
}
_SEXT = {
    "BYTE_0": "(uint32_t)(int8_t)({x})",
    "BYTE_1": "(uint32_t)(int8_t)({x} >> 8)",
    "BYTE_2": "(uint32_t)(int8_t)({x} >> 16)",
    "BYTE_3": "(uint32_t)(int8_t)({x} >> 24)",
    "WORD_0": "(uint32_t)(int16_t)({x})",
    "WORD_1": "(uint32_t)(int16_t)({x} >> 16)",
    "DWORD": "({x})",
}
_INSERT = {  # destination selection: (mask, shift)
    "BYTE_0": (0xFF, 0),
    "BYTE_1": (0xFF00, 8),
    "BYTE_2": (0xFF0000, 16),
    "BYTE_3": (0xFF000000, 24),
    "WORD_0": (0xFFFF, 0),
    "WORD_1": (0xFFFF0000, 16),
}


def select(word: str, selection: str, signed: bool) -> str:
    """SDWA source selection."""
    return (_SEXT if signed else _SEL)[selection].format(x=word)


def insert(old: str, word: str, selection: str, unused: str) -> str:
    """SDWA destination selection."""
    if selection == "DWORD":
        return word
    mask, shift = _INSERT[selection]
    placed = f"({word} << {shift} & {mask:#x}u)"
    if unused == "UNUSED_PRESERVE":
        return f"(({old} & {~mask & 0xFFFFFFFF:#x}u) | {placed})"
    if unused == "UNUSED_SEXT":
        bits = 8 if "BYTE" in selection else 16
        return (
            f"((uint32_t)((int32_t)({word} << {32 - bits}) >> {32 - bits - shift}) & {(-1 << shift) & 0xFFFFFFFF:#x}u)"
        )
    return placed


def modified(word: str, kind: str, operand: Operand) -> str:
    """abs, then neg, on the bits of a floating-point source."""
    sign = {"f64": "0x8000000000000000ull", "b64": "0x8000000000000000ull", "f16": "0x8000u", "h16": "0x8000u"}.get(
        kind, "0x80000000u"
    )
    if operand.absolute:
        word = f"({word} & ~{sign})"
    if operand.negate:
        word = f"({word} ^ {sign})"
    return word


class LaneReader:
    """Reads operands inside a group's loop."""

    def __init__(self, writer: Writer, instruction: Instruction) -> None:
        self.writer = writer
        self.instruction = instruction

    @property
    def group(self) -> Group:
        return self.writer.group

    def require_no_conflict(self, scalars: set[int]) -> None:
        """A scalar that the open group writes can only be read after the loop."""
        if scalars & self.group.scalar_writes:
            self.writer.flush()

    def word(self, operand: Operand, kind: str, part: int = 0) -> str:
        """C for one 32-bit register of an operand (or the bits of a constant)."""
        if operand.is_vector:
            row = self.writer.registers.row(operand, part)
            if row not in self.group.written:
                self.group.loaded.setdefault(row)
            return f"v{row}"
        if operand.kind in ("s", "exec"):
            self.group.scalars.setdefault(operand.index + part)
            return f"s{operand.index + part}"
        if operand.kind == "m0":
            self.group.scalars.setdefault(M0)
            return f"s{M0}"
        if operand.is_constant:
            return f"{constant_bits(operand, kind) >> 32 * part & 0xFFFFFFFF:#x}u"
        if operand.kind == "aperture":
            return f"(uint32_t)({aperture(operand)} >> {32 * part})"
        if operand.kind == "scc":
            return "w->scc"
        raise Unsupported(f"operand {operand.text!r} as a vector source", self.instruction)

    def bits(self, operand: Operand, kind: str) -> str:
        """C for the bits of an operand as wide as its type."""
        if not is_wide(kind):
            return self.word(operand, kind)
        if operand.is_constant:
            return f"{constant_bits(operand, kind):#x}ull"
        if operand.kind == "aperture":
            return aperture(operand)
        if operand.count < 2:
            raise Unsupported(f"operand {operand.text!r} is one register where two are read", self.instruction)
        return f"({self.word(operand, kind)} | (uint64_t){self.word(operand, kind, 1)} << 32)"

    def mask(self, operand: Operand) -> str:
        """C for a lane's bit of a mask in an SGPR pair: all ones or zero."""
        if operand.kind not in ("s", "exec"):
            raise Unsupported(f"operand {operand.text!r} as a lane mask", self.instruction)
        if operand.index not in self.group.masks_out:
            self.group.masks_in.setdefault(operand.index)
        return f"q{operand.index}"


def aperture(operand: Operand) -> str:
    """C for src_shared_base and its kin."""
    return ("SHARED_APERTURE", "PRIVATE_APERTURE", "0xffffffffull", "0xffffffffull")[operand.index]


def vcc_operand() -> Operand:
    """VCC, where the instruction reads or writes it without saying so."""
    return Operand("s", "vcc", VCC, 2)


def without_modifiers(operand: Operand) -> Operand:
    """The operand as plain bits."""
    return replace(operand, negate=False, absolute=False, sign_extend=False)

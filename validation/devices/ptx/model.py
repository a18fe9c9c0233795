"""What a PTX module says: functions, variables, instructions and where they came from."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple


class Unreadable(Exception):
    """Text that is no PTX, or PTX that this reader does not know."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"line {line}: {reason}")
        self.reason = reason
        self.line = line


class Unsupported(Exception):
    """An instruction, modifier or operand form that is not translated."""

    def __init__(self, reason: str, instruction: Instruction) -> None:
        super().__init__(f"line {instruction.line}: {instruction.opcode}: {reason}")
        self.instruction = instruction


class Place(NamedTuple):
    """A line of a numbered source file."""

    file: int
    line: int


class Operand(NamedTuple):
    """One operand. `kind`: reg, sreg, int, f32, f64, symbol, memory, vector, pair, list, sink."""

    kind: str
    text: str = ""
    value: int = 0
    """Bits of a constant, or the offset added to a symbol, register or address."""
    parts: tuple[Operand, ...] = ()
    negate: bool = False
    """`!` before a predicate."""


class Instruction(NamedTuple):
    """One instruction; `chain` is where it came from: the innermost place first, then its call sites."""

    opcode: str
    operands: tuple[Operand, ...]
    guard: Operand | None
    line: int
    chain: tuple[Place, ...] = ()

    @property
    def base(self) -> str:
        """The opcode before its first dot."""
        return self.opcode.partition(".")[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        """What follows the base: `.rn.ftz.f32` as three words."""
        return tuple(self.opcode.split(".")[1:])

    @property
    def text(self) -> str:
        """As it would be written."""
        guard = f"@{'!' if self.guard.negate else ''}{self.guard.text} " if self.guard else ""
        return guard + " ".join([self.opcode, ", ".join(show(o) for o in self.operands)]).rstrip()


class Label(NamedTuple):
    """A place to jump to."""

    name: str


def show(operand: Operand) -> str:
    """An operand as it would be written."""
    offset = f"+{operand.value}" if operand.value else ""
    match operand.kind:
        case "int":
            return str(operand.value)
        case "f32":
            return f"0f{operand.value:08X}"
        case "f64":
            return f"0d{operand.value:016X}"
        case "memory":
            return f"[{', '.join(show(part) for part in operand.parts)}{offset}]"
        case "vector":
            return f"{{{', '.join(show(part) for part in operand.parts)}}}"
        case "pair":
            return "|".join(show(part) for part in operand.parts)
        case "list":
            return f"({', '.join(show(part) for part in operand.parts)})"
        case "sink":
            return "_"
    return ("!" if operand.negate else "") + operand.text.partition("#")[0] + offset


class Relocation(NamedTuple):
    """An address inside an initialiser; `generic` when it is asked for as a generic address."""

    offset: int
    symbol: str
    addend: int
    generic: bool


@dataclass
class Variable:
    """A variable of any state space, or a parameter."""

    name: str
    space: str
    type: str
    align: int
    size: int
    """Bytes; 0 for `extern .shared x[]`."""
    content: bytes = b""
    relocations: tuple[Relocation, ...] = ()
    external: bool = False
    offset: int = 0
    """Of a parameter in its argument block, or of a variable in its window."""


@dataclass
class Function:
    """A kernel or a device function."""

    name: str
    is_kernel: bool
    parameters: list[Variable] = field(default_factory=list)
    returns: list[Variable] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    """Type by register; registers of inner scopes carry the scope's number."""
    variables: dict[str, Variable] = field(default_factory=dict)
    """Local, shared and call parameters, by name (with the scope's number where it is an inner one)."""
    items: list[Instruction | Label] = field(default_factory=list)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Lists of .branchtargets and .calltargets."""
    prototypes: dict[str, tuple[list[Variable], list[Variable]]] = field(default_factory=dict)
    """Returns and parameters of .callprototype."""
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    has_body: bool = False
    later: Callable[[], None] | None = field(default=None, repr=False, compare=False)
    """Reads the body, where that was not done with the module."""

    def complete(self) -> None:
        """The body is read now, if it was not; Unreadable as for a module."""
        with _READING:
            if self.later is not None:
                self.later()
                self.later = None


_READING = threading.Lock()
"""Kernels are translated by several threads, and call the same functions."""


@dataclass
class Program:
    """One PTX module."""

    version: str = ""
    target: str = ""
    address_size: int = 64
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)
    file_base: int = 0
    """Added to the numbers of files in bodies that are read later: those of several units that are put together."""
    aliases: dict[str, str] = field(default_factory=dict)
    origin: str = ""
    """What was read, by its digest."""

    @property
    def kernels(self) -> dict[str, Function]:
        """Functions that the host can launch."""
        return {name: f for name, f in self.functions.items() if f.is_kernel and f.has_body}


WIDTHS = {
    "pred": 1,
    "b8": 8, "u8": 8, "s8": 8,
    "e4m3": 8, "e5m2": 8,
    "b16": 16, "u16": 16, "s16": 16, "f16": 16, "bf16": 16, "e4m3x2": 16, "e5m2x2": 16,
    "b32": 32, "u32": 32, "s32": 32, "f32": 32, "f16x2": 32, "bf16x2": 32, "tf32": 32, "u16x2": 32, "s16x2": 32,
    "b64": 64, "u64": 64, "s64": 64, "f64": 64, "f32x2": 64,
    "b128": 128,
    "texref": 64, "samplerref": 64, "surfref": 64,
}  # fmt: skip
"""Bits of a type."""


def layout(parameters: list[Variable]) -> int:
    """Give parameters their offsets in an argument block; returns its size."""
    end = 0
    for parameter in parameters:
        parameter.offset = (end + parameter.align - 1) // parameter.align * parameter.align
        end = parameter.offset + parameter.size
    return end

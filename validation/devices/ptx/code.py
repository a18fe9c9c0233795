"""Collect C for the lane-wise instructions of one group: one loop over the lanes, results written back once."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from porter.validation.devices.ptx.model import WIDTHS, Instruction, Operand, Unsupported

C_TYPES = {"r": "uint32_t", "q": "uint64_t"}


@dataclass
class Group:
    """An open loop over the lanes."""

    uniform: dict[str, str] = field(default_factory=dict)
    """C expressions evaluated before the loop, and their names."""
    loaded: dict[str, None] = field(default_factory=dict)
    """Registers whose value comes from a row."""
    written: dict[str, None] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    poison: list[str] = field(default_factory=list)
    packed: int = 0
    """Predicates whose bits the poison lines need."""


def mask_of(width: int) -> str:
    """C for the bits of a width."""
    return f"{(1 << width) - 1:#x}" + ("ull" if width > 32 else "u")


def constant(operand: Operand, kind: str, instruction: Instruction) -> str:
    """C for a constant operand as bits of a type."""
    width = WIDTHS[kind]
    bits = operand.value
    if operand.kind == "f64" and kind == "f32":
        bits = int.from_bytes(struct.pack("<f", struct.unpack("<d", bits.to_bytes(8, "little"))[0]), "little")
    elif (operand.kind == "f32" and width == 64) or (operand.kind == "f64" and width < 64):
        raise Unsupported("floating-point constant of another size", instruction)
    if kind == "pred":
        return "~0u" if bits else "0u"
    bits &= (1 << width) - 1
    return f"{bits:#x}" + ("ull" if width == 64 else "u")


def typed(bits: str, kind: str, from_width: int) -> str:
    """C for the value of a type, from the bits of a register."""
    width = WIDTHS[kind]
    if kind == "f32":
        return f"f32({bits})"
    if kind == "f64":
        return f"f64({bits})"
    if kind == "pred":
        return bits
    if width == 64:
        value = bits if from_width == 64 else f"(uint64_t){bits}"
        return f"(int64_t){value}" if kind == "s64" else value
    if kind.startswith("s"):
        inner = f"(int{width}_t){bits}"
        return inner if width == 32 else f"(int32_t){inner}"
    if width == 32:
        return bits if from_width <= 32 else f"(uint32_t){bits}"
    return bits if from_width == width else f"((uint32_t){bits} & {mask_of(width)})"


def bits_from(expression: str, kind: str, to_width: int) -> str:
    """C for the bits to keep in a register, from a value of a type."""
    width = WIDTHS[kind]
    if kind == "pred":
        return f"-(uint32_t)(({expression}) != 0)"
    if kind == "f32":
        return f"u32({expression})"
    if kind == "f64":
        return f"u64({expression})"
    if to_width > width and kind.startswith("s") and not kind.endswith("x2"):  # sign-extended into a wider register
        wide = f"(int64_t)(int{width}_t)({expression})"
        return f"(uint64_t){wide}" if to_width == 64 else f"(uint32_t){wide}" + (" & 0xffffu" if to_width == 16 else "")
    if width < 32:
        value = f"((uint32_t)({expression}) & {mask_of(width)})"
        return f"(uint64_t){value}" if to_width == 64 else value
    if width == 32:
        value = f"(uint32_t)({expression})"
        return f"(uint64_t){value}" if to_width == 64 else f"({value} & 0xffffu)" if to_width == 16 else value
    value = f"(uint64_t)({expression})"
    return value if to_width == 64 else f"(uint32_t){value}"

"""One lane-wise instruction being translated: its modifiers, typed operands and results."""

from __future__ import annotations

from typing import Protocol

from porter.validation.devices.ptx.code import bits_from
from porter.validation.devices.ptx.model import WIDTHS, Instruction, Operand, Unsupported


class Registers(Protocol):
    """What the open group offers to an instruction."""

    def value(self, operand: Operand, kind: str, instruction: Instruction) -> str:
        """C for an operand's value."""

    def assign(self, operand: Operand, bits: str, instruction: Instruction) -> None:
        """Give a register its new bits."""

    def width(self, operand: Operand) -> int:
        """Bits of a register."""

    def line(self, text: str) -> None:
        """C inside the loop."""

    def fresh(self) -> str:
        """A name for a C variable."""


class Lane:
    """Modifiers are taken one by one; what is left over at the end is refused."""

    def __init__(self, instruction: Instruction, registers: Registers) -> None:
        self.instruction = instruction
        self.registers = registers
        self.left = list(instruction.modifiers)
        self.operands = instruction.operands

    def fail(self, reason: str) -> Unsupported:
        """What to raise."""
        return Unsupported(reason, self.instruction)

    def flag(self, name: str) -> bool:
        """Take a modifier if it is there."""
        if name in self.left:
            self.left.remove(name)
            return True
        return False

    def one_of(self, *names: str, default: str = "") -> str:
        """Take the first of these modifiers that is there."""
        for name in self.left:
            if name in names:
                self.left.remove(name)
                return name
        return default

    def last_type(self) -> str:
        """What follows it, as in `add.f32.ftz`, is no type."""
        found = next((word for word in reversed(self.left) if word in WIDTHS), None)
        if found is None:
            raise self.fail("no type")
        return found

    def kind(self) -> str:
        """Take the last type."""
        found = self.last_type()
        del self.left[len(self.left) - 1 - self.left[::-1].index(found)]
        return found

    def finish(self) -> None:
        """Nothing may be left."""
        if self.left:
            raise self.fail(f"modifier .{self.left[0]}")

    def has(self, index: int) -> bool:
        """True when there is such an operand."""
        return index < len(self.operands)

    def s(self, index: int, kind: str) -> str:
        """C for the value of an operand."""
        if not self.has(index):
            raise self.fail(f"{len(self.operands)} operands")
        return self.of(self.operands[index], kind)

    def of(self, operand: Operand, kind: str) -> str:
        """C for the value of any operand."""
        if operand.kind == "reg" and kind != "pred" and WIDTHS[kind] > self.registers.width(operand):
            raise self.fail(f"operand {operand.text} is too narrow")
        return self.registers.value(operand, kind, self.instruction)

    def name(self, c_type: str, expression: str) -> str:
        """Keep an intermediate result."""
        name = self.registers.fresh()
        self.registers.line(f"const {c_type} {name} = {expression};")
        return name

    def d(self, expression: str, kind: str, part: int = 0) -> None:
        """The result (or the second one, of a pair)."""
        first = self.operands[0]
        targets = first.parts if first.kind == "pair" else (first,)
        self.put(targets[part], expression, kind)

    def put(self, target: Operand, expression: str, kind: str) -> None:
        """Write a register."""
        if target.kind == "sink":
            return
        if target.kind != "reg":
            raise self.fail(f"result {target.text or target.kind}")
        self.registers.assign(target, bits_from(expression, kind, self.registers.width(target)), self.instruction)

"""Reads the template of an inline assembly statement: PTX instructions with guard, opcode and operands."""

from __future__ import annotations

import re
from dataclasses import dataclass

CARRY = "porter_carry"
"""The local variable that stands for the condition code register."""
_CARRIES = re.compile(r"(add|sub|mad|madc|addc|subc)(?:\.(?:lo|hi))?(\.cc)?\.[us](?:32|64)")
_OPCODE = re.compile(r"(?:[^\s\x01\[%]|%(?![\d\[]))*")
"""Up to a blank, or to what begins an operand: `"mma.sync.f32" "{%0, %1}, ..."` has none between."""
_DECLARES = re.compile(r"^\.reg\.(?=\w)")
"""`.reg.u32 a;` means `.reg .u32 a;`."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Unknown(Exception):
    """An instruction or operand that has no translation here."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """`@!p add.u32 d, a, b;`: guard, opcode, operands."""

    guard: str
    opcode: str
    operands: tuple[str, ...]


def opcodes(template: str) -> tuple[str, ...]:
    """The opcodes of a template, in order."""
    return tuple(i.opcode for i in instructions(template))


def instructions(template: str) -> list[Instruction]:
    """All instructions and declarations of a template."""
    text = " ".join(_COMMENT.sub(" ", template).split())  # an instruction may go over several lines
    found: list[Instruction] = []
    for piece in _lift_vectors(text).split(";"):
        line = piece.strip()
        while line[:1] in ("{", "}"):
            line = line[1:].strip()
        line = line.rstrip("}").strip() if line.endswith("}") and "\x01" not in line else line
        if line:
            found.append(_instruction(line))
    return found


def carry_declaration(found: list[Instruction], continues: bool) -> str:
    """The carry of a statement, if it has one; it comes from and goes to others only where it `continues`."""
    takes, gives = carry_use(found)
    if continues and (takes or gives):
        return ""
    if takes:
        raise Unknown("a carry from another statement")
    if gives:
        raise Unknown("a carry for another statement")
    return f"bool {CARRY} = false;" if any(map(_gives, found)) else ""


def carry_use(found: list[Instruction]) -> tuple[bool, bool]:
    """Whether a statement takes a carry that it did not give, and whether it leaves one that it does not take."""
    known = waiting = takes = False
    for instruction in found:
        match = _CARRIES.fullmatch(instruction.opcode)
        if match is None:
            continue
        if match[1].endswith("c"):
            takes = takes or not known
            waiting = False
        if match[2]:
            known = waiting = True
    return takes, waiting


def _gives(instruction: Instruction) -> bool:
    match = _CARRIES.fullmatch(instruction.opcode)
    return match is not None and match[2] is not None


def _lift_vectors(text: str) -> str:
    """Writes the braces of `{%0, %1}` and `{%0}` as \\x01 and \\x02: those of scopes stay."""
    return re.sub(r"\{([^{};\n]*,[^{};\n]*|\s*%\[?\w+\]?\s*)\}", "\x01\\1\x02", text)


def _instruction(line: str) -> Instruction:
    guard = ""
    if line.startswith("@"):
        guard, _, line = line[1:].partition(" ")
        line = line.strip()
    line = _DECLARES.sub(".reg .", line)
    opcode = _OPCODE.match(line)
    end = opcode.end() if opcode else 0
    return Instruction(guard, line[:end], _operand_list(line[end:]))


def _operand_list(text: str) -> tuple[str, ...]:
    parts: list[str] = []
    depth = 0
    current = ""
    for character in text:
        depth += character in "\x01[("
        depth -= character in "\x02])"
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return tuple(part for part in (*parts, current.strip()) if part)

"""Writes one inline assembly statement as C++: operands, registers, scopes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from porter.cpp.asm import Assembly, Operand
from porter.engine.support import SupportRow
from porter.model import Effort
from porter.warp.ptx.order import in_order
from porter.warp.ptx.template import Instruction, Unknown, carry_declaration, instructions

TYPES = {
    "u32": "unsigned", "s32": "int", "b32": "unsigned", "u64": "unsigned long long", "s64": "long long",
    "b64": "unsigned long long", "f32": "float", "f64": "double", "u16": "unsigned short", "s16": "short",
    "b16": "unsigned short", "f16": "unsigned short", "f16x2": "unsigned", "bf16": "unsigned short",
    "bf16x2": "unsigned", "pred": "bool", "u8": "unsigned char", "s8": "signed char", "b8": "unsigned char",
}  # fmt: skip
_LETTERS = {"r": "unsigned", "l": "unsigned long long", "h": "unsigned short", "f": "float", "d": "double", "n": "int"}
HEADER = "porter/ptx.hpp"
PREFIX = "porter::ptx::"
_REGISTERS = {
    **{f"%{special}.{axis}": f"{builtin}.{axis}"
       for special, builtin in (
           ("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim")
       )
       for axis in "xyz"},
    "%clock": "static_cast<unsigned>(clock64())",
    "%clock64": "static_cast<unsigned long long>(clock64())",
    "%clock_hi": "static_cast<unsigned>(static_cast<unsigned long long>(clock64()) >> 32)",
    "%globaltimer": "(static_cast<unsigned long long>(wall_clock64()) * 10u)",
    "%globaltimer_lo": "(static_cast<unsigned>(wall_clock64()) * 10u)",
    "%globaltimer_hi": "static_cast<unsigned>((static_cast<unsigned long long>(wall_clock64()) * 10u) >> 32)",
    "%smid": "__smid()",
    "WARP_SZ": "32u",
}  # fmt: skip
_CLOCK = "counts other clocks than on NVIDIA [clock-units]"
_TIMER = "comes from the 100 MHz clock of MI300X, in steps of 10 ns [clock-units]"
_REVIEWED = {
    **dict.fromkeys(("%clock", "%clock64", "%clock_hi"), _CLOCK),
    **dict.fromkeys(("%globaltimer", "%globaltimer_lo", "%globaltimer_hi"), _TIMER),
    "%smid": "is sparse on gfx942, up to 511: no index into an array of one entry per multiprocessor [smid-sparse]",
}
_REFERENCE = re.compile(r"%(?:\[(\w+)\]|(\d{1,9}))")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_PLAIN = re.compile(r"[A-Za-z_]\w*|\d\w*")
_CHANGE = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)")
_EFFECT = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|\w\s*\(")
_MANY = re.compile(r"([A-Za-z_$%][\w$]*)<([1-9]\d?)>")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|\d+)[uU]?")
_FLOAT = re.compile(r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?")
_BITS = re.compile(r"0([fFdD])([0-9a-fA-F]{8}|[0-9a-fA-F]{16})")


@dataclass(frozen=True, slots=True)
class Translation:
    """C++ for one statement."""

    text: str
    effort: Effort
    note: str
    headers: tuple[str, ...]


Handler = Callable[["Writer", "re.Match[str]", "tuple[str, ...]"], str]
TABLE: list[tuple[re.Pattern[str], Handler]] = []


def on(pattern: str, *, narrow: bool = False) -> Callable[[Handler], Handler]:
    """Registers what an opcode becomes; narrow forms are asked ahead of a family's general one."""

    def register(handler: Handler) -> Handler:
        TABLE.insert(0 if narrow else len(TABLE), (re.compile(pattern), handler))
        return handler

    return register


def _translation(opcode: str) -> tuple[Handler, re.Match[str]] | None:
    """What is registered for an opcode as it is spelled."""
    for pattern, handler in TABLE:
        match = pattern.fullmatch(opcode)
        if match is not None:
            return handler, match
    return None


def need(operands: tuple[str, ...], count: int, opcode: str) -> None:
    """An instruction with another number of operands has no translation."""
    if len(operands) != count:
        raise Unknown(f"{opcode} with {len(operands)} operands")


@dataclass(frozen=True)
class Local:
    """A register that a statement declares."""

    name: str
    kind: str
    """Its type in C++."""

    def value(self, kind: str) -> str:
        """It as a C++ type: what an instruction reads tells the type, not how the register was declared."""
        if kind == self.kind or "bool" in (kind, self.kind):
            return self.name
        if (kind in _FLOATING) != (self.kind in _FLOATING):
            return f"{PREFIX}bits<{kind}>({self.name})"
        return f"static_cast<{kind}>({self.name})"


@dataclass
class Writer:
    """Writes one statement."""

    assembly: Assembly
    registers: Mapping[str, SupportRow]
    locals: dict[str, Local] = field(default_factory=dict)
    headers: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    written: set[int] = field(default_factory=set)
    """Inputs that an instruction writes: their copies change, the variables do not."""
    single: bool = False
    named: bool = False
    """Whether the translation says the opcode as the macro writes it, not what one use makes of it."""
    continues: bool = False
    """Whether the carry may come from other statements and go to others: the function has a variable for it."""

    def write(self) -> Translation:
        """The whole statement."""
        found = instructions(self.assembly.template or "")
        if not found:
            raise Unknown("an empty template")
        self.single = len(found) == 1 and not found[0].guard and self._in_order(found[0]) and self._read_once(found[0])
        lines = [carry_declaration(found, self.continues), *(self._line(instruction) for instruction in found)]
        text = " ".join(line for line in lines if line) if self.single else self._block(lines)
        if self.single and _is_vector(found[0]) and not text.startswith("{"):
            text = f"{{ {text} }}"  # the body of an `if` without braces is one statement
        if not text:
            text = "/* nothing to do on gfx942 */;"
        if len(found) > 1 and (names := self._clobbered(found)):
            self.notes.append(
                f"{', '.join(names)} is written before the last input is read and has no early clobber (&): here that "
                "does as it was meant, in the original both may be one register"
            )
        written = self.assembly.written
        if written.strings and not (self.named and [one.opcode for one in found].count(written.word) == 1):
            raise Unknown("a template that is put together from macros")
        effort = Effort.REVIEW if self.notes else Effort.NONE
        return Translation(text, effort, "; ".join(dict.fromkeys(self.notes)), tuple(sorted(self.headers)))

    def _clobbered(self, found: list[Instruction]) -> list[str]:
        """Outputs that an instruction writes while a later one still reads an input, as the templates name them."""
        outputs = len(self.assembly.outputs)
        numbers = [[self._mentioned(operand) for operand in instruction.operands] for instruction in found]
        last = max(
            (n for n, parts in enumerate(numbers) if any(i >= outputs for part in parts[1:] for i in part)), default=-1
        )
        early: dict[int, None] = {}
        for instruction, parts in zip(found[: max(last, 0)], numbers, strict=False):
            if instruction.opcode.partition(".")[0] not in ("st", "red", "setp", "bar", "") and parts:
                early |= dict.fromkeys(i for i in parts[0] if i < outputs)
        return [
            f"%{i}"
            for i in early
            if self.assembly.outputs[i].constraint.startswith("=") and "&" not in self.assembly.outputs[i].constraint
        ]

    def _mentioned(self, text: str) -> list[int]:
        numbers = (self._number(match[0]) for match in _REFERENCE.finditer(text))
        return [number for number in numbers if number is not None]

    def _in_order(self, instruction: Instruction) -> bool:
        """Whether an instruction may become several statements on its operands: none reads what one before it wrote."""
        if not _is_vector(instruction):
            return True
        if any(_EFFECT.search(operand.expression) for operand in self.assembly.inputs):
            return False
        written = {word for operand in self.assembly.outputs for word in _IDENTIFIER.findall(operand.expression)}
        read = {word for operand in self.assembly.inputs for word in _IDENTIFIER.findall(operand.expression)}
        return not written & read

    def _read_once(self, instruction: Instruction) -> bool:
        """Whether each operand that does more than have a value stands once in the C++, as it does in the statement."""
        mentioned = [number for text in instruction.operands for number in self._mentioned(text)]
        return all(
            mentioned.count(number) == 1 and not operand.constraint.startswith("+")
            for number, operand in enumerate(self._operands)
            if _CHANGE.search(operand.expression)
        )

    def _block(self, lines: list[str]) -> str:
        """A scope with a local for each operand, so that outputs are written after all inputs were read."""
        begin: list[str] = []
        end: list[str] = []
        for number, operand in enumerate(self._operands):
            kind = self._kind(operand)
            name = f"ptx{number}"
            if number >= len(self.assembly.outputs):
                begin.append(f"{kind} {'' if number in self.written else 'const '}{name} = {_cast(kind, operand)};")
            elif operand.constraint.startswith("+"):
                if _CHANGE.search(operand.expression):
                    raise Unknown(f"the operand {operand.expression}, which is read and written and changes on the way")
                begin.append(f"{kind} {name} = {_cast(kind, operand)};")
            else:
                begin.append(f"{kind} {name} = 0;")
            if number < len(self.assembly.outputs):
                end.append(f"{operand.expression} = {_as_pointer(operand, name)};")
        return "{ " + " ".join([*begin, *(line for line in lines if line), *end]) + " }"

    def _kind(self, operand: Operand) -> str:
        kind = _LETTERS.get(operand.letter)
        if kind is None:
            raise Unknown(f"the constraint {operand.constraint}")
        return kind

    def _line(self, instruction: Instruction) -> str:
        if instruction.opcode == ".reg":
            return self._declared(instruction)
        if instruction.opcode == ".pragma":  # `"nounroll"` and its like: for ptxas alone
            return ""
        if instruction.opcode.startswith(".") or instruction.opcode.endswith(":"):
            raise Unknown(instruction.opcode)
        text = self._statement(instruction.opcode, instruction.operands)
        if not instruction.guard:
            return text
        negated = instruction.guard.startswith("!")
        guard = self.value(instruction.guard.lstrip("!"), "pred")
        return f"if ({'!' if negated else ''}{guard}) {{ {text} }}"

    def _declared(self, instruction: Instruction) -> str:
        """`.reg .u32 a, b`"""
        kind, _, first = instruction.operands[0].partition(" ") if instruction.operands else ("", "", "")
        written = [name.strip() for name in (first, *instruction.operands[1:]) if name.strip()]
        names = [name for one in written for name in _numbered(one)]
        cpp = TYPES.get(kind.lstrip("."))
        if cpp is None or not names or any("<" in name for name in names):
            raise Unknown(".reg " + " ".join(instruction.operands))
        taken = {word for operand in self._operands for word in _IDENTIFIER.findall(operand.expression)}
        for name in names:
            own = f"{_safe(name)}_"
            while own in taken:
                own += "_"
            self.locals[name] = Local(own, cpp)
        return f"{cpp} {', '.join(f'{self.locals[name].name} = 0' for name in names)};"

    # Operands

    def operand(self, text: str) -> Operand | None:
        """The operand that `%0` or `%[name]` stands for."""
        number = self._number(text)
        return None if number is None else self._operands[number]

    def register_kind(self, text: str) -> str | None:
        """The C++ type of an operand or of a register of the statement's own."""
        operand, local = self.operand(text.strip()), self.locals.get(text.strip())
        return self._kind(operand) if operand is not None else None if local is None else local.kind

    @property
    def _operands(self) -> tuple[Operand, ...]:
        return (*self.assembly.outputs, *self.assembly.inputs)

    def _number(self, text: str) -> int | None:
        match = _REFERENCE.fullmatch(text)
        if match is None:
            return None
        if match[1]:
            return next((number for number, o in enumerate(self._operands) if o.name == match[1]), None)
        number = int(match[2])
        return number if number < len(self._operands) else None

    def value(self, text: str, kind: str) -> str:
        """An operand as a value of a PTX type."""
        text = text.strip()
        if text.startswith("-") and self.operand(text[1:]) is not None:
            return f"-{self.value(text[1:], kind)}"
        if text.startswith("!"):
            return f"!{self.value(text[1:], kind)}"
        cpp = TYPES.get(kind, "unsigned")
        operand = self.operand(text)
        if operand is not None:
            if (cpp in _FLOATING) != (operand.letter in ("f", "d")):
                self.headers.add(HEADER)
            if self.single:
                return _cast(cpp, operand)
            name = f"ptx{self._number(text)}"
            return name if cpp == self._kind(operand) else _cast(cpp, Operand(operand.constraint, "", name))
        if text in self.locals:
            local = self.locals[text]
            if (cpp in _FLOATING) != (local.kind in _FLOATING):
                self.headers.add(HEADER)
            return local.value(cpp)
        return self._literal(text, kind)

    def _literal(self, text: str, kind: str) -> str:
        special = "%" + text.lstrip("%") if text.startswith("%") else text
        if special in self.registers:
            row = self.registers[special]
            self.headers.add(row.header)
            return row.name
        if special in _REGISTERS:
            if special in _REVIEWED:
                self.notes.append(f"{special} {_REVIEWED[special]}")
            return _REGISTERS[special]
        if (match := _BITS.fullmatch(text)) is not None:
            self.headers.add(HEADER)
            to, suffix = ("float", "u") if match[1] in "fF" else ("double", "ull")
            return f"{PREFIX}bits<{to}>(0x{match[2]}{suffix})"
        if _INTEGER.fullmatch(text):
            unsigned = kind[0] in "ub" and not text.startswith("-")
            return text.rstrip("uU") + ("u" if unsigned and kind != "b16" else "")
        if _FLOAT.fullmatch(text):
            return text + ("f" if kind == "f32" else "")
        raise Unknown(f"the operand {text}")

    def target(self, text: str) -> str:
        """Where a result goes."""
        text = text.strip()
        operand = self.operand(text)
        if operand is not None:
            if self.single:
                return operand.expression
            return f"ptx{self._number(text)}"
        if text in self.locals:
            return self.locals[text].name
        if text == "_":
            return ""
        raise Unknown(f"the result {text}")

    def address(self, text: str, kind: str, *, constant: bool = False, space: str = "") -> str:
        """`[%1+16]` as a pointer to a type; a register of 32 bits can hold an address in shared memory alone."""
        match = re.fullmatch(r"\[\s*([^\]+]+?)\s*(?:\+\s*(\d+))?\s*\]", text)
        if match is None:
            raise Unknown(f"the address {text}")
        cpp = f"{TYPES.get(kind, kind)}{' const' if constant else ''}"
        operand = self.operand(match[1])
        if operand is not None and self.single:
            base = f"({operand.expression})"
        else:
            base = self.value(match[1], "u64")
        if space:
            base = self._generic(base, space)
        elif operand is not None and operand.letter == "r":
            raise Unknown("a 32-bit address in an unnamed state space")
        pointer = f"({cpp} *){base}"
        return f"({cpp} *)((char *){base} + {match[2]})" if match[2] and match[2] != "0" else pointer

    def _generic(self, base: str, space: str) -> str:
        """An offset in LDS or in scratch, as `__cvta_generic_to_shared` gives it, as a generic pointer."""
        self.headers.add("porter/memory.hpp")
        bare = base.removeprefix("(").removesuffix(")") if _is_wrapped(base) else base
        return f"porter::cvta_{space}_to_generic({bare})"

    # Instructions

    def _statement(self, opcode: str, operands: tuple[str, ...]) -> str:
        found = _translation(opcode) or _translation(in_order(opcode))
        if found is None:
            raise Unknown(opcode)
        handler, match = found
        return handler(self, match, operands)

    def assign(self, target: str, value: str, kind: str = "b32") -> str:
        """`target = value;` where the value has a PTX type; a register of another kind takes its bits."""
        place = self.target(target)
        number = self._number(target.strip())
        if number is not None and number >= len(self.assembly.outputs):
            if self.single:
                raise Unknown(f"an instruction that writes the input {target.strip()}")
            self.written.add(number)
        register = self.register_kind(target)
        if register is not None and (kind in ("f32", "f64")) != (register in _FLOATING):
            value = self.helper(f"bits<{register}>", value)
        operand = self.operand(target.strip())
        if self.single and operand is not None:
            value = _as_pointer(operand, value)
        return f"{place} = {value};" if place else f"(void)({value});"

    def rounded(self, name: str, *arguments: str) -> str:
        """A call of a function of math.hpp."""
        self.headers.add("porter/math.hpp")
        return f"porter::{name}({', '.join(arguments)})"

    def helper(self, name: str, *arguments: str) -> str:
        """A call of a function of ptx.hpp."""
        self.headers.add(HEADER)
        return f"{PREFIX}{name}({', '.join(arguments)})"


def _as_pointer(operand: Operand, value: str) -> str:
    """A result of 64 bits for a variable that is a pointer: a register does not tell."""
    if not operand.is_pointer:
        return value
    return f"(decltype({operand.expression})){value if value.isidentifier() else f'({value})'}"


def _cast(kind: str, operand: Operand) -> str:
    """An operand's expression as a C++ type; a register class of another kind holds the bits."""
    plain = _PLAIN.fullmatch(operand.expression)
    floating = operand.letter in ("f", "d")
    if kind in _FLOATING and not floating:
        return f"{PREFIX}bits<{kind}>({_AS_INTEGER[kind]}({operand.expression}))"
    if floating and kind not in _FLOATING:
        return f"{PREFIX}bits<{kind}>({operand.expression})"
    if kind in _FLOATING:
        return operand.expression if plain else f"({operand.expression})"
    if kind == "unsigned long long":
        return f"(unsigned long long)({operand.expression})"
    return f"static_cast<{kind}>({operand.expression})"


_FLOATING = frozenset({"float", "double"})
_AS_INTEGER = {"float": "(unsigned)", "double": "(unsigned long long)"}


def _is_vector(instruction: Instruction) -> bool:
    """Whether a `mov` goes over the registers of a vector, one by one."""
    vector = any(operand.startswith("\x01") and "," in operand for operand in instruction.operands[:1])
    return vector and instruction.opcode.startswith("mov.")


def _is_wrapped(text: str) -> bool:
    """Whether the brackets at both ends belong together."""
    if not text.startswith("(") or not text.endswith(")"):
        return False
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(text) - 1
    return False


def _numbered(name: str) -> list[str]:
    """`v<4>` is v0, v1, v2 and v3."""
    match = _MANY.fullmatch(name)
    return [name] if match is None else [f"{match[1]}{number}" for number in range(int(match[2]))]


def _safe(name: str) -> str:
    return re.sub(r"\W", "_", name)

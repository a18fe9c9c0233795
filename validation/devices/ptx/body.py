"""Read the body of a PTX function: scopes, registers, labels, instructions, line information."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from porter.validation.devices.ptx.declarations import SPACES, read_parameters, read_variables
from porter.validation.devices.ptx.model import (
    WIDTHS,
    Function,
    Instruction,
    Label,
    Operand,
    Place,
    Program,
    Unreadable,
)
from porter.validation.devices.ptx.tokens import Cursor

_NUMBERED_NAME = re.compile(r"(.*?)(\d+)")


@dataclass
class Scope:
    """Names declared between two braces."""

    number: int
    registers: dict[str, str] = field(default_factory=dict)
    ranges: dict[str, tuple[str, int]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    """Labels, variables and prototypes."""

    def register(self, name: str) -> str | None:
        """The type of a register of this scope."""
        if name in self.registers:
            return self.registers[name]
        match = _NUMBERED_NAME.fullmatch(name)
        if match and match[1] in self.ranges:
            kind, count = self.ranges[match[1]]
            if int(match[2]) < count:
                return kind
        return None

    def canonical(self, name: str) -> str:
        """A name that is unique in the function."""
        return f"{name}#{self.number}" if self.number else name


class BodyReader:
    """Reads one body."""

    def __init__(self, cursor: Cursor, function: Function, program: Program) -> None:
        self.cursor = cursor
        self.function = function
        self.program = program
        self.scopes: list[Scope] = []
        self.count = 0
        self.chain: tuple[Place, ...] = ()
        self.chains: dict[tuple[int, int, int], tuple[Place, ...]] = {}

    def read(self) -> None:
        """From the opening to the closing brace."""
        self._open()
        while self.scopes:
            self._statement()
        self.function.has_body = True

    def _open(self) -> None:
        self.cursor.expect("{")
        self.scopes.append(Scope(self.count))
        self._collect_labels(self.scopes[-1])
        self.count += 1

    def _collect_labels(self, scope: Scope) -> None:
        """Labels are known before they are reached: find those of this scope."""
        depth, position, tokens = 0, self.cursor.position, self.cursor.tokens
        while tokens[position].kind != "end":
            token = tokens[position]
            if token.text == "{":
                depth += 1
            elif token.text == "}":
                depth -= 1
                if depth < 0:
                    return
            elif depth == 0 and token.text == ":" and tokens[position - 1].kind == "word":
                scope.names.add(tokens[position - 1].text)
            position += 1

    def _statement(self) -> None:
        cursor = self.cursor
        token = cursor.here
        if token.text == "{":
            self._open()
        elif cursor.accept("}"):
            self.scopes.pop()
        elif cursor.accept(";"):
            return
        elif token.text == ".reg":
            self._registers()
        elif token.text in SPACES:
            for variable in read_variables(cursor):
                self.scopes[-1].names.add(variable.name)
                self.function.variables[self.scopes[-1].canonical(variable.name)] = variable
        elif token.text == ".loc":
            self._location()
        elif token.text == ".pragma":
            while not cursor.accept(";"):
                cursor.take()
        elif token.text == ".file":
            cursor.take()
            index = cursor.integer()
            self.program.files[self.program.file_base + index] = cursor.take().text[1:-1]
            while cursor.accept(","):
                cursor.integer()
        elif token.kind == "word" and cursor.peek().text == ":":
            self._label()
        elif token.kind == "word" or token.text == "@":
            self._instruction()
        else:
            raise Unreadable(f"unexpected {token.text or 'end of text'!r} in {self.function.name}", token.line)

    def _registers(self) -> None:
        cursor, scope = self.cursor, self.scopes[-1]
        cursor.take()
        token = cursor.take()
        kind = token.text[1:]
        if kind not in WIDTHS:
            raise Unreadable(f"register type {token.text!r}", token.line)
        while True:
            name = cursor.word()
            if cursor.accept("<"):
                scope.ranges[name] = (kind, cursor.integer())
                cursor.expect(">")
            else:
                scope.registers[name] = kind
            if not cursor.accept(","):
                break
        cursor.expect(";")

    def _location(self) -> None:
        cursor = self.cursor
        cursor.take()
        key = (cursor.integer(), cursor.integer(), cursor.integer())
        callers: tuple[Place, ...] = ()
        if cursor.here.text == "," and cursor.peek().text == "function_name":
            cursor.take()
            cursor.take()
            cursor.word()
            if cursor.accept("+"):
                cursor.integer()
            cursor.expect(",")
            cursor.expect("inlined_at")
            at = (cursor.integer(), cursor.integer(), cursor.integer())
            callers = self.chains.get(at, (self._place(at),))
        self.chain = (self._place(key), *callers)
        self.chains[key] = self.chain

    def _label(self) -> None:
        cursor, function = self.cursor, self.function
        name = cursor.word()
        cursor.expect(":")
        canonical = self.scopes[-1].canonical(name)
        if cursor.here.text in (".branchtargets", ".calltargets"):
            cursor.take()
            names = [self._name(cursor.word())]
            while cursor.accept(","):
                names.append(self._name(cursor.word()))
            cursor.expect(";")
            function.targets[canonical] = tuple(names)
        elif cursor.accept(".callprototype"):
            returns = read_parameters(cursor) if cursor.here.text == "(" else []
            cursor.word()
            parameters = read_parameters(cursor) if cursor.here.text == "(" else []
            while not cursor.accept(";"):
                cursor.take()
            function.prototypes[canonical] = (returns, parameters)
        else:
            function.items.append(Label(canonical))

    def _name(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if name in scope.names:
                return scope.canonical(name)
        return name

    def _instruction(self) -> None:
        cursor = self.cursor
        line = cursor.here.line
        guard = None
        if cursor.accept("@"):
            negate = cursor.accept("!")
            guard = self._named(cursor.word(), line)._replace(negate=negate)
            if guard.kind != "reg" or self.function.registers[guard.text] != "pred":
                raise Unreadable(f"{guard.text!r} is no predicate", line)
        opcode = cursor.word()
        operands: list[Operand] = []
        while not cursor.accept(";"):
            operands.append(self._operand())
            if cursor.here.text not in (",", ";"):
                raise Unreadable(f"unexpected {cursor.here.text!r} after an operand of {opcode}", cursor.here.line)
            cursor.accept(",")
        self.function.items.append(Instruction(opcode, tuple(operands), guard, line, self.chain))

    def _place(self, at: tuple[int, int, int]) -> Place:
        return Place(self.program.file_base + at[0], at[1])

    def _operand(self) -> Operand:
        first = self._single()
        if self.cursor.here.text != "|":
            return first
        parts = [first]
        while self.cursor.accept("|"):
            parts.append(self._single())
        return Operand("pair", parts=tuple(parts))

    def _single(self) -> Operand:
        cursor = self.cursor
        token = cursor.here
        if cursor.accept("["):
            return self._memory()
        if cursor.accept("{"):
            return Operand("vector", parts=self._several("}"))
        if cursor.accept("("):
            return Operand("list", parts=self._several(")"))
        if cursor.accept("!"):
            return self._named(cursor.word(), token.line)._replace(negate=True)
        if token.kind == "number" or token.text in ("-", "+"):
            kind, bits = cursor.constant()
            return Operand(kind, value=bits)
        if token.kind != "word":
            raise Unreadable(f"operand expected before {token.text!r}", token.line)
        named = self._named(cursor.word(), token.line)
        if cursor.here.text in ("+", "-") and named.kind in ("symbol", "reg"):
            return named._replace(value=cursor.integer())
        return named

    def _several(self, closing: str) -> tuple[Operand, ...]:
        parts: list[Operand] = []
        while not self.cursor.accept(closing):
            parts.append(self._operand())
            self.cursor.accept(",")
        return tuple(parts)

    def _memory(self) -> Operand:
        parts = self._several("]")
        if not parts:
            raise Unreadable("empty address", self.cursor.here.line)
        first, offset = parts[0], 0
        if first.kind in ("reg", "symbol"):
            first, offset = first._replace(value=0), first.value
        return Operand("memory", value=offset, parts=(first, *parts[1:]))

    def _named(self, name: str, line: int) -> Operand:
        if name == "_":
            return Operand("sink", name)
        if name == "WARP_SZ":
            return Operand("int", value=32)
        for scope in reversed(self.scopes):
            kind = scope.register(name)
            if kind is not None:
                canonical = scope.canonical(name)
                self.function.registers[canonical] = kind
                return Operand("reg", canonical)
        if name.startswith("%"):
            return Operand("sreg", name)
        return Operand("symbol", self._name(name))


def read_body(cursor: Cursor, function: Function, program: Program) -> None:
    """The body that starts here, into the function."""
    BodyReader(cursor, function, program).read()

"""The functions a kernel can reach, laid out one after the other, with the addresses they have."""

from __future__ import annotations

import re

from porter.validation.devices.gfx942.text import Function, Instruction, Label, Program

CODE_BASE = 0x500000000000  # functions have addresses that no data has
FUNCTION_SPAN = 1 << 24
HOSTCALLS = ("__ockl_hostcall_internal", "__ockl_hostcall_preview")


class Linear:
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

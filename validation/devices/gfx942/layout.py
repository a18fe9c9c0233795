"""The functions a kernel can reach, laid out one after the other, with the addresses they have."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable

from porter.validation.devices.gfx942.text import Function, Instruction, Label, Program

CODE_BASE = 0x500000000000  # functions have addresses that no data has
FUNCTION_SPAN = 1 << 24
IMAGE = "image of the code object"
HOSTCALL_BUFFER = "hostcall buffer"
HOST_FUNCTIONS = {"__ockl_dm_alloc": "gfx_malloc", "__ockl_dm_dealloc": "gfx_free"}  # done in hostcall.c


def takes_argument(function: Function) -> bool:
    """True when the function reads v0 before it writes it: an argument all callers agreed on may be gone."""
    items = function.items
    places = {item.name: i for i, item in enumerate(items) if isinstance(item, Label)}
    pending, seen = [0], set[int]()
    while pending:
        at = pending.pop()
        while at < len(items) and at not in seen:
            seen.add(at)
            item = items[at]
            at += 1
            if isinstance(item, Label):
                continue
            stores = "_store" in item.mnemonic or item.mnemonic.startswith("ds_write")
            touched = [place for place, text in enumerate(item.operands) if _FIRST_REGISTER.match(text)]
            if touched:
                if any(place or stores for place in touched):
                    return True
                break
            if item.mnemonic.startswith(("s_branch", "s_cbranch")) and item.operands[0] in places:
                pending.append(places[item.operands[0]])
            if item.mnemonic in ("s_branch", "s_endpgm", "s_setpc_b64"):
                break
    return False


_FIRST_REGISTER = re.compile(r"^[-|]*v(0\b|\[0(:|\]))")


def host_functions(program: Program) -> dict[str, str]:
    """Functions done by the host: those of the allocator, if they still take their argument."""
    found = {name: handler for name, handler in HOST_FUNCTIONS.items() if name in program.functions}
    whole = all(takes_argument(program.functions[name]) for name in found)
    return found if whole else {}


def reached_addresses(instructions: Iterable[Instruction]) -> set[int]:
    """Where s_getpc_b64 plus a constant leads: functions and data."""
    found: set[int] = set()
    base: dict[str, int] = {}
    low: dict[str, int] = {}
    for item in instructions:
        if item.mnemonic == "s_getpc_b64":
            first, second = re.findall(r"\d+", item.operands[0])
            base[f"s{first}"], base[f"s{second}"] = item.address + 4, item.address + 4
        elif item.mnemonic in ("s_add_u32", "s_addc_u32") and item.operands[0] in base:
            try:
                constant = int(item.operands[2], 0) & 0xFFFFFFFF
            except ValueError:
                continue
            if item.mnemonic == "s_add_u32":
                low[item.operands[0]] = constant
                continue
            before = f"s{int(item.operands[0][1:]) - 1}"
            base.pop(item.operands[0])
            if before in low and before in base:
                found.add((base[before] + low.pop(before) + (constant << 32)) & 0xFFFFFFFFFFFFFFFF)
    return found


class Placed(ABC):
    """The functions of a code object, which have addresses."""

    @abstractmethod
    def address(self, name: str) -> int:
        """Where a function begins."""

    @abstractmethod
    def at(self, address: int) -> str | None:
        """The function that begins at an address."""


class Linear:
    """All reachable functions laid out one after the other."""

    def __init__(self, program: Program, kernel: str) -> None:
        self.program = program
        self.items: list[Instruction] = []
        self.addresses: list[int] = []
        self.labels: dict[str, int] = {}
        self.entries: dict[str, int] = {}
        self.host_functions: dict[str, str] = {}
        by_host = host_functions(program)
        pending = [kernel]
        while pending:
            name = pending.pop()
            if name in self.entries or name in self.host_functions:
                continue
            function = program.functions[name]
            if name in by_host:
                self.host_functions[name] = by_host[name]
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
                fixed = code_address(self.program, function.name) + 8 * place
                self.addresses.append(fixed if item.address < 0 else item.address)
                self.items.append(item)
        self.labels[function.name] = self.entries[function.name]


def code_address(program: Program, function: str) -> int:
    """Where a function lies: the same for every kernel of a module, so that data can hold its address."""
    if isinstance(program.functions, Placed):
        return program.functions.address(function)
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


def _functions_at(program: Program, addresses: Iterable[int]) -> list[str]:
    assert isinstance(program.functions, Placed)
    return [name for address in sorted(addresses) if (name := program.functions.at(address)) is not None]


def _referenced(function: Function, program: Program) -> list[str]:
    if program.image is not None:
        pointers = program.image.pointers
        reached = reached_addresses(i for i in function.items if isinstance(i, Instruction))
        return _functions_at(program, reached | {pointers[a] for a in reached if a in pointers})
    names = [n for i in function.items if isinstance(i, Instruction) for n in _symbol_names(i)]
    return [n for n in dict.fromkeys(resolve(n, program) for n in names) if n in program.functions]


def _referenced_by_data(program: Program) -> list[str]:
    """Functions whose address lies in data: tables of function pointers."""
    if program.image is not None:
        return [n for n in _functions_at(program, program.image.pointers.values()) if n not in program.kernels]
    names = [resolve(name, program) for datum in program.data.values() for _, name, _ in datum.relocations]
    return [n for n in dict.fromkeys(names) if n in program.functions and n not in program.kernels]

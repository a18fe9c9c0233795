"""The functions of a code object, each disassembled by llvm-objdump when it is first wanted."""

from __future__ import annotations

import bisect
import contextlib
import functools
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from porter.validation.devices.gfx942.layout import Placed, reached_addresses
from porter.validation.devices.gfx942.lines import SYSTEM
from porter.validation.devices.gfx942.text import Function, Instruction, Label, Unreadable, parse_instruction
from porter.validation.toolchain.programs import find
from porter.validation.toolchain.result import Missing

_SOURCE = re.compile(r"^; (?P<file>.+):(?P<line>\d+)$")
_AT_ONCE = 200
"""Functions in one call of llvm-objdump."""
Spans = tuple[tuple[int, int], ...]


def tool(name: str) -> str:
    """The path of a program of LLVM's; raises Unreadable."""
    found = find(name)
    if isinstance(found, Missing):
        raise Unreadable(f"the code object cannot be read: {found.reason}", 0)
    return found.path


def _objdump() -> tuple[str, ...]:
    return (tool("llvm-objdump"), "-d", "-l", "--no-show-raw-insn")


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise Unreadable(f"{command[0]}: {done.stderr.decode('utf-8', 'replace').strip()}", 0)
    return done.stdout.decode("utf-8", "replace")


def disassembled(listing: str, seen: dict[str, Instruction]) -> dict[int, Instruction]:
    """Instructions by address; those from system headers are charged to the line before. `seen`: by text."""
    found: dict[int, Instruction] = {}
    file, source_line = None, 0
    for number, line in enumerate(listing.splitlines(), 1):
        if line.startswith("\t"):
            text, mark, place = line.partition("// ")
            if not mark:
                continue
            address, text = int(place.partition(":")[0], 16), text.strip()
            made = seen.get(text)
            if made is None:
                made = seen.setdefault(text, parse_instruction(text, number))
            found[address] = Instruction(
                made.mnemonic, made.form, made.operands, made.modifiers, made.text, number, file, source_line, address
            )
        elif match := _SOURCE.match(line):
            if not SYSTEM.search(match["file"]):
                file, source_line = match["file"], int(match["line"])
        elif line.endswith(">:"):
            file, source_line = None, 0
    return found


def branch_target(instruction: Instruction, labels: Mapping[str, int]) -> int | None:
    """The address; an operand that is no number is one of the file's symbols."""
    name = instruction.mnemonic
    if not name.startswith(("s_cbranch", "s_branch")):
        return None
    operand = instruction.operands[0].split()[0]
    try:
        words = int(operand, 0)
    except ValueError:
        if operand not in labels:
            raise Unreadable(f"jump to unknown label: {instruction.text}", instruction.line) from None
        return labels[operand]
    return instruction.address + 4 + 4 * (words - 0x10000 if words & 0x8000 else words)


class Functions(Mapping[str, Function], Placed):
    """By name. What is called without having a symbol (stripped files) is named by its address."""

    def __init__(
        self, content: bytes, code: Spans, named: Mapping[str, tuple[int, int]], labels: Mapping[str, int]
    ) -> None:
        self._content, self._code, self._labels = content, code, labels
        self._addresses = {name: address for name, (address, _) in named.items() if self._is_code(address)}
        self._ends = {address: address + size for address, size in sorted(named.values()) if size}
        self._sized = sorted(self._ends)
        self._starts = _starts(named, self._is_code)
        self._sorted = sorted(self._starts)
        self._made: dict[str, Function] = {}
        self._seen: dict[str, Instruction] = {}

    def __getitem__(self, name: str) -> Function:
        if name not in self._made:
            address = self._addresses[name]
            first = self._starts.get(address, name)
            made = self._disassemble(address, name) if first == name else replace(self[first], name=name)
            self._made[name] = made
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._addresses)

    def __len__(self) -> int:
        return len(self._addresses)

    def __contains__(self, name: object) -> bool:
        return name in self._addresses

    def read_ahead(self, names: Iterable[str]) -> None:
        """Disassembles several functions in one go: for who wants many of them."""
        wanted = [name for name in names if name not in self._made and self._addresses.get(name) in self._ends]
        for first in range(0, len(wanted), _AT_ONCE):
            some = wanted[first : first + _AT_ONCE]
            listing = _run(*_objdump(), f"--disassemble-symbols={','.join(some)}", self._path)
            instructions = disassembled(listing, self._seen)
            places = sorted(instructions)
            for name in some:
                start, end = self._addresses[name], self._ends[self._addresses[name]]
                inside = places[bisect.bisect_left(places, start) : bisect.bisect_left(places, end)]
                with contextlib.suppress(Unreadable):  # said again when it is wanted
                    self._made[name] = Function(name, list(self._items({at: instructions[at] for at in inside})))

    def address(self, name: str) -> int:
        """Where a function begins."""
        return self._addresses[name]

    def at(self, address: int) -> str | None:
        """The function that begins at an address; None where no code is, or the middle of a function."""
        if address in self._starts:
            return self._starts[address]
        before = bisect.bisect_left(self._sized, address) - 1
        if not self._is_code(address) or (before >= 0 and address < self._ends[self._sized[before]]):
            return None
        name = f"function at {address:#x}"
        self._addresses[name] = address
        self._starts[address] = name
        bisect.insort(self._sorted, address)
        return name

    def _is_code(self, address: int) -> bool:
        return any(low <= address < high for low, high in self._code)

    def _end(self, address: int) -> int:
        """Where a function ends: as its symbol says, else where the next one begins."""
        if address in self._ends:
            return self._ends[address]
        after = bisect.bisect_right(self._sorted, address)
        section = next(high for low, high in self._code if low <= address < high)
        return min(section, self._sorted[after]) if after < len(self._sorted) else section

    @functools.cached_property
    def _path(self) -> str:
        self._folder = tempfile.TemporaryDirectory(prefix="porter-object-")
        path = Path(self._folder.name) / "code.o"
        path.write_bytes(self._content)
        return str(path)

    def _disassemble(self, start: int, name: str) -> Function:
        end = self._end(start)
        span = (f"--start-address={start:#x}", f"--stop-address={end:#x}")
        listing = _run(*_objdump(), *span, self._path)
        instructions = disassembled(listing, self._seen)
        if start not in self._ends:  # a function without a symbol that this one calls may lie behind it
            called = [a for a in reached_addresses(instructions.values()) if start < a < end and a in instructions]
            instructions = {a: i for a, i in instructions.items() if a < min(called, default=end)}
        return Function(name, list(self._items(instructions)))

    def _items(self, instructions: Mapping[int, Instruction]) -> Iterator[Label | Instruction]:
        found = [(address, item, branch_target(item, self._labels)) for address, item in sorted(instructions.items())]
        targets = {target for _, _, target in found if target is not None}
        for address, item, target in found:
            if item.mnemonic == "s_code_end":
                continue
            if address in targets:
                yield Label(f"at_{address:x}")
            if target is not None:
                if target not in instructions:
                    raise Unreadable(f"branch out of the code: {item.text}", item.line)
                item = replace(item, operands=(f"at_{target:x}",))
            yield item


def _starts(named: Mapping[str, tuple[int, int]], is_code: Callable[[int], bool]) -> dict[int, str]:
    """Functions by address: of several names the one with a size; labels inside functions are none."""
    found: dict[int, str] = {}
    spans = sorted((address, address + size) for address, size in named.values() if size)
    firsts = [low for low, _ in spans]
    for name, (address, size) in sorted(named.items(), key=lambda item: item[1][1]):
        before = bisect.bisect_left(firsts, address) - 1
        inside = before >= 0 and spans[before][0] < address < spans[before][1]
        if is_code(address) and (size or not inside):
            found[address] = name
    return found

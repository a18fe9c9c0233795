"""Which source line an instruction belongs to: inlined header code is charged to the line that called it.

Reads the DWARF 5 that LLVM writes into assembly text (with its comments): inlined subroutines, their code ranges and
call sites.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

SYSTEM = re.compile(
    r"^/usr/(include|lib)/|^/opt/|/include/(hip|rocprim|hipcub|thrust)/|/amd_detail/|/lib/clang/|<built-in>"
)
_DIE = re.compile(r"Abbrev \[\d+\] 0x([0-9a-f]+):0x([0-9a-f]+) (DW_TAG_\w+)")
_ATTRIBUTE = re.compile(r"\t\.\w+\t([^;]+?)\s*; (DW_AT_\w+)$")
_SPAN = re.compile(r"(\.L\w+)-(\.L\w+)")


@dataclass(frozen=True)
class Inlined:
    """One inlined call: where its code is (positions of instructions), and where it was called."""

    depth: int
    ranges: tuple[tuple[int, int], ...]
    file: int
    line: int


def _range_lists(lines: Sequence[str], positions: dict[str, int]) -> dict[int, tuple[tuple[int, int], ...]]:
    """.debug_rnglists by index: pairs of positions."""
    lists: dict[int, list[tuple[int, int]]] = {}
    current: list[tuple[int, int]] = []
    start: int | None = None
    for line in lines:
        if match := re.match(r"\.Ldebug_ranges(\d+):", line):
            current = lists.setdefault(int(match[1]), [])
        elif match := re.match(r"\s*\.uleb128 (\.L\w+)-(\.L\w+)", line):
            place = positions.get(match[1])
            if place is None:
                continue
            if "starting offset" in line:
                start = place
            elif start is not None:
                current.append((start, place))
                start = None
    return {index: tuple(found) for index, found in lists.items()}


def inlined_calls(info: Sequence[str], ranges: Sequence[str], positions: dict[str, int]) -> list[Inlined]:
    """Every inlined call of the file."""
    lists = _range_lists(ranges, positions)
    found: list[Inlined] = []
    open_until: list[int] = []
    current: dict[str, str] | None = None
    depth = 0

    def close() -> None:
        if current is not None and (made := _inlined(current, depth, lists, positions)):
            found.append(made)

    for line in info:
        if match := _DIE.search(line):
            close()
            offset, length = int(match[1], 16), int(match[2], 16)
            open_until = [end for end in open_until if end > offset]
            current = {} if match[3] == "DW_TAG_inlined_subroutine" else None
            if current is not None:
                depth = len(open_until)
                open_until.append(offset + length)
        elif current is not None and (match := _ATTRIBUTE.match(line)):
            current.setdefault(match[2], match[1].strip())
    close()
    return found


def _inlined(
    attributes: dict[str, str],
    depth: int,
    lists: dict[int, tuple[tuple[int, int], ...]],
    positions: dict[str, int],
) -> Inlined | None:
    if "DW_AT_call_line" not in attributes:
        return None
    covered: tuple[tuple[int, int], ...] = ()
    if span := _SPAN.search(attributes.get("DW_AT_high_pc", "")):
        if span[1] in positions and span[2] in positions:
            covered = ((positions[span[2]], positions[span[1]]),)
    elif "DW_AT_ranges" in attributes and attributes["DW_AT_ranges"].isdigit():
        covered = lists.get(int(attributes["DW_AT_ranges"]), ())
    if not covered:
        return None
    return Inlined(depth, covered, int(attributes.get("DW_AT_call_file", "0")), int(attributes["DW_AT_call_line"]))


def user_lines(calls: Sequence[Inlined], files: dict[int, str], count: int) -> dict[int, tuple[str, int]]:
    """For positions inside inlined calls: the innermost call site outside system headers."""
    chains: dict[int, list[Inlined]] = {}
    for call in calls:
        for start, end in call.ranges:
            for position in range(start, min(end, count)):
                chains.setdefault(position, []).append(call)
    found: dict[int, tuple[str, int]] = {}
    for position, chain in chains.items():
        for call in sorted(chain, key=lambda c: -c.depth):
            name = files.get(call.file)
            if name is not None and not SYSTEM.search(name):
                found[position] = (name, call.line)
                break
    return found

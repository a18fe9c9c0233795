"""Cut the C of one kernel into functions short enough that host compilers take time in proportion to its length.

A kernel arrives as blocks: a line `B7:` opens block 7, `goto B7;` leads there, and what has no jump runs on into the
next block. Many passes of a compiler are quadratic in the length of a function. A jump to another piece therefore
leaves its number in the wave's `pc` and returns GO; `wave_step` calls the piece that has it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

LEAST, MOST = 600, 2000
"""Lines of C in a piece, between which it ends where the fewest loops are cut. A longer block is a piece of its own."""

_LABEL = re.compile(r"B(\d+):")
_JUMP = re.compile(r"goto B(\d+);")


@dataclass(frozen=True)
class Form:
    """What a device's pieces have in common."""

    wave: str
    """Type of its wave."""
    pc: str
    """C for the wave's `pc`; the wave is `w`."""
    variables: tuple[str, ...] = ()
    """What every piece declares."""
    labels: tuple[str, ...] = ()
    """Other places that blocks jump to; each ends in a return."""
    end: str = "return WAVE_DONE;"
    """Behind the last block."""


@dataclass(frozen=True)
class Block:
    """Lines from one label to the next."""

    number: int
    lines: tuple[str, ...]

    @property
    def targets(self) -> set[int]:
        """Blocks that it jumps to."""
        return {int(number) for line in self.lines for number in _JUMP.findall(line)}


def blocks_of(lines: Sequence[str]) -> list[Block]:
    """The blocks; the first line is a label."""
    starts = [i for i, line in enumerate(lines) if _LABEL.match(line)]
    found: list[Block] = []
    for start, end in itertools.pairwise([*starts, len(lines)]):
        label = _LABEL.match(lines[start])
        assert label is not None
        found.append(Block(int(label[1]), tuple(lines[start:end])))
    return found


def loops_across(blocks: Sequence[Block]) -> list[int]:
    """For each block, how many jumps backwards span the place before it."""
    place = {block.number: i for i, block in enumerate(blocks)}
    change = [0] * (len(blocks) + 1)
    for i, block in enumerate(blocks):
        for target in block.targets:
            if place.get(target, i) < i:
                change[place[target] + 1] += 1
                change[i + 1] -= 1
    return list(itertools.accumulate(change))[: len(blocks)]


def cut(blocks: Sequence[Block], least: int = LEAST, most: int = MOST) -> list[Sequence[Block]]:
    """Runs of blocks: each ends where the fewest loops are cut, and as late as that allows."""
    across = loops_across(blocks)
    pieces: list[Sequence[Block]] = []
    start = 0
    while start < len(blocks):
        size = 0
        best: int | None = None
        end = start
        while end < len(blocks) and (end == start or size + len(blocks[end].lines) <= most):
            size += len(blocks[end].lines)
            end += 1
            if size >= least and end < len(blocks) and (best is None or across[end] <= across[best]):
                best = end
        stop = end if end == len(blocks) or best is None else best
        pieces.append(blocks[start:stop])
        start = stop
    return pieces


def assemble(lines: Sequence[str], form: Form, least: int = LEAST, most: int = MOST) -> list[str]:
    """The pieces, and `wave_step`, which goes from one to the next."""
    pieces = cut(blocks_of(lines), least, most)
    out: list[str] = []
    where: dict[int, int] = {}
    for index, piece in enumerate(pieces):
        following = pieces[index + 1][0].number if index + 1 < len(pieces) else None
        out += _piece(index, piece, following, form)
        where.update((block.number, index) for block in piece)
    size = max(where) + 1
    if len(pieces) == 1:
        call = "piece_0(w)"
    else:
        call = f"pieces[where[{form.pc}]](w)"
        out.append(f"static int (*const pieces[])({form.wave} *restrict) = {{")
        out += [f"piece_{index}," for index in range(len(pieces))]
        out.append("};")
        out.append(f"static const uint16_t where[{size}] = {{")
        out += [f"[{number}] = {index}," for number, index in where.items()]
        out.append("};")
    return [
        *out,
        "enum WaveEvent wave_step(Wave *core) {",
        f"{form.wave} *const w = ({form.wave} *)core;",
        "int e;",
        f"do e = {call}; while (e == GO);",
        "return (enum WaveEvent)e;",
        "}",
    ]


def _piece(index: int, piece: Sequence[Block], following: int | None, form: Form) -> list[str]:
    mine = {block.number for block in piece}

    def leap(match: re.Match[str]) -> str:
        return match[0] if int(match[1]) in mine else f"{{ {form.pc} = {match[1]}; return GO; }}"

    return [
        f"__attribute__((noinline)) static int piece_{index}({form.wave} *restrict w) {{",
        *form.variables,
        f"switch ({form.pc}) {{",
        *(f"case {number}: goto B{number};" for number in sorted(mine)),
        "default: __builtin_unreachable();",
        "}",
        *form.labels,
        *(_JUMP.sub(leap, line) for block in piece for line in block.lines),
        form.end if following is None else f"{form.pc} = {following}; return GO;",
        "}",
    ]

"""The sweep of a drafted case: which sizes are worth trying, as far as launch and kernel tell."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from porter.validation.cases.case import LANES
from porter.validation.cases.expression import BadExpression, Expression
from porter.validation.draft.blocks import ASSUMED_BLOCK
from porter.validation.draft.expression import Value
from porter.validation.draft.host import Host
from porter.validation.draft.kernel import is_compared
from porter.validation.draft.lines import Line

_AWKWARD = (1, 31, 32, 33, 997, 1000)
_PAIRS = ((1, 1), (33, 31), (64, 100), (70, 131))
_BEYOND = (2_000, 5_000, 20_000, 70_000, 300_000)
"""More than a grid of fixed size has threads, so that its loops go round again."""
_MOST = {1: 4096, 2: 128, 3: 32}
"""Of one size, by how many sizes multiply."""
_FEW = 16
_FEWEST = 24
_ROOMY = 4096
COUNTS_BITS = re.compile(r"[Ss]hift|[Bb]its?(?=$|_|[A-Z])|^log|log2|(?:^|_)lg(?=_|$)")
"""Names of what a number is shifted by: one beyond a word's bits does not mean the same on both sides."""
_BITS = 10
_UPPER, _LOWER = frozenset({"max", "upper", "high", "maximum"}), frozenset({"min", "lower", "low", "minimum"})
_WIDE = 4.5
"""Where the values of arrays hardly ever are: they are normally distributed."""
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Sizes:
    """Tables of sizes, best first: each is worth a try of its own."""

    names: tuple[str, ...]
    tables: tuple[tuple[float, ...], ...]
    preferred: int
    """So many of them are for cases that nobody tries first."""
    untold: tuple[str, ...] = ()
    """Lengths that the host's code gives no value, and no sweep varies: the numbers are ours."""

    def only(self, place: int) -> Sizes:
        """One of the tables."""
        return Sizes(self.names, self.tables[place : place + 1], 1, self.untold)

    def lines(self, chosen: Sequence[int] | None = None) -> list[str]:
        """The key `sweep`; none where nothing varies."""
        if not self.names:
            return []
        tables = [self.tables[i] for i in (range(self.preferred) if chosen is None else chosen)]
        varying = [i for i in range(len(self.names)) if len({table[i] for table in tables}) > 1]
        if len(varying) <= 1:
            columns = [list(dict.fromkeys(table[i] for table in tables)) for i in range(len(self.names))]
            inside = ", ".join(f"{name} = {column}" for name, column in zip(self.names, columns, strict=True))
            return [f"sweep = {{ {inside} }}"]
        rows = [
            ", ".join(f"{name} = {value}" for name, value in zip(self.names, table, strict=True)) for table in tables
        ]
        return ["sweep = [", *(f"  {{ {row} }}," for row in rows), "]"]


def sizes_of(
    host: Host,
    used: set[str],
    renamed: Mapping[str, str],
    arguments: tuple[Line, ...],
    grid: list[str],
    block: list[str],
    body: str,
) -> Sizes:
    """What the sweep has."""
    own = {renamed.get(name, name): value for name, value in host.sizes.items()}
    names = [name for name in own if name in used]
    lengths = " ".join(_named(side, renamed) for line in arguments for side in line.sides if isinstance(side, Value))
    in_block = set(_WORD.findall(" ".join(block)))
    in_lengths = set(_WORD.findall(" ".join([lengths, *grid])))
    by_length = set(_WORD.findall(lengths))
    asked = {name for name in names if name in in_lengths or is_compared(name, body)}
    own = {name: None if value == 0 and name in asked else value for name, value in own.items()}
    own |= {name: _BITS for name, value in own.items() if value is None and COUNTS_BITS.search(name)}
    sizes = [name for name in names if name in in_lengths and (name not in in_block or name in by_length)]
    floats = {line.value.text for line in arguments if line.value is not None and "float" in line.dtype}
    usual = {name: _usual(own[name], renamed, name, floats) for name in names}
    usual |= {name: ASSUMED_BLOCK for name in names if own[name] is None and block == [name]}
    guarded = [name for name in sizes if is_compared(name, body) and _rounds_up(name, grid)]
    found: list[dict[str, float]] = []
    if sizes and len(guarded) == len(sizes) <= 2:
        small = [(value,) * len(sizes) for value in _AWKWARD] if len(sizes) == 1 else _PAIRS
        found += [usual | dict(zip(sizes, values, strict=True)) for values in small]
        found += _beyond(sizes, found[-1], grid, block) if "gridDim" in body else []
    preferred = len(found)
    untold = () if found else tuple(name for name in sizes if own[name] is None and usual[name] != ASSUMED_BLOCK)
    counts = [name for name in names if name not in sizes and name not in in_block and name not in floats]
    for most in (_MOST.get(len(sizes), _FEWEST), 128, 32, 8, 512, 16384):
        smaller = {name: _scaled(usual[name], max(most, _FEWEST)) for name in counts}
        found.append(usual | smaller | {name: _scaled(own[name], most) for name in sizes})
    fewest = {name: _scaled(usual[name], 32) for name in counts}
    found.append(usual | fewest | {name: _ROOMY if own[name] is None else _scaled(own[name], 32) for name in sizes})
    found.append(usual | {name: own[name] or 256 for name in sizes})
    tables = tuple(dict.fromkeys(tuple(one[name] for name in names) for one in found))
    return Sizes(tuple(names), tables, preferred or 1, untold)


def _beyond(
    sizes: Sequence[str], table: Mapping[str, float], grid: Sequence[str], block: Sequence[str]
) -> list[dict[str, float]]:
    """A size that is larger than the launch has threads, where that is one size and the others have fewer."""
    if len(sizes) != 1:
        return []
    for size in (table[sizes[0]], *_BEYOND):
        changed = {**table, sizes[0]: size}
        try:
            threads = math.prod(float(Expression(side).value({**changed, LANES: 32})) for side in (*grid, *block))
        except BadExpression:
            return []
        if threads < size:
            return [] if size == table[sizes[0]] else [changed]
    return []


def _named(value: Value, renamed: Mapping[str, str]) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda match: renamed.get(match[0], match[0]), value.shown())


def _rounds_up(name: str, grid: list[str]) -> bool:
    """Whether every block of a size gets its last, partial block; also where the grid does not depend on it."""
    for side in grid:
        if not re.search(rf"\b{name}\b", side):
            continue
        if side != name and not re.search(rf"ceil_div\(|\b{name}\b[^/]*\+ \d+\)? *//|- 1\) // |//.*\+ 1|% ", side):
            return False
    return True


def _usual(value: float | None, renamed: Mapping[str, str], name: str, floats: set[str]) -> float:
    """The program's own value, within reason."""
    if value is not None:
        return value
    return _bound(name) if any(renamed.get(text, text) == name for text in floats) else _FEW


def _bound(name: str) -> float:
    """A float that nothing tells: bounds lie around the values that arrays have."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    upper, lower = ({word.lower() for word in words} & few for few in (_UPPER, _LOWER))
    return _WIDE if upper and not lower else -_WIDE if lower and not upper else 0.5


def _scaled(value: float | None, most: int) -> float:
    """A size like the program's, small enough for a virtual device."""
    if value is None:
        return min(256, most)
    if value != int(value):
        return value
    whole = int(value)
    while whole > most and whole % 2 == 0:
        whole //= 2
    return whole if whole <= most else most

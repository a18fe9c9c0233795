"""A real profile beside the counted one: a CSV by rocprof-compute (`pmc_perf.csv`) or rocprofv3.

Both have a row per dispatch with a column per counter, or a row per dispatch and counter. What is in there was measured
by whoever made it, not by porter.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from porter.validation.estimate.compare import is_within

from porter.errors import Unusable
from porter.system.reading import LARGEST_DOCUMENT

_ALIASES = {
    "kernel_name": "kernel",
    "kernelname": "kernel",
    "grid_size": "grid",
    "grd": "grid",
    "workgroup_size": "block",
    "wgr": "block",
    "dispatch_id": "dispatch",
    "index": "dispatch",
    "start_timestamp": "start",
    "beginns": "start",
    "end_timestamp": "end",
    "endns": "end",
    "counter_name": "counter",
    "counter_value": "value",
}
_COUNTER = re.compile(r"(?:SQ|SQC|TA|TD|TCP|TCC|GRBM|SPI|CPC|CPF)[A-Z]?_\w+(?:\[\d+\])?")
_CHANNEL = re.compile(r"(\w+)\[\d+\]")


class Dispatches(NamedTuple):
    """What tells launches apart: work-items of the grid, threads of a block."""

    kernel: str
    items: int
    block: int


@dataclass(frozen=True)
class Measured:
    """All dispatches of one kernel and size."""

    of: Dispatches
    count: int
    nanoseconds: tuple[float, float, float] | None
    """Median, least and most; None without timestamps."""
    counters: Mapping[str, float]
    """Medians; channels added up to `_sum`."""


def read_profile(data: bytes, name: str) -> tuple[Measured, ...]:
    """The kernels of a file; raises Unusable with the line that is wrong."""
    try:
        return _read(_unpacked(data), name)
    except (OSError, EOFError, csv.Error) as error:
        raise Unusable(f"{name}: {error}") from None


def _unpacked(data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    with gzip.open(io.BytesIO(data)) as file:
        found = file.read(LARGEST_DOCUMENT + 1)
    if len(found) > LARGEST_DOCUMENT:
        raise OSError(f"more than {LARGEST_DOCUMENT >> 20} MiB when unpacked")
    return found


def _read(data: bytes, name: str) -> tuple[Measured, ...]:
    rows = csv.reader(io.StringIO(data.decode("utf-8-sig", "replace")))
    header = next(rows, [])
    columns = {_ALIASES.get(title.strip().lower(), ""): index for index, title in enumerate(header)}
    missing = [wanted for wanted in ("kernel", "grid", "block") if wanted not in columns]
    if missing:
        raise Unusable(f"{name}: no CSV of rocprof-compute or rocprofv3: no column for {', '.join(missing)}")
    wide = {index: title.strip() for index, title in enumerate(header) if _COUNTER.fullmatch(title.strip())}
    if not wide and not {"counter", "value"} <= columns.keys():
        raise Unusable(f"{name}: no counters: neither columns of their names nor Counter_Name and Counter_Value")
    found: defaultdict[Dispatches, dict[str, _Dispatch]] = defaultdict(dict)
    for number, row in enumerate(rows, 2):
        if not row:
            continue
        try:
            _read_row(row, columns, wide, found, number)
        except (ValueError, IndexError) as error:
            raise Unusable(f"{name}:{number}: {error}") from None
    return tuple(_measured(of, list(own.values())) for of, own in found.items())


class _Dispatch:
    """Counters and time of one dispatch."""

    def __init__(self) -> None:
        self.counters: defaultdict[str, float] = defaultdict(float)
        self.nanoseconds: float | None = None


def _read_row(
    row: list[str],
    columns: Mapping[str, int],
    wide: Mapping[int, str],
    found: defaultdict[Dispatches, dict[str, _Dispatch]],
    number: int,
) -> None:
    of = Dispatches(row[columns["kernel"]], int(float(row[columns["grid"]])), int(float(row[columns["block"]])))
    key = row[columns["dispatch"]] if "dispatch" in columns else str(number)
    dispatch = found[of].setdefault(key, _Dispatch())
    if "start" in columns and "end" in columns:
        dispatch.nanoseconds = float(row[columns["end"]]) - float(row[columns["start"]])
    pairs = [(title, row[index]) for index, title in wide.items()]
    if "counter" in columns and "value" in columns:
        pairs.append((row[columns["counter"]], row[columns["value"]]))
    for title, value in pairs:
        if not value.strip():
            continue
        channel = _CHANNEL.fullmatch(title)
        if channel is not None:
            dispatch.counters[f"{channel[1]}_sum"] += float(value)
        else:
            dispatch.counters[title] = float(value)


def _measured(of: Dispatches, own: list[_Dispatch]) -> Measured:
    times = [one.nanoseconds for one in own if one.nanoseconds is not None and one.nanoseconds > 0]
    names = dict.fromkeys(name for one in own for name in one.counters)
    counters = {name: statistics.median(one.counters[name] for one in own if name in one.counters) for name in names}
    spread = (statistics.median(times), min(times), max(times)) if times else None
    return Measured(of, len(own), spread, counters)


def same_kernel(case: str, profile: str) -> bool:
    """`ns::add<float>` of a case is `void ns::add<float>(float*, int)` of a profile; without arguments any of them."""
    name, given = _parts(case)
    other, has = _parts(profile)
    return name == other and (not given or not has or given == has)


def _parts(name: str) -> tuple[str, str]:
    """The name without namespaces, and its template arguments without blanks."""
    depth, end = 0, len(name)
    for index, char in enumerate(name):
        depth += (char == "<") - (char == ">")
        if char == "(" and not depth and index and not name.startswith("(anonymous namespace)", index):
            end = index
            break
    head, _, arguments = name[:end].partition("<")
    plain = head.strip().rpartition("::")[2].rpartition(" ")[2].removesuffix(".kd")
    return plain, re.sub(r"\s", "", arguments.rpartition(">")[0])


@dataclass(frozen=True)
class Beside:
    """One estimate and the dispatches of the same kernel and size."""

    case: str
    shape: str
    warp: str
    measured: Measured
    estimate: float
    band: float
    counters: Mapping[str, tuple[float, float]]
    """Counted and measured, of what both have."""

    @property
    def is_within(self) -> bool | None:
        """Whether the median time lies in the estimate's band; None without times."""
        if self.measured.nanoseconds is None:
            return None
        return is_within(self.measured.nanoseconds[0], self.estimate, self.band)


class Counted(NamedTuple):
    """An estimate, as far as it is laid beside a profile."""

    case: str
    kernel: str
    shape: str
    warp: str
    blocks: int
    nanoseconds: float
    band: float
    counters: Mapping[str, int]


def beside(rows: Iterable[Counted], profile: Iterable[Measured]) -> Iterator[Beside]:
    """Rows with the dispatches of their kernel and their size."""
    measured = list(profile)
    for row in rows:
        items = row.counters.get("SQ_ITEMS", 0)
        block = items // row.blocks if row.blocks else 0
        for one in measured:
            if (one.of.items, one.of.block) == (items, block) and same_kernel(row.kernel, one.of.kernel):
                both = {n: (float(c), one.counters[n]) for n, c in row.counters.items() if n in one.counters}
                yield Beside(row.case, row.shape, row.warp, one, row.nanoseconds, row.band, both)

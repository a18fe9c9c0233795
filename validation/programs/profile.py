"""What the launches of a program asked of the GPU (profile.c), and estimates made of it. Nothing of it was measured."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.devices.core.result import Counters, Executed, Site
from porter.validation.estimate.chip import Chip, load, load_original
from porter.validation.estimate.counters import counters
from porter.validation.estimate.model import Estimate, estimate
from porter.validation.estimate.work import Launched, steps, traffic
from porter.validation.programs.sides import SIDES, Side
from porter.validation.programs.store import name_hash, translations
from porter.validation.toolchain.entry import demangle
from porter.validation.toolchain.result import Missing

_HEAD = struct.Struct("<4sIIIII3I3I4Q40s")
_SEGMENT = struct.Struct("<QQ")
_SITE = struct.Struct("<Q10Q")


@dataclass(frozen=True)
class ProfiledLaunch:
    """Launches of one kernel that counted the same."""

    side: str
    """`cuda` or `hip`."""
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    """LDS of a block in bytes."""
    launches: tuple[int, ...]
    """Which of the process, from 1."""
    traffic: dict[str, float]
    """Bytes of one launch, by level."""
    counters: dict[str, int] | None
    """Of one launch; None for the original's side."""
    estimate: Estimate | None
    """Of one launch; None for the original's side, where no time is estimated."""


@dataclass(frozen=True)
class Profile:
    """All launches of a run, those that take longest first."""

    chip: Chip
    rows: tuple[ProfiledLaunch, ...]

    @property
    def nanoseconds(self) -> float:
        """Of all launches, by the estimate."""
        return sum(_whole(row) for row in self.rows)

    @property
    def between(self) -> tuple[float, float]:
        """Where the sum lies, we think: all estimates too high, or all too low."""
        found = [(_whole(row), row.estimate.band) for row in self.rows if row.estimate is not None]
        return sum(time / band for time, band in found), sum(time * band for time, band in found)

    @property
    def short(self) -> int:
        """Launches whose estimate is below what the launch itself takes."""
        return sum(
            len(row.launches)
            for row in self.rows
            if row.estimate is not None and row.estimate.nanoseconds < self.chip.launch_ns
        )


def _whole(row: ProfiledLaunch) -> float:
    return row.estimate.nanoseconds * len(row.launches) if row.estimate is not None else 0.0


class _Record(NamedTuple):
    key: str
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    totals: tuple[int, int, int, int]
    segments: bytes
    sites: bytes


@dataclass(frozen=True)
class _Program:
    """A translated kernel, as its file in the cache tells."""

    shown: str
    sites: tuple[tuple[Site, int, str | None], ...]
    """With segment and memory."""
    resources: dict[str, int]


def profiled(folder: Path, chip: str) -> Profile:
    """The profiles that the processes of a run left in a folder."""
    figures = load(chip)
    rows: list[ProfiledLaunch] = []
    for path in sorted(folder.glob("*.profile")):
        side = SIDES[path.name.partition("-")[0]]
        rows += _process(path, side, figures)
    return Profile(figures, tuple(sorted(rows, key=lambda row: (-_whole(row), row.launches))))


def _process(path: Path, side: Side, chip: Chip) -> Iterator[ProfiledLaunch]:
    compiler = find_host_compiler()
    if isinstance(compiler, Missing):
        return
    folder = translations(side, compiler)
    alike: dict[_Record, list[int]] = {}
    for number, record in _records(path.read_bytes()):
        alike.setdefault(record, []).append(number)
    for record, numbers in alike.items():
        yield _row(side, record, tuple(numbers), _program(folder / record.key, record.name), chip)


def _records(data: bytes) -> Iterator[tuple[int, _Record]]:
    """A process that was ended may leave half a record."""
    at = 0
    while at + _HEAD.size <= len(data):
        mark, number, length, segments, sites, shared, *more = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + length + segments * _SEGMENT.size + sites * _SITE.size
        if mark != b"P\0\0\0" or end > len(data):
            return
        name = at + _HEAD.size
        counts = name + length + segments * _SEGMENT.size
        yield (
            number,
            _Record(
                more[10].split(b"\0")[0].decode(),
                data[name : name + length].decode("utf-8", "replace"),
                (more[0], more[1], more[2]),
                (more[3], more[4], more[5]),
                shared,
                (more[6], more[7], more[8], more[9]),
                data[name + length : counts],
                data[counts:end],
            ),
        )
        at = end


@functools.lru_cache(256)
def _program(folder: Path, name: str) -> _Program:
    """As `Loaded.write_kernel` wrote it; of a kernel that follows unwritten values, the other file."""
    path = folder / name_hash(name)
    if not path.exists():
        path = path.with_name(path.name + ".poison")
    files: list[str] = []
    sites: list[tuple[Site, int, str | None]] = []
    known: dict[str, int] = {}
    for line in path.read_text("utf-8", "replace").splitlines():
        words = line.split("\t", 7)
        if words[0] == "file":
            files.append(words[1])
        elif words[0] == "resource":
            known[words[1]] = int(words[2])
        elif words[0] == "s":
            file, number = int(words[4]), int(words[5])
            place = (number, files[file], number) if file >= 0 else (number, None, 0)
            sites.append((Site(words[7], *place), int(words[1]), None if words[6] == "-" else words[6]))
    return _Program(demangle(name), tuple(sites), known)


def _row(side: Side, record: _Record, numbers: tuple[int, ...], program: _Program, chip: Chip) -> ProfiledLaunch:
    seen = {row[0]: row[1:] for row in _SITE.iter_unpack(record.sites)}
    segments = list(_SEGMENT.iter_unpack(record.segments))
    found = Counters(
        lanes=side.lanes,
        resources=program.resources,
        executed=tuple(_executed(program.sites, segments, seen)),
        written_back=record.totals[0],
        memory_writes=record.totals[1],
        atomics=record.totals[2],
        hottest=record.totals[3],
    )
    blocks = record.grid[0] * record.grid[1] * record.grid[2]
    threads = record.block[0] * record.block[1] * record.block[2]
    launched = Launched(blocks, threads, found, blocks, record.shared)
    same = (side.name, program.shown, record.grid, record.block, record.shared, numbers)
    if side.name == "cuda":
        return ProfiledLaunch(*same, traffic(load_original().caches, steps(found), found), None, None)
    made = estimate(chip, launched)
    return ProfiledLaunch(*same, made.traffic, counters(launched), made)


def _executed(
    sites: Iterable[tuple[Site, int, str | None]],
    segments: list[tuple[int, ...]],
    seen: dict[int, tuple[int, ...]],
) -> Iterator[Executed]:
    for index, (site, segment, space) in enumerate(sites):
        requests, lanes, size, _, conflicts, *caches = seen.get(index, (0,) * 10)
        runs, active = segments[segment]
        yield Executed(site, segment, space, runs, active, requests, lanes, size, conflicts, *caches)

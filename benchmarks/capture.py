"""Compares what a GPU computed with what its virtual device computes: `python -m benchmarks.capture FILE.capture.gz`.

The file comes from benchmarks/capture_gfx942/capture.sh (on an MI300X) or benchmarks/capture_nvidia/capture.sh. The
same program then runs on the virtual device over a part of the ranges, and both files are compared, instruction by
instruction. `--with OTHER` compares two files, of two GPUs say; `--make gfx942 FILE` only makes the virtual device's.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.programs.compilers import folder
from porter.validation.programs.sides import CUDA, HIP
from porter.validation.toolchain.result import Missing

HERE = Path(__file__).parent
MAGIC = "porter-capture 1"
BLOCK = 4096
KITS = {
    "gfx942": (HERE / "capture_gfx942" / "capture.sh", HIP),
    "nvidia": (HERE / "capture_nvidia" / "capture.sh", CUDA),
}
PART = ("--step", "65536", "--blocks", "16", "--whole", "1", "--rows", "256")
"""16 blocks of 4,096 inputs, spread over all of them: what the virtual device runs in seconds."""
Words = NDArray[np.uint32]


@dataclass(frozen=True)
class Record:
    """One instruction's results: `sums` of blocks of inputs, `values` of whole blocks, or `rows` of drawn operands."""

    name: str
    kind: str
    type: str
    first: int
    step: int
    words: Words

    def units(self) -> Iterator[tuple[int, Words]]:
        """Block or row by its number."""
        each = {"sums": 1, "values": BLOCK}.get(self.kind, self.step)
        apart = 1 if self.kind == "rows" else self.step
        for number, part in enumerate(self.words.reshape(-1, each)):
            yield self.first + number * apart, part


@dataclass(frozen=True)
class Capture:
    """A file."""

    kind: str
    device: str
    records: tuple[Record, ...]
    is_whole: bool
    """False for one that was cut off: what came before is used."""


class Damaged(Exception):
    """Not a capture, or one whose words are not those that were written."""


def mixed(x: Words) -> Words:
    """The program's hash."""
    x = x ^ x >> np.uint32(16)
    x = x * np.uint32(0x7FEB352D)
    x = x ^ x >> np.uint32(15)
    x = x * np.uint32(0x846CA68B)
    return x ^ x >> np.uint32(16)


def summed(words: Words) -> int:
    """The checksum of outputs in their order."""
    places = np.arange(len(words), dtype=np.uint32) * np.uint32(0x9E3779B1)
    return int(mixed(words ^ places).sum(dtype=np.uint64) & 0xFFFFFFFF)


def read(path: Path) -> Capture:
    """A file's records; raises Damaged."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = data.split(b"\n", 3)
    if len(lines) < 4 or lines[0] != MAGIC.encode():
        raise Damaged(f"{path}: no capture")
    at = sum(len(line) + 1 for line in lines[:3])
    records: list[Record] = []
    is_whole = False
    while (end := data.find(b"\n", at)) >= 0:
        head = data[at:end].decode("ascii", "replace").split()
        if head == ["end"]:
            is_whole = True
            break
        if len(head) != 7:
            raise Damaged(f"{path}: byte {at} does not begin a record")
        name, kind, type_, first, step, count, check = head
        at, end = end + 1, end + 1 + 4 * int(count)
        if end > len(data):
            break
        words = np.frombuffer(data[at:end], "<u4").astype(np.uint32)
        if summed(words) != int(check, 16):
            raise Damaged(f"{path}: {name} {kind} is not what was written")
        records.append(Record(name, kind, type_, int(first), int(step), words))
        at = end
    return Capture(lines[1].decode(), lines[2].decode("utf-8", "replace"), tuple(records), is_whole)


@dataclass(frozen=True)
class Compared:
    """An instruction in two files: results in both, how many are not the same bits, and how far they are apart."""

    name: str
    kind: str
    common: int
    different: int
    worst: int | None
    """Units in the last place, where results are floats and finite on both sides."""
    example: str = ""


def compare(one: Capture, other: Capture) -> list[Compared]:
    """What both have, in the first one's order."""
    theirs = _units(other)
    types = {(record.name, record.kind): record.type for record in one.records}
    return [_compared(key, types[key], units, theirs[key]) for key, units in _units(one).items() if key in theirs]


def _units(capture: Capture) -> dict[tuple[str, str], dict[int, Words]]:
    found: dict[tuple[str, str], dict[int, Words]] = {}
    for record in capture.records:
        found.setdefault((record.name, record.kind), {}).update(record.units())
    return found


def _compared(key: tuple[str, str], kind: str, mine: Mapping[int, Words], theirs: Mapping[int, Words]) -> Compared:
    common = sorted(mine.keys() & theirs.keys())
    different, total, worst, example = 0, 0, None, ""
    for number in common:
        a, b = mine[number], theirs[number]
        total += len(a)
        bad = np.flatnonzero(a != b)
        if not len(bad):
            continue
        different += len(bad)
        place = int(bad[0])
        example = example or _place(key[1], number, place, int(a[place]), int(b[place]))
        apart = None if key[1] == "sums" else distance(kind, a, b)
        worst = apart if worst is None else worst if apart is None else max(worst, apart)
    return Compared(*key, total, different, worst, example)


def _place(kind: str, number: int, place: int, mine: int, theirs: int) -> str:
    if kind == "sums":
        return f"inputs {number * BLOCK:#010x} to {number * BLOCK + BLOCK - 1:#010x}"
    if kind == "rows":
        return f"row {number}, word {place}: {mine:#010x}, {theirs:#010x}"
    return f"input {number * BLOCK + place:#010x}: {mine:#010x}, {theirs:#010x}"


def distance(kind: str, a: Words, b: Words) -> int | None:
    """The most units in the last place between finite floats of both; None where there are none."""
    if kind not in ("f16", "f32", "f64"):
        return None
    held = np.uint16 if kind == "f16" else np.uint32  # a word each, or two of a double
    left, right = (w.astype(held).view(kind.replace("f", "float")) for w in (a, b))
    ordered = [w.view(f"i{w.itemsize}").astype(object) for w in (left, right)]
    signs = 1 << (8 * left.itemsize - 1)
    finite = np.isfinite(left) & np.isfinite(right)
    steps = [np.where(o < 0, -signs - o, o)[finite] for o in ordered]
    return int(abs(steps[0] - steps[1]).max()) if finite.any() else None


def make(kind: str, path: Path, words: Sequence[str] = PART) -> str:
    """Runs a kit's script with the program on the virtual device; the file is `path`.gz. Empty, or what is wrong."""
    script, side = KITS[kind]
    compiler = find_host_compiler()
    tools = compiler if isinstance(compiler, Missing) else folder(side, compiler)
    if isinstance(tools, Missing):
        return tools.reason
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', '')}",
        "CAPTURE_RUN": f"{sys.executable} -m porter run --",
        "CAPTURE_ARCH": "90",
    }
    done = subprocess.run(
        [str(script), str(path), *words], env=environment, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stderr[-2000:] or f"exit code {done.returncode}"


def table(found: Sequence[Compared]) -> str:
    """As Markdown."""
    lines = [
        "| instruction | | results | not the same | units in the last place | first |",
        "|---|---|---|---|---|---|",
    ]
    for row in found:
        worst = "" if row.worst is None else row.worst
        lines.append(f"| `{row.name}` | {row.kind} | {row.common:,} | {row.different:,} | {worst} | {row.example} |")
    same = sum(not row.different for row in found)
    return "\n".join([*lines, "", f"{same} of {len(found)} records the same"])


def main() -> int:
    """Exit code 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--with", dest="other", type=Path, help="a second file")
    parser.add_argument("--keep", type=Path, help="keep what the virtual device computes in FILE.gz")
    parser.add_argument("--make", choices=sorted(KITS), help="make FILE.gz on this virtual device")
    options = parser.parse_args()
    if options.make:
        wrong = make(options.make, options.file.absolute())
        print(wrong or f"{options.file}.gz", file=sys.stderr if wrong else sys.stdout)
        return 1 if wrong else 0
    mine = read(options.file)
    with tempfile.TemporaryDirectory(prefix="porter-capture-") as folder:
        other = options.other
        if other is None:
            made = (options.keep or Path(folder, "virtual.capture")).absolute()
            wrong = make(mine.kind, made)
            if wrong:
                print(wrong, file=sys.stderr)
                return 2
            other = made.with_name(made.name + ".gz")
        found = compare(mine, read(other))
    print(f"{mine.device}{'' if mine.is_whole else ' (cut off)'}\n")
    print(table(found))
    return 0 if found and not any(row.different for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Time `porter port` on source trees against PyTorch's hipify: `python -m benchmarks.throughput TREE ...`."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.corpus import code_files

_WHOLE = 100
_PEER = "torch hipify"
_INNER = re.compile(r"^hipify ([\d.]+) ([\d.]+)$", re.M)


@dataclass(frozen=True, slots=True)
class Run:
    """One process and its descendants; `peak_mb` is the largest single process among them."""

    wall: float
    cpu: float
    peak_mb: float
    output: str


@dataclass(frozen=True, slots=True)
class Row:
    """The best of the repetitions of one tool on one part of a tree: others may use the machine."""

    tree: str
    tool: str
    part: int
    files: int
    lines: int
    wall: float
    cpu: float
    peak_mb: float

    @property
    def lines_per_second(self) -> float:
        """Lines of all code files over wall time."""
        return self.lines / self.wall


def run(command: list[str], folder: Path) -> Run:
    """Wait for a command; exit codes above 1 (1: manual work is left) are errors.

    Python keeps what it compiled, as in an installed package.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{command} exited with {process.returncode}:\n{text[-2000:]}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def copy_part(selection: Path, out: Path, part: int) -> None:
    """A tree, or evenly spread folders of it, `part` percent of them."""
    if part == _WHOLE:
        shutil.copytree(selection, out, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        return
    folders = sorted(path for path in selection.iterdir() if path.is_dir())
    count = max(1, len(folders) * part // 100)
    for index in range(count):
        folder = folders[index * len(folders) // count]
        shutil.copytree(folder, out / folder.name, symlinks=True)


def measure(selection: Path, work: Path, porter: list[str], repeat: int, parts: list[int]) -> list[Row]:
    """Every tool on every part, the tools interleaved so that noise hits all of them."""
    rows = []
    for part in parts:
        source = work / f"source-{part}"
        copy_part(selection, source, part)
        tools = _tools(source, work, porter)
        runs: dict[str, list[Run]] = {name: [] for name in tools}
        for _ in range(repeat):
            for name, tool in tools.items():
                runs[name].append(tool())
        files = code_files(source)
        lines = sum(path.read_bytes().count(b"\n") for path in files)
        rows += [_row(selection.name, name, part, len(files), lines, done) for name, done in runs.items()]
        shutil.rmtree(source)
    return rows


def _tools(source: Path, work: Path, porter: list[str]) -> dict[str, Callable[[], Run]]:
    """In this order: the re-run finds the output of the first run, and hipify's own times are read off its run."""
    ported, hipified = work / "ported", work / "hipified"
    here = Path(__file__).resolve().parent.parent
    port_command = [*porter, "port", str(source), "-o", str(ported)]
    last: list[Run] = []
    hipify_command = [sys.executable, "-m", "benchmarks.torch_hipify", str(source), str(hipified)]

    def port() -> Run:
        shutil.rmtree(ported, ignore_errors=True)
        return run(port_command, work)

    def hipify() -> Run:
        shutil.rmtree(hipified, ignore_errors=True)
        last.append(run(hipify_command, here))
        return last[-1]

    def hipify_work() -> Run:
        done = last.pop()
        inner = _INNER.search(done.output)
        assert inner, done.output
        return Run(float(inner[1]), float(inner[2]), done.peak_mb, "")

    return {
        "porter port": port,
        "porter port, nothing changed": lambda: run(port_command, work),
        _PEER: hipify,
        "torch hipify without import and copying": hipify_work,
    }


def _row(tree: str, tool: str, part: int, files: int, lines: int, runs: list[Run]) -> Row:
    return Row(
        tree,
        tool,
        part,
        files,
        lines,
        wall=min(done.wall for done in runs),
        cpu=min(done.cpu for done in runs),
        peak_mb=max(done.peak_mb for done in runs),
    )


def as_text(rows: list[Row]) -> str:
    """A Markdown table; `x` is the wall time of PyTorch's hipify on the same files over that of the row."""
    peers = {(row.tree, row.part): row.wall for row in rows if row.tool == _PEER}
    lines = [
        "| tree | tool | part | files | lines | wall s | x | CPU s | lines/s | peak MB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row.tree} | {row.tool} | {row.part} % | {row.files} | {row.lines} | {row.wall:.2f} "
            f"| {peers[row.tree, row.part] / row.wall:.1f} | {row.cpu:.2f} "
            f"| {row.lines_per_second:,.0f} | {row.peak_mb:.0f} |"
        )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Print the table; exit code 0 when every run succeeded."""
    parser = argparse.ArgumentParser(prog="benchmarks.throughput", description=__doc__)
    parser.add_argument("trees", type=Path, nargs="+", help="source trees, or folders of programs")
    parser.add_argument("--parts", type=int, nargs="+", default=[_WHOLE], help="percents of a tree's folders to take")
    parser.add_argument("--porter", default="porter", help="the command to measure")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args(argv)
    rows: list[Row] = []
    for tree in arguments.trees:
        with tempfile.TemporaryDirectory(prefix="porter-throughput-") as work:
            command = arguments.porter.split()
            rows += measure(tree.resolve(), Path(work), command, arguments.repeat, arguments.parts)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    print(as_text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())

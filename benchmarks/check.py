"""Times `porter check --since` on a repository made of files of a CUDA tree: cold, warm, and after one more change.

python -m benchmarks.check TREE [--files 300] [--changed 3] [--runs 3]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from porter.project.discovery import is_code

LINE = b"\n// changed by the benchmark\nstatic int changed_by_the_benchmark_%d;\n"


class Timing(NamedTuple):
    """One run of the command."""

    wall: float
    cpu: float
    parsed: int
    looked_at: int


def copied(tree: Path, root: Path, most: int) -> list[str]:
    """The first code files of a tree, in order."""
    found: list[str] = []
    for path in sorted(path for path in tree.rglob("*") if path.is_file() and is_code(path.name)):
        if len(found) == most:
            break
        name = path.relative_to(tree).as_posix()
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, root / name)
        found.append(name)
    return found


def git(root: Path, *arguments: str) -> None:
    """A git command with a name of its own."""
    identity = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def timed(root: Path, cache: Path) -> Timing:
    """`porter check --since HEAD` in a process of its own."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "porter", "check", str(root), "--since", "HEAD", "--format", "json"],
        env={**os.environ, "PORTER_CACHE_DIR": str(cache)},
        capture_output=True,
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    document = json.loads(done.stdout)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    looked = len(document["changed"]) + len(document["dependents"])
    return Timing(wall, cpu, document["totals"]["parsed"], looked)


def main() -> None:
    """Prints a table."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("tree", type=Path)
    arguments.add_argument("--files", type=int, default=300)
    arguments.add_argument("--changed", type=int, default=3)
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "project"
        root.mkdir()
        paths = copied(given.tree, root, given.files)
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "base")
        sources = [path for path in paths if path.endswith((".cu", ".cuh", ".hip"))] or paths
        for number, path in enumerate(sources[:: max(1, len(sources) // given.changed)][: given.changed]):
            with (root / path).open("ab") as file:
                file.write(LINE % number)
        print(f"{len(paths)} files, {given.changed} changed; best of {given.runs}")
        for name in ("cold", "warm"):
            runs: list[Timing] = []
            for run in range(given.runs):
                runs.append(timed(root, Path(scratch) / (f"cache-{run}" if name == "cold" else "cache-0")))
            best = min(runs)
            print(f"{name}: {best.wall:.2f} s, {best.cpu:.2f} s CPU; {best.parsed} parsed, {best.looked_at} in scope")


if __name__ == "__main__":
    main()

"""What a task costs on a cluster beside its own work.

    python -m benchmarks.cluster [--tasks N] [--pairs N] [--cases PATH...]

Tasks that do nothing, on worker processes of this machine: processor time per task of the client with its scheduler
and of the workers, and the client's memory on the way. Then tasks that wait, on one worker and on two, in pairs: how
much of the second worker's time is used, whatever else the machine does. With `--cases`, `porter validate` of these by
one worker and by two, each with a new cache: there the client, its scheduler and the compilers want the same cores.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from porter.validation.cluster.dask_backend import DaskBackend
from porter.validation.cluster.engine import do_all
from porter.validation.cluster.spec import ClusterSpec
from porter.validation.cluster.trees import Tree

from porter.system.results import Store, Task


@dataclass
class Tasks:
    """Tasks that wait, and answer with some text."""

    count: int
    wait: float
    size: int
    name = handler = "nothing"
    key = "benchmark"

    def tasks(self) -> Iterator[Task]:
        """As many as are wanted."""
        for number in range(self.count):
            yield Task(f"task {number}", {"number": number, "wait": self.wait, "size": self.size}, str(number))

    def payload(self, store: Store, task: Task) -> Mapping[str, Any]:
        """All of it."""
        return task.payload

    def tree(self, task: Task) -> Tree | None:
        """None travels."""
        return None

    def limit(self, task: Task) -> float:
        """Seconds."""
        return 600.0

    def lost(self, task: Task, reason: str) -> Mapping[str, Any]:
        """What nobody answered."""
        return {"lost": reason, "failed": True}


@dataclass(frozen=True)
class Measured:
    """One run."""

    workers: int
    tasks: int
    seconds: float
    client_processor_seconds: float
    worker_processor_seconds: float
    client_mib: tuple[float, ...]
    """At the beginning, after each tenth of the tasks, at the end."""


def run(workers: int, count: int, wait: float = 0.0, size: int = 4000) -> Measured:
    """All tasks on so many workers; the start of the workers is not counted."""
    sizes: list[float] = []
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "runs.sqlite") as store:
        backend = DaskBackend(
            ClusterSpec("dask-local"), workers, (), (), lambda *_: None, lambda text: None, patience=300.0
        )
        try:
            children = _children(os.getpid())
            before, own, began = _processor_seconds(children), time.process_time(), time.monotonic()

            def progress(done: int, total: int, left: float | None) -> None:
                if done >= len(sizes) * total / 10:
                    sizes.append(_resident())
                    print(f"{done} of {total}: {sizes[-1]:.1f} MiB", file=sys.stderr, flush=True)

            do_all(Tasks(count, wait, size), store, backend, progress=progress, say=lambda text: None)
            seconds, client = time.monotonic() - began, time.process_time() - own
            worked = _processor_seconds(_children(os.getpid())) - before
        finally:
            backend.close()
    return Measured(workers, count, seconds, client, worked, tuple(round(size, 1) for size in sizes))


def validated(workers: int, cases: Sequence[str]) -> float:
    """Seconds of `porter validate` from nothing compiled, its workers' start included."""
    with tempfile.TemporaryDirectory() as folder:
        words = [
            "validate",
            *cases,
            "--cluster",
            "dask:local",
            "-j",
            str(workers),
        ]
        environment = {**os.environ, "PORTER_CACHE_DIR": str(Path(folder) / "cache")}
        began = time.monotonic()
        code = subprocess.run(
            [sys.executable, "-m", "porter", *words], env=environment, stdout=subprocess.DEVNULL
        ).returncode
        if code:
            sys.exit(f"porter validate ended with {code}")
        return time.monotonic() - began


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            for child in (task / "children").read_text().split():
                found += [int(child), *_children(int(child))]
        except OSError:
            continue
    return found


def _processor_seconds(processes: list[int]) -> float:
    total = 0
    for pid in processes:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    """Prints a line of JSON per run, then what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--wait", type=float, default=0.5, help="Seconds of a task that waits.")
    parser.add_argument("--waiting", type=int, default=80, help="Tasks that wait, per run.")
    parser.add_argument(
        "--cases", nargs="+", default=(), help="Case files or folders, validated by one worker and two."
    )
    given = parser.parse_args()
    if given.tasks:
        cost = run(2, given.tasks)
        print(json.dumps(asdict(cost)), flush=True)
        both = cost.client_processor_seconds + cost.worker_processor_seconds
        print(
            f"per task: {1e3 * cost.client_processor_seconds / cost.tasks:.2f} ms of the client and its scheduler, "
            f"{1e3 * both / cost.tasks:.2f} ms in all; by the clock {1e3 * cost.seconds / cost.tasks:.2f} ms; "
            f"memory {cost.client_mib[1]} to {cost.client_mib[-1]} MiB"
        )
    ratios: list[float] = []
    for _ in range(given.pairs):
        one, two = run(1, given.waiting, given.wait), run(2, given.waiting, given.wait)
        ratios.append(one.seconds / two.seconds)
        print(json.dumps([asdict(one), asdict(two)]), flush=True)
    if ratios:
        print(f"two workers are {statistics.median(ratios):.2f} times one ({', '.join(f'{r:.2f}' for r in ratios)})")
    for _ in range(given.pairs if given.cases else 0):
        alone, both = validated(1, given.cases), validated(2, given.cases)
        print(f"cases: {alone:.1f} s by one worker, {both:.1f} s by two, {alone / both:.2f} times", flush=True)


if __name__ == "__main__":
    main()

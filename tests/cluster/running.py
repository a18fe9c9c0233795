"""A scheduler, worker processes, and tasks that do nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from porter.validation.cluster.engine import digest_of
from porter.validation.cluster.trees import Tree

from porter.system.results import Store, Task
from tests.forking.asking import Forked, is_alike

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Nothing:
    """Tasks that wait, in the order of their numbers."""

    count: int
    wait: float = 0.0
    size: int = 0
    travels: Tree | None = None
    seen: list[int] = field(default_factory=list)
    name = handler = "nothing"

    @property
    def key(self) -> str:
        """What tells this run from others."""
        return digest_of([self.count, self.wait, self.size])

    def tasks(self) -> Iterator[Task]:
        """As many as are wanted."""
        for number in range(self.count):
            yield Task(f"task {number}", {"number": number, "wait": self.wait, "size": self.size}, str(number))

    def payload(self, store: Store, task: Task) -> Mapping[str, Any]:
        """All that a worker has to know."""
        self.seen.append(int(task.payload["number"]))
        return task.payload

    def tree(self, task: Task) -> Tree | None:
        """What has to travel."""
        return self.travels

    def limit(self, task: Task) -> float:
        """Seconds."""
        return 60.0

    def lost(self, task: Task, reason: str) -> Mapping[str, Any]:
        """The answer of a task that nobody could answer."""
        return {"number": task.payload["number"], "lost": reason, "failed": True}

    def answers(self, store: Store) -> list[Mapping[str, Any]]:
        """All of them, in order."""
        return [answer for _, answer in store.answers(self.name)]


@contextlib.contextmanager
def scheduler(failures: int = 0) -> Iterator[str]:
    """The address of a scheduler without workers."""
    import dask.config
    import distributed
    from porter.validation.cluster.dask_backend import with_a_loop

    make: Any = distributed
    with dask.config.set({"distributed.scheduler.allowed-failures": failures}):
        cluster = with_a_loop(
            lambda: make.LocalCluster(n_workers=0, dashboard_address=None, host="127.0.0.1", silence_logs=50)
        )
    with cluster:
        yield str(cluster.scheduler_address)


class Process(Protocol):
    """What tests ask of a process that they started."""

    @property
    def pid(self) -> int:
        """Its number, and its group's."""

    def poll(self) -> int | None:
        """How it ended; None while it runs."""

    def wait(self) -> int:
        """How it ended, when it has."""


def start_worker(
    address: str, *options: str, environment: Mapping[str, str] | None = None, before: Sequence[str] = ()
) -> Process:
    """A worker process."""
    variables = {**os.environ, **(environment or {})}
    if not before and is_alike(variables):
        with Path(os.devnull).open("r+b") as nothing:
            words = ("tests.cluster.worker", address, *options)
            return Forked("workers", words, ROOT, variables, [nothing.fileno()] * 3)
    return subprocess.Popen(
        [*before, sys.executable, "-m", "tests.cluster.worker", address, *options],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@contextlib.contextmanager
def workers(address: str, *each: Sequence[str], cache: Path | None = None) -> Iterator[list[Process]]:
    """Worker processes, each with its options and, where a folder is given, its own cache; ended at the end."""
    started: list[Process] = []
    try:
        for number, options in enumerate(each):
            environment = {} if cache is None else {"PORTER_CACHE_DIR": str(cache / f"worker{number}")}
            started.append(start_worker(address, *options, environment=environment))
        yield started
    finally:
        for process in started:
            end(process)


def until_there(address: str, count: int) -> None:
    """Waits until a scheduler has so many workers, however slow the machine is."""
    import distributed
    from porter.validation.cluster.dask_backend import with_a_loop

    with with_a_loop(lambda: distributed.Client(address)) as client:  # type: ignore[no-untyped-call]
        deadline = time.monotonic() + 300
        while len(client.nthreads()) < count and time.monotonic() < deadline:
            time.sleep(0.1)


def end(process: Process) -> None:
    """As a machine that is switched off."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def other_porter(folder: Path) -> Path:
    """A copy of porter that differs in a file, for PYTHONPATH."""
    shutil.copytree(ROOT / "porter", folder / "porter", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("rules", "validation"):
        shutil.copytree(ROOT / name, folder / "porter" / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "porter/errors.py").write_text((ROOT / "porter/errors.py").read_text() + "\n# another version\n")
    return folder

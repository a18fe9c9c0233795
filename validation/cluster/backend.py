"""What a place that does tasks has to offer, and this machine's cores as one."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

from porter.validation.cluster.hands import Hands
from porter.validation.cluster.messages import Order, Reply
from porter.validation.cluster.trees import Tree

SendTree = Callable[[], "Tree | None"]
"""Lists the tree that a task needs, when it is known that it has to travel."""


@dataclass(frozen=True)
class Finished:
    """The end of a task: a reply, or how many workers it took with it."""

    number: int
    reply: Reply
    deaths: int = 0


class Backend(Protocol):
    """Does orders, in whatever order they come to an end."""

    @property
    def is_remote(self) -> bool:
        """Whether files have to travel."""

    @property
    def width(self) -> int:
        """How many tasks are done at a time."""

    def submit(self, number: int, order: Order, tree: Tree | None) -> None:
        """One task to be done."""

    def finished(self, seconds: float) -> Sequence[Finished]:
        """What came to an end, after waiting for at most so long."""

    def close(self) -> None:
        """Nothing more is wanted."""


class LocalBackend:
    """Processes of this machine."""

    is_remote = False

    def __init__(self, jobs: int) -> None:
        self.width = jobs
        self._hands = Hands()
        self._pool = ThreadPoolExecutor(jobs)
        self._ended: queue.SimpleQueue[Finished] = queue.SimpleQueue()

    def submit(self, number: int, order: Order, tree: Tree | None) -> None:
        """One task to be done."""
        del tree
        future = self._pool.submit(self._hands.do, replace(order, tree=None), "")
        future.add_done_callback(lambda done: self._end(number, done))

    def _end(self, number: int, done: Future[Reply]) -> None:
        if not done.cancelled():
            error = done.exception()
            reply = done.result() if error is None else Reply("crash", reason=f"{type(error).__name__}: {error}")
            self._ended.put(Finished(number, replace(reply, worker="local")))

    def finished(self, seconds: float) -> Sequence[Finished]:
        """What came to an end, after waiting for at most so long."""
        found: list[Finished] = []
        try:
            found.append(self._ended.get(timeout=seconds))
            while True:
                found.append(self._ended.get_nowait())
        except queue.Empty:
            return found

    def close(self) -> None:
        """Nothing more is wanted: what is in progress is ended."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._hands.close()
        self._pool.shutdown(wait=True)

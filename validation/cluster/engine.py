"""A run: tasks out of the store, to a backend, and what came of them back into the store as it comes."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from porter.validation.cluster.backend import Backend, Finished
from porter.validation.cluster.identity import machine, package_folders, porter_digest
from porter.validation.cluster.messages import Order
from porter.validation.cluster.trees import Tree, owner

from porter.system.cache import cache_folder
from porter.system.results import Result, Store, Task

Progress = Callable[[int, int, "float | None"], None]
"""Told how many tasks are done, how many there are, and the seconds that are left, where that is known."""
_SECONDS_BETWEEN_ESTIMATES = 5.0
_AHEAD = 3
_LEAST_AHEAD = 64


class Kind(Protocol):
    """What is done with the tasks of one command."""

    @property
    def name(self) -> str:
        """Its name in the store."""

    @property
    def handler(self) -> str:
        """What does it on workers."""

    @property
    def key(self) -> str:
        """What tells this run from others of the kind: a stopped one goes on when it is the same."""

    def tasks(self) -> Iterator[Task]:
        """All tasks, in the order of the document."""

    def payload(self, store: Store, task: Task) -> Mapping[str, Any]:
        """All that a worker has to know."""

    def tree(self, task: Task) -> Tree | None:
        """What has to travel."""

    def limit(self, task: Task) -> float:
        """Seconds after which a worker gives it up."""

    def lost(self, task: Task, reason: str) -> Mapping[str, Any]:
        """The answer of a task that nobody could answer."""


def digest_of(value: object) -> str:
    """Of anything that JSON has."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode("utf-8", "surrogatepass")).hexdigest()


def do_all(
    kind: Kind,
    store: Store,
    backend: Backend,
    needs: Sequence[str] = (),
    progress: Progress | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Lays out the run and does what is left of it; an interrupt leaves what was done."""
    key = digest_of([kind.key, porter_digest()])
    done = store.begin(kind.name, key, kind.tasks())
    total = store.count(kind.name)
    if done:
        say(f"{done} of {total} are done already, in {store.path}")
    clock = _Clock(store, kind.name, backend, done, total, progress)
    numbers = store.waiting(kind.name)
    flying: set[int] = set()
    left_out: set[str] = set()
    while True:
        most = max(backend.width * _AHEAD, _LEAST_AHEAD if backend.is_remote else 0)
        has_room = len(flying) <= most * 3 // 4  # several at a time are cheaper
        while has_room and len(flying) < most and (number := next(numbers, None)) is not None:
            task = store.task(kind.name, number)
            order, tree = _order(kind, store, task, backend, needs)
            for path in tree.left_out if tree is not None else ():
                if path not in left_out:
                    left_out.add(path)
                    say(f"{path} is too large to be sent to the workers")
            flying.add(number)
            backend.submit(number, order, tree)
        if not flying:
            return
        for finished in backend.finished(1.0):
            flying.discard(finished.number)
            store.put(kind.name, finished.number, _result(kind, store, finished))
            clock.advance()
        clock.show()


def _order(kind: Kind, store: Store, task: Task, backend: Backend, needs: Sequence[str]) -> tuple[Order, Tree | None]:
    order = Order(kind.handler, kind.payload(store, task), seconds=kind.limit(task))
    if not backend.is_remote:
        return order, None
    tree = kind.tree(task)
    order = replace(
        order,
        porter=porter_digest(),
        machine=machine(),
        needs=tuple(needs),
        tree=tree.name if tree is not None else None,
        home=owner(),
        folder=str(Path.cwd()) if tree is not None else "",
        cache=str(cache_folder()),
        packages=package_folders(),
    )
    return order, tree


def _result(kind: Kind, store: Store, finished: Finished) -> Result:
    reply = finished.reply
    value = reply.value
    if reply.state != "done":
        value = kind.lost(store.task(kind.name, finished.number), reply.reason)
    return Result(
        {name: one for name, one in value.items() if name != "parts"},
        bool(value.get("failed")),
        reply.seconds,
        reply.worker,
        tuple(value.get("parts", ())),
        finished.deaths,
    )


class _Clock:
    """How fast it goes, and how long it may take."""

    def __init__(
        self, store: Store, kind: str, backend: Backend, done: int, total: int, progress: Progress | None
    ) -> None:
        self._store, self._kind, self._backend, self._progress = store, kind, backend, progress
        self._done, self._total = done, total
        self._before, self._began = done, time.monotonic()
        self._left: float | None = None
        self._known = store.seconds_left(kind)
        self._at_first = self._known
        self._looked = time.monotonic()

    def advance(self) -> None:
        self._done += 1

    def show(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total, self._seconds_left())

    def _seconds_left(self) -> float | None:
        """By the times of the last run, corrected by how this one goes; else by the rate so far."""
        now = time.monotonic()
        made, elapsed = self._done - self._before, now - self._began
        if not made:
            return None if self._known is None else self._known / self._backend.width
        if self._at_first and now - self._looked > _SECONDS_BETWEEN_ESTIMATES:
            self._known, self._looked = self._store.seconds_left(self._kind), now
        if self._at_first and self._known is not None and self._known < self._at_first:
            return elapsed * self._known / (self._at_first - self._known)
        return elapsed * (self._total - self._done) / made

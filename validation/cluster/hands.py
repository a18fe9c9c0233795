"""The hands of a process: children that do orders, kept while they are of use, ended when they take too long."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

from porter.validation.cluster.messages import Order, Reply
from porter.validation.run.worker import Decoder, Garbled, write_frame
from porter.validation.toolchain.invoke import module_command

_MOST_ORDERS = 500
"""After so many a hand is replaced: what its caches hold is bounded."""


class Hands:
    """As many as there are threads that use them at a time."""

    def __init__(self) -> None:
        self._idle: list[_Hand] = []
        self._all: set[_Hand] = set()
        self._lock = threading.Lock()

    def do(self, order: Order, prefix: str) -> Reply:
        """One order in one of the hands; a hand that dies is a crash of the order."""
        hand = self._take(order)
        with self._ended_on_error(hand):
            reply = hand.do(order, prefix)
        if hand.is_fit:
            with self._lock:
                self._idle.append(hand)
        else:
            self._end(hand)
        return reply

    def close(self) -> None:
        """All of them end, whatever they are at."""
        with self._lock:
            self._idle.clear()
            ending, self._all = self._all, set()
        for hand in ending:
            hand.end()

    def _end(self, hand: _Hand) -> None:
        with self._lock:
            self._all.discard(hand)
        hand.end()

    @contextlib.contextmanager
    def _ended_on_error(self, hand: _Hand) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._end(hand)
            raise

    def _take(self, order: Order) -> _Hand:
        """One whose caches are right: that saw no other version of the tree, and paths from nowhere else."""
        tree, place = order.tree, (order.home, order.folder)
        while True:
            with self._lock:
                hand = self._idle.pop() if self._idle else None
            if hand is None:
                hand = _Hand(place)
                with self._lock:
                    self._all.add(hand)
                return hand
            if hand.place == place and (tree is None or hand.trees.get(tree.name, tree.digest) == tree.digest):
                return hand
            self._end(hand)


class _Hand:
    def __init__(self, place: tuple[str, str]) -> None:
        self.place = place
        self.trees: dict[str, str] = {}
        self._count = 0
        self._process = subprocess.Popen(
            module_command("porter.validation.cluster.hand"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )

    @property
    def is_fit(self) -> bool:
        return self._process.poll() is None and self._count < _MOST_ORDERS

    def do(self, order: Order, prefix: str) -> Reply:
        self._count += 1
        if order.tree is not None:
            self.trees[order.tree.name] = order.tree.digest
        assert self._process.stdin is not None
        try:
            write_frame(self._process.stdin, (order.packed(), prefix))
        except OSError:
            return Reply("crash", reason=self._how_it_died())
        answer = self._answer(time.monotonic() + order.seconds)
        if answer is None:
            self.end()
            return Reply("crash", reason=f"no end after {order.seconds:g} s")
        return answer if isinstance(answer, Reply) else Reply(**answer)

    def _answer(self, deadline: float) -> Any:
        stdout, decoder = self._process.stdout, Decoder()
        assert stdout is not None
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([stdout], [], [], min(left, 60.0))[0]:
                continue
            data = os.read(stdout.fileno(), 1 << 20)
            if not data:
                return Reply("crash", reason=self._how_it_died())
            try:
                found = decoder.feed(data)
            except Garbled as error:
                return Reply("crash", reason=f"the process said what is no answer ({error})")
            if found:
                return found[0]
        return None

    def _how_it_died(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        code = self._process.returncode or 0
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return f"the process died ({how})"

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

"""Child processes with a clock: one that hangs or dies is ended, its step is the verdict, and the rest goes on."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from porter.validation.run.codec import made
from porter.validation.run.task import Checked, SideKey, SidePlan, Task
from porter.validation.run.worker import Decoder, Garbled, write_frame
from porter.validation.toolchain.invoke import module_command
from porter.validation.verdict.outcome import Evidence, SideResult, Status

STARTING = 120.0
"""Seconds until the first step of a task has to begin."""


@dataclass(frozen=True)
class Lost:
    """A task without an answer: a bug of ours, or of the case's own Python."""

    reason: str
    traceback: str = ""


Answer = Checked | Lost
Deliver = Callable[[int, Answer], None]
Spare = list[subprocess.Popen[bytes]]
"""Children without a task."""


@contextlib.contextmanager
def spare_children() -> Iterator[Spare]:
    """For several crews, one after the other: starting a child takes as long as many a case."""
    spare: Spare = []
    try:
        yield spare
    finally:
        for process in spare:
            _kill(process)


class _Step(NamedTuple):
    """What a child is about to do, and how many seconds it may take."""

    side: SideKey | None
    step: str
    limit: float


NOT_UNDERSTOOD = (TypeError, ValueError, KeyError, IndexError, AttributeError)


def understood(answer: Any) -> _Step | Answer:
    """A child's answer, of which nothing is believed but what it should be made of."""
    kind, *rest = answer
    if kind not in ("step", "done", "crash"):
        raise ValueError(f"an answer of the kind {kind!r}")
    if kind == "step":
        side, step, limit = rest
        return _Step(_key(side), str(step), float(limit))
    (value,) = rest
    if kind == "done":
        return made(Checked, value)
    return Lost(str(value).strip().rpartition("\n")[2], str(value))


def _key(side: Any) -> SideKey | None:
    if side is None:
        return None
    name, device, warp = side
    return str(name), str(device), None if warp is None else str(warp)


@dataclass
class _Child:
    process: subprocess.Popen[bytes]
    decoder: Decoder = field(default_factory=Decoder)
    number: int | None = None
    task: Task | None = None
    side: SideKey | None = None
    step: str = ""
    limit: float = STARTING
    deadline: float = 0.0


class Crew:
    """Runs tasks in a number of child processes; with `spare` they outlive the tasks, and serve the next crew."""

    def __init__(self, tasks: Sequence[Task], jobs: int, deliver: Deliver, spare: Spare | None = None) -> None:
        self._waiting = deque(enumerate(tasks))
        self._jobs = max(1, min(jobs, len(tasks)))
        self._deliver = deliver
        self._spare = spare
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, _Child] = {}

    def run(self) -> None:
        """Do them all; on an interrupt the children end too."""
        try:
            for _ in range(self._jobs):
                self._start()
            while self._children:
                self._turn()
        finally:
            for child in list(self._children.values()):
                self._end(child)
            self._selector.close()

    def _start(self) -> None:
        if not self._waiting:
            return
        process = self._process()
        child = _Child(process)
        assert process.stdout is not None
        self._children[process.stdout.fileno()] = child
        self._selector.register(process.stdout, selectors.EVENT_READ)
        self._next(child)

    def _process(self) -> subprocess.Popen[bytes]:
        while self._spare:
            process = self._spare.pop()
            if process.poll() is None:
                return process
        return subprocess.Popen(
            module_command("porter.validation.run.worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )

    def _next(self, child: _Child) -> None:
        if not self._waiting and self._spare is not None:
            self._release(child)
            return
        if not self._waiting:
            self._end(child)
            return
        child.number, child.task = self._pick(child)
        child.side, child.step, child.limit = None, "start", STARTING
        child.deadline = time.monotonic() + STARTING
        assert child.process.stdin is not None
        try:
            write_frame(child.process.stdin, child.task)
        except OSError:
            self._died(child)

    def _pick(self, child: _Child) -> tuple[int, Task]:
        """A task of the file that the child has loaded, else of one that nobody has, else the next one."""
        mine = child.task.case.source if child.task is not None else None
        taken = {other.task.case.source for other in self._children.values() if other.task is not None}
        found = next((one for one in self._waiting if one[1].case.source == mine), None)
        found = found or next((one for one in self._waiting if one[1].case.source not in taken), None)
        found = found or self._waiting[0]
        self._waiting.remove(found)
        return found

    def _turn(self) -> None:
        now = time.monotonic()
        nearest = min(child.deadline for child in self._children.values())
        for key, _ in self._selector.select(max(0.0, nearest - now)):
            child = self._children.get(key.fd)
            if child is not None:
                self._hear(child, os.read(key.fd, 1 << 20))
        now = time.monotonic()
        for child in [child for child in self._children.values() if child.deadline <= now]:
            self._overdue(child)

    def _hear(self, child: _Child, data: bytes) -> None:
        if not data:
            self._died(child)
            return
        try:
            answers = [understood(answer) for answer in child.decoder.feed(data)]
        except (Garbled, *NOT_UNDERSTOOD) as error:
            self._end(child)
            self._again(child, Status.FAULT, f"the process said what is no answer ({error}): {child.step}")
            self._start()
            return
        for answer in answers:
            if isinstance(answer, _Step):
                child.side, child.step, child.limit = answer
                child.deadline = time.monotonic() + child.limit
                continue
            assert child.number is not None
            self._deliver(child.number, answer)
            self._next(child)

    def _overdue(self, child: _Child) -> None:
        status, reason = Status.TIMED_OUT, f"no end after {child.limit:g} s: {child.step}"
        self._end(child)
        self._again(child, status, reason)
        self._start()

    def _died(self, child: _Child) -> None:
        self._end(child)
        code = child.process.returncode or 0
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        self._again(child, Status.FAULT, f"the process died ({how}): {child.step}")
        self._start()

    def _again(self, child: _Child, status: Status, reason: str) -> None:
        """The side that took the process with it has its verdict; the other sides of the case are tried again."""
        if child.task is None or child.number is None:
            return
        plan = next((plan for plan in child.task.sides if plan.key == child.side), None)
        if plan is None:
            self._deliver(child.number, Lost(reason))
            return
        dead = (*child.task.dead, _dead(plan, status, reason, child.step))
        self._waiting.appendleft((child.number, replace(child.task, dead=dead)))

    def _release(self, child: _Child) -> None:
        assert self._spare is not None and child.process.stdout is not None
        del self._children[child.process.stdout.fileno()]
        self._selector.unregister(child.process.stdout)
        self._spare.append(child.process)

    def _end(self, child: _Child) -> None:
        stdout = child.process.stdout
        assert stdout is not None
        if stdout.fileno() in self._children:
            del self._children[stdout.fileno()]
            self._selector.unregister(stdout)
        _kill(child.process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stdin):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _dead(plan: SidePlan, status: Status, reason: str, step: str) -> SideResult:
    return SideResult(
        plan.side,
        plan.device,
        0,
        status,
        plan.warp,
        reason,
        Evidence(reason, step, ""),
        source=str(plan.program.source) if plan.program else "",
    )

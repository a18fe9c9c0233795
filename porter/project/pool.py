"""Runs the files of a project on all cores; a file that kills its worker costs that file, not the run."""

from __future__ import annotations

import gc
import mmap
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from porter.cpp.prescan import Scan, Standing, Wanted
from porter.engine.context import build_context, interesting_names, standing_of, wanted_words
from porter.engine.file import Context
from porter.project.neighbours import looked_at, neighbours
from porter.project.records import to_line
from porter.project.task import Sink, Task
from porter.project.worker import LARGEST_SOURCE, Done, do_file
from porter.project.writing import content_at, sha256
from porter.settings import Choices
from porter.system.limits import WITHOUT_CLANG, begin_file, end_file, is_out_of_time, limit_memory
from porter.system.reading import read_regular

_CHUNK_BYTES = 96 << 10
_DONE = -1
_SECONDS_BETWEEN_LOOKS = 1.0
Item = TypeVar("Item")
Result = TypeVar("Result")
_Apart: TypeAlias = "tuple[list[Result] | None, int | None]"


@dataclass(frozen=True)
class Job:
    """What a worker needs to know once; enough to build its context from where processes are not forked."""

    root: Path
    choices: Choices
    paths: tuple[str, ...]
    renamed: dict[str, str]
    sink: Sink


class Scanned(NamedTuple):
    """The quick look at one file; no digest: it could not be read."""

    path: str
    sha256: str | None
    scan: Scan


class Outcome(NamedTuple):
    """One finished file: its record as a line, its bytes when nobody wrote them, a traceback of ours."""

    number: int
    line: str
    data: bytes | None
    crash: str | None


@dataclass
class _State:
    """Per process: set before the workers are forked, or by the initializer where they are spawned."""

    job: Job
    context: Context
    interesting: Callable[[str], bool]
    standing: Callable[[str], Standing]
    wanted: Wanted
    marks: memoryview[int] | None
    """For each file the process that works on it; last, whether to begin no other one."""


_state: _State | None = None


class Pool:
    """Worker processes for one job; use as a context manager."""

    def __init__(self, job: Job, workers: int, files: int) -> None:
        forked = "fork" in multiprocessing.get_all_start_methods() and os.name == "posix"
        self._method = "fork" if forked else "spawn"
        self._job = job
        self._workers = workers
        self._marks = memoryview(mmap.mmap(-1, 4 * (files + 1))).cast("i") if forked else None
        self._executor: ProcessPoolExecutor | None = None
        self._workers_seen: dict[int, BaseProcess] = {}
        _prepare(job, self._marks)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *failure: object) -> None:
        self._stop()

    @property
    def rules(self) -> dict[str, str]:
        """Code and name of the rules in use."""
        assert _state is not None
        return {rule.code: rule.name for rule in _state.context.rules}

    def scan(self, paths_and_sizes: Sequence[tuple[str, int]]) -> Iterable[Scanned]:
        """A quick look at many files; one that cannot be read has no digest."""
        chunks = _chunks(paths_and_sizes)
        futures = {self._started().submit(_scan_chunk, chunk): chunk for chunk in chunks}
        for future, chunk in futures.items():
            try:
                yield from future.result()
            except BrokenProcessPool:
                self._stop()
                for path in chunk:
                    found, _ = self._apart(_scan_chunk, [path])
                    yield found[0] if found else Scanned(path, None, Scan())

    def neighbours(self, path: str) -> dict[str, tuple[str, Scan]]:
        """A quick look at what a single file includes."""
        assert _state is not None
        return neighbours(self._job.root, path, _state.interesting, _state.standing)

    def port(self, tasks_and_sizes: Sequence[tuple[Task, int]], deliver: Callable[[Outcome], None]) -> None:
        """Does all files; an error or an interrupt stops after the files in progress, and those are delivered."""
        pending = _chunks(tasks_and_sizes)
        while pending:
            broken = self._round(pending, deliver)
            if not broken:
                return
            self._stop()
            tasks = [task for chunk in broken for task in chunk]
            suspects = {task.number: self._end_of_worker(task) for task in tasks if self._was_begun(task)}
            if not suspects:
                suspects = dict.fromkeys((task.number for task in tasks), None)
            for task in tasks:
                if task.number in suspects:
                    deliver(self._alone(task, late=is_out_of_time(suspects[task.number])))
            pending = _chunks([(task, 1) for task in tasks if task.number not in suspects])

    def _was_begun(self, task: Task) -> bool:
        return self._marks is None or self._marks[task.number] > 0

    def _end_of_worker(self, task: Task) -> int | None:
        """The exit code of the process that had begun a file."""
        process = self._workers_seen.get(self._marks[task.number]) if self._marks is not None else None
        return None if process is None else process.exitcode

    def _round(self, chunks: Sequence[Sequence[Task]], deliver: Callable[[Outcome], None]) -> list[Sequence[Task]]:
        """Runs chunks and returns those whose worker died."""
        executor = self._started()
        futures: dict[Future[list[Outcome]], Sequence[Task]] = {}
        broken: list[Sequence[Task]] = []
        delivered: set[int] = set()

        def hand_over(outcomes: Iterable[Outcome]) -> None:
            """An interrupt may come anywhere: what it cut short is handed over again."""
            for outcome in outcomes:
                if outcome.number not in delivered:
                    deliver(outcome)
                    delivered.add(outcome.number)

        try:
            for chunk in chunks:
                futures[executor.submit(_port_chunk, chunk)] = chunk
            self._workers_seen = {one.pid: one for one in multiprocessing.active_children() if one.pid is not None}
            for future in as_completed(futures):
                try:
                    outcomes = future.result()
                except BrokenProcessPool:
                    broken.append(futures[future])
                    continue
                hand_over(outcomes)
        except BaseException:
            self._stop()
            for future in futures:
                if future.done() and not future.cancelled() and future.exception() is None:
                    hand_over(future.result())
            raise
        return broken

    def _alone(self, task: Task, *, late: bool) -> Outcome:
        """A file in a process of its own: as it is if it was not too slow, then without clang, then only copied."""
        ways: tuple[dict[str, Any], ...] = (
            *({}, {"with_clang": False}),
            {"is_code": False, "with_clang": False, "key": ""},
        )
        for less in ways[late:]:
            found, code = self._apart(_port_chunk, [task._replace(out_of_time=late, **less)])
            if found:
                return found[0]
            late = is_out_of_time(code)
        raise BrokenProcessPool(f"{task.path}: the worker process died three times")

    def _apart(self, function: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]) -> _Apart[Result]:
        """A function in a process of its own: what it gives, or None, and how the process ended."""
        context = multiprocessing.get_context(self._method)
        receiver, sender = context.Pipe(duplex=False)
        job = None if self._method == "fork" else self._job
        process = context.Process(target=_send, args=(job, sender, function, items), daemon=True)  # type: ignore[attr-defined]
        process.start()
        sender.close()
        try:
            found: list[Result] | None = receiver.recv()
        except EOFError:
            found = None
        receiver.close()
        process.join()
        return found, process.exitcode

    def _started(self) -> ProcessPoolExecutor:
        if self._executor is None:
            self._executor = _executor(self._job, self._method, self._workers)
        return self._executor

    def _stop(self) -> None:
        """Lets files in progress end, and starts no others."""
        if self._marks is not None:
            self._marks[len(self._marks) - 1] = 1
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None
        if self._marks is not None:
            self._marks[len(self._marks) - 1] = 0


def _send(
    job: Job | None, sender: Connection, function: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]
) -> None:
    _initialize(job)
    sender.send(function(items))


def _executor(job: Job, method: str, workers: int) -> ProcessPoolExecutor:
    arguments = (None,) if method == "fork" else (job,)
    return ProcessPoolExecutor(
        workers, multiprocessing.get_context(method), initializer=_initialize, initargs=arguments
    )


def _initialize(job: Job | None) -> None:
    """First thing in a worker: signals are the parent's to handle; a spawned worker builds its own context."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    gc.set_threshold(1_000_000, 10, 10)  # a file leaves no circles behind, so there is little to find
    limit_memory()
    if job is not None:
        _prepare(job, None)


def _end_with(parent: int) -> None:
    """Ends this worker when the parent was killed: an idle worker would wait for it for ever."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _prepare(job: Job, marks: memoryview[int] | None) -> None:
    global _state
    from porter.cpp.clang.view import prepare

    prepare()
    context = build_context(job.choices, job.paths, job.renamed)
    _state = _State(job, context, interesting_names(context), standing_of(context), wanted_words(context), marks)
    gc.freeze()


def _chunks(items: Sequence[tuple[object, int]]) -> list[list]:  # type: ignore[type-arg]
    """Large files one by one first, so that no core waits long at the end; then groups of some size, of files that
    stand beside one another: they include the same headers, which a process reads once while it is at them."""
    large = sorted((pair for pair in items if pair[1] >= _CHUNK_BYTES), key=lambda pair: -pair[1])
    chunks: list[list[object]] = [[item] for item, _ in large]
    size = _CHUNK_BYTES
    for item, weight in items:
        if weight < _CHUNK_BYTES:
            if size >= _CHUNK_BYTES:
                chunks.append([])
                size = 0
            chunks[-1].append(item)
            size += weight + 512
    return chunks


def _scan_chunk(paths: Sequence[str]) -> list[Scanned]:
    assert _state is not None
    found: list[Scanned] = []
    for path in paths:
        begin_file()
        found.append(_scan_file(_state, path))
        end_file()
    return found


def _scan_file(state: _State, path: str) -> Scanned:
    place = f"{state.job.root}/{path}"
    try:
        if os.stat(place).st_size > LARGEST_SOURCE:  # noqa: PTH116
            return Scanned(path, content_at(Path(place)).sha256, Scan())
        data = read_regular(place)
    except OSError:
        return Scanned(path, None, Scan())
    return Scanned(path, sha256(data), looked_at(path, data, state.interesting, state.standing, state.wanted))


def _port_chunk(tasks: Sequence[Task]) -> list[Outcome]:
    assert _state is not None
    outcomes: list[Outcome] = []
    marks = _state.marks
    for task in tasks:
        if marks is not None:
            if marks[len(marks) - 1]:
                break
            marks[task.number] = os.getpid()
        begin_file(1.0 if task.with_clang else WITHOUT_CLANG)
        outcomes.append(_outcome(task, do_file(task, _state.job.root, _state.context, _state.job.sink)))
        end_file()
        if marks is not None:
            marks[task.number] = _DONE
    return outcomes


def _outcome(task: Task, done: Done) -> Outcome:
    return Outcome(task.number, to_line(done.record), done.data, done.crash)

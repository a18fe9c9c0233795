"""One SQLite file that the results of a long run stream into: what is to be done, what came of it, how it went before.

A file holds one run per kind (`validate`, `build`, ...). A run that was stopped goes on where it was; when the next one
begins, what is known of the last one's tasks - whether they failed, how long they took - is kept for its order.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porter.errors import Unusable

_APPLICATION = 0x706F7274
_VERSION = 1
_SECONDS_BETWEEN_COMMITS = 0.5
_TABLES = """
CREATE TABLE run(kind TEXT PRIMARY KEY, key TEXT NOT NULL, head TEXT NOT NULL, began REAL NOT NULL, ended REAL);
CREATE TABLE task(
    kind TEXT, number INTEGER, name TEXT NOT NULL, about TEXT NOT NULL, payload BLOB NOT NULL, digest TEXT NOT NULL,
    touched TEXT NOT NULL, state INTEGER NOT NULL DEFAULT 0, failed INTEGER, seconds REAL, worker TEXT,
    deaths INTEGER NOT NULL DEFAULT 0, answer BLOB, part BLOB, PRIMARY KEY(kind, number)) WITHOUT ROWID;
CREATE INDEX task_about ON task(kind, about);
CREATE TABLE memory(
    kind TEXT, name TEXT, touched TEXT NOT NULL, failed INTEGER NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY(kind, name)) WITHOUT ROWID;
CREATE TABLE worker(
    kind TEXT, address TEXT, host TEXT NOT NULL, refused TEXT, about TEXT NOT NULL, tasks INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(kind, address)) WITHOUT ROWID;
"""
_ORDER = """
SELECT t.number FROM task t LEFT JOIN memory m ON m.kind = t.kind AND m.name = t.name
WHERE t.kind = ? AND t.state = 0
ORDER BY COALESCE(m.failed, 0) DESC, (m.name IS NULL OR m.touched <> t.touched) DESC, COALESCE(m.seconds, 1e9) DESC,
    t.number
"""
"""What failed last time first, then what changed or is new, then what takes longest."""


@dataclass(frozen=True)
class Task:
    """Something to be done: its name, what it shares with others of its kind, and all that decides the result."""

    name: str
    payload: Mapping[str, Any]
    digest: str
    about: str = ""
    touched: str = ""
    """Digest of what the task is mostly about: when it differs, the task comes early."""


@dataclass(frozen=True)
class Result:
    """What came of a task, and its parts of the document."""

    answer: Mapping[str, Any]
    failed: bool
    seconds: float
    worker: str = ""
    parts: Sequence[Mapping[str, Any]] = ()
    deaths: int = 0


class Store:
    """An open file of results; use as a context manager."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._lock = -1
        try:
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._lock = _locked(path.with_name(path.name + "-lock"))
            self._base = _opened(path, read_only=read_only)
        except BlockingIOError:
            raise Unusable(f"{path}: another run writes to it") from None
        except (sqlite3.Error, OSError) as error:
            raise Unusable(f"{path}: {error}") from None
        self._committed = time.monotonic()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Everything is on the disk."""
        try:
            self._base.commit()
        finally:
            self._base.close()
            if self._lock >= 0:
                os.close(self._lock)

    # -- a run ----------------------------------------------------------------------------------------

    def begin(self, kind: str, key: str, tasks: Iterable[Task]) -> int:
        """Lays out a run, and says how many of its tasks an earlier run of the same key, that was stopped, has done."""
        with self._base:
            before = self._base.execute("SELECT key, ended FROM run WHERE kind = ?", (kind,)).fetchone()
            goes_on = before is not None and before[0] == key and before[1] is None
            self._remember(kind)
            self._base.execute("CREATE TEMP TABLE IF NOT EXISTS old AS SELECT * FROM task WHERE 0")
            self._base.execute("DELETE FROM old")
            if goes_on:
                self._base.execute("INSERT INTO old SELECT * FROM task WHERE kind = ? AND state = 1", (kind,))
            self._base.execute("DELETE FROM task WHERE kind = ?", (kind,))
            self._base.execute("DELETE FROM worker WHERE kind = ?", (kind,))
            rows = (
                (kind, number, task.name, task.about, _packed(task.payload), task.digest, task.touched)
                for number, task in enumerate(tasks)
            )
            columns = "kind, number, name, about, payload, digest, touched"
            self._base.executemany(f"INSERT INTO task({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            self._base.execute("CREATE INDEX IF NOT EXISTS temp.old_name ON old(name)")
            self._base.execute(
                "UPDATE task SET (state, failed, seconds, worker, deaths, answer, part) = "
                "(SELECT 1, o.failed, o.seconds, o.worker, o.deaths, o.answer, o.part FROM old o "
                "WHERE o.name = task.name AND o.digest = task.digest) WHERE kind = ? AND EXISTS "
                "(SELECT 1 FROM old o WHERE o.name = task.name AND o.digest = task.digest)",
                (kind,),
            )
            self._base.execute("DELETE FROM old")
            self._base.execute(
                "INSERT OR REPLACE INTO run VALUES (?, ?, '{}', ?, NULL)",
                (kind, key, time.time()),
            )
        return self.count(kind, 1)

    def _remember(self, kind: str) -> None:
        self._base.execute(
            "INSERT OR REPLACE INTO memory SELECT kind, name, touched, failed, seconds FROM task "
            "WHERE kind = ? AND state = 1 AND failed IS NOT NULL",
            (kind,),
        )

    def end(self, kind: str, head: Mapping[str, Any], key: str) -> None:
        """The run is complete; `head` is its document without the parts, which go under a key."""
        with self._base:
            self._remember(kind)
            text = json.dumps({"head": head, "key": key})
            self._base.execute("UPDATE run SET ended = ?, head = ? WHERE kind = ?", (time.time(), text, kind))

    # -- tasks ----------------------------------------------------------------------------------------

    def count(self, kind: str, state: int | None = None) -> int:
        """Tasks, or those that are done (1) or are not (0)."""
        where = "" if state is None else f" AND state = {int(state)}"
        (found,) = self._base.execute(f"SELECT COUNT(*) FROM task WHERE kind = ?{where}", (kind,)).fetchone()
        return int(found)

    def waiting(self, kind: str) -> Iterator[int]:
        """Numbers of what is left to do, in the order of the work."""
        numbers = [number for (number,) in self._base.execute(_ORDER, (kind,))]
        return iter(numbers)

    def task(self, kind: str, number: int) -> Task:
        """One task."""
        row = self._base.execute(
            "SELECT name, payload, digest, about, touched FROM task WHERE kind = ? AND number = ?", (kind, number)
        ).fetchone()
        return Task(row[0], _unpacked(row[1]), row[2], row[3], row[4])

    def payloads_about(self, kind: str, about: str) -> Iterator[Mapping[str, Any]]:
        """Of the tasks that share something."""
        for (payload,) in self._base.execute("SELECT payload FROM task WHERE kind = ? AND about = ?", (kind, about)):
            yield _unpacked(payload)

    def seconds_left(self, kind: str) -> float | None:
        """The work that is left, by the times of the last run; None where a task has none."""
        unknown, seconds = self._base.execute(
            "SELECT SUM(m.name IS NULL), SUM(m.seconds) FROM task t LEFT JOIN memory m "
            "ON m.kind = t.kind AND m.name = t.name WHERE t.kind = ? AND t.state = 0",
            (kind,),
        ).fetchone()
        return None if unknown or seconds is None else float(seconds)

    def put(self, kind: str, number: int, result: Result) -> None:
        """A result; on the disk within half a second."""
        self._base.execute(
            "UPDATE task SET state = 1, failed = ?, seconds = ?, worker = ?, deaths = ?, answer = ?, part = ? "
            "WHERE kind = ? AND number = ?",
            (
                result.failed,
                result.seconds,
                result.worker,
                result.deaths,
                _packed(result.answer),
                _packed(result.parts),
                kind,
                number,
            ),
        )
        if time.monotonic() - self._committed > _SECONDS_BETWEEN_COMMITS:
            self._base.commit()
            self._committed = time.monotonic()

    def answers(self, kind: str) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        """What is done, in the order of the document, one at a time."""
        rows = self._base.execute(
            "SELECT name, payload, digest, about, answer FROM task WHERE kind = ? AND state = 1 ORDER BY number",
            (kind,),
        )
        for name, payload, digest, about, answer in rows:
            yield Task(name, _unpacked(payload), digest, about), _unpacked(answer)

    def answer_at(self, kind: str, number: int) -> Mapping[str, Any] | None:
        """What came of one task."""
        row = self._base.execute("SELECT answer FROM task WHERE kind = ? AND number = ?", (kind, number)).fetchone()
        return None if row is None or row[0] is None else _unpacked(row[0])

    # -- workers --------------------------------------------------------------------------------------

    def worker(self, kind: str, address: str, host: str, refused: str | None, about: Mapping[str, Any]) -> None:
        """A worker that was asked who it is, and why it gets no work."""
        with self._base:
            self._base.execute(
                "INSERT OR REPLACE INTO worker(kind, address, host, refused, about) VALUES (?, ?, ?, ?, ?)",
                (kind, address, host, refused, json.dumps(about)),
            )

    def workers(self, kind: str) -> list[tuple[str, str, str | None, Mapping[str, Any]]]:
        """Address, host, why it was refused, and what it says of itself."""
        rows = self._base.execute(
            "SELECT address, host, refused, about FROM worker WHERE kind = ? ORDER BY address", (kind,)
        )
        return [(address, host, refused, json.loads(about)) for address, host, refused, about in rows]

    # -- documents ------------------------------------------------------------------------------------

    def documents(self) -> Iterator[Mapping[str, Any]]:
        """The document of every run; Unusable where one is not complete."""
        for kind, text, ended in self._base.execute("SELECT kind, head, ended FROM run ORDER BY kind").fetchall():
            if ended is None:
                left = self.count(kind, 0)
                raise Unusable(f"{self.path}: the run of `porter {kind}` is not complete: {left} tasks are left")
            read = json.loads(text)
            if read["key"]:
                yield {**read["head"], read["key"]: list(self.parts(kind))}

    def parts(self, kind: str) -> Iterator[Mapping[str, Any]]:
        """The parts of a document, in its order."""
        rows = self._base.execute(
            "SELECT part FROM task WHERE kind = ? AND state = 1 AND part IS NOT NULL ORDER BY number", (kind,)
        )
        for (part,) in rows:
            yield from _unpacked(part)


def is_store(path: Path) -> bool:
    """Whether a file begins as SQLite's do."""
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _locked(path: Path) -> int:
    """Held until it is closed; not the file itself, whose locks are SQLite's."""
    import fcntl

    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    return handle


def _opened(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if read_only:
        base = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    else:
        base = sqlite3.connect(path)
    (application,) = base.execute("PRAGMA application_id").fetchone()
    (version,) = base.execute("PRAGMA user_version").fetchone()
    (tables,) = base.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if tables and application != _APPLICATION:
        raise OSError("not a store of porter's")
    if tables and version != _VERSION:
        raise OSError(f"a store of another version ({version}, this porter writes {_VERSION})")
    if not read_only:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = NORMAL")
        if not tables:
            base.executescript(f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {_VERSION};{_TABLES}")
    return base


def _packed(value: Any) -> bytes:
    return zlib.compress(json.dumps(value).encode("utf-8", "surrogatepass"), 1)


def _unpacked(data: bytes) -> Any:
    return json.loads(zlib.decompress(data).decode("utf-8", "surrogatepass"))

"""What earlier checks found out about files, by content: one SQLite file in the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from porter.system.cache import is_ours, kept_folder

_MOST_ROWS = 200_000
_AT_ONCE = 500
_SUM = 16
_SCHEMA = "CREATE TABLE IF NOT EXISTS known (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


class Store:
    """Answers by key; where nothing can be kept, it forgets, and the check only takes longer."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._fresh: dict[str, bytes] = {}

    @property
    def trees(self) -> Path | None:
        """The folder for what is known of whole trees."""
        return self._path.parent / "trees-1" if self._path is not None else None

    def get(self, keys: Iterable[str]) -> dict[str, str]:
        """The values known for some of the keys."""
        wanted = list(dict.fromkeys(keys))
        found = {key: self._fresh[key] for key in wanted if key in self._fresh}
        with self._connection() as connection:
            if connection is not None:
                for start in range(0, len(wanted), _AT_ONCE):
                    part = wanted[start : start + _AT_ONCE]
                    marks = ",".join("?" * len(part))
                    found |= dict(connection.execute(f"SELECT key, value FROM known WHERE key IN ({marks})", part))
        texts = {key: unpacked(value) for key, value in found.items()}
        return {key: text for key, text in texts.items() if text is not None}

    def put(self, values: Mapping[str, str]) -> None:
        """Keeps values; they are written by `save`."""
        self._fresh.update((key, packed(value)) for key, value in values.items())

    def save(self) -> None:
        """Writes what is fresh; a file that has grown too large begins anew."""
        if not self._fresh:
            return
        with self._connection() as connection:
            if connection is None:
                return
            (rows,) = connection.execute("SELECT COUNT(*) FROM known").fetchone()
            if rows > _MOST_ROWS:
                connection.execute("DELETE FROM known")
            connection.executemany("INSERT OR REPLACE INTO known VALUES (?, ?)", self._fresh.items())
            connection.commit()
            self._fresh.clear()

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection | None]:
        if self._path is None:
            yield None
            return
        connection = _opened(self._path)
        try:
            yield connection
        except sqlite3.OperationalError:
            """Locked by another check, or the disk is full: it stays unknown."""
        except sqlite3.DatabaseError:
            self._path.unlink(missing_ok=True)  # damaged: the next check begins anew
        finally:
            if connection is not None:
                connection.close()


def packed(text: str) -> bytes:
    """A text with its digest, smaller."""
    data = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
    return hashlib.blake2b(data, digest_size=_SUM).digest() + data


def unpacked(value: bytes) -> str | None:
    """What was packed; None when it was damaged since."""
    data = value[_SUM:]
    if hashlib.blake2b(data, digest_size=_SUM).digest() != value[:_SUM]:
        return None
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def _opened(path: Path) -> sqlite3.Connection | None:
    for _ in range(2):
        connection = None
        try:
            connection = sqlite3.connect(path, timeout=10)
            connection.execute("PRAGMA synchronous = OFF")  # what a machine without power damaged is found again
            connection.execute(_SCHEMA)
            return connection
        except sqlite3.OperationalError:
            if connection is not None:
                connection.close()
            return None
        except sqlite3.DatabaseError:
            if connection is not None:
                connection.close()
            path.unlink(missing_ok=True)
    return None


def user_store() -> Store:
    """The store in the user's cache (`PORTER_CACHE_DIR`, or below `XDG_CACHE_HOME`)."""
    try:
        path = kept_folder("check") / "known-2.sqlite"
    except OSError:
        return Store(None)
    return Store(path if is_ours(path) or not os.path.lexists(path) else None)

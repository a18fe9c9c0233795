"""What earlier checks found out about files, by content: one SQLite file in the user's cache."""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from porter.parsing.cache import private_folder

_MOST_ROWS = 200_000
_AT_ONCE = 500
_SCHEMA = "CREATE TABLE IF NOT EXISTS known (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


class Store:
    """Answers by key; where nothing can be kept, it forgets, and the check only takes longer."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._fresh: dict[str, bytes] = {}

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
        return {key: zlib.decompress(value).decode() for key, value in found.items()}

    def put(self, values: Mapping[str, str]) -> None:
        """Keeps values; they are written by `save`."""
        self._fresh.update((key, zlib.compress(value.encode(), 1)) for key, value in values.items())

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
        finally:
            if connection is not None:
                connection.close()


def _opened(path: Path) -> sqlite3.Connection | None:
    for _ in range(2):
        connection = None
        try:
            connection = sqlite3.connect(path, timeout=10)
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
    folder = private_folder("check")
    return Store(folder / "known-1.sqlite" if folder is not None else None)

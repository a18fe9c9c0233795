"""The committed file of accepted gaps: one entry a line, without line numbers, so that it survives moves and merges."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from porter.check.committed import read_committed, write_committed
from porter.check.matching import Mark
from porter.errors import Unusable

NAME = ".porter-baseline.json"
SCHEMA = "porter-baseline-1"
_AGAIN = "bring back what git has of it, or move it away and write it again with --update-baseline"
"""Writing it over would lose the reasons in it."""


class Accepted(NamedTuple):
    """One gap that the project lives with."""

    mark: Mark
    effort: str
    reason: str | None = None

    def described(self) -> str:
        """The entry in one line."""
        inside = f" in {self.mark.kernel}" if self.mark.kernel else ""
        name = f" {self.mark.name}" if self.mark.name else ""
        return f"{self.mark.path}: {self.mark.code}{name}{inside}"


def read_baseline(path: Path) -> tuple[Accepted, ...]:
    """The accepted gaps; none where there is no file."""
    try:
        document = read_committed(path)
    except FileNotFoundError:
        return ()
    try:
        if document["schema"] != SCHEMA:
            raise Unusable(f"{path}: a baseline of another porter ({document['schema']!r:.60}); {_AGAIN}")
        return tuple(map(_accepted, document["accepted"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise Unusable(f"{path}: no baseline, or damaged ({type(error).__name__}: {error}); {_AGAIN}") from None


def _accepted(item: dict[str, Any]) -> Accepted:
    texts = [item["path"], item["code"], item["effort"], item.get("name", ""), item.get("context", "")]
    maybe = [item.get("kernel"), item.get("reason")]
    if not all(isinstance(text, str) for text in (*texts, *filter(None, maybe))):
        raise TypeError(f"{item!r:.60}")
    mark = Mark(item["path"], item.get("kernel"), item["code"], item.get("name", ""), item.get("context", ""))
    return Accepted(mark, item["effort"], item.get("reason"))


def baseline_text(entries: Iterable[Accepted]) -> str:
    """The file's text: sorted, one entry a line."""
    items = ",\n".join("  " + json.dumps(_json(entry)) for entry in _ordered(entries))
    body = f"[\n{items}\n ]" if items else "[]"
    return f'{{\n "schema": "{SCHEMA}",\n "accepted": {body}\n}}\n'


def _ordered(entries: Iterable[Accepted]) -> list[Accepted]:
    return sorted(entries, key=lambda entry: (entry.mark.path, entry.mark.kernel or "", entry.mark[2:]))


def _json(entry: Accepted) -> dict[str, Any]:
    document: dict[str, Any] = {"path": entry.mark.path, "code": entry.mark.code, "effort": entry.effort}
    for key, value in (
        ("kernel", entry.mark.kernel),
        ("name", entry.mark.name),
        ("context", entry.mark.context),
        ("reason", entry.reason),
    ):
        if value:
            document[key] = value
    return document


def write_baseline(path: Path, entries: Iterable[Accepted]) -> None:
    """Writes the file atomically."""
    write_committed(path, baseline_text(entries))

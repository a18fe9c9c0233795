"""The file of `--history`: one line of JSON per run, so that a trend can be shown; lines are only added."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from porter.errors import Unusable
from porter.project.writing import content_of, write_atomically
from porter.report.gap.model import GapReport, Past
from porter.system.reading import LARGEST_DOCUMENT, parsed_json, read_regular

SCHEMA = "porter-history-1"
_MOST = 200
"""Of the newest runs that a report shows."""


def past_runs(path: Path) -> tuple[Past, ...]:
    """What the file holds, oldest first; nothing where it is not there yet."""
    try:
        lines = _held(path).decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise Unusable(f"{path}: {error}") from None
    return tuple(_past(path, number, line) for number, line in enumerate(lines, 1) if line.strip())[-_MOST:]


def _past(path: Path, number: int, line: str) -> Past:
    try:
        one = parsed_json(line)
        if one["schema"] != SCHEMA:
            raise ValueError(f"schema {one['schema']!r} is not {SCHEMA}")
        states = {str(state): _count(count) for state, count in one["states"].items()}
        manual, review, failed = (_count(one[name]) for name in ("manual", "review", "failed"))
        return Past(str(one["date"]), str(one["commit"]), states, manual, review, failed)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unusable(f"{path}:{number}: no line of a history ({error})") from None


def _count(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no count")
    return value


def _held(path: Path) -> bytes:
    """The content of the file, empty where there is none; Unusable where something else stands there."""
    try:
        return read_regular(path, LARGEST_DOCUMENT)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None


def this_run(report: GapReport) -> Past:
    """What this report comes to."""
    return Past(
        report.made.date,
        report.made.commit,
        {state.value: count for state, count in report.states.items() if count},
        int(report.totals.get("manual", 0)),
        int(report.totals.get("review", 0)),
        len(report.failed),
    )


def append_run(path: Path, run: Past) -> None:
    """Adds one line; nothing is added where the last line says the same of the same commit."""
    known = past_runs(path)
    if known and known[-1]._replace(date="") == run._replace(date=""):
        return
    held = _held(path)
    line = json.dumps({"schema": SCHEMA, **run._asdict()}).encode() + b"\n"
    between = b"" if held.endswith(b"\n") or not held else b"\n"
    write_atomically(path, content_of(held + between + line), 0o644)

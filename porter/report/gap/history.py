"""The file of `--history`: one line of JSON per run, so that a trend can be shown; lines are only added."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from porter.errors import Unusable
from porter.report.gap.model import GapReport, Past

SCHEMA = "porter-history-1"
_MOST = 200
"""Of the newest runs that a report shows."""


def past_runs(path: Path) -> tuple[Past, ...]:
    """What the file holds, oldest first; nothing where it is not there yet."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{path}: {error}") from None
    return tuple(_past(path, number, line) for number, line in enumerate(lines, 1) if line.strip())[-_MOST:]


def _past(path: Path, number: int, line: str) -> Past:
    try:
        one: Mapping[str, Any] = json.loads(line)
        if one["schema"] != SCHEMA:
            raise ValueError(f"schema {one['schema']!r} is not {SCHEMA}")
        states = {str(state): int(count) for state, count in one["states"].items()}
        return Past(one["date"], one["commit"], states, one["manual"], one["review"], one["failed"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unusable(f"{path}:{number}: no line of a history ({error})") from None


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
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"schema": SCHEMA, **run._asdict()}) + "\n")

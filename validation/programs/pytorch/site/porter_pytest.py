"""A plugin for pytest: each test's outcome, as it ends, for the report of the run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_REASON = 300


class _Kept:
    """Where lines go; None where this is no run of porter, or a worker whose controller tells."""

    path: Path | None = None
    waiting: dict[str, list[Any]] = {}  # noqa: RUF012


def pytest_configure(config: Any) -> None:
    """Find the folder."""
    folder = os.environ.get("PORTER_RUN_REPORT")
    if folder and not hasattr(config, "workerinput"):
        _Kept.path = Path(folder, f"{os.getpid()}.tests")


def _write(*row: str) -> None:
    if _Kept.path is not None:
        with _Kept.path.open("a") as file:
            file.write(json.dumps(row) + "\n")


def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    """So that a test during which the process ends is known."""
    _write("start", nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    """The worst of set-up, call and tear-down."""
    _Kept.waiting.setdefault(report.nodeid, []).append(report)
    if report.when == "teardown":
        _write("end", report.nodeid, *_outcome(_Kept.waiting.pop(report.nodeid)))


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be collected is an error, one that is skipped as a whole a skipped test."""
    if report.failed:
        _write("end", report.nodeid, "error", _last_line(report))
    elif report.skipped:
        _write("end", report.nodeid, "skipped", _last_line(report))


def _outcome(reports: list[Any]) -> tuple[str, str]:
    for report in reports:
        expected = hasattr(report, "wasxfail")
        if report.failed:
            return ("failed" if report.when == "call" else "error"), _last_line(report)
        if report.skipped:
            return ("xfailed" if expected else "skipped"), report.wasxfail if expected else _last_line(report)
        if expected:
            return "xpassed", ""
    return "passed", ""


def _last_line(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    if isinstance(report.longrepr, tuple):
        text = str(report.longrepr[2])
    else:
        text = str(crash.message if crash is not None else report.longrepr or "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if crash is None and not isinstance(report.longrepr, tuple):
        lines = lines[-1:]
    return lines[0][:_REASON] if lines else ""

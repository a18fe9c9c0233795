"""Times one case on this machine's GPUs, or estimates it, on the machine that does it."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.validation.cases.case import CaseError
from porter.validation.cases.hooks import HookFailed
from porter.validation.cluster.here import here
from porter.validation.estimate import bench as estimate
from porter.validation.run import bench
from porter.validation.run.codec import made, plain
from porter.validation.verdict.outcome import FileError, Status

from porter.system.cache import kept_folder


def do(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The timings of one case; nothing else is timed on this machine meanwhile."""
    request = made(bench.BenchRequest, payload["request"])
    request = replace(request, paths=(here(payload["path"]),), names=(payload["case"],), tree=_tree(request.tree))
    with _alone():
        report = bench.bench(request)
    fine = report.is_done or (not report.errors and all(row.status is Status.PASSED for row in report.timings))
    return {"rows": plain(report.timings), "errors": plain(report.errors), "failed": not fine}


def do_estimate(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The estimates of one case."""
    request = made(estimate.EstimateRequest, payload["request"])
    request = replace(request, paths=(here(payload["path"]),), names=(payload["case"],), tree=_tree(request.tree))
    try:
        report = estimate.estimate_cases(request)
    except (CaseError, HookFailed) as error:
        wrong = FileError(str(error.path), error.line, error.message)
        return {"rows": [], "errors": plain([wrong]), "failed": True}
    return {"rows": plain(report.rows), "errors": plain(report.errors), "failed": not report.is_done}


def _tree(path: Path | None) -> Path | None:
    return None if path is None else here(path)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    with (kept_folder("runs") / "timing.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

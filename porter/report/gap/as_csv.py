"""Kernels and actions as tables for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from porter.report.gap.model import GapReport

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Text that begins so is run as a formula by spreadsheets."""


def kernels_csv(report: GapReport) -> str:
    """One line per kernel."""
    head = (
        *("kernel", "path", "line", "state", "by_hand", "to_review", "rewritten", "hazards_open", "hazards"),
        *(
            "target",
            "vgprs",
            "agprs",
            "lds_bytes",
            "scratch_bytes",
            "spills",
            "waves_per_simd",
            "cases",
            "passed",
            "ulps",
        ),
    )
    rows = []
    for kernel in report.kernels:
        build = next(iter(kernel.builds), None)
        need: Sequence[object] = (
            (build.target, build.vgprs, build.agprs, build.lds_bytes, build.scratch_bytes, build.spills)
            if build is not None
            else ("",) * 6
        )
        rows.append(
            (
                *(kernel.name, kernel.path, kernel.line, kernel.state.label, kernel.manual, kernel.review),
                *(kernel.rewritten, kernel.open_hazards, kernel.hazards, *need),
                build.waves_per_simd if build is not None else "",
                len(kernel.cases),
                sum(case.status == "passed" for case in kernel.cases),
                next((ulps for case in kernel.cases if (ulps := case.max_ulps)), ""),
            )
        )
    return _table(head, rows)


def files_csv(report: GapReport) -> str:
    """One line per file of the project."""
    head = ("path", "output", "status", "lines", "lines_changed", "lines_added", "converted", "rewritten")
    rows = ((*(file.get(name) for name in head), file.get("review"), file.get("manual")) for file in report.files)
    return _table((*head, "to_review", "by_hand"), rows)


def actions_csv(report: GapReport) -> str:
    """One line per action, in the order of the report."""
    head = ("rank", "kind", "what", "code", "path", "line", "owner", "kernels", "places", "minutes", "basis", "command")
    rows = (
        (
            *(rank, one.kind, one.what, one.code, one.path, one.line or "", one.owner, one.kernels, one.places),
            *(one.minutes, one.basis, one.command),
        )
        for rank, one in enumerate(report.actions, 1)
    )
    return _table(head, rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return target.getvalue()


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text

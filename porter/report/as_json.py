"""The report as the JSON document that `schemas/report.json` describes."""

from __future__ import annotations

from typing import Any

from porter.report.document import SCHEMA, Counts, FileLine, KernelLine, Located, Report


def report_json(report: Report) -> dict[str, Any]:
    """The whole report as plain JSON."""
    header = report.header
    names = {line.code: line.rule for line in report.codes}
    return {
        "schema": SCHEMA,
        "porter": header.porter,
        "command": header.command,
        "source": header.source,
        "output": header.output,
        "settings": dict(header.settings),
        "notes": list(header.notes),
        "left_out": list(header.left_out),
        "totals": {
            "files": len(report.files),
            "by_status": dict(report.statuses),
            "reused": header.reused,
            "lines": report.lines,
            "kernels": len(report.kernels),
            "suppressed": report.suppressed,
            **_counts(report.counts),
        },
        "rules": [
            {"code": line.code, "rule": line.rule, "files": line.files, **_counts(line.counts)} for line in report.codes
        ],
        "gaps": [gap._asdict() for gap in report.gaps],
        "files": [_file(line) for line in report.files],
        "kernels": [_kernel(line) for line in report.kernels],
        "findings": [_finding(found, names) for found in report.findings],
    }


def _counts(counts: Counts) -> dict[str, int]:
    return counts._asdict()


def _file(line: FileLine) -> dict[str, Any]:
    record = line.record
    return {
        "path": record.path,
        "output": record.output or None,
        "status": record.status.value,
        "lines": record.lines,
        "lines_changed": record.touched[0],
        "lines_added": record.touched[1],
        "converted": None if line.converted is None else round(line.converted, 3),
        "edited": record.edited,
        **_counts(line.counts),
    }


def _kernel(line: KernelLine) -> dict[str, Any]:
    return {
        "path": line.path,
        **line.model,
        **_counts(line.counts),
        "through": list(line.through),
        "left": line.left,
    }


def _finding(found: Located, names: dict[str, str]) -> dict[str, Any]:
    entry = found.entry
    return {
        "code": entry.code,
        "rule": names.get(entry.code, ""),
        "effort": entry.effort,
        "path": found.path,
        "line": entry.line,
        "column": entry.column,
        "kernel": entry.kernel,
        "name": entry.name or None,
        "message": entry.message,
        "fixed": entry.fixed,
        "suppressed": entry.suppressed,
    }

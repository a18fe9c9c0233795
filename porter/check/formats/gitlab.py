"""The new findings as a GitLab code quality report."""

from __future__ import annotations

import json
from typing import Any

from porter.check.result import Checked, CheckResult, State
from porter.report.escaping import fingerprints, plain

_SEVERITIES = {"manual": "major", "review": "minor", "none": "info"}


def render(result: CheckResult) -> str:
    """One item per new finding, and one per stale entry of the baseline."""
    marked = fingerprints(result.findings)
    items = [_item(finding, mark) for finding, mark in marked if finding.state is State.NEW]
    for number, entry in enumerate(result.stale):
        items.append(
            {
                "description": plain(f"stale baseline entry: {entry.described()}"),
                "check_name": "stale-baseline-entry",
                "fingerprint": f"stale-{number}-{entry.mark.context}-{entry.mark.code}",
                "severity": "major",
                "location": {"path": plain(entry.mark.path), "lines": {"begin": 1}},
            }
        )
    return json.dumps(items, indent=1) + "\n"


def _item(finding: Checked, mark: str) -> dict[str, Any]:
    return {
        "description": plain(f"{finding.code}: {finding.message}"),
        "check_name": finding.code,
        "fingerprint": mark,
        "severity": "critical" if finding.fails else _SEVERITIES[finding.effort],
        "location": {"path": plain(finding.path), "lines": {"begin": finding.place.line}},
    }

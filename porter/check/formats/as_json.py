"""The result as the JSON document that `schemas/check.json` describes."""

from __future__ import annotations

from typing import Any

from porter.check.formats.text import reasons
from porter.check.result import Checked, CheckResult, counted
from porter.report.render import dump

SCHEMA = "porter-check-1"


def render(result: CheckResult) -> str:
    """The whole result as text."""
    return dump(document(result))


def document(result: CheckResult) -> dict[str, Any]:
    """The whole result as plain JSON."""
    return {
        "schema": SCHEMA,
        "porter": result.porter,
        "source": result.source,
        "passed": result.passed,
        "reasons": reasons(result),
        "fail_on": result.fail_on.value,
        "since": result.since,
        "commit": result.commit,
        "baseline": result.baseline,
        "incomplete": result.incomplete,
        "notes": list(result.notes),
        "totals": {"files": result.files, "parsed": result.parsed, **counted(result.findings)},
        "changed": list(result.changed),
        "dependents": list(result.dependents),
        "kernels": [kernel._asdict() for kernel in result.kernels],
        "findings": [_finding(finding, result) for finding in result.findings],
        "stale": [{**entry.mark._asdict(), "effort": entry.effort, "reason": entry.reason} for entry in result.stale],
        "proofs": [
            {
                "name": proof.name,
                "status": proof.step.value,
                "reason": proof.reason,
                "subjects": [dict(subject) for subject in proof.subjects],
            }
            for proof in result.proofs
        ],
    }


def _finding(finding: Checked, result: CheckResult) -> dict[str, Any]:
    rule = result.rules.get(finding.code)
    return {
        "code": finding.code,
        "rule": rule.name if rule is not None else "",
        "effort": finding.effort,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "kernel": finding.kernel,
        "name": finding.name or None,
        "message": finding.message,
        "fixed": finding.fixed,
        "state": finding.state.value,
        "fails": finding.fails,
        "reason": finding.reason,
        "context": finding.context,
        "fix": [change._asdict() for change in finding.fix],
    }

"""The result as SARIF 2.1.0, for code hosts and editors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from porter.check.fixes import Replacement
from porter.check.formats.text import reasons
from porter.check.result import HAZARD_GROUPS, Checked, CheckResult, State
from porter.engine.knowledge import RuleInfo
from porter.report.escaping import fingerprints, plain, uri

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"manual": "error", "review": "warning", "none": "note"}
_BASELINE = {State.NEW: "new", State.PRESENT: "unchanged", State.ACCEPTED: "unchanged", State.SUPPRESSED: "unchanged"}
_STALE = "stale-baseline-entry"


def render(result: CheckResult) -> str:
    """The whole result as text."""
    return json.dumps(document(result), indent=1) + "\n"


def document(result: CheckResult) -> dict[str, Any]:
    """The log: one run with the rules that found something, and all findings that leave work."""
    codes = list(result.rules)
    run = {
        "tool": {
            "driver": {
                "name": "porter",
                "semanticVersion": result.porter,
                "rules": [_rule(result.rules[code]) for code in codes],
                "notifications": [
                    {
                        "id": _STALE,
                        "shortDescription": {"text": "An entry of the baseline matches nothing any more"},
                    }
                ],
            }
        },
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The root of the work tree."}}},
        "invocations": [_invocation(result)],
        "results": [_result(finding, mark, codes) for finding, mark in fingerprints(result.findings)],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(info: RuleInfo) -> dict[str, Any]:
    title, _, rest = info.explanation.partition("\n")
    hazard = info.group in HAZARD_GROUPS
    return {
        "id": info.code,
        "name": "".join(word.capitalize() for word in info.name.split("-")),
        "shortDescription": {"text": info.title},
        "fullDescription": {"text": " ".join(rest.split()) or title},
        "help": {
            "text": f"{info.explanation}\n\nMore, with examples: porter explain {info.code}",
            "markdown": f"**{info.code} {info.name}**\n\n{info.explanation}\n\n"
            f"More, with examples: `porter explain {info.code}`. To accept one place, write "
            f"`// porter: allow[{info.code}] reason` on its line.",
        },
        "properties": {
            "tags": ["porting", *(["wavefront-64"] if hazard else []), *([info.group] if info.group else [])],
            "precision": "high",
            "problem.severity": "error" if hazard else "warning",
        },
    }


def _invocation(result: CheckResult) -> dict[str, Any]:
    messages = [f"{entry.described()}: {_STALE.replace('-', ' ')}" for entry in result.stale]
    notifications: list[dict[str, Any]] = [
        {"level": "error", "message": {"text": plain(text)}, "descriptor": {"id": _STALE}} for text in messages
    ]
    told = [text for text in reasons(result) if "baseline" not in text and "new finding" not in text]
    notifications += [{"level": "error", "message": {"text": plain(text)}} for text in told]
    return {
        "executionSuccessful": result.incomplete is None,
        "exitCode": 0 if result.passed else 1,
        **({"toolConfigurationNotifications": notifications} if notifications else {}),
    }


def _result(finding: Checked, mark: str, codes: Sequence[str]) -> dict[str, Any]:
    document: dict[str, Any] = {
        "ruleId": finding.code,
        **({"ruleIndex": codes.index(finding.code)} if finding.code in codes else {}),
        "level": _LEVELS[finding.effort],
        "kind": "fail",
        "message": {"text": plain(finding.message)},
        "locations": [_location(finding)],
        "partialFingerprints": {"porterFinding/v1": mark},
        "baselineState": _BASELINE[finding.state],
        "properties": {"effort": finding.effort, "fixed": finding.fixed, "fails": finding.fails},
    }
    if finding.state is State.SUPPRESSED:
        document["suppressions"] = [_suppression("inSource", finding.reason)]
    elif finding.state is State.ACCEPTED:
        document["suppressions"] = [_suppression("external", finding.reason or "accepted in the baseline")]
    if finding.fix:
        document["fixes"] = [_fix(finding)]
    return document


def _suppression(kind: str, reason: str | None) -> dict[str, Any]:
    return {"kind": kind, "status": "accepted", "justification": plain(reason or "")}


def _location(finding: Checked) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": finding.place.line, "startColumn": finding.place.column}
    if finding.place.end_column > finding.place.column:
        region["endColumn"] = finding.place.end_column
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": uri(finding.path), "uriBaseId": "SRCROOT"}, "region": region}
    }
    if finding.kernel:
        location["logicalLocations"] = [{"fullyQualifiedName": plain(finding.kernel), "kind": "function"}]
    return location


def _fix(finding: Checked) -> dict[str, Any]:
    return {
        "description": {"text": "What porter writes here: HIP for AMD GPUs."},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": uri(finding.path), "uriBaseId": "SRCROOT"},
                "replacements": [_replacement(change) for change in finding.fix],
            }
        ],
    }


def _replacement(change: Replacement) -> dict[str, Any]:
    """Whole lines: from the first column of the first one to the first column of the one after the last."""
    region = {"startLine": change.first, "startColumn": 1, "endLine": change.last, "endColumn": 1}
    return {"deletedRegion": region, "insertedContent": {"text": change.text}}

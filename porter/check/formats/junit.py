"""The result as JUnit XML: one test case per finding, and one for all files that have none."""

from __future__ import annotations

from collections import defaultdict
from xml.etree import ElementTree

from porter.check.formats.text import line_of, reasons
from porter.check.result import Checked, CheckResult, State
from porter.report.escaping import fingerprints, plain, xml_text

_SKIPPED = {
    State.PRESENT: "in the base already",
    State.ACCEPTED: "accepted in the baseline",
    State.SUPPRESSED: "suppressed",
    State.NEW: "new, and below what fails",
}


def render(result: CheckResult) -> str:
    """The whole result as text."""
    by_path: defaultdict[str, list[Checked]] = defaultdict(list)
    for finding, _ in fingerprints(result.findings):
        by_path[finding.path].append(finding)
    clean = [path for path in result.looked_at if path not in by_path]
    cases = [_clean(len(clean))] if clean else []
    cases += [_case(finding, number) for path in sorted(by_path) for number, finding in enumerate(by_path[path], 1)]
    cases += [_failed("baseline", entry.described(), "nothing like it is there any more") for entry in result.stale]
    for proof in result.proofs:
        cases.append(_proof(proof.name, proof.step.value, proof.reason))
        cases += [_proof(f"{proof.name} {s['name']}", s["status"], s["message"]) for s in proof.subjects]
    if result.incomplete:
        cases.append(_failed("porter check", "finished in time", result.incomplete))
    if not cases:
        cases.append(_element("testcase", classname="porter.check", name="nothing changed", time="0"))
    failures = sum(case.find("failure") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0"}
    suite = _element("testsuite", name="porter check", **counts, skipped=str(skipped), time="0")
    suite.extend(cases)
    if not result.passed:
        ElementTree.SubElement(suite, "system-err").text = xml_text(", ".join(reasons(result)))
    suites = _element("testsuites", name="porter", **counts, time="0")
    suites.append(suite)
    ElementTree.indent(suites, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _element(tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.Element(tag, {name: xml_text(plain(value)) for name, value in attributes.items()})


def _clean(files: int) -> ElementTree.Element:
    name = f"{files} files without findings" if files > 1 else "1 file without findings"
    return _element("testcase", classname="porter.check", name=name, time="0")


def _case(finding: Checked, number: int) -> ElementTree.Element:
    inside = f" in {finding.kernel}" if finding.kernel else ""
    name = f"{finding.code}{inside} ({number})"
    if finding.fails:
        return _failed(finding.path, name, finding.message, line_of(finding), finding.effort)
    case = _element("testcase", classname=finding.path, name=name, time="0")
    told = f"{_SKIPPED[finding.state]}{': ' + finding.reason if finding.reason else ''}"
    case.append(_element("skipped", message=told))
    return case


def _failed(where: str, name: str, message: str, detail: str = "", kind: str = "failure") -> ElementTree.Element:
    case = _element("testcase", classname=where, name=name, time="0")
    failure = _element("failure", message=message, type=kind)
    failure.text = xml_text(plain(detail or message))
    case.append(failure)
    return case


def _proof(name: str, status: str, message: str) -> ElementTree.Element:
    if status == "passed":
        return _element("testcase", classname="porter.check", name=name, time="0")
    return _failed("porter.check", name, message or status, kind=status)

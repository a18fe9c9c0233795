"""The result as workflow commands: GitHub shows them at the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from porter.check.formats.text import reasons
from porter.check.result import Checked, CheckResult, State
from porter.report.escaping import plain


def render(result: CheckResult) -> str:
    """One command per new finding, those that fail first, and a last line for people."""
    return "".join(f"{line}\n" for line in _lines(result))


def _lines(result: CheckResult) -> Iterator[str]:
    new = sorted(result.with_state(State.NEW), key=lambda finding: not finding.fails)
    for finding in new:
        yield _command("error" if finding.fails else "warning", _place(finding, result), finding.message)
    for entry in result.stale:
        what = f"{entry.described()}: accepted, and nothing like it is there any more"
        yield _command("error", {"file": result.baseline or "", "title": "stale baseline entry"}, what)
    if result.incomplete or any(proof.step.value != "passed" for proof in result.proofs):
        yield _command("error", {"title": "porter check"}, ", ".join(reasons(result)))
    yield "porter check: passed" if result.passed else plain(f"porter check: failed: {', '.join(reasons(result))}")


def _place(finding: Checked, result: CheckResult) -> dict[str, str]:
    rule = result.rules.get(finding.code)
    return {
        "file": finding.path,
        "line": str(finding.place.line),
        "col": str(finding.place.column),
        "title": f"{finding.code} {rule.name if rule is not None else ''}".strip(),
    }


def _command(kind: str, properties: dict[str, str], message: str) -> str:
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::{kind} {told}::{_data(plain(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(plain(text)).replace(":", "%3A").replace(",", "%2C")

"""Every output against a schema that others made, with names and sources that try to break out."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema  # type: ignore[import-untyped]
import pytest

from porter.check.baseline import Accepted, baseline_text
from porter.check.fail_on import FailOn
from porter.check.formats import CheckFormat, render
from porter.check.gate import CheckRequest, check
from porter.check.matching import Mark
from porter.check.result import CheckResult, Proof, Step
from porter.check.store import Store
from porter.errors import Unusable
from porter.project.port import Request, preview
from porter.report import schemas
from porter.settings import Choices
from porter.system.needs import need
from tests.check.repositories import REDUCE, SPIN, TEXTURE, checked, commit, repository

SHARE = Path(sys.prefix) / "share" / "porter-tests"
NASTY = "<script>alert('1')</script> \"quoted\" & ]]> \u202eevil\u202c \x00\x1b[31m %0A::error::x\r\n" + "x" * 10_000
WAIT = "__global__ void waits(int *flag) { while (atomicExch(flag, 1) == 1) { } *flag = 0; }\n"
KEPT = WAIT.replace("waits", "kept").replace("flag, 1", "flag, 7")
LIMIT = "#include <cuda_runtime.h>\nvoid f() { cudaDeviceSetLimit(cudaLimitStackSize, 0); }\n"


def schema(name: str) -> Path:
    """A schema out of a package, see tools/fetch-test-schemas.sh."""
    path = SHARE / name
    if not path.exists():
        npm = f" with npm ({need('npm').remedy})" if name.startswith("sarif") else ""
        pytest.skip(f"{path} is not there: tools/fetch-test-schemas.sh fetches it{npm}")
    return path


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> CheckResult:
    """New, present, accepted and suppressed findings, a stale entry, and fixes."""
    root = repository(tmp_path_factory.mktemp("project"), {"lock.cu": SPIN, "reduce.cu": REDUCE, "kept.cu": KEPT})
    checked(root, update_baseline=True)
    commit(root, {"image.cu": TEXTURE})
    allowed = SPIN.replace("  while (", '  // porter: allow[S102] only one <lane> & "one" block\n  while (')
    head = {"lock.cu": "// nothing\n", "a b#%.cu": allowed, "image.cu": TEXTURE + WAIT, "host.cu": LIMIT}
    commit(root, {**head, "kept.cu": "// moved down\n" + KEPT})
    return checked(root, "HEAD~1")


@pytest.fixture(scope="module")
def nasty(result: CheckResult) -> CheckResult:
    """The same with texts that no escaping may let through."""
    findings = tuple(
        replace(f, message=NASTY, kernel=NASTY, path=f"d\udcffir/{NASTY[:40]}.cu", reason=NASTY, name=NASTY[:50])
        for f in result.findings
    )
    stale = (Accepted(Mark(NASTY, NASTY, "S102", NASTY, "00"), "review", NASTY),)
    proof = Proof("validate", Step.FAILED, NASTY, ({"name": NASTY, "status": "failed", "message": NASTY},))
    return replace(result, findings=findings, stale=stale, proofs=(proof,), incomplete=NASTY, looked_at=(NASTY,))


@pytest.fixture(params=["result", "nasty"])
def any_result(request: pytest.FixtureRequest) -> CheckResult:
    """Both of them."""
    found: CheckResult = request.getfixturevalue(request.param)
    return found


def test_all_states_are_there(result: CheckResult) -> None:
    """The result that the formats are tested with is not empty in any part."""
    assert {finding.state.value for finding in result.findings} == {"new", "present", "accepted", "suppressed"}
    assert result.failing
    assert result.stale
    assert any(finding.fix for finding in result.findings)


def test_sarif_is_valid(any_result: CheckResult) -> None:
    """Against the schema of the standard."""
    document = json.loads(render(any_result, CheckFormat.SARIF))
    jsonschema.Draft7Validator(json.loads(schema("sarif-2.1.0.json").read_text())).validate(document)


def test_sarif_says_what_code_hosts_ask_for(result: CheckResult) -> None:
    """Rules with help, fingerprints of their own, suppressions and fixes."""
    run = json.loads(render(result, CheckFormat.SARIF))["runs"][0]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert {found["ruleId"] for found in run["results"]} == rules.keys()
    assert all(rule["help"]["markdown"] and rule["shortDescription"]["text"] for rule in rules.values())
    marks = [found["partialFingerprints"]["porterFinding/v1"] for found in run["results"]]
    assert len(set(marks)) == len(marks)
    kinds = [one["kind"] for found in run["results"] for one in found.get("suppressions", ())]
    assert sorted(kinds) == ["external", "inSource"]
    uris = {found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for found in run["results"]}
    assert "a%20b%23%25.cu" in uris
    assert all(rules[found["ruleId"]] is run["tool"]["driver"]["rules"][found["ruleIndex"]] for found in run["results"])


def test_a_fix_applied_is_what_the_port_has(result: CheckResult) -> None:
    """The replacements of a finding, applied as SARIF says, make the file what `porter port` makes it."""
    run: dict[str, Any] = json.loads(render(result, CheckFormat.SARIF))["runs"][0]
    found = next(one for one in run["results"] if "fixes" in one and "host.cu" in json.dumps(one["locations"]))
    (change,) = found["fixes"][0]["artifactChanges"]
    root = Path(result.source)
    lines = (root / change["artifactLocation"]["uri"]).read_text().splitlines(keepends=True)
    for replacement in reversed(change["replacements"]):
        region = replacement["deletedRegion"]
        assert region["startColumn"] == region["endColumn"] == 1
        lines[region["startLine"] - 1 : region["endLine"] - 1] = [replacement["insertedContent"]["text"]]
    answer = preview(Request(root, Choices(), 1))
    assert "".join(lines).encode() == answer.run.data["host.cu"]
    assert "hipDeviceSetLimit" in "".join(lines)


def test_junit_is_valid(any_result: CheckResult) -> None:
    """Against the schema that CI servers' plugins are tested with."""
    xmlschema = pytest.importorskip("xmlschema")
    text = render(any_result, CheckFormat.JUNIT)
    xmlschema.XMLSchema(str(schema("junit-10.xsd"))).validate(text)
    suite = ElementTree.fromstring(text)[0]
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))


@pytest.mark.parametrize("name", ["check"])
def test_json_is_valid(any_result: CheckResult, name: str) -> None:
    """Against our own schema."""
    jsonschema.validate(json.loads(render(any_result, CheckFormat.JSON)), schemas.load(name))


@pytest.mark.parametrize("text", ["[]", "{}", "null", '{"schema": "porter-baseline-9"}'])
def test_a_baseline_that_is_none(tmp_path: Path, text: str) -> None:
    """The advice can be followed: the file is never written over, and moved away it is made again."""
    root = repository(tmp_path, {"a.cu": TEXTURE, ".porter-baseline.json": text})
    for update in (False, True):
        with pytest.raises(Unusable, match="move it away and write it again with --update-baseline"):
            checked(root, update_baseline=update)
    (root / ".porter-baseline.json").unlink()
    assert checked(root, update_baseline=True).passed


def test_nothing_to_look_at_is_told(tmp_path: Path) -> None:
    """A gate at the wrong folder would pass for ever."""
    root = repository(tmp_path, {"README.md": "x\n"})
    assert any("nothing was checked" in note for note in checked(root).notes)


def test_a_baseline_that_is_named_and_not_there_is_told(tmp_path: Path) -> None:
    """But for the usual one, which most projects begin without."""
    root = repository(tmp_path, {"a.cu": REDUCE})
    request = CheckRequest(root, Choices(), 1, FailOn.MANUAL)
    for name, told in ((".porter-baseline.json", False), ("gaps.json", True)):
        notes = check(replace(request, baseline=root / name), Store(None)).result.notes
        assert any("nothing is accepted" in note for note in notes) is told


def test_a_baseline_is_valid(result: CheckResult) -> None:
    """Against our own schema, whatever its names are."""
    entries = [Accepted(Mark(NASTY, None, "S102", "", ""), "manual", NASTY), *result.stale]
    document = json.loads(baseline_text(entries))
    jsonschema.validate(document, schemas.load("baseline"))
    assert len(document["accepted"]) == len(entries)


def test_github_commands_cannot_be_forged(nasty: CheckResult) -> None:
    """Each line is a command of ours or the last line; nothing in a message begins another one."""
    lines = render(nasty, CheckFormat.GITHUB).splitlines()
    assert all(line.startswith(("::error ", "::warning ")) for line in lines[:-1])
    assert lines[-1].startswith("porter check: failed")
    assert not any("\u202e" in line or "\x1b" in line for line in lines)


def test_gitlab_items_have_what_gitlab_reads(any_result: CheckResult) -> None:
    """The keys of a code quality report, and fingerprints that differ."""
    items = json.loads(render(any_result, CheckFormat.GITLAB))
    assert items
    for item in items:
        assert item.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert item["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert item["location"]["lines"]["begin"] >= 1
    assert len({item["fingerprint"] for item in items}) == len(items)


@pytest.mark.parametrize("form", [CheckFormat.MARKDOWN, CheckFormat.TEXT])
def test_people_see_what_is_there(nasty: CheckResult, form: CheckFormat) -> None:
    """No text turns around, hides or ends a table; long texts are cut with a count."""
    text = render(nasty, form)
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "more characters" in text
    if form is CheckFormat.MARKDOWN:
        assert "<script>" not in text
        assert max(map(len, text.splitlines())) < 12_000


def test_a_comment_is_cut_with_a_count(result: CheckResult) -> None:
    """Markdown fits into a comment, however many findings there are."""
    many = replace(result, findings=result.failing * 3000)
    text = render(many, CheckFormat.MARKDOWN)
    assert len(text) < 60_000
    assert f"... and {len(result.failing) * 3000 - 40:,} more." in text


def test_rules_are_told(result: CheckResult) -> None:
    """Every code that is found is explained."""
    assert {finding.code for finding in result.findings} <= result.rules.keys()
    assert result.fail_on is FailOn.REVIEW

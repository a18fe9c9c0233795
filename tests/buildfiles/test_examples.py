"""Every example of every build rule: alone, with all rules, and again on its own result."""

from __future__ import annotations

import posixpath

import pytest

from porter.buildfiles.engine import convert, kind_of
from porter.buildfiles.flags import load_flags, translate
from porter.buildfiles.mentions import kind_of_build
from porter.buildfiles.registry import build_rules
from porter.buildfiles.sources import Sources
from porter.buildfiles.unit import BuildRule, BuildUnit
from porter.engine.registry import all_rules
from porter.engine.rule import Example
from porter.model import Effort, Settings
from porter.source import SourceFile

SOURCES = Sources({"a.cu": "a.hip", "src/b.cu": "src/b.hip"}, frozenset({"a.cu", "src/b.cu", "c.cpp"}))
CASES = [(rule, example) for rule in build_rules() for example in rule.examples]


def unit_of(text: str, path: str, settings: Settings | None = None) -> BuildUnit:
    notice = kind_of_build(path)
    assert notice is not None
    return BuildUnit(SourceFile(path, text.encode()), kind_of(notice.code), SOURCES, settings or Settings())


def name(value: object) -> str | None:
    return value.code if isinstance(value, BuildRule) else None


@pytest.mark.parametrize(("rule", "example"), CASES, ids=name)
def test_example(rule: BuildRule, example: Example) -> None:
    found = convert(unit_of(example.before, example.path, example.settings), (rule,))
    assert not found.crashes
    efforts = [finding.effort for finding in found.findings]
    if example.effort is None:
        assert not found.findings
        assert found.data.decode() == example.before
        return
    assert found.data.decode() == example.after
    assert efforts and max(efforts, key=lambda effort: effort.rank) is example.effort
    assert {finding.code for finding in found.findings} == {rule.code}


@pytest.mark.parametrize(("rule", "example"), CASES, ids=name)
def test_converting_the_result_changes_nothing(rule: BuildRule, example: Example) -> None:
    once = convert(unit_of(example.before, example.path, example.settings))
    assert not once.crashes
    again = convert(unit_of(once.data.decode(), example.path, example.settings))
    assert again.data == once.data
    assert not any(finding.fixed for finding in again.findings)


@pytest.mark.parametrize("rule", build_rules(), ids=name)
def test_rules_explain_themselves(rule: BuildRule) -> None:
    assert rule.title and "\n" in rule.explanation
    assert rule.kinds
    assert any(example.effort is None for example in rule.examples), "a near miss"
    assert any(example.effort is not None for example in rule.examples)
    assert all(kind_of(kind_of_build(example.path).code) in rule.kinds for example in rule.examples)  # type: ignore[union-attr]
    assert posixpath.basename(rule.name) == rule.name
    assert rule.code not in {other.code for other in all_rules()}


@pytest.mark.parametrize("row", load_flags(), ids=lambda row: row.name)
def test_flag_row(row: object) -> None:
    from porter.buildfiles.flags import FlagRow

    assert isinstance(row, FlagRow)
    before, after = row.example
    assert " ".join(_translated(before.split())) == after
    assert row.why
    assert row.effort is not Effort.MANUAL or before == after


def _translated(words: list[str]) -> list[str]:
    changes = {change.first: change for change in translate(words)}
    result: list[str] = []
    index = 0
    while index < len(words):
        change = changes.get(index)
        result += change.new if change is not None else (words[index],)
        index = change.last if change is not None else index + 1
    return result


@pytest.mark.parametrize("behind", [[], ["-O2"], ["x.cpp"]], ids=str)
def test_what_a_flag_becomes_is_left_alone_with_what_stands_behind_it(behind: list[str]) -> None:
    """clang's `-Werror -O2` is no `-Werror` of nvcc's with a kind of warnings."""
    for row in load_flags():
        once = _translated([*row.example[0].split(), *behind])
        assert _translated(once) == once, row.name


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("-Werror -O2", "-Werror -O2"),
        ("-Werror=all-warnings -O2", "-Werror -O2"),
        ("-Werror=unused", "-Werror=unused"),
        ("-Werror reorder,default-stream-launch a.cu", "-Werror=reorder a.cu"),
    ],
)
def test_kinds_of_warnings(before: str, after: str) -> None:
    assert " ".join(_translated(before.split())) == after

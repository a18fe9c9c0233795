"""Every rule's examples, run through the engine: alone, with all rules, and a second time."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import pytest

from porter.cpp.patterns import pattern
from porter.engine.context import parser_for
from porter.engine.embedded import KERNEL_IN_STRING
from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.rule import Example, Rule
from porter.engine.support import load_support
from porter.engine.trace import Trace
from porter.model import Edit, Effort, Finding, PortedFile, Span
from porter.names.table import NameTable, load_names
from porter.source import SourceFile

PARSER = parser_for(Path("/nonexistent"), (), ())
CASES = [
    pytest.param(rule, example, id=f"{rule.code}-{rule.name}-{number}")
    for rule in all_rules()
    for number, example in enumerate(rule.examples)
]


@functools.cache
def names_for(rocm: str | None, custom: tuple[tuple[str, str], ...]) -> NameTable:
    """The tables, read once for all examples that ask for the same."""
    return load_names(rocm, dict(custom))


def context(example: Example, rules: tuple[Rule, ...]) -> Context:
    """A run over one example: the same parser a user gets."""
    settings = example.settings
    names = names_for(settings.rocm, tuple(settings.custom_names))
    support = load_support(settings.rocm)
    trace = Trace(rules, names, support, [pattern(one.find).head for one in settings.rewrites])
    return Context(settings, names, support, rules, renamed=dict(example.renamed), parse=PARSER, trace=trace)


def ported(example: Example, rules: tuple[Rule, ...]) -> PortedFile:
    """The example through the engine."""
    return port(SourceFile(example.path, example.before.encode()), context(example, rules), example.path)


_BY_ENDING = {"A012", "A014"}
"""Rules about what nvcc includes for a `.cu` by itself: of such a file the name is enough."""


@pytest.mark.parametrize(("rule", "example"), [case for case in CASES if case.values[1].effort is not None])
def test_no_example_is_taken_for_a_file_without_cuda(rule: Rule, example: Example) -> None:
    """As a header, whose name alone does not make it worth a look."""
    trace = context(example, (rule,)).trace
    header = SourceFile("example.h", example.before.encode())
    assert trace is not None
    assert trace.concerns(header) or (rule.code in _BY_ENDING and example.path.endswith(".cu"))


def test_a_file_without_a_trace_of_cuda_is_not_looked_at() -> None:
    """Nor one that has common words of C++ alone."""
    text = b"template <class T> struct P { T operator+(T b) const; T x; };\n#include <vector>\n"
    trace = context(CASES[0].values[1], all_rules()).trace
    assert trace is not None
    assert not trace.concerns(SourceFile("p.hpp", text))
    assert trace.concerns(SourceFile("p.hpp", text + b"#include <cuda_runtime.h>\n"))
    assert trace.concerns(SourceFile("p.hpp", text + b"void f() { cudaMalloc(0, 0); }\n"))


def body(result: PortedFile) -> str:
    """The text without the #include lines that the engine added."""
    lines = result.data.decode().splitlines()
    added = {f'#include "{header}"' for header in result.support}
    added |= {f"#include {i}" for f in result.findings for i in f.includes if i.startswith("<")}
    return "\n".join(line for line in lines if line not in added)


def live(findings: tuple[Finding, ...], code: str) -> list[Finding]:
    """The rule's own findings that no comment suppresses."""
    return [finding for finding in findings if finding.code == code and finding.suppressed is None]


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_example(rule: Rule, example: Example) -> None:
    """The rule alone does what the example says."""
    result = ported(example, (rule,))
    found = live(result.findings, rule.code)
    if example.effort is None:
        assert not found, [f.message for f in found]
        assert result.data.decode() == example.before
        return
    assert found, "the rule found nothing"
    assert max((f.effort for f in found), key=lambda effort: effort.rank) is example.effort
    assert example.after is not None
    assert body(result) == example.after


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_says_whether_it_only_reports(rule: Rule) -> None:
    """Those are not asked again; but for the one about kernels in strings, in which others find what they find."""
    results = [ported(example, (rule,)) for example in rule.examples]
    changes = any(finding.fixed for one in results for finding in one.findings if finding.code == rule.code)
    assert rule.only_reports is (not changes and rule.name != KERNEL_IN_STRING)


def test_a_rule_that_only_reports_cannot_change_anything() -> None:
    rule = next(rule for rule in all_rules() if rule.only_reports)
    unit = context(rule.examples[0], (rule,)).unit(SourceFile("a.cu", b"int a;"))
    assert not rule.finding(unit, Span(0, 3), "said", Effort.REVIEW).fixed
    for edits, includes in (((Edit(0, 3, "long"),), ()), ((), ("porter/x.hpp",))):
        with pytest.raises(TypeError, match=rule.code):
            rule.finding(unit, Span(0, 3), "done", Effort.NONE, edits, includes)


@pytest.mark.parametrize(("rule", "example"), [case for case in CASES if "\n" in case.values[1].before])
def test_lines_that_end_as_on_windows(rule: Rule, example: Example) -> None:
    """The rule finds the same, and its lines end as the file's."""
    windows = replace(example, before=example.before.replace("\r", "").replace("\n", "\r\n"))
    plain = replace(example, before=example.before.replace("\r", ""))
    result, same = ported(windows, (rule,)), ported(plain, (rule,))
    assert [f.message for f in result.findings] == [f.message for f in same.findings]
    assert result.data == same.data.replace(b"\n", b"\r\n")


@pytest.mark.parametrize(("rule", "example"), CASES)
def test_porting_the_port_changes_nothing(rule: Rule, example: Example) -> None:
    """With all rules, the result is a fixed point and no rule fails to converge."""
    once = ported(example, all_rules())
    again = ported(replace(example, before=once.data.decode()), all_rules())
    assert again.data == once.data
    assert not [f for f in once.findings if f.code in ("E001", "E002", "E005")]


@pytest.mark.parametrize(("rule", "example"), [case for case in CASES if case.values[1].effort is not None])
def test_a_pass_that_is_left_out_would_have_changed_nothing(
    rule: Rule, example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all rules: the bytes and the findings are those of looking again until nothing changes."""
    done = ported(example, all_rules())
    monkeypatch.setattr("porter.engine.file.is_settled", lambda *_: False)
    patient = ported(example, all_rules())
    assert (done.data, done.findings, done.kernels) == (patient.data, patient.findings, patient.kernels)


@pytest.mark.parametrize("rule", [rule for rule in all_rules() if rule.settles], ids=lambda rule: rule.code)
def test_a_rule_that_settles_saves_a_pass(rule: Rule) -> None:
    """One of its examples at least is done after the first, with all rules."""
    results = [ported(example, all_rules()) for example in rule.examples]
    assert any(one.passes == 1 and one.changed for one in results)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_rule_is_documented(rule: Rule) -> None:
    """A rule explains itself, shows what it finds, and shows a near miss."""
    assert len(rule.explanation.splitlines()) >= 3, "title, blank line, explanation"
    assert not rule.title.endswith(".")
    assert any(example.effort is not None for example in rule.examples)
    assert any(example.effort is None for example in rule.examples)
    assert rule.code[0].isupper() and rule.code[1:].isdigit() and len(rule.code) == 4


def test_effort_is_ordered() -> None:
    """Manual work outranks review, which outranks none."""
    assert Effort.MANUAL.rank > Effort.REVIEW.rank > Effort.NONE.rank

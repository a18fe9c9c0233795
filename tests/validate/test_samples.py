"""Every sample has cases; all that can run here pass, on the original's side and on the port's, in both warp modes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from porter.validation.cases.file import find_case_files, load_cases
from porter.validation.devices.registry import DEFAULT, why_not
from porter.validation.run.plan import Outcome
from porter.validation.verdict.outcome import CaseResult, Status
from porter.validation.verdict.report import report_json

from porter.report.schemas import load
from tests.samples.loading import NAMES, SAMPLES, kernels
from tests.validate.running import by_name, devices, run

# What another ROCm than the one here has: its libraries.
NEEDS_HEADER = {
    "row_sum_block": "hipcub",
    "row_max_warp": "hipcub",
    "block_scan": "hipcub",
    "rms_norm_forward": "ATen",
    "rms_norm_backward_input": "ATen",
    "rms_norm_backward_weight": "ATen",
}


def _cases(sample: str) -> dict[str, str]:
    return {case.name: case.kernel for path in find_case_files([SAMPLES / sample]) for case in load_cases(path)}


ALL = sorted(name for sample in NAMES for name in _cases(sample))


@pytest.mark.parametrize("sample", NAMES)
def test_every_kernel_has_a_case(sample: str) -> None:
    checked = {re.split("<", kernel)[0].rpartition("::")[2] for kernel in _cases(sample).values()}
    assert checked == set(kernels(sample)) != set()


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run(SAMPLES, warps=("preserve", "native"))


@pytest.fixture(scope="module")
def results(outcome: Outcome) -> Mapping[str, CaseResult]:
    assert not outcome.crashes and not outcome.report.errors, outcome.report.errors
    return by_name(outcome)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_passes(results: Mapping[str, CaseResult], name: str) -> None:
    result = results[name]
    ports = [side for side in result.sides if side.side == "port"]
    assert [side.warp for side in ports] == ["preserve", "native"]
    for side in result.sides:
        if side.status is Status.NOT_RUN and name in NEEDS_HEADER:
            assert NEEDS_HEADER[name] in side.reason
            continue
        assert side.status is Status.PASSED, f"{side.side} on {side.device}: {side.reason}"
        assert side.outputs and all(output.elements for output in side.outputs)
        assert side.launches >= 2 * side.trials > 0
        assert side.lanes == (32 if side.side == "original" else 64)
    if name in NEEDS_HEADER and ports[0].status is Status.NOT_RUN:
        pytest.skip(ports[0].reason)


@pytest.mark.slow
def test_the_report_keeps_its_schema(outcome: Outcome) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    document = report_json(outcome.report)
    jsonschema.validate(document, load("validate"))
    assert {case["name"] for case in document["cases"]} == set(ALL)
    for case in document["cases"]:
        assert "--case" in case["repeat"] and case["devices"]


@pytest.mark.slow
def test_original_and_port_agree(results: Mapping[str, CaseResult]) -> None:
    if "ptx" not in devices():
        pytest.skip(str(why_not("ptx")))
    compared = [p for case in results.values() for p in case.pairs if "original" in p.against]
    assert len(compared) >= 70
    assert sum(pair.agreement == "bitwise" for pair in compared) >= 50


def test_files_are_found_below_folders(tmp_path: Path) -> None:
    for place in ("a.case.toml", "b/c.case.toml", ".git/d.case.toml", "b/e.toml"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("")
    assert [path.name for path in find_case_files([tmp_path])] == ["a.case.toml", "c.case.toml"]


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["block_reduce", "warp_topk"])
def test_on_its_older_relative(sample: str) -> None:
    reason = why_not("gfx90a")
    if reason is not None:
        pytest.skip(reason)
    outcome = run(SAMPLES / sample, devices=("gfx90a",))
    assert outcome.report.cases
    for case in outcome.report.cases:
        assert [(side.device, side.status) for side in case.sides] == [("gfx90a", Status.PASSED)], case
    assert "gfx90a" not in DEFAULT and ("gfx90a", "") in outcome.report.devices

"""A part of the family of warp-synchronous kernels, ported and run on gfx942; all: `python -m benchmarks.lockstep`."""

from __future__ import annotations

import pytest
from porter.validation.devices.core.result import NotRun
from porter.validation.devices.gfx942 import open_device

from benchmarks.lockstep import ported, run
from benchmarks.lockstep_family import variants

PART = [variant for variant in variants() if variant.qualifier != "none"][5::29]
PLAIN = [variant for variant in variants() if variant.qualifier == "none"][3::17]


@pytest.mark.slow
@pytest.mark.parametrize("header", [False, True])
def test_lockstep_survives_the_port(header: bool) -> None:
    device = open_device()
    if isinstance(device, NotRun):
        pytest.skip(device.reason)
    whole = [variant for variant in variants() if header and variant.shape == "whole" and variant.qualifier == "none"]
    chosen = dict.fromkeys([*PART, *PLAIN, *whole])
    wrong = [f"{outcome.variant.name}: {outcome.wrong}" for outcome in run(chosen, 1, header=header) if outcome.wrong]
    assert not wrong, "\n".join(wrong)


def test_without_the_rule_it_would_not_compile_to_the_same() -> None:
    """The family is one that needs the rule: somewhere a barrier is added."""
    findings, text = ported(PLAIN, header=False)
    assert "porter::syncwarp();" in text
    assert {finding.code for finding in findings} >= {"S101"}

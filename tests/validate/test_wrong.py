"""Kernels and ports that are wrong on purpose: every one is rejected, with the verdict that fits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from porter.validation.devices.registry import why_not
from porter.validation.verdict.outcome import CaseResult

from tests.validate.running import by_name, devices, run

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parent / "wrong"

VERDICTS = {
    "last_forgotten": ("wrong-values", "1 elements of out are not written"),
    "reads_past_the_end": ("fault", "access outside every allocation"),
    "missing_barrier": ("fault", "uninitialised value"),
    "missing_barrier_raced": ("fault", "data race"),
    "missing_barrier_unwatched": ("wrong-values", "elements of out are wrong"),
    "half_accumulator": ("wrong-values", "elements of out are wrong"),
    "double_sum_in_float": ("wrong-values", "1 of 1 elements of total are wrong"),
    "unwritten_tail": ("wrong-values", "1 elements of out are not written, the first is out[32]"),
    "nan_swallowed": ("non-finite", "expected nan"),
    "swapped_arguments": ("wrong-values", "33 of 33"),
    "append_in_any_order": ("nondeterministic", ""),
    "last_block_wins": ("nondeterministic", "schedules"),
    "writes_integers": ("non-finite", ""),
    "half_the_lanes": ("wrong-values", "16 elements of out are not written"),
    "never_ends": ("timed-out", "budget"),
    "pads_written": ("wrong-values", "padding"),
    "input_written": ("wrong-values", "a is an input and was written to"),
    "softmax_without_maximum": ("non-finite", "is nan"),
    "shared_not_filled": ("fault", "uninitialised value"),
    "barrier_in_a_branch": ("fault", "barrier reached by some lanes"),
    "sixteen_bits": ("wrong-values", "32 of 32"),
    "variance_by_squares": ("wrong-values", "elements of out are wrong"),
    "trap_for_negatives": ("fault", "trap"),
    "one_step_short": ("wrong-values", "3 of 3"),
    "adds_to_what_is_there": ("wrong-values", "33 elements of out are not written"),
    "naive_shuffle": ("wrong-values", "2 of 4"),
    "naive_ballot": ("wrong-values", "2 of 4"),
    "port_swapped": ("wrong-values", "33 of 33"),
    "port_less_accurate": ("wrong-values", "elements of out are wrong"),
    "denormals_flushed": ("wrong-values", "is 0.0"),
    "fence_removed": ("fault", "the original has no such hazard"),
    "ticket_not_reset": ("wrong-values", "the variable finished"),
    "variable_left_otherwise": ("wrong-values", "the variable total_of_all"),
    "scope_narrowed": ("fault", "for a block alone"),
    "half_truncated": ("wrong-values", "rounded in another way"),
    "product_rounded_early": ("wrong-values", "elements of out are wrong"),
    "does_not_compile": ("build-failed", "expected ';'"),
    "not_in_the_port": ("build-failed", "undeclared"),
}
NEED_ORIGINAL = {"append_in_any_order", "port_swapped", "port_less_accurate", "fence_removed", "ticket_not_reset",
                 "variable_left_otherwise", "scope_narrowed", "half_truncated", "product_rounded_early"}  # fmt: skip


@pytest.fixture(scope="module")
def results() -> Mapping[str, CaseResult]:
    outcome = run(FOLDER, launch_seconds=1.0)
    assert not outcome.crashes and not outcome.report.errors
    return by_name(outcome)


@pytest.mark.parametrize("name", VERDICTS)
def test_is_rejected(results: Mapping[str, CaseResult], name: str) -> None:
    if name in NEED_ORIGINAL and "ptx" not in devices():
        pytest.skip(str(why_not("ptx")))
    status, words = VERDICTS[name]
    result = results[name]
    assert result.status.value == status, result.reason
    assert words in result.reason
    port = next(side for side in result.sides if side.side == "port")
    assert port.status is result.status
    assert port.evidence is not None or status == "build-failed"


def test_nothing_is_left_out(results: Mapping[str, CaseResult]) -> None:
    assert len(VERDICTS) >= 20
    assert results.keys() == VERDICTS.keys() | {"port_within_the_table"}


def test_what_the_table_allows_is_allowed(results: Mapping[str, CaseResult]) -> None:
    """The same port that the policy `accurate` rejects."""
    assert results["port_within_the_table"].status.value == "passed"


def test_an_element_is_traced_to_who_wrote_it_on_both_sides(results: Mapping[str, CaseResult]) -> None:
    if "ptx" not in devices():
        pytest.skip(str(why_not("ptx")))
    evidence = results["naive_shuffle"].pairs[0].evidence
    assert evidence is not None and evidence.index == (1,)
    port, original = evidence.written_by, evidence.original_written_by
    assert port is not None and original is not None
    assert (port.kernel, port.block, port.thread) == ("row_sums", (0, 0, 0), (0, 0, 0))
    assert re.search(r"ports\.hip:[78]$", port.where)  # the compiler may merge the two stores
    assert (original.block, original.thread) == ((0, 0, 0), (32, 0, 0))
    assert original.where.endswith("originals.cu:5")

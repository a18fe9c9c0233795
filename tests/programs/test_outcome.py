"""What the reports of a run's processes say together, and the verdict they lead to."""

from __future__ import annotations

from typing import Any

import pytest
from porter.validation.programs.outcome import EXIT_CODES, Account, TestOutcome, Verdict, gathered, judge


def _report(**more: Any) -> dict[str, Any]:
    lists = ("kernels", "faults", "unsupported_calls", "unsupported_kernels", "failed_calls", "notes", "stand_ins")
    start = {"side": "hip", "launches": 1, "known": 0, "lane_instructions": 7, "seconds": 0.5, "printed": 0}
    return {**start, "ending": "", "running": "", **{name: [] for name in lists}, **more}


def test_every_part_of_the_reports_has_its_place() -> None:
    kernel = {"name": "k()", "launches": 1, "known": 0, "blocks": 2, "lane_instructions": 7, "seconds": 0.5}
    rows = {
        "notes": [{"text": "note", "count": 1}],
        "stand_ins": [{"text": "stood in", "count": 2}],
        "kernels": [kernel],
    }
    found = gathered([_report(ending="no library", **rows), _report(running="slow()")])
    assert (found.sides, found.launches, found.lane_instructions) == (("hip",), 2, 14)
    assert [row.text for row in (*found.notes, *found.stand_ins)] == ["note", "stood in"]
    assert [use.name for use in found.kernels] == ["k()"]
    assert (found.endings, found.running) == (("no library",), ("slow()",))
    assert (found.operators, found.tests, found.printed) == ((), (), False)
    assert gathered([_report(), _report(printed=1)]).printed


@pytest.mark.parametrize(
    ("account", "where"),
    [
        (gathered([_report(running="slow()")]), ", in slow()"),
        (gathered([_report()]), ", outside of kernels"),
        (Account(running=("slow()",), tests=(TestOutcome("a", "not-ended"),)), ", in slow(), in a"),
    ],
)
def test_where_a_run_was_stopped(account: Account, where: str) -> None:
    assert judge(None, "no end after 2 s", account) == (Verdict.TOO_LONG, "no end after 2 s" + where)


def test_a_run_that_launched_nothing_names_the_error() -> None:
    call = {"text": "hipLaunchKernel: k(), block (1024, 1, 1)", "count": 1, "name": "hipErrorInvalidConfiguration"}
    verdict, reason = judge(0, None, gathered([_report(launches=0, failed_calls=[call])]))
    assert verdict is Verdict.NO_LAUNCH
    assert reason.endswith("; the first error: hipLaunchKernel: k(), block (1024, 1, 1) (hipErrorInvalidConfiguration)")
    assert judge(0, None, gathered([_report(launches=0)]))[1] == "no kernel was launched: the run shows nothing"


def test_why_a_process_ended_itself() -> None:
    account = gathered([_report(ending="the C compiler failed")])
    for verdict in (Verdict.NOT_RUN, Verdict.TOO_LONG):
        assert judge(EXIT_CODES[verdict], None, account) == (verdict, "the C compiler failed")

"""Typical errors of ports as whole programs: what a comparison tells of each, and what it takes `--careful` to tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.programs.agreement import Agreement, Compared
from porter.validation.programs.careful import look_closer
from porter.validation.programs.compare import run_both
from porter.validation.programs.launch import Options
from porter.validation.programs.outcome import Account, ProgramRun, Verdict
from porter.validation.programs.output import Tolerance
from porter.validation.programs.recipes import Program
from porter.validation.programs.sides import CUDA

pytestmark = pytest.mark.slow

Folders = tuple[Path, Path]


def compared(folders: Folders, mode: str, *, careful: bool) -> Compared:
    return run_both(Program(mode, ("./planted", mode)), *folders, Options(careful=careful))


@pytest.mark.parametrize(
    ("mode", "agreement", "reason"),
    [
        ("ballot_in_int", Agreement.DIFFER, "ballot_in_int(int*)"),
        ("shuffle_width", Agreement.DIFFER, "'37 37"),
        ("no_warp_barrier", Agreement.DIFFER, "no_warp_barrier(int*)"),
        ("aggregated", Agreement.DIFFER, "aggregated(int*, int*)"),
        ("walk", Agreement.DIFFER, "walk(int*)"),
        ("half_tree", Agreement.DIFFER, "half_tree(int*)"),
        ("short_counters", Agreement.DIFFER, "short_counters(unsigned short*)"),
        ("tables", Agreement.DIFFER, "tables(int*)"),
        ("lane_slots", Agreement.FAULT, "access outside shared memory (LDS): lane_slots(int*)"),
        ("bounded", Agreement.NO_LAUNCH, "block (1024, 1, 1)"),
        ("large_lds", Agreement.NO_LAUNCH, "98304 bytes of dynamic shared memory"),
    ],
)
def test_what_one_run_shows(planted: Folders, mode: str, agreement: Agreement, reason: str) -> None:
    found = compared(planted, mode, careful=False)
    assert found.agreement is agreement and reason in found.reason, found.reason


@pytest.mark.parametrize(
    ("mode", "agreement", "reason"),
    [
        ("no_block_barrier", Agreement.FAULT, "with --races: port: data race in shared memory (LDS)"),
        ("block_total", Agreement.FAULT, "with --races: port: data race in global memory: two blocks"),
        ("accumulate", Agreement.FAULT, "with --uninitialised: port: an uninitialised value reaches a result"),
        ("two_streams", Agreement.DIFFER, "with --delay 1: output, line 1"),
        ("no_wait", Agreement.DIFFER, "with --delay 1: output, line 1"),
    ],
)
def test_what_only_the_checks_show(planted: Folders, mode: str, agreement: Agreement, reason: str) -> None:
    assert compared(planted, mode, careful=False).agreement is Agreement.AGREE
    found = compared(planted, mode, careful=True)
    assert found.agreement is agreement and found.reason.startswith(reason), found.reason


@pytest.mark.parametrize("mode", ["tail", "odd_places", "waits"])
def test_what_is_right_on_this_gpu(planted: Folders, mode: str) -> None:
    found = compared(planted, mode, careful=True)
    assert found.agreement is Agreement.AGREE and "none shows" in found.reason, found.reason


@pytest.mark.parametrize("mode", ["chrono", "day", "event"])
def test_a_time_without_a_unit(planted: Folders, mode: str) -> None:
    """Each time the same on each side: a run of the original with a faster clock tells what it is."""
    found = compared(planted, mode, careful=False)
    assert found.agreement is Agreement.AGREE, found.reason
    assert found.reason.startswith("not compared: 1 number of the output, which another run of the original has")


def test_a_wrong_number_beside_a_time(planted: Folders) -> None:
    found = compared(planted, "beside", careful=False)
    assert found.agreement is Agreement.DIFFER and "'N 256, 1' and 'N 257, 3'" in found.reason, found.reason


def test_what_varied_in_the_original_is_no_finding_of_a_check() -> None:
    """A number that the two first runs had otherwise, and the run with the check not."""
    original = ProgramRun(("a",), Verdict.PASSED, "", 0, Account(launches=1), 0.0, output=b"off 9")
    port = replace(original, output=b"off 0")
    found = Compared("a", Agreement.AGREE, "", None, original, port)
    seen = look_closer(found, Tolerance(), Options(), lambda side, _: original if side is CUDA else port)
    assert seen.agreement is Agreement.AGREE, seen.reason
    other = replace(port, output=b"off 1")
    seen = look_closer(found, Tolerance(), Options(), lambda side, _: original if side is CUDA else other)
    assert seen.agreement is Agreement.DIFFER and seen.reason == "with --races: output, line 1: 'off 9' and 'off 1'"

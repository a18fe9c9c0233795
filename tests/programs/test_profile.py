"""`porter run --profile`: a program's launches counted as single kernels are, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.outcome import Verdict
from porter.validation.programs.profile import Profile
from porter.validation.programs.show import run_json, run_text

from porter.report.schemas import load

pytestmark = pytest.mark.slow


def profile(program: Path, *arguments: str) -> Profile:
    done = run_program([str(program), *arguments], Options(profile="mi300x"), keep=True)
    assert done.verdict is Verdict.PASSED, done.reason
    document = json.loads(json.dumps(run_json(done)))
    jsonschema.validate(document, load("run"))
    assert document["profile"]["measured"] is False
    assert done.profile is not None and ("estimate" in run_text(done)) == ("hip" in str(program))
    return done.profile


def test_counts_of_a_launch_are_what_its_source_says(hip: Path) -> None:
    (row,) = profile(hip, "pass", "100000").rows
    waves = 391 * 4
    assert (row.kernel, row.grid, row.block) == ("scale(float const*, float*, int)", (391, 1, 1), (256, 1, 1))
    assert row.counters is not None and row.estimate is not None
    assert row.counters["SQ_WAVES"] == waves
    full = -(-100000 // 64)
    assert row.counters["TA_FLAT_READ_WAVEFRONTS_sum"] == full
    assert row.counters["TCP_TCC_READ_REQ_sum"] == 100000 * 4 // 128
    assert row.estimate.nanoseconds > 0 and row.estimate.band > 1
    where = {place for cost in row.estimate.costs for place, _ in cost.places}
    assert all("modes.hip:" in place for place in where)
    assert {place.rpartition(":")[0].rpartition("/")[2] for place, _ in row.estimate.lines} == {"modes.hip"}


def test_launches_that_count_the_same_are_one_row(hip: Path) -> None:
    found = profile(hip, "graph")
    assert sum(len(row.launches) for row in found.rows) == 3
    low, high = found.between
    assert low < found.nanoseconds < high
    assert found.short == 3


def test_a_fork_has_a_profile_of_its_own(hip: Path) -> None:
    assert sum(len(row.launches) for row in profile(hip, "fork").rows) == 2


def test_both_sides_move_the_same_bytes(cuda: Path, hip: Path) -> None:
    """The arrays are read and written once; the original has no estimate, as no model of its GPU was tested."""
    (original,), (port,) = (profile(program, "pass", "100000").rows for program in (cuda, hip))
    assert original.estimate is None and original.counters is None
    for side in (original, port):
        assert 400_000 <= side.traffic["read"] < 410_000 and 400_000 <= side.traffic["write"] < 410_000


def test_without_it_nothing_is_counted(hip: Path) -> None:
    done = run_program([str(hip)], keep=True)
    assert done.profile is None and "profile" not in run_json(done)

"""Work that is kept until something waits: what streams promise each other holds, and nothing more."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.programs.launch import Options

from tests.programs.test_run import run

pytestmark = pytest.mark.slow
SEEDS = range(1, 9)


@pytest.mark.parametrize("mode", ["null", "event", "unordered", "not null"])
def test_at_once_all_is_in_order(streams: Path, mode: str) -> None:
    assert run(streams, mode).output == b"PASS\n"


@pytest.mark.parametrize("mode", ["null", "event", "blocking copy"])
def test_what_is_promised_holds(streams: Path, mode: str) -> None:
    """The null stream and blocking ones wait for each other, and a stream for an event."""
    assert {run(streams, mode, options=Options(delay=seed)).output for seed in SEEDS} == {b"PASS\n"}


@pytest.mark.parametrize("mode", ["unordered", "not null", "other copy"])
def test_what_is_not_shows_with_most_seeds(streams: Path, mode: str) -> None:
    """Who waits for one stream has not waited for another."""
    said = [run(streams, mode, options=Options(delay=seed)).output for seed in SEEDS]
    assert said.count(b"FAIL\n") >= len(SEEDS) // 2

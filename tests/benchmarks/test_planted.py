"""The planting of bugs: it needs the command that ports, and says so where that does not work."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from benchmarks import planted


def test_bugs_are_planted_in_a_port(tmp_path: Path) -> None:
    assert planted.porter("--version").returncode == 0
    samples = tmp_path / "samples"
    shutil.copytree(planted.SAMPLES / "block_reduce", samples / "block_reduce")
    made = planted.planted(samples, tmp_path / "ports", random.Random(1), 1)
    assert len(made) > 3 and all(one.before != one.after and one.sample.name == "block_reduce" for one in made)


def test_a_sample_that_is_not_ported_stops_it(tmp_path: Path) -> None:
    shutil.copytree(planted.SAMPLES / "block_reduce", tmp_path / "samples" / "block_reduce")
    (tmp_path / "ports").mkdir()
    (tmp_path / "ports" / "block_reduce").write_text("in the way")
    with pytest.raises(SystemExit, match="block_reduce is not ported"):
        planted.planted(tmp_path / "samples", tmp_path / "ports", random.Random(1), 1)


def test_what_does_not_count_is_counted_and_named() -> None:
    one = planted.Mutant(planted.SAMPLES / "block_reduce", "k.hip", "barrier removed", 7, "a;", "b;", "")
    other = planted.Mutant(planted.SAMPLES / "softmax", "s.hip", "accuracy", 9, "c;", "d;", "")
    statuses = ("wrong-values", "passed", "build-failed", "not-run", "not judged: no document")
    said = planted.table([(one if n < 3 else other, status) for n, status in enumerate(statuses)])
    assert "together: 1 of 2 rejected" in said and "accuracy: 0 of 0 rejected" in said
    assert "of 5 mutants, 1 do not compile and 2 were not judged" in said
    for left in ("block_reduce/k.hip:7: barrier removed, build-failed", "softmax/s.hip:9: accuracy, not judged: no"):
        assert left in said
    assert "wrong-values" not in said

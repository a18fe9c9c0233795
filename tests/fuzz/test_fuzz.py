"""Some seconds of mutants, and everything that a mutant ever broke."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from porter.system import limits
from tests.fuzz.__main__ import CORPUS, failure, run
from tests.fuzz.cuts import cuts
from tests.fuzz.mutate import DICTIONARY, mutant, smaller
from tests.fuzz.targets import BY_NAME, TARGETS, Target, examples

FINDINGS = sorted(path for path in CORPUS.iterdir() if path.name.rpartition("-")[0] in BY_NAME)
_MUTANTS = int(os.environ.get("PORTER_FUZZ_MUTANTS", "4000"))
"""A look, the same on every machine however fast it is; `python -m tests.fuzz` goes on for as long as one likes."""


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.name)
def test_what_was_found_stays_mended(path: Path) -> None:
    target = BY_NAME[path.name.rpartition("-")[0]]
    assert failure(target, path.read_bytes()) is None


@pytest.mark.slow
def test_nothing_new_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed that changes every week would be luck; this one is fixed, and the command takes others."""
    monkeypatch.setattr(limits, "PROCESSOR_SECONDS", 20.0)
    done = run(600, 20_261_122, (), (), tmp_path, minimise=False, most=_MUTANTS)
    assert done.done >= _MUTANTS
    assert not done.kinds, {path.name: path.read_bytes()[:2000] for path in tmp_path.iterdir()}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_the_seeds_are_sound(target: Target) -> None:
    seeds = target.seeds(())
    assert any(seeds), "there is something to change"
    assert all(failure(target, seed) is None for seed in random.Random(1).sample(seeds, min(3, len(seeds))))


def test_a_crash_a_hang_and_an_exit_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = BY_NAME["settings"]

    def fragile(data: bytes) -> None:
        if b"warp" in data:
            raise KeyError("warp")
        if b"names" in data:
            os._exit(3)
        while b"defines" in data:
            pass

    monkeypatch.setattr("tests.fuzz.__main__.TARGETS", [target.__class__("settings", fragile, target.seeds, 1)])
    monkeypatch.setattr(limits, "PROCESSOR_SECONDS", 0.2)
    done = run(20, 3, (), (), tmp_path, minimise=False, most=400)
    said = " ".join(done.kinds)
    assert "KeyError" in said
    assert "died settings by an exit" in said
    assert "died settings by SIG" in said
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) >= 3


def test_rules_bear_the_end_of_a_file_anywhere() -> None:
    """One of fifty cuts of the examples; `python -m tests.fuzz --target cuts` makes all."""
    texts = [text for example in examples() for text in cuts(example.decode("latin-1"))]
    source = BY_NAME["source"]
    assert not [text for text in texts[7::50] if failure(source, text.encode("latin-1")) is not None]


def test_mutants_depend_on_the_seed_alone() -> None:
    seeds = [b"__global__ void k() {}", b"int x;"]
    one, two = ([mutant(seeds, random.Random(5)) for _ in range(20)] for _ in range(2))
    assert one == two
    assert b"\0" in DICTIONARY
    assert b"# " not in b"".join(DICTIONARY)


def test_findings_are_made_small() -> None:
    data = b"x" * 500 + b"needle" + b"y" * 500
    assert smaller(data, lambda text: b"needle" in text) == b"needle"

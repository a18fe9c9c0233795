"""Words that stand for several sources, which the port calls by the usual names and by others."""

from __future__ import annotations

import pytest

from porter.buildfiles.sources import Sources

MIXED = {"csrc/x_cuda.cu": "csrc/x_cuda.cu.hip", "csrc/y.cu": "csrc/y.hip", "csrc/sub/z.cu": "csrc/sub/z.hip"}


@pytest.mark.parametrize(
    ("word", "new"),
    [
        ("csrc/**/*.cu", "csrc/**/*.hip"),
        ("csrc/*.cu", "csrc/*.hip"),
        ("${DIR}/*.cu", "${DIR}/*.hip"),
        ("*_cuda.cu", "*_cuda.cu.hip"),
        ("_cuda.cu", "_cuda.cu.hip"),
        ("csrc/x_cuda.cu", "csrc/x_cuda.cu.hip"),
        ("csrc/${NAME}.cu", None),
        ("%.cu", None),
        (".cu", None),
        ("csrc/?.cu", None),
        ("csrc/*?.cu", None),
        ("nothing/*_other.cu", None),
    ],
)
def test_a_word_for_sources_with_other_names(word: str, new: str | None) -> None:
    sources = Sources(MIXED, frozenset({*MIXED, "csrc/x.cpp"}))
    assert sources.new_name("", word) == new
    assert sources.breaks("", word) == (new is None and "other" not in word)


def test_a_pattern_stays_where_the_new_one_would_find_more() -> None:
    sources = Sources(MIXED, frozenset({*MIXED, "amd/by_hand.hip"}))
    assert sources.new_name("", "csrc/*.cu") is None
    assert sources.breaks("", "csrc/*.cu")


def test_sources_that_all_get_the_longer_name() -> None:
    apart = {path: f"{path}.hip" for path in ("a.cu", "b.cu")}
    sources = Sources(apart, frozenset(apart))
    assert sources.new_name("", "*.cu") == "*.cu.hip"
    assert sources.new_name("", "%.cu") == "%.cu.hip"
    assert sources.new_name("", "b.cu") == "b.cu.hip"


def test_the_source_in_the_name_of_an_object_in_another_folder() -> None:
    sources = Sources(MIXED, frozenset(MIXED))
    assert sources.object_name("csrc", "build/y.cu") == "build/y.hip"
    assert sources.object_name("csrc", "build/x_cuda.cu") is None
    assert sources.object_name("csrc", "build/other.cu") is None
    assert sources.new_name("csrc", "build/y.cu") is None
    assert not sources.breaks("csrc", "build/y.cu")
    assert sources.is_missing("csrc", "build/y.cu")


def test_a_word_that_ends_like_several_sources() -> None:
    """A function of setup.py may put the folder before it."""
    same = {f"ops/{name}/src/k.cu": f"ops/{name}/src/k.hip" for name in ("stack", "batch")}
    sources = Sources(same, frozenset(same))
    assert sources.new_name("", "src/k.cu") == "src/k.hip"
    assert sources.new_name("ops/stack", "src/k.cu") == "src/k.hip"
    other = {**same, "ops/batch/src/k.cu": "ops/batch/src/k.cu.hip"}
    assert Sources(other, frozenset(other)).new_name("", "src/k.cu") is None
    assert Sources(other, frozenset(other)).breaks("", "src/k.cu")
    kept = Sources(same, frozenset({*same, "ops/by_hand/src/k.cu"}))
    assert kept.new_name("", "src/k.cu") is None
    assert kept.new_name("ops/stack", "src/k.cu") == "src/k.hip"

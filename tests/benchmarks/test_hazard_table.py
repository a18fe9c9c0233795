"""The table of warp hazards: a naive port is rejected where it is wrong, and what tells the cells apart."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.toolchain.clang import Missing, find_clang
from porter.validation.toolchain.nvcc import find_nvcc
from porter.validation.toolchain.result import Missing as NoTool

from benchmarks import hazard_table
from benchmarks.hazard_table import NOT_RUN, RIGHT, WRONG, Result, Row
from tests.fixtures.warp import load

FIXTURES = {fixture.name: fixture for fixture in load()}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "naive"), [("ballot_highest_lane", WRONG), ("safe_morton", RIGHT)])
def test_rows(name: str, naive: str) -> None:
    for found in (find_clang(), find_nvcc()):
        if isinstance(found, Missing | NoTool):
            pytest.skip(found.reason)
    pytest.importorskip("torch")
    row = hazard_table.row_of(FIXTURES[name])
    assert row.original.right
    assert row.naive.verdict == naive, row.naive
    assert row.preserve.right, row.preserve
    assert row.native.right, row.native


def test_a_difference_names_place_and_values() -> None:
    want = {"a": np.array([1, 2, 3]), "x": np.array([1.0, np.nan])}
    assert hazard_table._difference(want, {"a": np.array([1, 2, 3]), "x": np.array([1.00001, np.nan])}) == ""
    found = hazard_table._difference(want, {"a": np.array([1, 5, 3]), "x": want["x"]})
    assert found == "1 of 3 of `a`, first at 1: 5 instead of 2"


def test_inline_ptx_is_a_rejection_and_other_gaps_are_not() -> None:
    assert hazard_table._not_loaded('asm("mov.u32 %0, %%laneid;")', "unknown")[0] == hazard_table.REJECTED
    assert hazard_table._not_loaded("int i;", "unknown")[0] == NOT_RUN


def test_what_is_not_run_is_listed_with_its_reason() -> None:
    fixture = FIXTURES["safe_morton"]
    missing = Result(NOT_RUN)
    rows = [
        Row(fixture, Result(NOT_RUN, "no tool"), missing, missing, missing, 0),
        Row(FIXTURES["ballot_popc"], Result(RIGHT), Result(WRONG, "2 | 3"), Result(RIGHT), Result(WRONG), 1),
    ]
    text = hazard_table.markdown(rows)
    assert "- safe_morton: no tool" in text
    assert "| ballot_popc | wrong values | 2 \\| 3 | same | wrong values, reported (1) |" in text

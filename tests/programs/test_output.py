"""Outputs compared: near misses first."""

from __future__ import annotations

import pytest
from porter.validation.programs.output import Tolerance, compare_output, says

TOLERANCE = Tolerance()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("sum 1.0", "sum 1.1"),
        ("PASS", "FAIL"),
        ("count 3", "count 4"),
        ("sum nan", "sum 1.0"),
        ("sum inf", "sum -inf"),
        ("a\nb", "a"),
        ("x 1\nx 2", "x 1\nx 3"),
        ("ring of 32 elements", "ring of 64 elements"),
        ("times three: 4", "thrice: 4"),
    ],
)
def test_differ(first: str, second: str) -> None:
    assert compare_output(first, second, TOLERANCE) is not None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("sum 1.00001", "sum 1.00002"),
        ("Average execution time: 3.5 us", "Average execution time: 912.25 us"),
        ("bandwidth 812 GB/s", "bandwidth 3 GB/s"),
        ("kernel: 0.52 (ms)", "kernel: 9.1 (ms)"),
        ("at 0x7f00aa001000", "at 0x7f11bb002000"),
        ("NaN", "nan"),
        ("thread 2\nthread 1", "thread 1\nthread 2"),
        ("cudaMalloc is fine", "hipMalloc is fine"),
        ("porter virtual NVIDIA GPU", "porter virtual MI300X"),
        ("warp size 32", "warp size 64"),
        ("shared memory per block: 49152", "shared memory per block: 65536"),
        ("a\n\nb", "a\nb"),
        ('GPU Device 0: "Ampere" with compute capability 8.0\nPASS', "MapSMtoCores for SM 9.4 is undefined\nPASS"),
        ("Compute SM 8.0 hardware", "Compute SM 9.4 hardware"),
    ],
)
def test_agree(first: str, second: str) -> None:
    assert compare_output(first, second, TOLERANCE) is None


def test_the_first_difference_is_named() -> None:
    found = compare_output("same\nvalue 1\n", "same\nvalue 2\n", TOLERANCE)
    assert str(found) == "line 2: 'value 1' and 'value 2'"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("PASS", "pass"), ("Test FAILED", "fail"), ("PASS\nFAIL", "fail"), ("failed: 0\nPASS", "pass"), ("done", None)],
)
def test_own_verdict(text: str, verdict: str | None) -> None:
    assert says(text) == verdict

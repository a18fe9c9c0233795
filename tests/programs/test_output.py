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
        ("result 481.8 in 0.52 ms", "result 963.6 in 0.51 ms"),
        ("took 0.52 s, sum 4.5", "took 0.51 s, sum 9.0"),
        ("matrix 64 x 64, sum 4.5", "matrix 64 x 64, sum 9.0"),
        ("accuracy: 97.5%", "accuracy: 12.5%"),
        ("error rate: 0.125", "error rate: 0.25"),
        ("after 10 time steps: 4.5", "after 10 time steps: 9.0"),
        ("run 3 times: 4.5", "run 3 times: 9.0"),
        ("error of the timed run: 4.5", "error of the timed run: 9.0"),
        ("count 1000000", "count 1000001"),
        ("checksum 0x0300f6b8", "checksum 0x0300b636"),
        ("hash 0x93b1f00d17c0ffee", "hash 0x13b1f00d17c0ffee"),
        ("warp sum: 32", "warp sum: 64"),
        ("device memory holds 32", "device memory holds 64"),
        ("thread 2\nthread 1", "thread 1\nthread 2"),
        ("version 9", "version 4"),
        ("main.cu:14 failed", "main.hip:15 failed"),
        ("a.cu", "b.hip"),
        ("copper.cube", "copper.hips"),
        ("capability to hold 8.9", "capability to hold 9.8"),
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
        ("Elapsed: 1.5 2.5 3.5", "Elapsed: 9.5 8.5 7.5"),
        ("sum 4.5 (0.5 us, 12 GB/s)", "sum 4.5 (7.5 us, 3 GB/s)"),
        ("rate: 12.5 options per second", "rate: 0.5 options per second"),
        ("3.5 Mkeys/s of 100 keys", "0.5 Mkeys/s of 100 keys"),
        ("1e+06 found", "1000001 found"),
        ("cudaMalloc is fine", "hipMalloc is fine"),
        ("porter virtual NVIDIA GPU", "porter virtual MI300X"),
        ("warp size 32", "warp size 64"),
        ("shared memory per block: 49152", "shared memory per block: 65536"),
        ("a\n\nb", "a\nb"),
        ('GPU Device 0: "Ampere" with compute capability 8.0\nPASS', "MapSMtoCores for SM 9.4 is undefined\nPASS"),
        ("Compute SM 8.0 hardware", "Compute SM 9.4 hardware"),
        ("Compute Capability: 8.9", "Compute Capability: 9.4"),
        ("compute capability major 12 minor 1", "compute capability major 9 minor 4"),
        ("ECL-CC v1.1 (ECL-CC_11.cu)", "ECL-CC v1.1 (ECL-CC_11.hip)"),
    ],
)
def test_agree(first: str, second: str) -> None:
    assert compare_output(first, second, TOLERANCE) is None


def test_the_order_of_lines() -> None:
    for second, agree in (("thread 1\nthread 2", True), ("thread 1\nthread 3", False), ("thread 1", False)):
        found = compare_output("thread 2\nthread 1", second, TOLERANCE, any_order=True)
        assert (found is None) is agree


def test_whole_numbers_within_a_tolerance_of_their_own() -> None:
    assert compare_output("count 1000000", "count 1000001", Tolerance(whole=True)) is None
    assert compare_output("count 1000000", "count 1002000", Tolerance(whole=True)) is not None


def test_the_first_difference_is_named() -> None:
    found = compare_output("same\nvalue 1\n", "same\nvalue 2\n", TOLERANCE)
    assert str(found) == "line 2: 'value 1' and 'value 2'"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("PASS", "pass"), ("Test FAILED", "fail"), ("PASS\nFAIL", "fail"), ("failed: 0\nPASS", "pass"), ("done", None)],
)
def test_own_verdict(text: str, verdict: str | None) -> None:
    assert says(text) == verdict

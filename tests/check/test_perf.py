"""`--perf`: estimates against those that the tree keeps, and what made one grow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from porter.check.perf import NAME, Kept, Subject, compared, read_estimates
from porter.errors import Unusable
from porter.report.schemas import load
from tests.check.repositories import git, write
from tests.cli.command import porter

SUBJECT = Subject("a.case.toml", "copy", "preserve", "n=1000")
BEFORE = Kept(1000.0, 1.3, "memory", {"TCC_REQ_sum": 100, "SQ_WAVES": 16, "waves per SIMD": 8})


def now(factor: float, band: float = 1.3, **counters: float) -> Kept:
    return Kept(1000.0 * factor, band, "memory", {**BEFORE.counters, **counters})


@pytest.mark.parametrize(
    ("found", "status", "said"),
    [
        (now(1.0), "passed", "x 1.00 of what is kept"),
        (now(0.2), "passed", "x 0.20"),
        (now(1.29), "passed", "x 1.29"),
        (now(1.31, TCC_REQ_sum=250), "failed", "TCC_REQ_sum x 2.50 (100 -> 250)"),
        (now(1.5, 2.0), "passed", "x 1.50"),
        (now(1.5, 1.1, SQ_INSTS_LDS=7), "failed", "SQ_INSTS_LDS new (0 -> 7)"),
        (now(1.5), "failed", "no counter moved"),
    ],
)
def test_an_estimate_fails_beyond_the_larger_band(found: Kept, status: str, said: str) -> None:
    row = compared(SUBJECT, BEFORE, found)
    assert row["status"] == status and said in row["message"]
    assert "estimate" in row["message"]


def test_what_was_never_kept_passes_and_says_so() -> None:
    row = compared(SUBJECT, None, now(1.0))
    assert row["status"] == "passed" and "nothing earlier is kept" in row["message"]


@pytest.mark.parametrize(
    "text",
    ["{", '{"schema": "porter-estimates-9"}', '{"schema": "porter-estimates-1", "chip": "x", "estimates": [{}]}'],
)
def test_a_damaged_file_is_no_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    with pytest.raises(Unusable):
        read_estimates(tmp_path / NAME)


def check(root: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """In a process of its own: within one, a tree is ported once."""
    done = porter("check", root, "--perf", "--format", "json", *options)
    document = json.loads(done.stdout)
    jsonschema.validate(document, load("check"))
    (proof,) = document["proofs"]
    return done.code, proof


@pytest.mark.slow
def test_a_kernel_that_does_more_closes_the_gate(tmp_path: Path) -> None:
    """Kept, the same again, a kernel that reads far apart, and kept again."""
    root = tmp_path / "project"
    write(root, {"a.cu": KERNEL, "a.case.toml": CASE, "reference.py": REFERENCE})
    git(root, "init", "-q")
    code, proof = check(root)
    assert code == 1 and NAME in str(proof["reason"])
    code, proof = check(root, "--update-baseline")
    if proof["status"] == "not-run":
        pytest.skip(str(proof))
    kept = read_estimates(root / NAME)
    assert code == 0 and kept is not None and [subject.case for subject in kept.of] == ["copy"]
    assert check(root)[0] == 0
    write(root, {"a.cu": KERNEL.replace("a[i]", "a[i * 1037 % n]")})
    code, proof = check(root)
    assert code == 1 and proof["status"] == "failed"
    (subject,) = proof["subjects"]
    assert "more than the band" in subject["message"] and "; TC" in subject["message"]
    assert check(root, "--update-baseline")[0] == 0 == check(root)[0]


KERNEL = """
__global__ void copy(const float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i];
}
"""
CASE = """
schema = "porter-case/1"
source = "a.cu"

[[case]]
name = "copy"
kernel = "copy"
sweep = { n = [1000000] }
grid = "(n + 255) // 256"
block = 256
arguments = ["in a: float32[n]", "out b: float32[n]", "scalar n: int32 = n"]
reference = "reference.py:copy"
"""
REFERENCE = "def copy(a, n):\n    return {'b': a}\n"

"""Kernels that write to no argument: what they print, and what they leave in variables, is compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.cases.case import CaseError
from porter.validation.cases.file import load_cases
from porter.validation.draft.init import draft
from porter.validation.verdict.printed import printed_otherwise

from tests.validate.running import by_name, run, write_case

SOURCE = """
__device__ int total[4];
__global__ void tell(const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) printf("%d: %g\\n", i, x[i] * 2.0f);
  if (i < n) atomicAdd(&total[i % 4], i);
}
"""
CASE = """sweep = { n = [70] }
grid = 2
block = 64
arguments = ["in x: float32[n]", "scalar n: int32 = n"]
observed = ["printed", "total: int32"]
"""


def test_what_a_case_may_ask_for(tmp_path: Path) -> None:
    (case,) = load_cases(write_case(tmp_path, "tell", CASE, SOURCE))
    assert case.observed == ("printed", "total: int32")
    for line, said in (
        ('observed = ["total: int31"]', "nor a variable"),
        ('observed = ["said"]', "'said' is not 'printed', nor a variable"),
        ("", "nothing to compare"),
    ):
        with pytest.raises(CaseError, match=said):
            load_cases(
                write_case(tmp_path, "tell", CASE.replace('observed = ["printed", "total: int32"]', line), SOURCE)
            )


@pytest.mark.parametrize(
    ("port", "original", "said"),
    [
        (["b 2\na 1\n"], ["a 1\nb 2\n"], None),
        (["at 0x7f0012345678\n"], ["at 0x100000000000\n"], None),
        (["x 1.0000001 2\n"], ["x 1.0 2\n"], None),
        (["x nan\n"], ["x nan\n"], None),
        (["x 1.1\n"], ["x 1.0\n"], "it printed 'x 1.1', the original 'x 1.0'"),
        (["x 3\n"], ["x 2\n"], "it printed 'x 3', the original 'x 2'"),
        (["x 100001\n"], ["x 100000\n"], "it printed 'x 100001', the original 'x 100000'"),
        (["y 2\n"], ["x 2\n"], "it printed 'y 2', the original 'x 2'"),
        (["a\na\n"], ["a\n"], "it printed 2 lines, the original 1: 'a'"),
        ([""], ["a\n"], "it printed 0 lines, the original 1: 'a'"),
        (["a\n", "b\n"], ["a\n"], "it printed 'b', the original 'a'"),
        (["c\n"], ["a\n", "b\n"], None),  # the original's own text hangs on the order
    ],
)
def test_texts(port: list[str], original: list[str], said: str | None) -> None:
    assert printed_otherwise(port, original) == said


def drafted(folder: Path, text: str) -> tuple[str, ...]:
    (folder / "k.cu").write_text(text)
    (part,) = draft(folder / "k.cu").parts
    return part.after


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SOURCE, 'observed = ["printed", "total: int32"]'),
        ('__device__ void say(int i) { printf("%d", i); }\n__global__ void k(int n) { say(n); }',
         'observed = ["printed"]'),
        ("__device__ float best;\n__global__ void k(float x) { best = x; }", 'observed = ["best: float32"]'),
        ("__device__ float best;\n__global__ void k(float x) { if (best == x) return; }", "not_run = "),
        ("__constant__ float best;\n__global__ void k(float x) { float y = best * x; }", "not_run = "),
    ],
)  # fmt: skip
def test_drafts_ask_for_what_there_is(text: str, line: str, tmp_path: Path) -> None:
    assert any(one.startswith(line) for one in drafted(tmp_path, text))


@pytest.mark.slow
def test_original_and_port_are_compared(tmp_path: Path) -> None:
    path = write_case(tmp_path, "tell", CASE, "#include <cstdio>\n" + SOURCE)
    (case,) = run(path).report.cases
    assert case.status.value == "passed", case.reason
    path.write_text(path.read_text().replace('source = "k.cu"\n', 'source = "k.cu"\nport = "k.hip"\n'))
    for right, wrong, status, said in (
        ("* 2.0f", "* 2.5f", "wrong-values", "it printed"),
        ("if (i < n) printf", "if (i + 1 < n) printf", "wrong-values", "it printed 69 lines, the original 70"),
        ("[i % 4], i)", "[i % 4], 1)", "wrong-values", "the variable total[0]"),
    ):
        assert right in SOURCE
        (tmp_path / "k.hip").write_text(
            "#include <hip/hip_runtime.h>\n#include <cstdio>\n" + SOURCE.replace(right, wrong)
        )
        case = by_name(run(path))["tell"]
        assert case.status.value == status and said in case.reason, (wrong, case.reason)


QUIET = """
#include <cstdio>
__device__ int total;
__global__ void k(int n) { if (n > 40 && threadIdx.x < n - 40) atomicAdd(&total, n); }
"""


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "status"), [([1, 40], "not-run"), ([1, 41], "passed")])
def test_one_size_that_shows_something_is_enough(sizes: list[int], status: str, tmp_path: Path) -> None:
    text = f'sweep = {{ n = {sizes} }}\ngrid = 1\nblock = 64\narguments = ["scalar n: int32 = n"]\n'
    path = write_case(tmp_path, "k", text + 'observed = ["total: int32"]\n', QUIET)
    (case,) = run(path).report.cases
    assert case.status.value == status, case
    assert (status == "passed") is not case.reason.startswith("the original printed nothing")
    if status == "passed":
        path.write_text(path.read_text().replace('source = "k.cu"\n', 'source = "k.cu"\nport = "k.hip"\n'))
        (tmp_path / "k.hip").write_text("#include <hip/hip_runtime.h>\n" + QUIET.replace(", n);", ", n + 1);"))
        (case,) = run(path).report.cases
        assert case.status.value == "wrong-values" and "the variable total[0]" in case.reason


RACING = """
__global__ void last(float* x) {
  __shared__ volatile int who;
  who = threadIdx.x / 32;
  x[threadIdx.x] = who;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("races", [True, False])
def test_an_original_with_a_race_is_no_truth(races: bool, tmp_path: Path) -> None:
    text = 'grid = 1\nblock = 128\narguments = ["out x: float32[128]"]\n' + ("" if races else "races = false\n")
    (case,) = run(write_case(tmp_path, "last", text, RACING)).report.cases
    original = next(side for side in case.sides if side.side == "original")
    if races:
        assert original.status.value == "fault" and "data race" in original.reason
        return
    assert original.status.value == "nondeterministic" and "data race" in original.reason, original
    assert [pair.status.value for pair in case.pairs] == ["wrong-values"]
    assert "as it has a data race: add a reference" in case.pairs[0].reason


TAKEN = """
__global__ void first(float* out, int* claimed) {
  if (threadIdx.x == 0 && atomicExch(claimed, 1) == 0) out[0] = 1.0f + blockIdx.x;
}
__global__ void total(float* out, const float* in) { atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]); }
"""


@pytest.mark.slow
def test_an_original_that_depends_on_the_order_of_its_blocks_is_no_truth(tmp_path: Path) -> None:
    """`deterministic = false` is for roundings: what differs by more is told; sums that round otherwise are right."""
    text = 'grid = 2\nblock = 32\ndeterministic = false\narguments = ["inout out: float32[1] = zeros", '
    whole = text + '"inout claimed: int32[1] = zeros"]\n\n[[case]]\nkernel = "total"\ntolerance = { reduction = 64 }\n'
    (case, sums) = run(
        write_case(tmp_path, "first", whole + text + '"in in: float32[64]"]\n', TAKEN), schedules=4
    ).report.cases
    original = next(side for side in case.sides if side.side == "original")
    assert original.status.value == "nondeterministic" and "by more than roundings" in original.reason, original
    assert [pair.status.value for pair in case.pairs] != ["passed"]
    assert all("depend on the order of its threads" in pair.reason for pair in case.pairs)
    assert sums.status.value == "passed", sums


def test_a_kernel_without_arguments_is_judged_by_what_it_sets(tmp_path: Path) -> None:
    text = "__device__ int done[64];\n__global__ void k() { done[threadIdx.x] = 1; }\n__global__ void nothing() {}\n"
    (tmp_path / "k.cu").write_text(text)
    k, nothing = draft(tmp_path / "k.cu").parts
    assert 'observed = ["done: int32"]' in k.after
    assert any(line.startswith("not_run") for line in nothing.after)

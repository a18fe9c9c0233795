"""`porter cases init`: what can be told is right, what cannot is marked, and a marked draft is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from porter.validation.cases.case import CaseError
from porter.validation.cases.file import load_cases
from porter.validation.draft.init import draft

from tests.cli.command import porter
from tests.samples.loading import NAMES, SAMPLES, kernels, sources
from tests.validate.running import by_name, run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLEAR = """\
#define THREADS 64
__global__ void axpy(const float* __restrict__ x, float* y, unsigned char* flags, double* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    y[i] += 2.0f * x[i];
    flags[i] = y[i] > 0.0f;
    atomicAdd(sum + i / count, 1.0);
  }
}
void host(const float* dx, float* dy, unsigned char* df, double* ds, int n) {
  constexpr int kBlock = THREADS * 2;
  const dim3 block(kBlock);
  const int blocks = (n + kBlock - 1) / kBlock;
  axpy<<<blocks, block, 3 * sizeof(float)>>>(dx, dy, df, ds, n);
}
"""
EXPECTED = """\
schema = "porter-case/1"
source = "axpy.cu"

[[case]]
kernel = "axpy"
sweep = { count = [1, 31, 32, 33, 997, 1000] }
grid = "(count + 128 - 1) // 128"
block = 128
shared = 12
arguments = [
  "in x: float32[count]",
  "inout y: float32[count]",
  "out flags: uint8[count]",
  "inout sum: float64[TODO] = zeros",
  "scalar count: int32 = count",
]
deterministic = false
tolerance = { reduction = 4 }
# reference = "reference.py:axpy"  # without one, original and port are compared with each other
"""


def test_what_a_file_tells(tmp_path: Path) -> None:
    (tmp_path / "axpy.cu").write_text(CLEAR)
    made = draft(tmp_path / "axpy.cu")
    assert made.text == EXPECTED
    assert (made.cases, made.marks) == (1, 1)


UNTOLD = """\
#include "input.h"
__global__ void histogram(const unsigned char *data, unsigned *bins, long n) {
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[data[i]], 1u);
}
void count(const Input &input, const unsigned char *data, unsigned *bins, int slots) {
  cudaMalloc(&bins, slots * sizeof(unsigned));
  histogram<<<64, 256>>>(data, bins, input.size());
}
"""


@pytest.mark.parametrize(
    ("text", "told"), [(UNTOLD, "n, slots"), (UNTOLD.replace("slots *", "256 *"), None), (CLEAR, None)]
)
def test_lengths_that_the_host_does_not_tell(text: str, told: str | None, tmp_path: Path) -> None:
    """A number that is porter's own is said to be; the program's, and those of a sweep that tries many, are not."""
    (tmp_path / "input.h").write_text("struct Input { long size() const; };")
    (tmp_path / "kernel.cu").write_text(text)
    notes = [line for line in draft(tmp_path / "kernel.cu").text.splitlines() if "the numbers are porter's" in line]
    assert [line.rpartition(": ")[2] for line in notes] == ([told] if told else [])


@pytest.mark.parametrize("sample", NAMES)
def test_drafts_of_the_samples(sample: str, tmp_path: Path) -> None:
    """They are TOML with a case per kernel; with marks they are refused, and say where."""
    for source in sources(sample):
        if source.suffix != ".cu" or "__global__" not in source.read_text("utf-8"):
            continue
        made = draft(source)
        names = {case["kernel"].partition("<")[0].rpartition("::")[2] for case in tomllib.loads(made.text)["case"]}
        assert names and names <= set(kernels(sample))
        (tmp_path / source.name).write_bytes(source.read_bytes())
        (tmp_path / "reference.py").write_bytes((SAMPLES / sample / "reference.py").read_bytes())
        path = tmp_path / "draft.case.toml"
        path.write_text(made.text)
        if made.marks:
            with pytest.raises(CaseError, match="still marked TODO") as caught:
                load_cases(path)
            assert "TODO" in made.text.splitlines()[caught.value.line - 1]
        else:
            load_cases(path)


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    source = tmp_path / "axpy.cu"
    source.write_text(CLEAR)
    first = porter("cases", "init", str(source))
    assert first.code == 1 and "1 case; 1 places are marked TODO" in first.stdout
    assert (tmp_path / "axpy.case.toml").read_text() == EXPECTED
    second = porter("cases", "init", str(source))
    assert second.code == 2 and "exists; use --force" in second.stderr
    assert porter("cases", "init", str(source), "--kernel", "nope").code == 2
    shown = porter("cases", "init", str(source), "--stdout", "--kernel", "axpy")
    assert shown.stdout == EXPECTED


@pytest.mark.slow
def test_a_draft_that_is_filled_in_runs(tmp_path: Path) -> None:
    (tmp_path / "axpy.cu").write_text(CLEAR)
    text = EXPECTED.replace("float64[TODO]", "float64[1]").replace(
        '# reference = "reference.py:axpy"', 'reference = "r.py:axpy"'
    )
    (tmp_path / "axpy.case.toml").write_text(text)
    (tmp_path / "r.py").write_text(
        "def axpy(x, y, count):\n"
        "    y = y.astype('float64') + 2.0 * x.astype('float64')\n"
        "    return y, (y > 0).astype('int64'), [float(count)]\n"
    )
    outcome = run(tmp_path / "axpy.case.toml")
    assert by_name(outcome)["axpy"].status.value == "passed", outcome.report

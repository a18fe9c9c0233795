"""Structs by value that hold pointers: their bytes, their arrays, and what a draft makes of them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from porter.validation.cases.case import CaseError
from porter.validation.cases.file import load_cases
from porter.validation.cases.inputs import Trial, fill
from porter.validation.cases.structs import Behind, StructArgument
from porter.validation.run.passing import pack

from tests.validate.running import by_name, run, write_case

SOURCE = """
struct View { char tag; const float* from; int n; float* to; };
__global__ void twice(float by, View v, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= v.n) return;
  v.to[i] = by * v.from[i];
  if (i == 0) count[0] = v.n;
}
"""
CASE = """sweep = { n = [1, 65] }
grid = "ceil_div(n, 64)"
block = 64
arguments = [
  "scalar by: float32 = 2",
  { name = "v", kind = "struct", fields = [["int8", 7], ["address", "from"], ["int32", "n"], ["address", "to"]] },
  "out count: int32[1]",
  "in from: float32[n]",
  "out to: float32[n]",
]
"""


def test_packed_with_places_for_addresses(tmp_path: Path) -> None:
    (case,) = load_cases(write_case(tmp_path, "twice", CASE, SOURCE))
    assert case.parameters == ("by", "v", "count") and case.launched == ("by", "v", "count", "from", "to")
    trial = Trial({"n": 65}, 1, "random")
    packed = pack(case, fill(case, trial), trial.symbols, 0)
    given = packed.values[1]
    assert isinstance(given, StructArgument) and given.addresses == ((8, 3), (24, 4)) and len(given.data) == 32
    seen = np.frombuffer(given.word({3: 0x1234, 4: 0x5678}), "<u8")
    assert seen[0] & 0xFF == 7 and seen[1] == 0x1234 and seen[2] & 0xFFFFFFFF == 65 and seen[3] == 0x5678
    assert all(isinstance(value, Behind) for value in packed.values[3:])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ('["address", "nowhere"]', "no array is named 'nowhere'"),
        ('["address", "by"]', "no array is named 'by'"),
        ('["address", 0]', "not the name of an array"),
        ('["float80", 0]', "is not .dtype, value."),
        ('["int32", 0], ["address", "to", 4], ["int32", 0, 8]', "overlaps"),
        ('["int32", 0, "x"]', "no place in bytes"),
    ],
)
def test_what_is_no_struct(fields: str, said: str, tmp_path: Path) -> None:
    text = re.sub(r"fields = \[.*\] }", lambda _: f"fields = [{fields}] }}", CASE)
    with pytest.raises(CaseError, match=said):
        load_cases(write_case(tmp_path, "twice", text, SOURCE))


def test_a_struct_that_is_too_small(tmp_path: Path) -> None:
    text = CASE.replace('kind = "struct", ', 'kind = "struct", size = 24, ')
    with pytest.raises(CaseError, match="fields take 32 bytes"):
        load_cases(write_case(tmp_path, "twice", text, SOURCE))


def test_places_and_size_as_they_are_said(tmp_path: Path) -> None:
    fields = '["int8", 1, 3], ["int16", 2], ["int8", 5]'
    text = re.sub(r"fields = \[.*\] }", lambda _: f"size = 12, fields = [{fields}] }}", CASE)
    (case,) = load_cases(write_case(tmp_path, "twice", text, SOURCE))
    trial = Trial({"n": 65}, 1, "random")
    packed = pack(case, fill(case, trial), trial.symbols, 0)
    assert packed.values[1] == bytes([0, 0, 0, 1, 2, 0, 5, 0, 0, 0, 0, 0])


@pytest.mark.slow
def test_original_and_port_run_with_it(tmp_path: Path) -> None:
    """The right port agrees in every bit; one that reads an element too far faults; another value is found."""
    path = write_case(tmp_path, "twice", CASE, SOURCE)
    (case,) = run(path).report.cases
    assert case.status.value == "passed", case.reason
    path.write_text(path.read_text().replace('source = "k.cu"\n', 'source = "k.cu"\nport = "k.hip"\n'))
    for right, wrong, status in (
        ("by * v.from[i]", "by * v.from[i + 1]", "fault"),
        ("by * v.from[i]", "v.from[i] * (i == 64 ? 3 : by)", "wrong-values"),
    ):
        (tmp_path / "k.hip").write_text("#include <hip/hip_runtime.h>\n" + SOURCE.replace(right, wrong))
        case = by_name(run(path))["twice"]
        assert case.status.value == status and (status == "fault" or "to[64]" in case.reason), case.reason

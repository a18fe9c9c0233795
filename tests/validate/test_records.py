"""Arrays of structures: laid out as in C, compared member by member."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from porter.validation.cases.case import DTYPES, CaseError
from porter.validation.cases.file import load_cases
from porter.validation.cases.inputs import Trial, fill
from porter.validation.cases.records import members_of
from porter.validation.draft.init import draft
from porter.validation.run.passing import pack

from tests.validate.running import by_name, run, write_case

SOURCE = """
struct Particle { char kind; float pos[3]; double mass; int hits; };
__global__ void step(Particle* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i].pos[1] += 0.5f * (float)p[i].mass;
  p[i].hits += 1;
}
int main(int argc, char** argv) {
  const int n = atoi(argv[1]);
  Particle* d;
  cudaMalloc(&d, n * sizeof(Particle));
  step<<<(n + 63) / 64, 64>>>(d, n);
}
"""
CASE = """sweep = { n = [1, 65] }
grid = "ceil_div(n, 64)"
block = 64
arguments = ["inout p: (int8 kind, float32*3 pos, float64 mass, int32 hits)[n]", "scalar n: int32 = n"]
"""


@pytest.mark.parametrize(
    ("dtype", "places", "size"),
    [
        ("(int8 a, float32*3 b, float64 c, int32 d)", [0, 4, 16, 24], 32),
        ("(int8 a, int8*3 b)", [0, 1], 4),
        ("(float32 a, float32*4 b @16)", [0, 16], 32),
        ("(float32*3 a /16)", [0], 16),
        ("(float16 a, bfloat16 b, bool c)", [0, 2, 4], 6),
    ],
)
def test_members_lie_as_in_c(dtype: str, places: list[int], size: int) -> None:
    made = members_of("p", dtype, DTYPES)
    assert [one.offset for one in made] == places and {one.size for one in made} == {size}


@pytest.mark.parametrize(
    "line",
    [
        "inout p: ()[4]",
        "inout p: (float32)[4]",
        "inout p: (float12 x)[4]",
        "inout p: (float32 x, int32 x)[4]",
        "inout p: (float64 x, int32 y @4)[4]",
        "inout p: (float64 x /4)[4]",
        "out p: (float32 x)[4]",
        "inout p: (float32 x)[4] {any_order}",
        "inout p: (float32 x)[4] = x.npy",
    ],
)
def test_what_is_no_structure(line: str, tmp_path: Path) -> None:
    path = write_case(tmp_path, "step", f'grid = 1\nblock = 64\narguments = ["{line}"]\n', SOURCE)
    with pytest.raises(CaseError, match="arguments"):
        load_cases(path)


def test_packed_and_taken_apart(tmp_path: Path) -> None:
    """Every byte of a member is the device's, and what is between members is 0."""
    (case,) = load_cases(write_case(tmp_path, "step", CASE, SOURCE))
    assert case.parameters == ("p", "n") and [one.name for one in case.arguments][:2] == ["p_kind", "p_pos"]
    filled = fill(case, Trial({"n": 65}, 1, "random"))
    packed = pack(case, filled, {"n": 65}, 0)
    layout = np.dtype([("kind", "i1"), ("pos", "f4", 3), ("mass", "f8"), ("hits", "i4")], align=True)
    memory = packed.values[0].copy()
    seen = memory.view(layout)
    assert memory.size == 65 * 32 and len(packed.values) == 2
    for name in layout.names or ():
        assert np.array_equal(seen[name], filled.arrays[f"p_{name}"])
        seen[name] = 0
    assert not memory.any()
    place = packed.placed["p_pos"].offset((7, 2))
    packed.values[0].view(np.uint8)[place : place + 4] = np.frombuffer(np.float32(-3.25).tobytes(), np.uint8)
    assert packed.written("p_pos", packed.values[0])[0][7, 2] == np.float32(-3.25)


def test_drafted_with_its_members(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(SOURCE)
    text = draft(source).text
    assert "inout p: (int8 kind, float32*3 pos, float64 mass, int32 hits)[n] = integers(0, 100)" in text
    assert "TODO" not in text


@pytest.mark.slow
def test_a_wrong_member_is_found(tmp_path: Path) -> None:
    """The right port agrees, one with an error in one member does not."""
    path = write_case(tmp_path, "step", CASE, SOURCE)
    (case,) = run(path).report.cases
    assert case.status.value == "passed", case.reason
    wrong = re.sub(r"hits \+= 1", "hits += 1 + (i == 64)", SOURCE)
    (tmp_path / "k.hip").write_text("#include <hip/hip_runtime.h>\n" + wrong.partition("int main")[0])
    path.write_text(path.read_text().replace('source = "k.cu"', 'source = "k.cu"\nport = "k.hip"'))
    case = by_name(run(path))["step"]
    assert case.status.value == "wrong-values" and "p_hits[64]" in case.reason

"""States of random numbers among the arguments: laid out without their header, and drawn from alike on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.cases.file import load_cases
from porter.validation.draft.generators import draws, members_of, one_generator
from porter.validation.draft.guessing import GUESSES, can_be_guessed, filled
from porter.validation.draft.init import draft
from porter.validation.toolchain.cuda_headers import fetched_for_cuda

from tests.validate.running import run, write_case

SOURCE = """
#include <curand_kernel.h>
struct Walk { curandState_t own; float at; };
__global__ void walk(curandState *states, curandStatePhilox4_32_10_t *more, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = curand_uniform(&states[i]) + curand_normal(&more[i]);
}
__global__ void walks(Walk *all, float *out) { out[threadIdx.x] = curand_uniform(&all[threadIdx.x].own); }
__global__ void kept(curandState *states, curandState *copies) { copies[threadIdx.x] = states[threadIdx.x]; }
"""


@pytest.mark.parametrize(
    "kind", ["curandState", "curandStateXORWOW_t", "curandStateMRG32k3a", "curandStatePhilox4_32_10"]
)
def test_members_fill_a_state_without_overlap(kind: str) -> None:
    made = members_of(kind)
    assert made is not None
    end = 0
    for name, at, element, count in made[1]:
        assert at == -(-end // element.size) * element.size, name
        end = at + element.size * count
    assert -(-end // 8) * 8 == made[0]


def test_other_types_are_none() -> None:
    assert members_of("curandGenerator_t") is None and members_of("curandStateSobol32") is None
    assert (
        draws("x = curand(&s);") and draws("curand_init(1, 2, 3, &s);") and not draws("my_curand_like(&s); // curand")
    )


def test_both_sides_share_a_generator(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)
    made = draft(tmp_path / "k.cu", assuming=True)
    walk, walks, kept = (part for part in made.parts)
    assert can_be_guessed(walk) and can_be_guessed(walks)
    text = walk.text()
    assert "# states: states of random numbers that curand_init did not make" in text
    assert "float64 extra_double @40 /48)" in text and "/64)[n] = integers(0, 4)" in text
    assert "one_generator = true\n" in text and "one_generator" not in kept.text()  # copies are the same everywhere
    full = filled(walk, GUESSES[0], {})
    assert full is not None
    (tmp_path / "k.case.toml").write_text(made.head() + full.text())
    (case,) = load_cases(tmp_path / "k.case.toml")
    assert case.one_generator and case.reason_not_run("gfx942") is None
    (line,) = [one for one in walks.after if "all" in one]
    assert "own_d @0" in line and "float32 at @48 /56)" in line


def test_what_no_generator_is_shared_for() -> None:
    line = one_generator("x = curand_discrete(&s, d);")
    assert line.startswith("not_run = { gfx942 = ") and "draws other numbers" in line


DROPS = """
#include <curand_kernel.h>
__global__ void k(float *out, const float *in, int n, float p, unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState s;
  curand_init(seed, i, 0, &s);
  float u = curand_uniform(&s);
  if (i < n) out[i] = u > p ? in[i] / (1 - p) : 0.f;
}
"""
CASE = """one_generator = {}
grid = 2
block = 128
arguments = ["out out: float32[200]", "in in: float32[200]", "scalar n: int32 = 200", "scalar p: float32 = 0.3",
             "scalar seed: uint64 = 9"]
"""


NEEDS_CURAND = pytest.mark.skipif(
    not any((folder / "curand.h").exists() for folder in fetched_for_cuda()),
    reason="no curand.h: porter headers --cuda",
)


@pytest.mark.slow
@NEEDS_CURAND
@pytest.mark.parametrize(("shared", "status"), [("true", "passed"), ("false", "wrong-values")])
def test_a_dropout_is_compared(shared: str, status: str, tmp_path: Path) -> None:
    (case,) = run(write_case(tmp_path, "k", CASE.format(shared), DROPS)).report.cases
    assert case.status.value == status, case.reason


@pytest.mark.slow
@NEEDS_CURAND
def test_a_wrong_dropout_differs(tmp_path: Path) -> None:
    """Half of each wavefront draws another sequence."""
    path = write_case(tmp_path, "k", CASE.format("true"), DROPS)
    path.write_text(path.read_text().replace('source = "k.cu"\n', 'source = "k.cu"\nport = "k.hip"\n'))
    wrong = DROPS.replace("seed, i", "seed, i / 64 * 64 + i % 32")
    (tmp_path / "k.hip").write_text("#include <hip/hip_runtime.h>\n" + wrong.replace("curand", "hiprand"))
    (case,) = run(path).report.cases
    assert case.status.value == "wrong-values", case.reason

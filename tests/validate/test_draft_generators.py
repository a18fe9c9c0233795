"""States of random numbers among the arguments: laid out without their header, and never compared with a port's."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.cases.file import load_cases
from porter.validation.draft.generators import draws, members_of
from porter.validation.draft.guessing import GUESSES, can_be_guessed, filled
from porter.validation.draft.init import draft

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


def test_a_case_says_that_ports_draw_other_numbers(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)
    made = draft(tmp_path / "k.cu", assuming=True)
    walk, walks, kept = (part for part in made.parts)
    assert can_be_guessed(walk) and can_be_guessed(walks)
    text = walk.text()
    assert "# states: states of random numbers that curand_init did not make" in text
    assert "float64 extra_double @40 /48)" in text and "/64)[n] = integers(0, 4)" in text
    assert "not_run = { gfx942 = " in text and "not_run" not in kept.text()  # copies are the same everywhere
    full = filled(walk, GUESSES[0], {})
    assert full is not None
    (tmp_path / "k.case.toml").write_text(made.head() + full.text())
    (case,) = load_cases(tmp_path / "k.case.toml")
    assert "draws other numbers" in str(case.reason_not_run("gfx942")) and case.reason_not_run("ptx") is None
    (line,) = [one for one in walks.after if "all" in one]
    assert "own_d @0" in line and "float32 at @48 /56)" in line

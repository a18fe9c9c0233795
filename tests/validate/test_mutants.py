"""Every change of one operator, constant or call in the comparing modules is noticed by their tests."""

from __future__ import annotations

import warnings

import pytest
from porter.validation.verdict import compare, tolerance
from porter.validation.verdict import outcome as verdict

from tests.validate.mutants import MODULES, is_killed, mutants

JUDGING = frozenset({"worst", "judge", "judge_runs"})
EQUIVALENT = {
    "compare: infinite = np.where(values > 0, 2, 3): Gt -> GtE": "only infinities are asked",
    "compare: infinite = np.where(values > 0, 2, 3): 0 -> 1": "only infinities are asked",
    "compare: infinite = np.where(values > 0, 2, 3): 3 -> 4": "any number that is no other kind's",
    "compare: wrong = finite & same_kind & ~(errors <= limit): BitAnd -> BitOr": "what is not finite has no error",
    "compare: return np.asarray(np.isfinite(truth) & np.isinf(values) & (reach == values)): BitAnd -> BitOr": (
        "of expected infinities it changes nothing, NaN reaches nothing"
    ),
    "compare: excess = np.where(wrong, errors / np.maximum(limit, np.finfo(np.float64).tiny), -1.0): 1.0 -> 2.0": (
        "below every excess"
    ),
    "compare: far = (a < 0) != (b < 0): Lt -> LtE": "with a zero both ways count the same",
    "compare: far = (a < 0) != (b < 0): 0 -> 1": "with a zero both ways count the same",
    "compare: flat, mask = got.reshape(-1).copy(), written.reshape(-1): 1 -> 2": "any negative size means the rest",
    'compare: lies = "" if places is None else _part_of(places[apart.reshape(-1) > _TELLING_ULPS], size): 1 -> 2': (
        "any negative size means the rest"
    ),
    "compare: first: Array, second: Array, dtype: str, places: NDArray[np.intp] | None = None, size: int = 0: 0 -> 1": (
        "the size is asked for with places alone"
    ),
    "compare: values, others = (dtypes.to_float64(one, dtype).reshape(-1) for one in (first, second)): 1 -> 2": (
        "any negative size means the rest"
    ),
}
"""Mutants that are the same program, and why."""


@pytest.mark.slow
def test_every_mutant_is_killed() -> None:
    assert {module.__name__.rpartition(".")[2] for module in (compare, tolerance, verdict)} == set(MODULES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert is_killed(None) is None, "the checks fail without a mutant"
        made = [m for name in MODULES for m in mutants(name, JUDGING if name == "outcome" else None)]
        survivors = {mutant.name for mutant in made if is_killed(mutant) is None}
    assert len(made) > 200
    assert survivors == EQUIVALENT.keys()

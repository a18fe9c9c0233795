"""The comparator, the tolerance table and the verdicts, on values whose answers are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from porter.validation.cases import dtypes
from porter.validation.verdict import tolerance
from porter.validation.verdict.compare import (
    BINS,
    compare,
    errors_of,
    farthest,
    same_bits,
    sorted_written,
    ulps_apart,
)
from porter.validation.verdict.outcome import Status, judge, judge_runs, worst

Array = NDArray[Any]
F32 = "float32"


def _f(*values: float) -> Array:
    return np.array(values, np.float32)


def _d(*values: float) -> Array:
    return np.array(values, np.float64)


def test_equal_is_right_and_bitwise() -> None:
    found = compare(_f(1, -2, 0), F32, _d(1, -2, 0), np.zeros(3))
    assert found.is_right and found.bitwise and found.elements == 3 and found.max_error == 0.0
    assert found.ulps == (3, *[0] * len(BINS))


def test_the_bound_itself_is_allowed_and_a_little_more_is_not() -> None:
    truth, bound = _d(1, 1, 1), np.full(3, 0.25)
    found = compare(_f(1.25, 0.75, 1.250001), F32, truth, bound)
    assert found.wrong == 1 and found.first is not None and found.first.index == (2,)
    assert not found.is_right and found.of_allowed > 1
    assert judge([found]) is Status.WRONG_VALUES


def test_integers_may_be_as_far_apart_as_their_bound_and_no_farther() -> None:
    """The bound is inclusive, of any size, and of each element; without one nothing may differ, however large."""
    truth, bound = np.array([5, 5, 5, 5, -5]), np.array([1.0, 1.0, 3.0, 0.0, 2.0])
    found = compare(np.array([6, 7, 2, 5, -8], np.int32), "int32", truth, bound)
    assert (found.wrong, found.first and found.first.index) == (2, (1,)) and not found.bitwise
    assert compare(np.array([6, 5, 8, 5, -3], np.int32), "int32", truth, bound).is_right
    assert compare(np.array([2**60 + 1], np.int64), "int64", np.array([2**60]), np.zeros(1)).wrong == 1


def test_first_and_worst_are_told_apart() -> None:
    found = compare(_f(0, 2, 9, 0), F32, _d(0, 0, 0, 0), np.full(4, 1.0))
    assert found.first is not None and found.worst is not None
    assert (found.first.index, found.worst.index, found.wrong) == ((1,), (2,), 2)
    assert found.worst.got == 9 and found.worst.expected == 0 and found.worst.allowed == 1


@pytest.mark.parametrize(
    ("got", "expected", "odd"),
    [
        (np.nan, np.nan, False), (np.inf, np.inf, False), (-np.inf, -np.inf, False),
        (np.nan, 1.0, True), (1.0, np.nan, True), (np.inf, -np.inf, True), (np.inf, np.nan, True),
        (np.nan, np.inf, True), (np.inf, 1.0, True), (1.0, np.inf, True), (-np.inf, 1.0, True),
    ],
)  # fmt: skip
def test_non_finite_values_match_by_kind(got: float, expected: float, odd: bool) -> None:
    found = compare(_f(5, got), F32, _d(5, expected), np.full(2, 1e30))
    assert found.nonfinite == int(odd) and found.wrong == 0
    assert judge([found]) is (Status.NON_FINITE if odd else Status.PASSED)
    assert found.bitwise is not odd


def test_infinity_is_right_where_the_expected_value_rounds_to_it() -> None:
    truth = _d(1e39, 3.4028236e38, -3.4028236e38)
    bound = tolerance.allowed(F32, truth, 1, None)
    assert compare(_f(np.inf, np.inf, -np.inf), F32, truth, bound).is_right
    assert not compare(_f(np.inf, -np.inf, -np.inf), F32, truth, bound).is_right
    assert not compare(_f(np.inf, 1, -np.inf), F32, truth, bound).is_right


def test_unwritten_and_stray_elements() -> None:
    wanted, written = np.array([True, True, False, False]), np.array([True, False, True, False])
    found = compare(_f(1, 1, 1, 7), F32, _d(1, 1, 1, 1), np.zeros(4), wanted, written)
    assert (found.unwritten, found.stray, found.first_unwritten, found.first_stray) == (1, 1, (1,), (2,))
    assert found.elements == 1 and not found.bitwise
    assert judge([found]) is Status.WRONG_VALUES


def test_integers_are_compared_exactly() -> None:
    large = 2**53 + 1
    assert compare(np.array([large]), "int64", np.array([large]), None).is_right
    assert compare(np.array([large]), "int64", np.array([large - 1]), None).wrong == 1
    assert compare(np.array([2**32 - 1], np.uint32), "uint32", np.array([2**32 - 1]), None).is_right
    assert compare(np.array([2**32 - 1], np.uint32), "uint32", np.array([-1]), None).wrong == 1
    assert compare(np.array([2**64 - 1], np.uint64), "uint64", np.array([-1]), None).wrong == 1
    assert compare(np.array([2**64 - 1], np.uint64), "uint64", np.array([2**64 - 1], np.uint64), None).is_right
    assert compare(np.array([2]), "int64", _d(2.5), None).wrong == 1
    assert compare(np.array([True, False]), "bool", np.array([1, 1]), None).first is not None


def test_exact_asks_for_the_rounded_value() -> None:
    third = np.float32(1 / 3)
    assert compare(_f(third), F32, _d(1 / 3), None).is_right
    assert compare(np.nextafter(_f(third), _f(1)), F32, _d(1 / 3), None).wrong == 1
    assert compare(_f(-0.0), F32, _d(0.0), None).bitwise


def test_histogram_counts_units_in_the_last_place() -> None:
    one = np.float32(1)
    got = np.array([one, np.nextafter(one, np.float32(2)), 1 + 3 * 2.0**-23, 1 + 100 * 2.0**-23, 2], np.float32)
    found = compare(got, F32, np.ones(5), np.full(5, 10.0))
    assert found.ulps == (1, 1, 0, 1, 0, 0, 0, 1, 1)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_ulps_are_symmetric_and_ordered(a: int, b: int) -> None:
    x, y = (np.array([bits], np.uint32).view(np.float32) for bits in (a, b))
    if np.isnan(x).any() or np.isnan(y).any():
        return
    apart = int(ulps_apart(x, y, F32)[0])
    assert apart == int(ulps_apart(y, x, F32)[0]) and (apart == 0) == (x[0] == y[0])
    toward = np.nextafter(x, y)
    assert int(ulps_apart(x, toward, F32)[0]) == min(apart, 1)


@given(st.floats(width=64))
def test_bfloat16_rounds_to_nearest(value: float) -> None:
    torch = pytest.importorskip("torch")
    mine = dtypes.to_float64(dtypes.from_float64(np.array([value]), "bfloat16"), "bfloat16")
    with np.errstate(all="ignore"):
        exact = np.array([value]).astype(np.float32)
    if np.isfinite(value) and float(exact[0]) != value:
        # torch rounds a float64 twice; it is right when float32 holds the value.
        value = float(exact[0])
        mine = dtypes.to_float64(dtypes.from_float64(np.array([value]), "bfloat16"), "bfloat16")
    theirs = torch.tensor([value], dtype=torch.float64).float().bfloat16().double().numpy()
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "bool"])
def test_poison_is_told_from_results(dtype: str) -> None:
    for which in (0, 1):
        array = dtypes.poisoned((5,), dtype, which)
        assert dtypes.is_poison(array, dtype, which).all()
        assert not dtypes.is_poison(array, dtype, which + 1).any()
        if dtypes.is_float(dtype):
            assert np.isnan(dtypes.to_float64(array, dtype)).all()


def test_free_order_sorts_what_was_written_only() -> None:
    array, written = _f(3, 1, 2, -9), np.array([True, True, True, False])
    assert sorted_written(array, written).tolist() == [1, 2, 3, -9]


# -- tolerance ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 16 * 2**-53), (F32, 16 * 2**-24), ("float16", 2 * 2**-11)])
def test_the_table_is_relative(dtype: str, rtol: float) -> None:
    truth = _d(1, -1000, 0)
    bound = tolerance.allowed(dtype, truth, 1, None)
    smallest = 2 * tolerance.TABLE[dtype].smallest
    np.testing.assert_allclose(bound, [rtol + smallest, 1000 * rtol + smallest, smallest], rtol=1e-12)


def test_the_table_grows_with_the_reduction_and_the_condition() -> None:
    truth, spread = _d(0, 0), _d(1e-7, 2e-7)
    short, long = (tolerance.allowed(F32, truth, n, spread) for n in (1, 100))
    np.testing.assert_allclose(long, 10 * short, rtol=1e-6)
    grown = tolerance.allowed(F32, _d(1, 0), 100, None) - tolerance.allowed(F32, _d(1, 0), 1, None)
    np.testing.assert_allclose(grown, [20 * 2.0**-24, 0], rtol=1e-6)
    np.testing.assert_allclose(short, tolerance.FACTOR * spread, rtol=1e-6)


def test_sums_in_float32_pass_and_sums_in_half_do_not() -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(0, 1, (50, 3000)).astype(np.float32)
    truth = values.astype(np.float64).sum(1)
    unit = tolerance.TABLE[F32].accumulator
    moved = [(values * (1 + unit * rng.standard_normal(values.shape))).sum(1) - truth for _ in range(6)]
    bound = tolerance.allowed(F32, truth, 3000, np.sqrt(np.mean(np.square(moved), 0)))
    in_order = values.cumsum(1, dtype=np.float32)[:, -1]
    assert compare(in_order, F32, truth, bound).is_right
    in_half = values.astype(np.float16).cumsum(1, dtype=np.float16)[:, -1].astype(np.float32)
    assert compare(in_half, F32, truth, bound).wrong == 50
    assert compare(values[:, :-1].sum(1), F32, truth, bound).wrong > 45


def test_as_accurate_as_the_original() -> None:
    truth = np.ones(4)
    original, worse = _d(1e-6, 0, 0, 1e-6), _d(1e-6, 1e-6, 1e-6, 1e-6)
    assert tolerance.is_as_accurate(original, original, truth, F32, 1.0)
    assert tolerance.is_as_accurate(original * 1.05, original, truth, F32, 1.1)
    assert not tolerance.is_as_accurate(original * 2, original, truth, F32, 1.1)
    assert not tolerance.is_as_accurate(worse, original, truth, F32, 1.1)
    assert tolerance.is_as_accurate(_d(2.0**-25, 0, 0, 0), _d(0, 0, 0, 0), truth, F32, 1.1)


def test_fixed_and_unrefereed() -> None:
    np.testing.assert_allclose(tolerance.fixed(_d(10, np.inf), 0.1, 0.5), [1.5, 0.5])
    one = tolerance.unrefereed(F32, _d(1, 100), 1)
    many = tolerance.unrefereed(F32, _d(1, 100), 100)
    assert (many > one).all() and one[0] == 2 * tolerance.allowed(F32, _d(1), 1, None)[0]


# -- verdicts -----------------------------------------------------------------------------------------

P, W, N, X = Status.PASSED, Status.WRONG_VALUES, Status.NONDETERMINISTIC, Status.NON_FINITE


@pytest.mark.parametrize(
    ("statuses", "repeats", "must_repeat", "verdict"),
    [
        ((P, P), True, True, P), ((P, P), False, True, N), ((P, P), False, False, P),
        ((P, W), False, False, N), ((W, P, X), False, True, N), ((W, W), True, True, W), ((W, X), False, True, W),
        ((P, Status.FAULT), False, True, Status.FAULT), ((P, Status.TIMED_OUT), False, True, Status.TIMED_OUT),
        ((), True, True, Status.NOT_RUN), ((P, Status.NOT_RUN), True, True, Status.NOT_RUN),
    ],
)  # fmt: skip
def test_runs_of_a_trial(statuses: tuple[Status, ...], repeats: bool, must_repeat: bool, verdict: Status) -> None:
    assert judge_runs(statuses, repeats=repeats, must_repeat=must_repeat) is verdict


def test_the_worst_decides() -> None:
    assert worst([]) is Status.NOT_RUN
    assert worst([P, Status.NOT_RUN]) is Status.NOT_RUN
    assert worst([Status.NOT_RUN, W, P]) is W
    assert worst([W, Status.FAULT]) is Status.FAULT
    assert worst([X, W]) is W


# -- what mutants of the modules have shown to be missing above ---------------------------------------


def test_the_numbers_of_the_table() -> None:
    for dtype, info in (
        ("float64", np.finfo(np.float64)),
        (F32, np.finfo(np.float32)),
        ("float16", np.finfo(np.float16)),
    ):
        row = tolerance.TABLE[dtype]
        assert row.unit == float(info.eps) / 2 and row.smallest == float(info.smallest_subnormal)
        assert row.accumulator == (2.0**-53 if dtype == "float64" else 2.0**-24)
    assert tolerance.TABLE["bfloat16"] == tolerance.Row(0.00390625, 2, 5.9604644775390625e-08, 9.183549615799121e-41)
    assert tolerance.FACTOR == 8


def test_two_terms_are_a_sum() -> None:
    two, one = (tolerance.allowed(F32, _d(1), n, None) for n in (2, 1))
    np.testing.assert_allclose(two - one, 2 * 2**0.5 * 2.0**-24, rtol=1e-6)
    two, one = (tolerance.unrefereed(F32, _d(1, -3), n) for n in (2, 1))
    np.testing.assert_allclose(two - one, 2 * 8 * 2**0.5 * 2.0**-24 * 3, rtol=1e-6)
    np.testing.assert_allclose(one, 2 * 16 * 2.0**-24 * _d(1, 3), rtol=1e-6)
    np.testing.assert_array_equal(tolerance.unrefereed(F32, _d(np.nan, 0), 9), np.full(2, 4 * 2.0**-149))
    np.testing.assert_array_equal(tolerance.unrefereed(F32, _d(np.nan, np.inf), 9), np.full(2, 4 * 2.0**-149))


def test_accuracy_is_largest_and_mean() -> None:
    assert tolerance.accuracy(_d()) == (0.0, 0.0) == tolerance.accuracy(_d(0, 0))
    assert tolerance.accuracy(_d(3, 4)) == (4.0, pytest.approx(12.5**0.5))
    assert tolerance.accuracy(_d(np.inf, 1)) == (np.inf, np.inf)


def test_the_grace_of_an_exact_original() -> None:
    zero = _d(0, 0)
    assert tolerance.is_as_accurate(_d(1000 * 2.0**-24, 0), zero, _d(0, -1000), F32, 1.0)
    assert not tolerance.is_as_accurate(_d(1001 * 2.0**-24, 0), zero, _d(0, -1000), F32, 1.0)
    assert tolerance.is_as_accurate(_d(1, 2), _d(2, 1), zero, F32, 1.0)
    assert not tolerance.is_as_accurate(_d(0.5), _d(0), _d(), F32, 1.0)


def test_classes_of_the_histogram() -> None:
    ends = (0, 1, 2, 4, 8, 16, 64, 1024)
    assert ends == BINS
    got = np.concatenate([(np.array([e], np.uint32) + np.float32(1).view(np.uint32)) for e in ends]).view(np.float32)
    assert compare(got, F32, np.ones(8), np.ones(8)).ulps == (1,) * 8 + (0,)
    above = np.concatenate([(np.array([e + 1], np.uint32) + np.float32(1).view(np.uint32)) for e in ends]).view(
        np.float32
    )
    assert compare(above, F32, np.ones(8), np.ones(8)).ulps == (0, 1, 1, 1, 1, 1, 1, 1, 1)


@pytest.mark.parametrize(("wanted", "written"), [((True, True), (True, False)), ((True, False), (True, True))])
def test_holes_are_not_bitwise(wanted: tuple[bool, bool], written: tuple[bool, bool]) -> None:
    found = compare(_f(1, 1), F32, _d(1, 1), np.zeros(2), np.array(wanted), np.array(written))
    assert not found.bitwise and found.unwritten + found.stray == 1
    assert judge([found]) is Status.WRONG_VALUES
    good = compare(_f(1), F32, _d(1), None)
    assert judge([good, found]) is Status.WRONG_VALUES


def test_one_bad_output_is_enough() -> None:
    good, wrong, odd = (compare(_f(x), F32, _d(1), np.zeros(1)) for x in (1, 2, np.nan))
    assert judge([good, wrong]) is Status.WRONG_VALUES
    assert judge([good, odd]) is Status.NON_FINITE
    assert judge([good, good]) is Status.PASSED


def test_wrong_integers_have_evidence() -> None:
    found = compare(np.array([1, 2]), "int64", np.array([1, 3]), None)
    assert not found.bitwise and found.first is not None
    assert (found.first.index, found.first.got, found.first.expected, found.first.allowed) == ((1,), 2, 3, 0.0)
    assert compare(np.array([0], np.uint64), "uint64", np.array([0], np.uint64), None).bitwise
    assert compare(np.array([1], np.uint64), "uint64", np.array([1]), None).bitwise
    assert compare(np.array([-1]), "int64", np.array([2**64 - 1], np.uint64), None).wrong == 1


def test_how_much_of_the_allowance_was_used() -> None:
    assert compare(_f(1.5, 1), F32, _d(1, 1), _d(2, 8)).of_allowed == 0.25
    assert compare(_f(1), F32, _d(1), None).of_allowed == 0.0
    assert compare(_f(1, 2), F32, _d(1, np.nan), np.ones(2)).max_error == 0.0


def test_the_worst_is_the_one_furthest_beyond_its_bound() -> None:
    found = compare(_f(1, 3), F32, _d(0, 0), _d(0.1, 2))
    assert found.worst is not None and found.worst.index == (0,)
    found = compare(_f(1, 3), F32, _d(0, 0), _d(0.9, 2))
    assert found.worst is not None and found.worst.index == (1,)


def test_a_zero_is_not_bitwise_a_small_number() -> None:
    found = compare(_f(0, 1), F32, _d(1e-3, 1), np.ones(2))
    assert found.is_right and not found.bitwise


def test_infinity_where_the_allowance_reaches_it() -> None:
    largest = float(np.finfo(np.float32).max)
    truth = _d(largest, -largest)
    bound = tolerance.allowed(F32, truth, 1, None)
    assert compare(_f(np.inf, -np.inf), F32, truth, bound).is_right
    assert compare(_f(-np.inf, np.inf), F32, truth, bound).nonfinite == 2
    assert compare(_f(np.nan, np.nan), F32, truth, bound).nonfinite == 2


def test_ulps_across_zero_and_between_the_ends() -> None:
    tiny = np.float32(2.0**-149)
    assert ulps_apart(_f(-tiny), _f(3 * tiny), F32).tolist() == [4]
    assert ulps_apart(_f(-0.0), _f(0.0), F32).tolist() == [0]
    largest = np.finfo(np.float64).max
    assert ulps_apart(_d(-largest), _d(largest), "float64").tolist() == [2**63 - 1]


def test_errors_of_what_is_looked_at() -> None:
    got, truth = _f(1, 2, np.nan, 4, np.inf), _d(1.5, 0, 0, np.nan, 1)
    everything = np.ones(5, np.bool_)
    assert errors_of(got, F32, truth, everything).tolist() == [0.5, 2]
    assert errors_of(got, F32, truth, ~everything).tolist() == []


def test_same_bits() -> None:
    assert same_bits(_f(1, np.nan), _f(1, np.nan)) and not same_bits(_f(0.0), _f(-0.0))
    assert not same_bits(_f(1), _f(1, 1)) and not same_bits(_f(1, 1), _f(1))


@pytest.mark.parametrize(
    ("changed", "lies"),
    [
        ((1000, 1001), "all at the tail, from element 1000 of 1024"),
        ((1023,), ""),  # one element is no part of an array
        ((5, 1000), ""),
        ((896, 1000), "all at the tail, from element 896 of 1024"),
        ((895, 1000), ""),
        ((3, 35, 67, 131), "all at places that leave 3 when divided by 32"),
        ((3, 35, 67), ""),  # too few rows to say so
        ((3, 35, 67, 132), ""),
        (tuple(range(1024)), ""),
    ],
)
def test_where_the_largest_differences_lie(changed: tuple[int, ...], lies: str) -> None:
    """At the tail, in one lane of a warp, or anywhere; parts of an array keep their places."""
    one = np.ones(1024, np.float32)
    other = one.copy()
    other[list(changed)] = 1.5
    kept = np.flatnonzero(np.arange(1024) != 2)
    far = farthest(one[kept], other[kept], "float32", kept, 1024)
    assert far is not None and far.lies == lies
    said = f" in y, not near zero{f', {lies}' if lies else ''}: 1 and 1.5"
    assert far.where("y") == said
    assert farthest(one, other, "float32") == replace(far, lies="")


def test_differences_that_are_small_lie_nowhere() -> None:
    """Sixteen units in the last place are no difference that tells."""
    one = np.ones(1024, np.float32)
    other = one.copy()
    other[[1000, 1001]] = 1.5
    for ulps, lies in ((16, "all at the tail, from element 1000 of 1024"), (17, "")):
        other[5] = np.float32(1 + ulps * 2.0**-23)
        far = farthest(one, other, "float32", np.arange(1024), 1024)
        assert far is not None and far.lies == lies


def test_where_two_results_are_farthest_apart() -> None:
    """Nothing for a few units; near zero it says so, and elsewhere, where it means something, too."""
    usual = np.array([1.0, -2.0, 3.0], np.float32)
    close = farthest(usual, np.nextafter(usual, np.float32(9)), "float32")
    assert close is not None and close.where("y") == ""
    tiny = farthest(np.append(usual, np.float32(1e-9)), np.append(usual, np.float32(1.1e-9)), "float32")
    assert tiny is not None and tiny.ulps > 10_000
    assert tiny.where("y") == " in y, near zero (1.9 is usual): 1e-09 and 1.1e-09"
    large = farthest(usual, usual * np.float32(1.001), "float32")
    assert large is not None and "not near zero" in large.where("y")
    assert farthest(usual[:0], usual[:0], "float32") is None
    assert large.lies == ""
    infinite = farthest(_f(np.inf), _f(1), "float32")
    assert infinite is not None and infinite.scale == 0.0
    assert replace(large, ulps=16).where("y") == ""
    assert replace(large, ulps=17, first=0.5, second=0.5, scale=1.0).where("y").startswith(" in y, not near zero")

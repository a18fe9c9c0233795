"""Compares what a kernel wrote with what was expected: by value, and by kind where it is not finite. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes
from porter.validation.cases.dtypes import Array
from porter.validation.verdict.tolerance import accuracy

Mask = NDArray[np.bool_]
BINS = (0, 1, 2, 4, 8, 16, 64, 1024)
"""Upper ends of the histogram's classes of units in the last place; one more class holds the rest."""


@dataclass(frozen=True)
class Difference:
    """One element that is not as expected."""

    index: tuple[int, ...]
    got: float | int | bool
    expected: float | int | bool
    allowed: float
    """Largest error that would have been accepted."""

    def __str__(self) -> str:
        place = ", ".join(map(str, self.index))
        return f"[{place}] is {self.got!r}, expected {self.expected!r} within {self.allowed:.3g}"


@dataclass(frozen=True)
class Comparison:
    """One output against what was expected of it."""

    elements: int
    wrong: int = 0
    """Finite, and too far off."""
    nonfinite: int = 0
    """NaN or infinite where that was not expected, or the other way round, or another kind."""
    unwritten: int = 0
    stray: int = 0
    """Written where the kernel has no business."""
    bitwise: bool = True
    """Every element has the bits of the rounded expectation (NaN counts as NaN)."""
    first: Difference | None = None
    worst: Difference | None = None
    first_unwritten: tuple[int, ...] | None = None
    first_stray: tuple[int, ...] | None = None
    max_error: float = 0.0
    rms_error: float = 0.0
    scale: float = 0.0
    """Root mean square of the expected values."""
    of_allowed: float = 0.0
    """The largest error as a part of what was allowed there."""
    ulps: tuple[int, ...] = ()
    """Elements per class of BINS and the class above."""

    @property
    def is_right(self) -> bool:
        """Whether nothing is wrong with it."""
        return not (self.wrong or self.nonfinite or self.unwritten or self.stray)


def compare(
    got: Array,
    dtype: str,
    truth: Array,
    bound: NDArray[np.float64] | None,
    wanted: Mask | None = None,
    written: Mask | None = None,
) -> Comparison:
    """Compare one output with its expected values; `bound` None asks for the very bits (integers: for the number).

    `wanted` are the elements that are to be written, `written` those that were.
    """
    if got.shape != truth.shape:
        raise ValueError(f"shapes differ: {got.shape} and {truth.shape}")
    wanted = np.ones(got.shape, np.bool_) if wanted is None else wanted
    written = np.ones(got.shape, np.bool_) if written is None else written
    missing, stray = wanted & ~written, ~wanted & written
    looked_at = wanted & written
    result = (_floats if dtypes.is_float(dtype) else _integers)(got, dtype, truth, bound, looked_at)
    return _with_holes(result, missing, stray)


def _with_holes(result: Comparison, missing: Mask, stray: Mask) -> Comparison:
    return replace(
        result,
        unwritten=int(missing.sum()),
        stray=int(stray.sum()),
        first_unwritten=_first(missing),
        first_stray=_first(stray),
        bitwise=result.bitwise and not missing.any() and not stray.any(),
    )


def _first(mask: Mask) -> tuple[int, ...] | None:
    if not mask.any():
        return None
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def _integers(got: Array, dtype: str, truth: Array, bound: NDArray[np.float64] | None, looked_at: Mask) -> Comparison:
    if truth.dtype.kind == "f":
        equal = got.astype(np.float64) == truth
    elif dtype == "uint64" or truth.dtype == np.uint64:
        equal = (got.astype(np.uint64) == truth.astype(np.uint64)) & ((got >= 0) == (truth >= 0))
    else:
        equal = got.astype(np.int64) == truth.astype(np.int64)
    limit = np.zeros(truth.shape) if bound is None else bound
    near = (limit > 0) & (np.abs(got.astype(np.float64) - truth.astype(np.float64)) <= limit)
    bad = looked_at & ~(equal | near)
    first = _first(bad)
    difference = None if first is None else Difference(first, got[first].item(), truth[first].item(), limit[first])
    bitwise = bool(equal[looked_at].all())
    return Comparison(int(looked_at.sum()), wrong=int(bad.sum()), bitwise=bitwise, first=difference, worst=difference)


def kinds(values: NDArray[np.float64]) -> NDArray[np.int8]:
    """0 finite, 1 NaN, 2 positive and 3 negative infinity."""
    infinite = np.where(values > 0, 2, 3)
    return np.where(np.isnan(values), 1, np.where(np.isinf(values), infinite, 0)).astype(np.int8)


def _floats(got: Array, dtype: str, truth: Array, bound: NDArray[np.float64] | None, looked_at: Mask) -> Comparison:
    truth = truth.astype(np.float64)
    rounded = dtypes.from_float64(truth, dtype)
    values, goal = dtypes.to_float64(got, dtype), dtypes.to_float64(rounded, dtype)
    limit = np.zeros(truth.shape) if bound is None else bound
    aim = goal if bound is None else truth
    same_kind = (kinds(values) == kinds(goal)) | _may_overflow(values, truth, limit, dtype)
    finite = looked_at & np.isfinite(values) & np.isfinite(aim)
    errors = np.zeros(truth.shape)
    errors[finite] = np.abs(values[finite] - aim[finite])
    odd = looked_at & ~same_kind
    wrong = finite & same_kind & ~(errors <= limit)
    both_nan = np.isnan(values) & np.isnan(goal)
    same_bits = both_nan | (dtypes.bits(got) == dtypes.bits(rounded)) | ((values == 0) & (goal == 0))
    largest, mean = accuracy(errors[finite])
    part = errors[finite] / np.maximum(limit[finite], np.finfo(np.float64).tiny)
    return Comparison(
        elements=int(looked_at.sum()),
        wrong=int(wrong.sum()),
        nonfinite=int(odd.sum()),
        bitwise=bool(same_bits[looked_at].all()),
        first=_difference(_first(wrong | odd), values, truth, limit),
        worst=_difference(_worst(wrong, odd, errors, limit), values, truth, limit),
        max_error=largest,
        rms_error=mean,
        scale=accuracy(np.abs(aim[finite]))[1],
        of_allowed=float(part.max()) if part.size and bound is not None else 0.0,
        ulps=histogram(got[finite], rounded[finite], dtype),
    )


def _may_overflow(values: NDArray[np.float64], truth: NDArray[np.float64], limit: Array, dtype: str) -> Mask:
    """Infinite where the expected value is finite, but so large that the allowed error reaches infinity."""
    with np.errstate(invalid="ignore", over="ignore"):
        reach = dtypes.to_float64(dtypes.from_float64(truth + np.copysign(limit, truth), dtype), dtype)
        return np.asarray(np.isfinite(truth) & np.isinf(values) & (reach == values))


def _worst(wrong: Mask, odd: Mask, errors: NDArray[np.float64], limit: NDArray[np.float64]) -> tuple[int, ...] | None:
    if not wrong.any():
        return _first(odd)
    excess = np.where(wrong, errors / np.maximum(limit, np.finfo(np.float64).tiny), -1.0)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(excess)), excess.shape))


def _difference(
    index: tuple[int, ...] | None, values: NDArray[np.float64], truth: NDArray[np.float64], limit: NDArray[np.float64]
) -> Difference | None:
    if index is None:
        return None
    return Difference(index, float(values[index]), float(truth[index]), float(limit[index]))


def ulps_apart(first: Array, second: Array, dtype: str) -> NDArray[np.int64]:
    """Units in the last place between two arrays; zeros of both signs are equal."""
    a, b = dtypes.ordered(first, dtype), dtypes.ordered(second, dtype)
    far = (a < 0) != (b < 0)
    with np.errstate(over="ignore"):
        apart = np.where(
            far, np.abs(a).astype(np.uint64) + np.abs(b).astype(np.uint64), np.abs(a - b).astype(np.uint64)
        )
    bounded: NDArray[np.int64] = np.minimum(apart, np.uint64(2**63 - 1)).astype(np.int64)
    return bounded


_TELLING_ULPS = 16
"""From here on it matters where two elements are so far apart."""
_NEAR_ZERO = 1e-3
"""Of the root mean square: below it a unit in the last place is nothing beside the other elements."""


@dataclass(frozen=True)
class Farthest:
    """The two elements that are most units in the last place apart, and how large elements are in general."""

    ulps: int
    first: float
    second: float
    scale: float
    lies: str = ""
    """Where all elements that are so far apart lie, where that is one part of the array."""

    def where(self, name: str) -> str:
        """For a report; nothing where the distance is small."""
        if self.ulps <= _TELLING_ULPS:
            return ""
        near = max(abs(self.first), abs(self.second)) < _NEAR_ZERO * self.scale
        said = f"near zero ({self.scale:.2g} is usual)" if near else "not near zero"
        lies = f", {self.lies}" if self.lies else ""
        return f" in {name}, {said}{lies}: {self.first:.4g} and {self.second:.4g}"


def farthest(
    first: Array, second: Array, dtype: str, places: NDArray[np.intp] | None = None, size: int = 0
) -> Farthest | None:
    """Of two arrays without NaN; None where they are empty. They may be parts of larger ones of a size, at these
    places."""
    if not first.size:
        return None
    apart = ulps_apart(first, second, dtype)
    place = int(np.argmax(apart))
    values, others = (dtypes.to_float64(one, dtype).reshape(-1) for one in (first, second))
    finite = values[np.isfinite(values)]
    scale = accuracy(np.abs(finite))[1] if finite.size else 0.0
    lies = "" if places is None else _part_of(places[apart.reshape(-1) > _TELLING_ULPS], size)
    return Farthest(int(apart.max()), float(values[place]), float(others[place]), scale, lies)


_TAIL, _WARP, _FEWEST_PLACES, _FEWEST_ROWS = 8, 32, 2, 4


def _part_of(places: NDArray[np.intp], size: int) -> str:
    """What places have in common: at the tail of an array (its last eighth), or one lane of every 32."""
    if places.size < _FEWEST_PLACES:
        return ""
    first = int(places[0])
    if first >= size - size // _TAIL:
        return f"all at the tail, from element {first} of {size}"
    lanes = np.unique(places % _WARP)
    if lanes.size == 1 and places.size >= _FEWEST_ROWS:
        return f"all at places that leave {int(lanes[0])} when divided by {_WARP}"
    return ""


def histogram(got: Array, rounded: Array, dtype: str) -> tuple[int, ...]:
    """Number of elements per class of BINS, and above."""
    apart = ulps_apart(got, rounded, dtype)
    places = np.searchsorted(np.array(BINS), apart)
    return tuple(int(n) for n in np.bincount(places, minlength=len(BINS) + 1))


def errors_of(got: Array, dtype: str, truth: Array, looked_at: Mask) -> NDArray[np.float64]:
    """Absolute errors where everything is finite, in order."""
    values, goal = dtypes.to_float64(got, dtype), truth.astype(np.float64)
    finite = looked_at & np.isfinite(values) & np.isfinite(goal)
    errors: NDArray[np.float64] = np.abs(values[finite] - goal[finite])
    return errors


def sorted_written(got: Array, written: Mask) -> Array:
    """The written values in ascending order, in front; NaN last. For outputs whose order is free."""
    flat, mask = got.reshape(-1).copy(), written.reshape(-1)
    flat[mask] = np.sort(flat[mask])
    ordered: Array = flat.reshape(got.shape)
    return ordered


def same_bits(first: Array, second: Array) -> bool:
    """Whether two arrays hold the same bytes."""
    return first.shape == second.shape and bool(np.array_equal(dtypes.bits(first), dtypes.bits(second)))

"""What a port that gives the expected values may still do wrong, told by the original beside it. Pure.

Races in global memory that only the port has, results in half precision that are rounded in another way, variables
of the module left with other contents, and what a second launch makes of those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes
from porter.validation.cases.dtypes import Array
from porter.validation.run.trial import Done, Output
from porter.validation.verdict.compare import Difference, compare
from porter.validation.verdict.judging import Judged, Truth
from porter.validation.verdict.moving import is_narrow
from porter.validation.verdict.outcome import Status
from porter.validation.verdict.printed import printed_otherwise

_FEWEST = 32
"""Elements that have to differ before their direction means anything."""
_SHARE = 0.2
"""Of all elements: float arithmetic of another order, rounded to 16 bits, moves about one in a hundred."""
_ONE_WAY = 0.95
_ROUGHLY = 1e-2
"""How far sums in variables of the module may be apart, of the largest: their order is not known."""


def beyond_values(
    judged: Judged, port: Sequence[Done], original: Sequence[Done], expected: Mapping[str, Truth]
) -> Judged:
    """The verdict on a port whose values are right, with the same trial's runs of the original."""
    if (found := _only_the_port_races(port, original)) is not None:
        return replace(judged, status=Status.FAULT, message=found)
    for name, truth in expected.items():
        dtype = truth.argument.dtype
        if is_narrow(dtype) and not truth.argument.any_order:
            message = rounded_one_way(port[0].outputs[name], original[0].outputs[name], dtype)
            if message is not None:
                return replace(judged, status=Status.WRONG_VALUES, message=f"{name}: {message}", output=name)
    found = _printed(port, original) or _variables(port, original) or _second_launch(port[0], original, expected)
    return judged if found is None else replace(judged, status=Status.WRONG_VALUES, message=found)


def _printed(port: Sequence[Done], original: Sequence[Done]) -> str | None:
    """What only one of them prints, where the case asks for it."""
    if not any(run.printed for run in (*port, *original)):
        return None
    return printed_otherwise([run.printed for run in port], [run.printed for run in original])


def _only_the_port_races(port: Sequence[Done], original: Sequence[Done]) -> str | None:
    """A hazard between plain accesses to global memory: either side's first run looks for them."""
    if port[0].unordered is None or any(run.unordered is not None for run in original):
        return None
    return f"{port[0].unordered}; the original has no such hazard"


def rounded_one_way(port: Output, original: Output, dtype: str) -> str | None:
    """Results that differ often, and nearly all in one direction: another rounding, not another order of sums."""
    both = port.written & original.written
    mine, theirs = (np.abs(dtypes.to_float64(o.array[both], dtype)) for o in (port, original))
    finite = np.isfinite(mine) & np.isfinite(theirs)
    mine, theirs = mine[finite], theirs[finite]
    smaller, larger = int((mine < theirs).sum()), int((mine > theirs).sum())
    apart, most = smaller + larger, max(smaller, larger)
    if apart < max(_FEWEST, _SHARE * mine.size) or most < _ONE_WAY * apart:
        return None
    where = "nearer to" if smaller > larger else "farther from"
    return f"{most} of {mine.size} elements are {where} zero than the original's: rounded in another way"


def _variables(port: Sequence[Done], original: Sequence[Done]) -> str | None:
    """Variables that the original leaves alike under every schedule, and the port otherwise."""
    for name, wanted in original[0].left.items():
        got = port[0].left.get(name)
        if got is None or wanted.kind is None or not (got.changed or wanted.changed):
            continue
        if len(got.content) != len(wanted.content) or any(_moves(runs, name) for runs in (port, original)):
            continue
        one, other = (np.frombuffer(variable.content, wanted.kind) for variable in (got, wanted))
        apart = _apart(one, other)
        if apart.any():
            index = int(np.argmax(apart))
            return f"the variable {name}[{index}] is {one[index]} after the launch, {other[index]} in the original"
    return None


def _moves(runs: Sequence[Done], name: str) -> bool:
    """Whether a variable ends up differently from schedule to schedule."""
    return any(run.left[name].content != runs[0].left[name].content for run in runs if name in run.left)


def _apart(one: Array, other: Array) -> NDArray[np.bool_]:
    if one.dtype.kind != "f":
        return np.asarray(one != other)
    scale = float(np.max(np.abs(other), initial=0.0))
    return ~np.isclose(one, other, rtol=_ROUGHLY, atol=_ROUGHLY * scale, equal_nan=True)


def _second_launch(port: Done, original: Sequence[Done], expected: Mapping[str, Truth]) -> str | None:
    """The port's second launch against the original's, which is like its first where it left its variables alone."""
    if port.again is None:
        return None
    wanted = original[0].again or original[0]
    if wanted.status is not Status.PASSED:
        return None
    if port.again.status is not Status.PASSED:
        return f"a second launch, which finds the variables as the first one left them: {port.again.message}"
    for name, truth in expected.items():
        steady = all(np.array_equal(dtypes.bits(run.outputs[name].array)[run.outputs[name].written & o.written],
                                    dtypes.bits(o.array)[run.outputs[name].written & o.written])
                     for o in (original[0].outputs[name],) for run in original)  # fmt: skip
        if truth.argument.any_order or not (steady or truth.bound is not None):
            continue
        difference = _differs(port.again.outputs[name], wanted.outputs[name], truth)
        if difference is not None:
            return f"a second launch, which finds the variables as the first one left them: {name}{difference}"
    return None


def _differs(mine: Output, theirs: Output, truth: Truth) -> Difference | None:
    """Where the original wrote: one poison shows through in both, so that what is not written differs too."""
    dtype = truth.argument.dtype
    bound = None if truth.bound is None else 2 * truth.bound
    values = theirs.array if bound is None or not dtypes.is_float(dtype) else dtypes.to_float64(theirs.array, dtype)
    return compare(mine.array, dtype, values, bound, theirs.written, theirs.written).first

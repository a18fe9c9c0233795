"""How far an original and a port are apart, over all trials of a case."""

from __future__ import annotations

import numpy as np
from porter.validation.cases import dtypes
from porter.validation.cases.case import Case
from porter.validation.run.task import Agreement, SideKey
from porter.validation.run.trial import Done
from porter.validation.verdict import compare
from porter.validation.verdict.outcome import Status


def compare_sides(
    case: Case, runs: dict[SideKey, tuple[Done, ...]], agreements: dict[tuple[SideKey, SideKey], Agreement]
) -> None:
    """Adds a trial to what is known of each original beside each port that ran with it."""
    ran = {key: done[0] for key, done in runs.items() if done and done[0].status is Status.PASSED}
    for one, original in ran.items():
        for other, port in ran.items():
            if one[0] == "original" and other[0] == "port":
                known = agreements.get((one, other), Agreement(one, other))
                agreements[one, other] = _agreement(case, known, original, port)


def _agreement(case: Case, known: Agreement, original: Done, port: Done) -> Agreement:
    bitwise, ulps, where, integers = known.bitwise, known.ulps, known.where, known.integers
    for argument in case.arguments:
        if not argument.is_written:
            continue
        one, other = original.outputs[argument.name], port.outputs[argument.name]
        mine, theirs = one.array, other.array
        if argument.any_order:
            mine, theirs = compare.sorted_written(mine, one.written), compare.sorted_written(theirs, other.written)
        both = one.written & other.written
        bitwise = bitwise and bool(np.array_equal(one.written, other.written))
        first, second = mine[both], theirs[both]
        if not dtypes.is_float(argument.dtype):
            integers += int((first != second).sum())
            bitwise = bitwise and bool((first == second).all())
            continue
        nan = np.isnan(dtypes.to_float64(first, argument.dtype)) & np.isnan(dtypes.to_float64(second, argument.dtype))
        first, second = first[~nan], second[~nan]
        bitwise = bitwise and compare.same_bits(first, second)
        places = None if argument.any_order else np.flatnonzero(both)[~nan]
        far = compare.farthest(first, second, argument.dtype, places, both.size)
        if far is not None and far.ulps > ulps:
            ulps, where = far.ulps, far.where(argument.name)
    return Agreement(known.original, known.port, known.trials + 1, bitwise, ulps, where, integers)

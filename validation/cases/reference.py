"""Calls a case's reference with what its parameters name, and makes arrays of what it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes, hooks
from porter.validation.cases.case import Argument, Case, CaseError, Symbols
from porter.validation.cases.dtypes import Array
from porter.validation.cases.inputs import Filled

Expected = dict[str, Array]
"""Output name -> float64, int64 or bool values."""
_DRAWS = 6


def expected(case: Case, filled: Filled, symbols: Symbols) -> Expected:
    """What the reference says about every output; raises CaseError and HookFailed."""
    return _evaluate(case, filled, symbols, {})


def spread(case: Case, filled: Filled, symbols: Symbols, truth: Expected, unit: Mapping[str, float]) -> Expected:
    """How far each result moves when every floating-point input moves by one rounding: the problem's condition.

    Root mean square over some draws. `unit` says per output how large one rounding is: a sum in double precision
    beside results in single precision is moved by its own. Results that change in shape, and integers, do not move.
    """
    floats = [a for a in case.arguments if a.name in filled.arrays and dtypes.is_float(a.dtype)]
    moved: dict[str, list[NDArray[np.float64]]] = {name: [] for name, value in truth.items() if value.dtype.kind == "f"}
    if not floats or not moved:
        return {}
    largest = max((unit[name] for name in moved if name in unit), default=0.0)
    steps = {name: unit.get(name, largest) for name in moved}
    for step in sorted(set(steps.values())):
        rng = np.random.default_rng(0)
        for _ in range(_DRAWS):
            shifted: dict[str, Array] = {}
            for argument in floats:
                values = dtypes.to_float64(filled.arrays[argument.name], argument.dtype)
                shifted[argument.name] = values * (1.0 + step * rng.standard_normal(values.shape))
            found = _evaluate(case, filled, symbols, shifted)
            for name, rows in moved.items():
                if steps[name] == step and found[name].shape == truth[name].shape:
                    with np.errstate(invalid="ignore", over="ignore"):
                        rows.append(np.abs(found[name] - truth[name]).astype(np.float64))
    return {name: _mean(rows) for name, rows in moved.items() if rows}


def _mean(rows: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    stacked = np.stack(rows)
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.sqrt(np.mean(stacked * stacked, axis=0))
    return np.where(np.isfinite(mean), mean, 0.0)


def _evaluate(case: Case, filled: Filled, symbols: Symbols, instead: Mapping[str, Array]) -> Expected:
    assert case.reference is not None
    _, path = hooks.function_of(case.folder, case.reference)
    with_torch = hooks.imports_torch(path)
    known: dict[str, Any] = dict(symbols)
    known |= {name: value.item() for name, value in filled.scalars.items()}
    for argument in (*case.arguments, *case.constants):
        if argument.kind == "null":
            known[argument.name] = None
        elif argument.name in filled.arrays:
            array = instead.get(argument.name)
            dtype = argument.dtype if array is None else "float64"
            array = filled.arrays[argument.name].copy() if array is None else array
            known[argument.name] = _tensor(array, dtype) if with_torch else _plain(array, dtype)
    given = hooks.call(case.folder, case.reference, known)
    return _named(case, given)


def _plain(array: Array, dtype: str) -> Array:
    return dtypes.to_float64(array, dtype) if dtype == "bfloat16" else array


def _tensor(array: Array, dtype: str) -> Any:
    import torch

    if dtype == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    if dtype in ("uint16", "uint32", "uint64"):
        return torch.from_numpy(array.astype(np.int64))
    return torch.from_numpy(array)


def _named(case: Case, given: Any) -> Expected:
    outputs = [argument for argument in case.arguments if argument.is_written]
    if isinstance(given, Mapping):
        missing = [argument.name for argument in outputs if argument.name not in given]
        if missing:
            raise case.error(f"{case.reference} returned no {missing[0]!r}", "reference")
        values = [given[argument.name] for argument in outputs]
    else:
        values = list(given) if isinstance(given, tuple | list) else [given]
        if len(values) != len(outputs):
            names = ", ".join(argument.name for argument in outputs)
            raise case.error(f"{case.reference} returned {len(values)} results for {names}", "reference")
    return {argument.name: _array(case, argument, value) for argument, value in zip(outputs, values, strict=True)}


def _array(case: Case, argument: Argument, value: Any) -> Array:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.double() if value.is_floating_point() else value).numpy()
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise CaseError(case.path, argument.line, f"{argument.name}: {case.reference}: {error}") from None
    if array.dtype.kind not in "fiub":
        raise case.error(f"{case.reference} returned {array.dtype} for {argument.name}", "reference")
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def fitted(case: Case, argument: Argument, value: Array, shape: tuple[int, ...]) -> tuple[Array, NDArray[np.bool_]]:
    """The expected values in the shape of the output, and which of its elements are to be written."""
    if value.shape == shape:
        wanted = np.ones(shape, np.bool_)
    elif argument.partial and value.size <= int(np.prod(shape)):
        padded = np.zeros(int(np.prod(shape)), value.dtype)
        padded[: value.size] = value.reshape(-1)
        wanted = (np.arange(padded.size) < value.size).reshape(shape)
        value = padded.reshape(shape)
    elif value.size == int(np.prod(shape)):
        value, wanted = value.reshape(shape), np.ones(shape, np.bool_)
    else:
        shorter = "; partial accepts a shorter one" if value.size < int(np.prod(shape)) and not argument.partial else ""
        message = f"{argument.name}: {case.reference} gave shape {value.shape}; the case says {shape}{shorter}"
        raise CaseError(case.path, argument.line, message)
    if argument.partial and value.dtype.kind == "f":
        wanted = wanted & ~np.isnan(value)
    return value, wanted

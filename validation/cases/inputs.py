"""Arguments of one trial: arrays by distribution and value profile, scalars by expression."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes, hooks
from porter.validation.cases.case import MOST_BYTES, Argument, Case, CaseError, Symbols
from porter.validation.cases.dtypes import Array

_TINIEST = {"float16": -24, "bfloat16": -133, "float32": -149, "float64": -1074}
_SMALLEST_NORMAL = {"float16": -14, "bfloat16": -126, "float32": -126, "float64": -1022}


@dataclass(frozen=True)
class Trial:
    """One shape with one seed and one value profile."""

    symbols: Symbols
    seed: int
    profile: str

    def __str__(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.symbols.items())
        return f"{sizes or 'no symbols'}, seed {self.seed}, {self.profile} values"


@dataclass(frozen=True)
class Filled:
    """The arguments of one trial: arrays as the kernel sees them in row order, everything else as passed."""

    arrays: Mapping[str, Array]
    scalars: Mapping[str, Any]


def shape_of(case: Case, argument: Argument, symbols: Symbols) -> tuple[int, ...]:
    """The sizes of an array; raises CaseError when they are no sizes."""
    sides: list[int] = []
    for expression in argument.shape:
        try:
            side = expression.integer(symbols)
        except Exception as error:
            raise CaseError(case.path, argument.line, f"{argument.name}: {error}") from None
        if side < 0:
            raise CaseError(case.path, argument.line, f"{argument.name}: {expression.text!r} is {side}")
        sides.append(side)
    size = math.prod(sides) * dtypes.storage(argument.dtype).itemsize
    if size > MOST_BYTES:
        what = f"{argument.name}: {size} bytes for shape {tuple(sides)}; at most {MOST_BYTES}"
        raise CaseError(case.path, argument.line, f"the shape overflows: {what}")
    return tuple(sides)


def fill(case: Case, trial: Trial) -> Filled:
    """All inputs; the same trial gives the same bytes. Raises CaseError and HookFailed."""
    arrays: dict[str, Array] = {}
    scalars: dict[str, Any] = {}
    for argument in case.arguments:
        if argument.kind == "scalar":
            scalars[argument.name] = _scalar(case, argument, trial.symbols)
    for argument in (*case.arguments, *case.constants):
        if argument.is_array and (argument.kind == "in" or argument.values is not None):
            arrays[argument.name] = _array(case, argument, trial, arrays, scalars)
    return Filled(arrays, scalars)


def _scalar(case: Case, argument: Argument, symbols: Symbols) -> np.generic:
    assert argument.value is not None
    try:
        value = argument.value.value(symbols)
    except Exception as error:
        raise CaseError(case.path, argument.line, f"{argument.name}: {error}") from None
    kind = dtypes.storage(argument.dtype)
    if argument.dtype == "bfloat16":
        packed: np.generic = kind.type(dtypes.from_float64(np.array(float(value)), "bfloat16")[()])
        return packed
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        if value != int(value) or not limits.min <= value <= limits.max:
            raise CaseError(case.path, argument.line, f"{argument.name}: {value} overflows {argument.dtype}")
        whole: np.generic = kind.type(int(value))
        return whole
    real: np.generic = kind.type(value)
    return real


def _generator(case: Case, argument: Argument, trial: Trial) -> np.random.Generator:
    shape = repr(sorted(trial.symbols.items()))
    words = (case.name, argument.name, shape)
    return np.random.default_rng([trial.seed, *(zlib.crc32(word.encode()) for word in words)])


def _array(
    case: Case, argument: Argument, trial: Trial, arrays: Mapping[str, Array], scalars: Mapping[str, Any]
) -> Array:
    shape = shape_of(case, argument, trial.symbols)
    rng = _generator(case, argument, trial)
    values = argument.values
    assert values is not None
    if values.kind == "hook":
        assert values.hook is not None
        return _hooked(case, argument, trial, values.hook, shape, rng, {**scalars, **arrays})
    if values.kind == "file":
        assert values.hook is not None
        return _loaded(case, argument, values.hook, shape)
    if values.kind == "bits":
        raw = rng.bytes(math.prod(shape) * dtypes.storage(argument.dtype).itemsize)
        bits: Array = np.frombuffer(raw, dtypes.storage(argument.dtype)).reshape(shape).copy()
        return bits
    low, high = (
        None if bound is None else case.number(bound, trial.symbols, "arguments") for bound in (values.low, values.high)
    )
    if values.kind == "integers":
        assert low is not None and high is not None
        if not low < high:
            raise CaseError(case.path, argument.line, f"{argument.name}: no integer from {low} to below {high}")
        return _convert(rng.integers(int(low), int(high), shape), argument.dtype)
    if values.kind == "constant":
        assert low is not None
        return _convert(np.full(shape, low), argument.dtype)
    if values.kind == "arange":
        return _convert(np.arange(math.prod(shape)).reshape(shape), argument.dtype)
    if values.kind == "uniform":
        assert low is not None and high is not None
        return _convert(rng.uniform(float(low), float(high), shape), argument.dtype)
    return dtypes.from_float64(_normal(shape, rng, argument, trial.profile), argument.dtype)


def _convert(values: Array, dtype: str) -> Array:
    return dtypes.from_float64(values.astype(np.float64), dtype) if dtypes.is_float(dtype) else values.astype(dtype)


def _hooked(
    case: Case,
    argument: Argument,
    trial: Trial,
    hook: str,
    shape: tuple[int, ...],
    rng: np.random.Generator,
    made: Mapping[str, Any],
) -> Array:
    known = {**trial.symbols, **made, "rng": rng, "shape": shape, "profile": trial.profile}
    array = np.asarray(hooks.call(case.folder, hook, known))
    if array.shape != shape:
        raise CaseError(
            case.path, argument.line, f"{argument.name}: {hook} gave shape {array.shape}; the case says {shape}"
        )
    return _convert(array, argument.dtype)


def _loaded(case: Case, argument: Argument, name: str, shape: tuple[int, ...]) -> Array:
    """The array in a .npy file, which has to be what the case says."""
    wanted = dtypes.storage(argument.dtype)
    try:
        array: Array = np.load(case.folder / name, allow_pickle=False)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CaseError(case.path, argument.line, f"{argument.name}: {name}: {reason}") from None
    if array.shape != shape or array.dtype != wanted:
        found = f"{array.dtype}{list(array.shape)}"
        raise CaseError(
            case.path, argument.line, f"{argument.name}: {name} has {found}; the case says {wanted}{list(shape)}"
        )
    return np.ascontiguousarray(array)


def _normal(shape: tuple[int, ...], rng: np.random.Generator, argument: Argument, profile: str) -> NDArray[np.float64]:
    values: NDArray[np.float64] = rng.standard_normal(shape)
    if argument.plain or profile == "random" or not dtypes.is_float(argument.dtype):
        return values
    return _PROFILES[profile](values, rng, argument.dtype)


def _cancelling(values: NDArray[np.float64], rng: np.random.Generator, dtype: str) -> NDArray[np.float64]:
    """Magnitudes over some orders of ten, and each value's opposite somewhere else."""
    flat = values.reshape(-1) * 10.0 ** rng.uniform(-2, 3 if dtype != "float16" else 2, values.size)
    half = flat.size // 2
    flat[flat.size - half :] = -flat[:half]
    mixed: NDArray[np.float64] = rng.permutation(flat).reshape(values.shape)
    return mixed


def _denormal(values: NDArray[np.float64], rng: np.random.Generator, dtype: str) -> NDArray[np.float64]:
    """One half below the smallest normal number."""
    exponent = rng.uniform(_TINIEST[dtype], _SMALLEST_NORMAL[dtype], values.shape)
    tiny = np.sign(values) * np.exp2(exponent)
    return np.where(rng.random(values.shape) < 0.5, tiny, values)


def _nonfinite(values: NDArray[np.float64], rng: np.random.Generator, dtype: str) -> NDArray[np.float64]:
    """Some NaN and infinities of both signs among the others."""
    del dtype
    flat = values.reshape(-1).copy()
    if flat.size:
        places = rng.choice(flat.size, max(1, flat.size // 50), replace=False)
        flat[places] = rng.choice([np.nan, np.inf, -np.inf], places.size)
    mixed: NDArray[np.float64] = flat.reshape(values.shape)
    return mixed


def _ties(values: NDArray[np.float64], rng: np.random.Generator, dtype: str) -> NDArray[np.float64]:
    """Halves: many are equal, and half of them lie in the middle between whole numbers."""
    del rng, dtype
    halves: NDArray[np.float64] = np.rint(2.0 * values) / 2.0
    return halves


_PROFILES = {"cancellation": _cancelling, "denormal": _denormal, "nonfinite": _nonfinite, "ties": _ties}

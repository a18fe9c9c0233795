"""Error of HIP's math functions on the virtual gfx942: `python -m benchmarks.devices.math_error [--write FILE] [NAME]`.

Every function runs on random arguments over its domain, and is compared with mpmath at 40 digits. Errors are in units
in the last place of the exact result. Hardware transcendentals (v_exp_f32 and its kin) are taken as rounded correctly,
so the table shows the algorithms of the device libraries, not the last bit of the hardware.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Device, Module, open_device
from porter.validation.toolchain.clang import assemble_text
from porter.validation.toolchain.result import Assembled

Array = NDArray[Any]
Exact = Callable[..., Any]
COUNT = 512
PER_KERNEL = 5


@dataclass(frozen=True)
class Function:
    """A function without its suffix: where its arguments lie, and what it should give."""

    name: str
    domains: tuple[tuple[float, float], ...]
    exact: Exact
    types: str = "fd"
    """f: float as name + f; d: double; i: a float intrinsic, name as it is."""


mp = mpmath.mp
WIDE, POSITIVE, UNIT, SMALL = (-1e4, 1e4), (1e-6, 1e6), (-1.0, 1.0), (-10.0, 10.0)


def _round_half_away(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.floor(abs(x) + mpmath.mpf(1) / 2)


def _fmod(x: Any, y: Any) -> Any:
    quotient = x / y
    return x - y * (mpmath.floor(quotient) if quotient >= 0 else mpmath.ceil(quotient))


FUNCTIONS = (
    Function("sin", (WIDE,), mp.sin),
    Function("cos", (WIDE,), mp.cos),
    Function("tan", (WIDE,), mp.tan),
    Function("sinpi", (SMALL,), mp.sinpi),
    Function("cospi", (SMALL,), mp.cospi),
    Function("asin", (UNIT,), mp.asin),
    Function("acos", (UNIT,), mp.acos),
    Function("atan", (WIDE,), mp.atan),
    Function("atan2", (SMALL, SMALL), mp.atan2),
    Function("sinh", (SMALL,), mp.sinh),
    Function("cosh", (SMALL,), mp.cosh),
    Function("tanh", (SMALL,), mp.tanh),
    Function("asinh", (WIDE,), mp.asinh),
    Function("acosh", ((1.0, 1e4),), mp.acosh),
    Function("atanh", ((-0.999, 0.999),), mp.atanh),
    Function("exp", ((-80.0, 80.0),), mp.exp),
    Function("exp2", ((-120.0, 120.0),), lambda x: mp.mpf(2) ** x),
    Function("exp10", ((-36.0, 36.0),), lambda x: mp.mpf(10) ** x),
    Function("expm1", (SMALL,), mp.expm1),
    Function("log", (POSITIVE,), mp.log),
    Function("log2", (POSITIVE,), lambda x: mp.log(x) / mp.log(2)),
    Function("log10", (POSITIVE,), mp.log10),
    Function("log1p", ((-0.99, 100.0),), mp.log1p),
    Function("pow", ((1e-3, 1e3), SMALL), mp.power),
    Function("sqrt", (POSITIVE,), mp.sqrt),
    Function("rsqrt", (POSITIVE,), lambda x: 1 / mp.sqrt(x)),
    Function("cbrt", (POSITIVE,), mp.cbrt),
    Function("rcbrt", (POSITIVE,), lambda x: 1 / mp.cbrt(x)),
    Function("hypot", (WIDE, WIDE), mp.hypot),
    Function("rhypot", (WIDE, WIDE), lambda x, y: 1 / mp.hypot(x, y)),
    Function("norm3d", (SMALL, SMALL, SMALL), lambda x, y, z: mp.sqrt(x * x + y * y + z * z)),
    Function("rnorm3d", (SMALL, SMALL, SMALL), lambda x, y, z: 1 / mp.sqrt(x * x + y * y + z * z)),
    Function("erf", ((-4.0, 4.0),), mp.erf),
    Function("erfc", ((-4.0, 9.0),), mp.erfc),
    Function("erfcx", ((-2.0, 20.0),), lambda x: mp.exp(x * x) * mp.erfc(x)),
    Function("erfinv", ((-0.999, 0.999),), mp.erfinv),
    Function("erfcinv", ((1e-3, 1.999),), lambda x: mp.erfinv(1 - x)),
    Function("normcdf", ((-6.0, 6.0),), lambda x: mp.erfc(-x / mp.sqrt(2)) / 2),
    Function("normcdfinv", ((1e-3, 0.999),), lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1)),
    Function("lgamma", ((0.01, 50.0),), mp.loggamma),
    Function("tgamma", ((0.1, 30.0),), mp.gamma),
    Function("j0", ((0.0, 20.0),), lambda x: mp.besselj(0, x)),
    Function("j1", ((0.0, 20.0),), lambda x: mp.besselj(1, x)),
    Function("y0", ((0.1, 20.0),), lambda x: mp.bessely(0, x)),
    Function("y1", ((0.1, 20.0),), lambda x: mp.bessely(1, x)),
    Function("cyl_bessel_i0", (SMALL,), lambda x: mp.besseli(0, x)),
    Function("cyl_bessel_i1", (SMALL,), lambda x: mp.besseli(1, x)),
    Function("fmod", (WIDE, SMALL), _fmod),
    Function("remainder", (WIDE, SMALL), lambda x, y: x - y * mpmath.nint(x / y)),
    Function("fdim", (SMALL, SMALL), lambda x, y: max(x - y, mp.mpf(0))),
    Function("fma", (SMALL, SMALL, SMALL), lambda x, y, z: x * y + z),
    Function("fmax", (SMALL, SMALL), max),
    Function("fmin", (SMALL, SMALL), min),
    Function("ceil", (WIDE,), mp.ceil),
    Function("floor", (WIDE,), mp.floor),
    Function("trunc", (WIDE,), lambda x: mp.floor(x) if x >= 0 else mp.ceil(x)),
    Function("rint", (WIDE,), mpmath.nint),
    Function("round", (WIDE,), _round_half_away),
    Function("fabs", (WIDE,), abs),
    Function("__sinf", ((-3.14, 3.14),), mp.sin, "i"),
    Function("__cosf", ((-3.14, 3.14),), mp.cos, "i"),
    Function("__tanf", ((-1.5, 1.5),), mp.tan, "i"),
    Function("__expf", ((-80.0, 80.0),), mp.exp, "i"),
    Function("__exp10f", ((-36.0, 36.0),), lambda x: mp.mpf(10) ** x, "i"),
    Function("__logf", (POSITIVE,), mp.log, "i"),
    Function("__log2f", (POSITIVE,), lambda x: mp.log(x) / mp.log(2), "i"),
    Function("__log10f", (POSITIVE,), mp.log10, "i"),
    Function("__powf", ((1e-3, 1e3), (-4.0, 4.0)), mp.power, "i"),
    Function("__fdividef", (SMALL, SMALL), lambda x, y: x / y, "i"),
    Function("__frcp_rn", (SMALL,), lambda x: 1 / x, "i"),
    Function("__fsqrt_rn", (POSITIVE,), mp.sqrt, "i"),
    Function("__frsqrt_rn", (POSITIVE,), lambda x: 1 / mp.sqrt(x), "i"),
    Function("__fdiv_rn", (SMALL, SMALL), lambda x, y: x / y, "i"),
    Function("__ddiv_rn", (SMALL, SMALL), lambda x, y: x / y, "D"),
    Function("__dsqrt_rn", (POSITIVE,), mp.sqrt, "D"),
)


@dataclass(frozen=True)
class Measured:
    """The error of one function in one type."""

    name: str
    dtype: str
    worst: float
    mean: float
    at: tuple[float, ...]


def arguments(function: Function, dtype: Any) -> list[Array]:
    """Random arguments; wide ranges are covered by magnitude."""
    random = np.random.default_rng(len(function.name))
    found = []
    for low, high in function.domains:
        if low > 0 and high / low > 1e4:
            values = np.exp(random.uniform(np.log(low), np.log(high), COUNT))
        elif high >= 1e3:
            size = np.exp(random.uniform(np.log(1e-3), np.log(high), COUNT))
            values = np.clip(size * np.where(random.random(COUNT) < 0.5 if low < 0 else False, -1, 1), low, high)
        else:
            values = random.uniform(low, high, COUNT)
        found.append(values.astype(dtype))
    return found


def source(group: list[tuple[Function, str]], number: int) -> str:
    """A kernel that applies some functions, each to its own arguments."""
    calls, parameters = [], []
    for index, (function, call) in enumerate(group):
        kind = _ctype(function, call)
        names = [f"{'xyz'[k]}{index}" for k in range(len(function.domains))]
        parameters += [f"const {kind}* {name}" for name in names] + [f"{kind}* o{index}"]
        calls.append(f"  o{index}[i] = {call}({', '.join(f'{name}[i]' for name in names)});")
    head = f'extern "C" __global__ void k{number}({", ".join(parameters)}) {{'
    return "\n".join([head, "  int i = blockIdx.x * blockDim.x + threadIdx.x;", *calls, "}"])


def _ctype(function: Function, call: str) -> str:
    return "double" if function.types == "D" or (function.types == "fd" and call == function.name) else "float"


def calls_of(functions: tuple[Function, ...]) -> Iterator[tuple[Function, str]]:
    """Each function in each of its types."""
    for function in functions:
        if "f" in function.types:
            yield function, function.name + "f"
        yield function, function.name


def error_of(function: Function, dtype: Any, inputs: list[Array], got: Array) -> tuple[float, float, tuple[float, ...]]:
    """Worst and mean error in units in the last place, and where the worst is."""
    errors = []
    for index in range(COUNT):
        values = [mp.mpf(float(values[index])) for values in inputs]
        exact = function.exact(*values)
        near = abs(np.array(float(exact), dtype))
        unit = mp.mpf(float(np.spacing(max(near, np.finfo(dtype).smallest_normal))))
        result = float(got[index])
        errors.append(float(abs(mp.mpf(result) - exact) / unit) if np.isfinite(result) else np.inf)
    worst = int(np.argmax(errors))
    return errors[worst], float(np.mean(errors)), tuple(float(values[worst]) for values in inputs)


def measure(device: Device, group: list[tuple[Function, str]], number: int) -> list[Measured] | str:
    """Run one kernel and compare."""
    made = assemble_text(source(group, number), options=("-g0",))
    if not isinstance(made, Assembled):
        return str(made)[-300:]
    module = device.compile(made.text)
    if not isinstance(module, Module):
        return module.reason
    types = [np.float64 if _ctype(f, call) == "double" else np.float32 for f, call in group]
    inputs = [arguments(function, dtype) for (function, _), dtype in zip(group, types, strict=True)]
    given: list[Any] = []
    for values, dtype in zip(inputs, types, strict=True):
        given += [*values, np.zeros(COUNT, dtype)]
    done = module.launch(f"k{number}", COUNT // 256, 256, given)
    if not isinstance(done, Ran):
        return str(done)
    found, at = [], 0
    for (function, call), dtype, values in zip(group, types, inputs, strict=True):
        at += len(values)
        worst, mean, where = error_of(function, dtype, values, done.output(at))
        at += 1
        found.append(Measured(call, np.dtype(dtype).name, worst, mean, where))
    return found


def markdown(found: list[Measured], failed: list[str]) -> str:
    """The table."""
    lines = [
        "# Math functions on the virtual gfx942",
        "",
        f"Made by `python -m benchmarks.devices.math_error --write docs/device-math.md`: {COUNT} random arguments per",
        "function, compared with mpmath at 40 digits; errors in units in the last place (ulp) of the exact result. The",
        "hardware's own transcendentals (`v_exp_f32` and its kin) are taken as correctly rounded: what shows here",
        "is the device libraries.",
        "",
        "| function | type | worst (ulp) | mean (ulp) | worst at |",
        "|---|---|---|---|---|",
    ]
    for row in found:
        at = ", ".join(f"{value:.9g}" for value in row.at)
        lines.append(f"| `{row.name}` | {row.dtype} | {row.worst:.3g} | {row.mean:.2g} | {at} |")
    infinite = [row for row in found if not np.isfinite(row.worst)]
    if infinite:
        lines += [
            "",
            "Infinite errors are the library's: of ROCm 5.2, `cyl_bessel_i1(double)` is NaN below -8 (it takes the",
        ]
        lines += ["reciprocal square root of x, not of |x|; the virtual device executes what the compiler made of it)."]
    if failed:
        lines += ["", "Not measured:", "", *(f"- {line}" for line in failed)]
    return "\n".join(lines) + "\n"


def main(argv: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    parser.add_argument("names", nargs="*", help="functions without suffix; default: all")
    given = parser.parse_args(argv)
    device = open_device()
    if not isinstance(device, Device):
        print(device.reason, file=sys.stderr)
        return 1
    mp.dps = 40
    chosen = tuple(f for f in FUNCTIONS if not given.names or f.name in given.names)
    pending = list(calls_of(chosen))
    found: list[Measured] = []
    failed: list[str] = []
    for number, start in enumerate(range(0, len(pending), PER_KERNEL)):
        group = pending[start : start + PER_KERNEL]
        result = measure(device, group, number)
        if isinstance(result, str):  # one that does not compile must not hide the others
            alone = [measure(device, [one], 1000 + start + k) for k, one in enumerate(group)]
            for (_, call), single in zip(group, alone, strict=True):
                if isinstance(single, str):
                    failed.append(f"`{call}`: {single.strip().splitlines()[-1][:160]}")
                else:
                    found += single
        else:
            found += result
        print(f"{len(found)} of {len(pending)}", file=sys.stderr, flush=True)
    text = markdown(found, failed)
    if given.write:
        given.write.write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Inline PTX as P101 writes it in C++, executed for gfx942, against exact arithmetic for the PTX instructions."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
from porter.validation.devices.core.result import Ran

from porter.engine.file import port
from porter.source import SourceFile
from tests.ptx.case import ROWS, TYPES, Case, operands
from tests.ptx.cases_convert import convert_cases
from tests.ptx.cases_float import float_cases
from tests.ptx.cases_integer import integer_cases
from tests.ptx.cases_other import other_cases
from tests.ptx.cases_packed import both_devices, port_only
from tests.ptx.test_opcodes import differences
from tests.warp import execution

CHUNK = 100
CASES = tuple(
    case
    for case in (*integer_cases(), *float_cases(), *convert_cases(), *other_cases(), *both_devices(), *port_only())
    if ".ftz" not in case.text  # subnormal numbers are kept on gfx942
)
FEWEST = 300
"""Instructions that are translated at least."""
_C = {"pred": "unsigned", "b16": "unsigned short", "b32": "unsigned", "b64": "unsigned long long"}
_FLOAT = re.compile(r"\.(?:b?f16|t?f32|f64|e4m3|e5m2)")
_CONSTRAINT = {"pred": "r", "b16": "h", "b32": "r", "b64": "l"}


def _line(number: int, case: Case, registers: bool) -> str:
    """One instruction as inline PTX, on operands of its own or on registers of the statement's."""
    before, after = "", ""
    names = {"d": "%0"} | {"abce"[k]: f"%{k + 1}" for k in range(len(case.kinds))}
    for k, kind in enumerate(case.kinds):
        if kind == "pred":
            before += f".reg .pred q{k}; setp.ne.u32 q{k}, %{k + 1}, 0; "
            names["abce"[k]] = f"q{k}"
        elif registers:
            before += f".reg .{_declared(number + k, case, kind)} r{k}; mov.{kind} r{k}, %{k + 1}; "
            names["abce"[k]] = f"r{k}"
    if registers and case.result != "pred":
        before += f".reg .{_declared(number + 1, case, case.result)} rd; "
        after, names["d"] = f" mov.{case.result} %0, rd;", "rd"
    if case.result == "pred":
        before, after = f".reg .pred p, other; {before}", " selp.u32 %0, 1, 0, p;"
        names["d"] = "p"
    text = re.sub(r"%([abcde])\b", lambda match: names[match[1]], case.text).replace("%q", "other")
    whole = f"{{ {before}{text}{after} }}" if before or after else text
    inputs = ", ".join(f'"{_CONSTRAINT[kind]}"(i{number}_{k}[t])' for k, kind in enumerate(case.kinds))
    return f'  asm volatile("{whole}" : "={_CONSTRAINT[case.result]}"(o{number}[t]) : {inputs});\n'


def _declared(number: int, case: Case, kind: str) -> str:
    """A type of the size: that of a register says nothing of what an instruction reads in it, but for float."""
    return kind if _FLOAT.search(case.text) else f"{'sub'[number % 3]}{kind[1:]}"


def _source(numbers: tuple[int, ...], registers: bool = False) -> str:
    """A kernel with the instructions of some cases, one in a line; outputs come first."""
    parameters = [f"{_C[CASES[number].result]}* o{number}" for number in numbers]
    for number in numbers:
        parameters += [f"const {_C[kind]}* i{number}_{k}" for k, kind in enumerate(CASES[number].kinds)]
    lines = "".join(_line(number, CASES[number], registers) for number in numbers)
    head = f"__global__ void cases({', '.join(parameters)}) {{"
    return f"#include <cuda_runtime.h>\n{head} int t = blockIdx.x * blockDim.x + threadIdx.x;\n{lines}}}\n"


@functools.cache
def translated() -> tuple[int, ...]:
    """The cases that P101 translates."""
    numbers = tuple(range(len(CASES)))
    done = port(SourceFile("a.cu", _source(numbers).encode()), execution.context("preserve"), "a.cu")
    left = {finding.line for finding in done.findings if finding.code != "P101" and finding.code.startswith("P")}
    return tuple(number for number in numbers if number + 3 not in left)


def test_most_instructions_are_translated() -> None:
    assert len(translated()) >= FEWEST


def _rows(case: Case) -> list[list[int]]:
    """Operands; what a division by zero gives is not specified."""
    divides = re.match(r"(?:div|rem)\.[us]", case.text) is not None
    found = operands(case, 1)
    if case.text.startswith("div.") and ".f64" in case.text:
        found = [row if not _is_subnormal_quotient(*row[:2]) else [row[1], row[1], *row[2:]] for row in found]
    return [[a, b or 1, *rest] for a, b, *rest in found] if divides else found


def _is_subnormal_quotient(first: int, second: int) -> bool:
    """Of doubles, by their bits: there the virtual device's division may be an ULP off (docs/devices.md)."""
    with np.errstate(all="ignore"):
        quotient = np.divide(*np.array([first, second], np.uint64).view(np.float64))
    return bool(0 < abs(quotient) < np.finfo(np.float64).tiny)


@pytest.mark.slow
@pytest.mark.parametrize("registers", [False, True], ids=["operands", "registers"])
@pytest.mark.parametrize("start", range(0, len(CASES), CHUNK))
def test_translations_compute_the_same(start: int, registers: bool) -> None:
    numbers = tuple(number for number in translated() if start <= number < start + CHUNK)
    if not numbers:
        pytest.skip("none of these instructions is translated")
    ported = port(SourceFile("a.cu", _source(numbers, registers).encode()), execution.context("preserve"), "a.cu")
    module = execution.module(ported.data.decode())
    rows = [_rows(CASES[number]) for number in numbers]
    inputs = [
        np.array([row[k] for row in table], TYPES[kind])
        for number, table in zip(numbers, rows, strict=True)
        for k, kind in enumerate(CASES[number].kinds)
    ]
    outs = [np.zeros(ROWS, TYPES[CASES[number].result]) for number in numbers]
    done = module.launch(module.kernels[0], ROWS // 64, 64, [*outs, *inputs])
    assert isinstance(done, Ran), str(done)
    wrong: list[str] = []
    for place, (number, table) in enumerate(zip(numbers, rows, strict=True)):
        wrong += differences(CASES[number], table, [int(value) for value in done.output(place)])[:2]
    assert not wrong, "\n".join(wrong[:40])

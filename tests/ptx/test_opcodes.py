"""Instructions one by one against exact arithmetic."""

from __future__ import annotations

import functools
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from porter.validation.toolchain.nvcc import Nvcc, find_nvcc

from tests.ptx import model
from tests.ptx.case import TYPES, Case, operands
from tests.ptx.cases_convert import convert_cases
from tests.ptx.cases_float import float_cases
from tests.ptx.cases_integer import integer_cases
from tests.ptx.cases_other import other_cases
from tests.ptx.cases_packed import both_devices
from tests.ptx.conftest import LoadPtx
from tests.ptx.model import FORMATS
from tests.ptx.opcodes import kernel, run

_REFUSED = re.compile(
    r"cvt\.sat\.(?:(?:[us]32|[us]64)\.u16|[us]64\.u32|s(?:32|64)\.s16|s64\.s32) |vabsdiff4\.u32\.u32\.u32 .* 0;"
)
"""What NVIDIA's assembler does not take; in files of its own, so that a GPU can run the others."""
_WRITTEN = {
    "integers": integer_cases(),
    "others": other_cases(),
    "floats": float_cases(),
    "conversions": convert_cases(),
    "pairs": both_devices(),
}
CASES = {name: [case for case in cases if not _REFUSED.match(case.text)] for name, cases in _WRITTEN.items()}
CASES["reordered"] = [
    replace(case, text=text)
    for case in CASES["floats"]
    if (
        text := re.sub(
            r"^(add|sub|mul|fma|rcp|sqrt|min|max)\.(rn?[zmp]?|rn\.ftz|rn\.sat)\.(f\d+) ", r"\1.\3.\2 ", case.text
        )
    )
    != case.text
]
"""The assembler takes a type ahead of what rounds; cuRAND's headers write `lg2.approx.f32.ftz`."""
CASES["refused"] = [case for cases in _WRITTEN.values() for case in cases if _REFUSED.match(case.text)]
CHUNK = 40


def groups() -> list[tuple[str, int]]:
    return [(name, start) for name, cases in CASES.items() for start in range(0, len(cases), CHUNK)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "start"), groups())
def test_instructions(load_optimised: LoadPtx, name: str, start: int) -> None:
    cases = CASES[name][start : start + CHUNK]
    inputs = [operands(case, 1) for case in cases]
    columns = [
        [np.array([row[k] for row in rows], TYPES[kind]) for k, kind in enumerate(case.kinds)]
        for case, rows in zip(cases, inputs, strict=True)
    ]
    module = load_optimised(kernel([(case.text, case.kinds, case.result) for case in cases]))
    results = run(module, columns, [case.result for case in cases])
    wrong: list[str] = []
    for case, rows, got in zip(cases, inputs, results, strict=True):
        wrong += differences(case, rows, got)[:2]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "start"), groups())
def test_the_assembler_takes_them(name: str, start: int, tmp_path: Path) -> None:
    """Each that it refuses alone, for one is enough that it refuses a file."""
    nvcc = find_nvcc()
    assembler = Path(nvcc.path).with_name("ptxas") if isinstance(nvcc, Nvcc) else None
    if assembler is None or not assembler.is_file():
        pytest.skip("there is no ptxas beside nvcc")
    cases = CASES[name][start : start + CHUNK]
    for part in [[case] for case in cases] if name == "refused" else [cases]:
        (tmp_path / "a.ptx").write_text(kernel([(case.text, case.kinds, case.result) for case in part]))
        command = [str(assembler), "-arch=sm_90", "-o", "/dev/null", str(tmp_path / "a.ptx")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == (name == "refused"), part[0].text + done.stderr[:500]


def differences(case: Case, rows: list[list[int]], got: list[int]) -> list[str]:
    wrong = []
    wanted = _wanted(case, tuple(map(tuple, rows)))
    for row, result, want in zip(rows, got, wanted, strict=True):
        if not agree(result, want, case):
            wrong.append(f"{case.text} {[hex(x) for x in row]}: {result:#x}, not {want:#x}")
    return wrong


@functools.cache
def _wanted(case: Case, rows: tuple[tuple[int, ...], ...]) -> list[int]:
    """Once for all ways in which the same operands are given."""
    return [int(case.expected(*row)) for row in rows]


def agree(got: int, want: int, case: Case) -> bool:
    if case.float_kind in FORMATS and case.result != "pred":
        return model.same(got, want, FORMATS[case.float_kind])
    if case.float_kind.endswith("x2"):
        form = FORMATS[case.float_kind[:-2]]
        return all(model.same(got >> s & 0xFFFF, want >> s & 0xFFFF, form) for s in (0, 16))
    return got == want

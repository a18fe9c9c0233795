"""The functions that were compared with exact arithmetic on the host give the same bits on the virtual gfx942."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.result import Ran

from tests.include import test_bits, test_math, test_simd, virtual
from tests.include.host import Library

Array = npt.NDArray[Any]
COUNT = 256
DTYPES: dict[str, Any] = {
    "int": np.int32,
    "unsigned": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
HEADERS = {
    "bits.hpp": (test_bits.SIGNATURES | test_bits.SHIFTS, test_bits.SHIFT_WRAPPERS),
    "simd.hpp": (test_simd.SIGNATURES, ""),
    "math.hpp": (test_math.SIGNATURES, ""),
}
"""Signatures, and C++ text that defines those that are no functions of the header."""


def _inputs(type_: str, seed: int) -> Array:
    if type_ in ("float", "double"):
        return test_math._numbers(type_, seed, COUNT)[:COUNT].astype(DTYPES[type_])
    dtype = np.dtype(DTYPES[type_])
    values: Array = np.frombuffer(np.random.default_rng(seed).bytes(COUNT * dtype.itemsize), dtype).copy()
    return values


def _groups(signatures: dict[str, str]) -> dict[str, list[str]]:
    """Names by signature: one kernel each."""
    groups: dict[str, list[str]] = {}
    for name, signature in signatures.items():
        groups.setdefault(signature, []).append(name)
    return groups


def _kernel(index: int, signature: str, names: list[str]) -> str:
    result, parameters = re.fullmatch(r"([\w ]+)\(([\w ,]*)\)", signature).groups()  # type: ignore[union-attr]
    types = [part.strip() for part in parameters.split(",")]
    values = ", ".join(f"p{i}[at]" for i in range(len(types)))
    calls = "".join(f"  out[{row} * {COUNT} + at] = porter::{name}({values});\n" for row, name in enumerate(names))
    inputs = ", ".join(f"const {type_}* p{i}" for i, type_ in enumerate(types))
    where = "__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x()"
    head = f'extern "C" __global__ void k{index}({inputs}, {result}* out)'
    return f"{head} {{\n  int const at = {where};\n{calls}}}\n"


@pytest.mark.slow
@pytest.mark.parametrize("header", HEADERS)
def test_same_bits(header: str, tmp_path: Path) -> None:
    signatures, extra = HEADERS[header]
    host = Library(tmp_path, f"porter/{header}", signatures, extra)
    groups = _groups(signatures)
    text = "".join(_kernel(index, *group) for index, group in enumerate(groups.items()))
    module = virtual.load_text(f'#include "porter/{header}"\n{extra}{text}')
    for index, (signature, names) in enumerate(groups.items()):
        types = [part.strip() for part in signature.partition("(")[2].rstrip(")").split(",")]
        inputs = [_inputs(type_, seed) for seed, type_ in enumerate(types)]
        if signature == "unsigned(unsigned, unsigned, int)":
            inputs[1] %= 32
        out = np.zeros((len(names), COUNT), DTYPES[signature.partition("(")[0]])
        done = module.launch(f"k{index}", COUNT // 64, 64, [*inputs, out])
        assert isinstance(done, Ran), f"{signature}: {done}"
        for name, row in zip(names, done.output(len(inputs)), strict=True):
            expected = host.call(name, *inputs)
            np.testing.assert_array_equal(row, expected, name)
            if row.dtype.kind == "f":
                ordered = ~np.isnan(expected)
                np.testing.assert_array_equal(np.signbit(row[ordered]), np.signbit(expected[ordered]), name)

"""long_double.hpp: the functions of long double for both sides."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from porter.rules.math.long_double_on_device import _FUNCTIONS
from porter.validation.devices.core.result import Ran

from porter.engine.file import port
from porter.source import SourceFile
from tests.include import hip
from tests.warp import execution

_TWO = {"powl", "fmodl", "fmaxl", "fminl", "hypotl", "atan2l", "copysignl"}
_CALLS = "".join(f"  x += {name}({'x, y' if name in _TWO else 'x'});\n" for name in sorted(_FUNCTIONS))
_SOURCE = f"""#include <cuda_runtime.h>
__host__ __device__ long double all(long double x, long double y) {{
{_CALLS}  return x;
}}
__global__ void k(double *p) {{ p[0] = all(p[0], p[1]); }}
long double on_host(long double x) {{ return all(x, 1); }}
"""


@pytest.mark.parametrize("host", [False, True])
def test_each_function_compiles_on_both_sides(host: bool, tmp_path: Path) -> None:
    ported = port(SourceFile("a.cu", _SOURCE.encode()), execution.context("preserve"), "a.cu")
    assert ported.data.decode().count("porter::") == len(_FUNCTIONS)
    hip.compiled(ported.data.decode(), tmp_path, host=host)


@pytest.mark.slow
def test_the_device_computes_in_double() -> None:
    source = "__device__ long double f(long double v) { return expl(v) - sqrtl(v); }\n" \
        "__global__ void k(double *o, const double *p) { o[threadIdx.x] = f(p[threadIdx.x]); }\n"  # fmt: skip
    ported = port(SourceFile("a.cu", source.encode()), execution.context("preserve"), "a.cu")
    module = execution.module(ported.data.decode())
    given = np.array([0.5, 1.0, 2.25, 9.0], np.float64)
    done = module.launch(module.kernels[0], 1, 4, [np.zeros(4, np.float64), given])
    assert isinstance(done, Ran), str(done)
    assert done.output(0).tolist() == pytest.approx([math.exp(v) - math.sqrt(v) for v in given], rel=1e-14)

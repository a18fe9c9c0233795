"""Random kernels: compiled for gfx942 at -O0 and -O3 and for the host; all three must agree bit for bit.

No 64-bit numerator here is a constant of all ones: clang 19 at -O3 divides ~0 by a 24-bit number with its 24-bit
expansion (the quotient is cut to 24 bits), which these tests found on their first run.
"""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Compile
from numpy.typing import NDArray
from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran

from tests.random_kernels import PRELUDE, functions, on_host

COUNT = 4
THREADS = 192


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> list[NDArray[np.uint64]]:
    compiler = find_host_compiler()
    if compiler is None:
        pytest.skip("no host compiler")
    return on_host(compiler, tmp_path_factory.mktemp("random"), COUNT, THREADS)


@pytest.mark.parametrize("level", [pytest.param("-O0", marks=pytest.mark.slow), "-O3"])
def test_random_kernels(compile_hip: Compile, host: list[NDArray[np.uint64]], level: str) -> None:
    kernels = "\n".join(
        f'extern "C" __global__ void k{k}(u64* o) {{ u32 t = threadIdx.x; o[t] = f{k}(t); }}' for k in range(COUNT)
    )
    text = "#define FN __device__ static\n" + PRELUDE + functions(COUNT) + kernels
    module = compile_hip(text, level, "-ffp-contract=off", "-g0")
    wrong = []
    for k in range(COUNT):
        done = module.launch(f"k{k}", 1, THREADS, [np.zeros(THREADS, np.uint64)], options=Options(uninitialised=True))
        if not isinstance(done, Ran):
            wrong.append(f"k{k}: {done}")
        elif not np.array_equal(done.output(0), host[k]):
            bad = np.flatnonzero(done.output(0) != host[k])
            wrong.append(
                f"k{k}: {bad.size} threads differ, first {bad[0]}: {done.output(0)[bad[0]]:#x} {host[k][bad[0]]:#x}"
            )
    assert not wrong, "\n".join(wrong)

"""Random kernels: compiled by nvcc and for the host; both must agree bit for bit, whatever the schedule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.ptx import Module

from tests.ptx.conftest import CompileCuda
from tests.random_kernels import PRELUDE, functions, on_host

COUNT = 8
THREADS = 192
NAMES = {
    "popcount": "__popc", "popcountll": "__popcll", "fabsf": "fabsf", "sqrtf": "__fsqrt_rn", "fmaf": "__fmaf_rn",
    "fma": "__fma_rn", "floorf": "floorf", "truncf": "truncf", "floor": "floor", "memcpy": "memcpy",
}  # fmt: skip


@pytest.fixture(scope="module")
def module(compile_cuda: CompileCuda) -> Module:
    kernels = "\n".join(
        f'extern "C" __global__ void k{k}(u64* o) {{ u32 t = threadIdx.x; o[t] = f{k}(t); }}' for k in range(COUNT)
    )
    names = "".join(f"#define __builtin_{name} {own}\n" for name, own in NAMES.items())
    text = "#define FN __device__ static\n" + names + PRELUDE + functions(COUNT) + kernels
    return compile_cuda(text, "-fmad=false", "-w")


@pytest.mark.slow
@pytest.mark.parametrize("schedule", [None, 1])
def test_random_kernels(module: Module, tmp_path: Path, schedule: int | None) -> None:
    compiler = find_host_compiler()
    assert compiler is not None
    want = on_host(compiler, tmp_path, COUNT, THREADS)
    wrong = []
    for k in range(COUNT):
        args = [np.zeros(THREADS, np.uint64)]
        done = module.launch(f"k{k}", 1, THREADS, args, options=Options(schedule=schedule))
        if not isinstance(done, Ran):
            wrong.append(f"k{k}: {done}")
        elif not np.array_equal(done.output(0), want[k]):
            bad = np.flatnonzero(done.output(0) != want[k])
            got, right = int(done.output(0)[bad[0]]), int(want[k][bad[0]])
            wrong.append(f"k{k}: {bad.size} threads differ, first {bad[0]}: {got:#x} {right:#x}")
    assert not wrong, "\n".join(wrong)

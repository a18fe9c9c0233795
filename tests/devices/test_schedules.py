"""Interleaving: results that depend on the order of waves differ between schedules, all others do not."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Compile
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

CODE = """
extern "C" __global__ void lost_update(int* total) {  // one basic block: read and write are two accesses
  if (threadIdx.x % 64 == 0) { volatile int* p = total; int v = *p; *p = v + 1; }
}
extern "C" __global__ void atomic_update(int* total) {
  if (threadIdx.x % 64 == 0) atomicAdd(total, 1);
}
extern "C" __global__ void no_barrier(const int* a, int* o) {
  __shared__ volatile int s[256];
  s[threadIdx.x] = a[threadIdx.x];
  o[threadIdx.x] = s[(threadIdx.x + 64) & 255];
}
extern "C" __global__ void barrier(const int* a, int* o) {
  __shared__ volatile int s[256];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[(threadIdx.x + 64) & 255];
}
"""
SEEDS = range(12)


@pytest.fixture(scope="module")
def module(compile_hip: Compile) -> Module:
    """The kernels above."""
    return compile_hip(CODE)


def outcomes(module: Module, kernel: str, arguments: list[np.ndarray], output: int, grid: int = 4) -> set[bytes]:
    found = set()
    for seed in SEEDS:
        options = Options(schedule=seed, uninitialised=False)
        done = module.launch(kernel, grid, 256, arguments, options=options)
        assert isinstance(done, Ran), done
        again = module.launch(kernel, grid, 256, arguments, options=options)
        assert isinstance(again, Ran)
        assert np.array_equal(done.output(output), again.output(output))
        found.add(done.output(output).tobytes())
    return found


def test_an_update_that_is_not_atomic_gets_lost(module: Module) -> None:
    assert len(outcomes(module, "lost_update", [np.zeros(1, np.int32)], 0)) > 1
    assert outcomes(module, "atomic_update", [np.zeros(1, np.int32)], 0) == {np.array([16], np.int32).tobytes()}


def test_shared_memory_without_a_barrier(module: Module) -> None:
    a = np.arange(1, 257, dtype=np.int32)
    arguments = [a, np.zeros(256, np.int32)]
    assert len(outcomes(module, "no_barrier", arguments, 1, grid=1)) > 1
    assert outcomes(module, "barrier", arguments, 1, grid=1) == {np.roll(a, -64).tobytes()}

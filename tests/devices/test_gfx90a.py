"""The same kernels compiled for gfx90a: scratch through buffer instructions, other names of fences and atomics."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Compile
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.gfx942 import Device, Module
from porter.validation.toolchain.clang import Assembled, Missing, assemble_text, find_clang
from test_kernels import CALLS, SUM

GENERIC = """
extern "C" __global__ void k(int* a, int n) {
  int own[8];
  for (int k = 0; k < 8; k++) own[k] = a[k + threadIdx.x];
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  int* p = n > 5 ? a : n > 3 ? own : s;
  int v = p[threadIdx.x & 7] + p[n & 7];
  __syncthreads();
  a[threadIdx.x] = v;
}
extern "C" __global__ void say(int n) { if (threadIdx.x < n) printf("%d of %d\\n", (int)threadIdx.x, n); }
"""


@pytest.fixture(scope="session")
def compile_90a(device: Device) -> Compile:
    """Compile HIP text for gfx90a and load it."""
    clang = find_clang("gfx90a")
    if isinstance(clang, Missing):
        pytest.skip(clang.reason)

    def compile_text(code: str, *options: str) -> Module:
        made = assemble_text(code, "gfx90a", options)
        assert isinstance(made, Assembled), made
        module = device.compile(made.text)
        assert not isinstance(module, NotRun), module
        return module

    return compile_text


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_calls_and_scratch(compile_90a: Compile, level: str) -> None:
    a = np.random.default_rng(1).random(64).astype(np.float32)
    done = compile_90a(CALLS, level).launch("calls", 1, 64, [a, 5, np.zeros(64, np.int32)], shared=256)
    assert isinstance(done, Ran), done
    i = np.arange(64)
    s = np.zeros(64, np.float32)
    for k in range(5):
        s += a[(((k * i) & 15) + i) & 63]
    weights = np.array([1, 2, 3], np.float32)
    expected = np.where(i & 1, s * weights[i % 3], s + (i & 3) + 1).astype(np.float32) + a[(i + 1) & 63]
    assert np.array_equal(done.output(0), expected)
    assert np.array_equal(done.output(2), np.array([0, 1, 1, 2, 3, 5, 8, 13, 21])[i % 9])


def test_sum(compile_90a: Compile) -> None:
    a = np.random.default_rng(0).random(10_000).astype(np.float32)
    done = compile_90a(SUM).launch("sum", 8, 256, [a, np.zeros(1, np.float32), a.size])
    assert isinstance(done, Ran), done
    assert done.output(1)[0] == pytest.approx(a.sum(dtype=np.float64), rel=1e-6)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_generic_pointers(compile_90a: Compile, n: int) -> None:
    a = np.random.default_rng(n).integers(0, 1000, 80).astype(np.int32)
    done = compile_90a(GENERIC).launch("k", 1, 64, [a, n])
    assert isinstance(done, Ran), done
    i = np.arange(64)
    base = i if n == 4 else 0
    assert np.array_equal(done.output(0)[:64], a[base + (i & 7)] + a[base + (n & 7)])


def test_printf(compile_90a: Compile) -> None:
    done = compile_90a(GENERIC).launch("say", 1, 64, [3])
    assert isinstance(done, Ran), done
    assert done.printed == "0 of 3\n1 of 3\n2 of 3\n"

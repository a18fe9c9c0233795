"""Counters of kernels whose numbers can be told from their source."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import Compile
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Counters, Ran

CODE = """
extern "C" __global__ void copy(const int* a, int* o, int stride) { int i = threadIdx.x; o[i] = a[i * stride]; }
extern "C" __global__ void transposed(float* a, int pitch) {
  extern __shared__ float s[];
  s[threadIdx.x * pitch] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x * pitch];
}
extern "C" __global__ void split(int* a, int n) {
  int i = threadIdx.x;
  if (i < n) atomicAdd(a, 1);
}
typedef float v4f __attribute__((ext_vector_type(4)));
extern "C" __global__ void matrix(v4f* a) {
  v4f c = a[threadIdx.x];
  for (int k = 0; k < 3; k++) c = __builtin_amdgcn_mfma_f32_16x16x4f32(1.0f, 2.0f, c, 0, 0, 0);
  a[threadIdx.x] = c;
}
extern "C" __global__ void scratch(int* a, int n) {
  int own[64];
#pragma nounroll
  for (int k = 0; k < 64; k++) own[(k * n) & 63] = k;
  a[threadIdx.x] = own[n & 31];
}
"""


def counters(compile_hip: Compile, kernel: str, arguments: list[object], block: int = 64, shared: int = 0) -> Counters:
    options = Options(count_memory=True)
    done = compile_hip(CODE).launch(kernel, 1, block, arguments, shared=shared, options=options)
    assert isinstance(done, Ran), done
    assert json.loads(json.dumps(done.counters.as_json()))["lanes"] == 64
    return done.counters


@pytest.mark.parametrize(("stride", "lines"), [(1, 2), (2, 4), (32, 64)])
def test_lines_of_a_strided_load(compile_hip: Compile, stride: int, lines: int) -> None:
    found = counters(compile_hip, "copy", [np.zeros(64 * stride, np.int32), np.zeros(64, np.int32), stride])
    load, store = sorted((m for m in found.memory if m.space == "global"), key=lambda m: "store" in m.site.text)
    assert (load.requests, load.lanes, load.bytes, load.lines, load.least_lines) == (1, 64, 256, lines, 2)
    assert store.lines == 2
    assert found.bytes_moved["global"] == 512
    assert found.resources["vgpr_spill_count"] == 0


@pytest.mark.parametrize(("pitch", "extra"), [(1, 0), (2, 1), (32, 31), (33, 0)])
def test_bank_conflicts(compile_hip: Compile, pitch: int, extra: int) -> None:
    found = counters(compile_hip, "transposed", [np.zeros(64, np.float32), pitch], shared=4 * 64 * pitch)
    shared = [m for m in found.memory if m.space == "shared"]
    assert [m.conflicts for m in shared] == [2 * extra] * 2  # a wave goes in two halves
    assert found.bytes_moved["shared"] == 512


def test_divergence_and_active_lanes(compile_hip: Compile) -> None:
    whole = counters(compile_hip, "split", [np.zeros(1, np.int32), 64])
    part = counters(compile_hip, "split", [np.zeros(1, np.int32), 16])
    assert whole.divergent_branches == 0
    assert part.divergent_branches >= 1
    assert any("kernel.hip:" in where for where in part.divergent_lines)
    assert part.active_lanes is not None
    assert part.active_lanes < 64


def test_matrix_work(compile_hip: Compile) -> None:
    found = counters(compile_hip, "matrix", [np.zeros((64, 4), np.float32)])
    assert found.matrix_operations == 3 * 2 * 16 * 16 * 4
    assert found.instructions["matrix"] == 3


def test_scratch(compile_hip: Compile) -> None:
    found = counters(compile_hip, "scratch", [np.zeros(64, np.int32), 5])
    assert found.bytes_moved["private"] == 64 * 4 * 65
    assert found.resources["private_segment_fixed_size"] >= 256

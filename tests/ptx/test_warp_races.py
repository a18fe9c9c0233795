"""Lanes of one warp in shared memory: since Volta only meetings order them. Hazards are told, no faults."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.ptx import Module

from tests.ptx.conftest import CompileCuda

CODE = """
#define K extern "C" __global__ void
#define SHARED __shared__ int s[256]; const int t = threadIdx.x, b = t & ~31, l = t & 31; s[t] = a[t]; __syncwarp();
#define OUT __syncwarp(); o[t] = s[t];
K legacy_sum(const int* a, int* o) { SHARED  // as before Volta: lockstep and volatile
  volatile int* v = s + b;
  if (l < 16) { v[l] += v[l + 16]; v[l] += v[l + 8]; v[l] += v[l + 4]; }
  OUT }
K right_sum(const int* a, int* o) { SHARED
  volatile int* v = s + b;
  for (int d = 16; d; d >>= 1) { int x = l < d ? v[l + d] : 0; __syncwarp(); v[l] += x; __syncwarp(); }
  OUT }
K by_shuffles(const int* a, int* o) { SHARED  // a shuffle is a meeting too
  volatile int* v = s + b;
  int x = v[l ^ 1]; x = __shfl_xor_sync(~0u, x, 2); v[l] = x;
  OUT }
K shifted(const int* a, int* o) { SHARED  // written while the lane below may not have read it
  volatile int* v = s + b;
  int x = v[(l + 1) & 31]; v[l] = x;
  OUT }
K own(const int* a, int* o) { SHARED  // each lane its own element
  volatile int* v = s + b;
  for (int i = 0; i < 5; i++) v[l] += i;
  OUT }
K same_value(const int* a, int* o) { SHARED  // one instruction, one of the lanes wins
  volatile int* v = s + b;
  if (l < 7) v[0] = 3;
  OUT }
K halves(const int* a, int* o) { SHARED  // each half meets by itself
  volatile int* v = s + b;
  unsigned mask = l < 16 ? 0xffffu : 0xffff0000u;
  for (int d = 8; d; d >>= 1) { int x = v[l ^ d]; __syncwarp(mask); v[l] += x; __syncwarp(mask); }
  OUT }
K wrong_half(const int* a, int* o) { SHARED  // meets its half and reads from the other one
  volatile int* v = s + b;
  unsigned mask = l < 16 ? 0xffffu : 0xffff0000u;
  v[l] = l; __syncwarp(mask); int x = v[l ^ 16]; __syncwarp(); v[l] = x;
  OUT }
K passed_on(const int* a, int* o) { SHARED  // 0 meets 1, then 1 meets 2: 2 knows what 0 did
  volatile int* v = s + b;
  int x = 0;
  if (l == 0) { v[0] = 7; __syncwarp(0x3); }
  else if (l == 1) { __syncwarp(0x3); __syncwarp(0x6); }
  else if (l == 2) { __syncwarp(0x6); x = v[0]; }
  __syncwarp(); if (l) v[l] = x;
  OUT }
K not_passed_on(const int* a, int* o) { SHARED  // the other way round it does not
  volatile int* v = s + b;
  int x = 0;
  if (l == 0) { __syncwarp(0x3); v[0] = 7; }
  else if (l == 1) { __syncwarp(0x3); __syncwarp(0x6); }
  else if (l == 2) { __syncwarp(0x6); x = v[0]; }
  __syncwarp(); if (l) v[l] = x;
  OUT }
K locked(const int* a, int* o) { SHARED  // a lock orders its holders
  __shared__ int lock; if (t == 0) lock = 0; __syncthreads();
  for (bool done = false; !done;)
    if (atomicCAS(&lock, 0, 1) == 0) {
      volatile int* v = s; v[0] += 1; __threadfence_block(); atomicExch(&lock, 0); done = true;
    }
  __syncthreads();
  OUT }
K block_barrier(const int* a, int* o) { SHARED
  int x = s[(t + 1) & 31]; __syncthreads(); s[t & 31] = x; __syncthreads();
  OUT }
"""
HAZARDS = ("legacy_sum", "shifted", "wrong_half", "not_passed_on")
FINE = ("right_sum", "by_shuffles", "own", "same_value", "halves", "passed_on", "locked", "block_barrier")


@pytest.fixture(scope="module")
def module(compile_cuda: CompileCuda) -> Module:
    return compile_cuda(CODE)


def _notes(module: Module, name: str, races: bool = True, schedule: int | None = None) -> tuple[str, ...]:
    a = np.arange(64, dtype=np.int32)
    threads = 32 if name in ("block_barrier", "locked") else 64
    done = module.launch(name, 1, threads, [a, np.zeros(64, np.int32)], options=Options(races=races, schedule=schedule))
    assert isinstance(done, Ran), done
    return done.notes


@pytest.mark.parametrize("name", HAZARDS)
def test_hazards_are_told_with_lanes_and_lines(module: Module, name: str) -> None:
    (note,) = _notes(module, name)
    line = 1 + next(i for i, text in enumerate(CODE.splitlines()) if f" {name}(" in text)
    assert "hazard in shared memory: two lanes of a warp" in note and "with lane" in note
    told = [int(part.split(":")[1].split(";")[0]) for part in note.split(".cu")[1:]]
    assert told and all(line <= number <= line + 8 for number in told), note
    assert not _notes(module, name, races=False)


@pytest.mark.parametrize("name", FINE)
@pytest.mark.parametrize("schedule", [None, 3])
def test_what_is_ordered_is_not_told(module: Module, name: str, schedule: int | None) -> None:
    assert _notes(module, name, schedule=schedule) == ()

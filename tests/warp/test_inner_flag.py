"""Flags of inner loops, ported and run: every lane goes round as often as the text says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices import gfx942
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.toolchain.clang import Assembled, assemble

from porter.engine.context import parser_for
from porter.engine.file import port
from porter.engine.support import include_folder
from porter.source import SourceFile
from porter.system.cache import kept_text
from tests.warp.execution import context

SOURCE = """
#define STEP x = x * 1664525u + 1013904223u
extern "C" __global__ void search(unsigned* out, int* lock, unsigned* v) {
  unsigned t = threadIdx.x, turns = 0, x = t * 2654435761u;
  bool found = false;
  while (!found) {
    ++turns;
    unsigned n = (x >> 28) + 1;
    for (unsigned i = 0; i < n; ++i) { STEP; if ((x >> 27) == 3) { found = true; break; } }
  }
  out[t] = turns;
}
extern "C" __global__ void again(unsigned* out, int* lock, unsigned* v) {
  unsigned t = threadIdx.x, turns = 0, x = t * 2654435761u;
  int more = 1;
  while (more) {
    ++turns;
    unsigned n = (x >> 28) + 1, i = 0;
    while (more && i < n) { STEP; ++i; if ((x >> 27) == 3) more = 0; }
  }
  out[t] = turns;
}
extern "C" __global__ void locked(unsigned* out, int* lock, unsigned* v) {
  bool swapped = false;
  while (!swapped) {
    unsigned seen = *(volatile unsigned*)v;
    for (bool done = false; !done;) {
      if (atomicCAS(lock, 0, 1) == 0) {
        swapped = *(volatile unsigned*)v == seen;
        if (swapped) *(volatile unsigned*)v = seen + 1;
        __threadfence();
        atomicExch(lock, 0);
        done = true;
      }
    }
  }
  out[threadIdx.x] = 1;
}
"""
THREADS = 70


def _turns(t: int) -> int:
    x, turns = t * 2654435761 % 2**32, 0
    while True:
        turns += 1
        for _ in range((x >> 28) + 1):
            x = (x * 1664525 + 1013904223) % 2**32
            if x >> 27 == 3:
                return turns


@pytest.fixture(scope="module")
def module() -> gfx942.Module:
    device = gfx942.open_device()
    if isinstance(device, NotRun):
        pytest.skip(device.reason)
    settings = replace(context("preserve"), parse=parser_for(Path("/nonexistent"), (), ()))
    done = port(SourceFile("k.cu", SOURCE.encode()), settings, "k.cu")
    assert sum(finding.code == "S107" for finding in done.findings) == 3
    made = assemble(kept_text("assembly", done.data, "k.hip"), options=("-I", str(include_folder()), "-O3"))
    assert isinstance(made, Assembled), made
    opened = device.compile(made.text)
    assert not isinstance(opened, NotRun), opened
    return opened


@pytest.mark.parametrize("kernel", ["search", "again", "locked"])
def test_every_lane_leaves_in_its_turn(module: gfx942.Module, kernel: str) -> None:
    arrays = [np.zeros(THREADS, np.uint32), np.zeros(1, np.int32), np.zeros(1, np.uint32)]
    done = module.launch(kernel, 1, THREADS, arrays)
    assert isinstance(done, Ran), done
    if kernel == "locked":
        assert done.output(2).tolist() == [THREADS]
    else:
        assert done.output(0).tolist() == [_turns(t) for t in range(THREADS)]

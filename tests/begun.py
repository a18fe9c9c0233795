"""A kernel's code changes while it runs, on either device: what tests of both share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from porter.validation.devices.core import abi, begun
from porter.validation.devices.core.begun import Better
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran

CODE = """
extern "C" __global__ void mix(unsigned* out, int steps) {
  __shared__ unsigned s[128];
  unsigned a = threadIdx.x * 2654435761u + blockIdx.x;
  double d = threadIdx.x;
  s[threadIdx.x] = a;
  __syncthreads();
  for (int i = 0; i < steps; ++i) {
    a = a * 1664525u + s[(threadIdx.x + i) % 128] + 1013904223u;
    if (a & 1) d = d * 0.5 + a % 99; else d = d * 0.25 + 3;
    __syncthreads();
    s[threadIdx.x] = a;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a ^ (unsigned)d;
}
"""


def better_of(module: Any) -> Better:
    """Of the kernel `mix`, which has not run for long."""
    image = module.translate("mix")
    assert isinstance(image.better, Better) and image.better.step is None
    return image.better


def run(module: Any, steps: int, schedule: int | None = None) -> Ran:
    """Two blocks of it, in turns of few instructions."""
    options = Options(schedule=schedule, races=True, quantum=300)
    done = module.launch("mix", 2, 128, [np.zeros(256, np.uint32), steps], options=options)
    assert isinstance(done, Ran), done
    return done


def check_turns(module: Any, monkeypatch: pytest.MonkeyPatch, schedule: int | None) -> None:
    """The same values and counts, however often the code changes between the turns of a launch."""
    better = better_of(module)
    alone = run(module, 200, schedule)
    better.ran(60.0)
    best = better.step
    assert best is not None
    by_best = run(module, 200, schedule)
    changes = 0

    @contextlib.contextmanager
    def changing(self: Better, launch: abi.Launch) -> Iterator[None]:
        first, over = module.translate("mix").entry[2], threading.Event()
        assert first != best

        def change() -> None:
            nonlocal changes
            while not over.is_set():
                launch.step = best if launch.step == first else first
                changes += 1

        thread = threading.Thread(target=change)
        thread.start()
        yield
        over.set()
        thread.join()

    monkeypatch.setattr(Better, "during", changing)
    mixed = run(module, 200, schedule)
    assert changes > 10
    for done in (by_best, mixed):
        assert np.array_equal(done.output(0), alone.output(0))
        assert done.counters.instructions == alone.counters.instructions
    assert alone.output(0).any()


def check_a_long_launch(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on by better code, which is there for good."""
    monkeypatch.setattr(begun, "_SECONDS", 0.0)
    monkeypatch.setattr(begun, "_SECONDS_PER_SITE", 0.0)
    better = better_of(module)
    steps: list[int] = []
    during = Better.during

    @contextlib.contextmanager
    def told(self: Better, launch: abi.Launch) -> Iterator[None]:
        with during(self, launch):
            yield
        steps.append(launch.step)

    monkeypatch.setattr(Better, "during", told)
    run(module, 3)
    assert better.step is not None and steps == [better.step]

"""Kernels cut into pieces at every block do the same."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from porter.validation.devices.core import pieces
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.ptx import translate

from tests.devices.test_pieces import CODE
from tests.ptx.conftest import CompileCuda


@pytest.mark.parametrize("schedule", [None, 5])
def test_pieces_change_no_result(
    compile_cuda: CompileCuda, monkeypatch: pytest.MonkeyPatch, schedule: int | None
) -> None:
    values = np.random.default_rng(3).integers(1, 1 << 20, 256).astype(np.int32)
    code = CODE.replace("#include <hip/hip_runtime.h>", "")
    outputs = []
    for least, most in ((1, 1), (600, 2000)):
        monkeypatch.setattr(translate, "assemble", functools.partial(pieces.assemble, least=least, most=most))
        done = compile_cuda(code).launch(
            "walk", 2, 256, [np.zeros(256, np.int32), values, 4], options=Options(schedule=schedule, races=True)
        )
        assert isinstance(done, Ran), done
        outputs.append((done.output(0), done.counters.lane_instructions))
    assert np.array_equal(outputs[0][0], outputs[1][0])
    assert outputs[0][1] == outputs[1][1]
    assert outputs[0][0].any()

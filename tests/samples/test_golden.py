"""What the samples' kernels left on an H100 (`benchmarks/golden.py record`), against the virtual NVIDIA GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from porter.validation.cases import dtypes
from porter.validation.devices.registry import why_not
from porter.validation.verdict.compare import ulps_apart
from porter.validation.verdict.outcome import Status

from benchmarks import golden

FOLDER = Path(__file__).parent / "h100"
INDEX: dict[str, Any] = json.loads((FOLDER / "index.json").read_text())
SAMPLES = sorted({row["sample"] for row in INDEX["trials"]})
UNITS = {
    "softmax_warp_float": 8,
    "softmax_block_float": 8,
    "layer_norm_forward": 64,
    "rms_norm_forward": 4,
    "rms_norm_backward_input": 16,
    "dot": 4,
    "normalise": 4,
    "resample": 4,
}
"""In the last place, of kernels that call approximations, whose products and sums the GPU's compiler fused, or whose
atomics came in another order. All others agree in every bit."""


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
def test_originals_leave_what_the_gpu_left(sample: str) -> None:
    reason = why_not("ptx")
    if reason is not None:
        pytest.skip(reason)
    known = {row["file"]: row for row in INDEX["trials"] if row["sample"] == sample}
    seen: set[str] = set()
    for case in golden.cases(sample):
        if case.name not in {row["case"] for row in known.values()}:
            continue
        loaded = golden.compiled(case, "ptx")
        assert not isinstance(loaded, str), loaded
        shapes = {golden.file_name(case, trial): trial for trial in golden.trials(case)}
        for file, trial in shapes.items():
            if file not in known:
                continue
            seen.add(file)
            done, status, message = golden.ran(case, loaded, trial)
            assert status is Status.PASSED, message
            with np.load(FOLDER / file) as left:
                for name, output in done.outputs.items():
                    dtype = next(argument.dtype for argument in case.arguments if argument.name == name)
                    both = output.written & left[f"{name}.written"]
                    assert both.any(), (case.name, name)
                    ours, theirs = output.array[both], left[name][both]
                    most = UNITS.get(case.name, 0)
                    apart = ulps_apart(ours, theirs, dtype) if dtypes.is_float(dtype) else ours != theirs
                    assert int(np.max(apart, initial=0)) <= most, (case.name, str(trial), name, int(apart.max()))
    assert seen == known.keys()

"""The table of device functions: how results are compared, and that what stands in for HIP's gives what CUDA's do."""

from __future__ import annotations

import re

import numpy as np
import pytest
from porter.validation.devices import registry

from benchmarks.device_functions import Function, cuda_headers, difference, functions, reason, rows, values

FAST = re.compile(
    r"__(?:u?short|u?int|u?ll)2half_r|__hne|__hisinf|__hb\w+2$|__hisnan2|h2?sin$|__hfma2?_relu|__mul24|__brev"
)
"""What HIP has under the same name for another thing, and two that it has right."""


def test_zero_and_its_negative_differ_and_nan_is_like_nan() -> None:
    f = Function("f", "float", ("float",))
    inputs = {("float", 0): values("float", 0)[:2]}
    assert (
        difference(f, np.array([0.0, np.nan], np.float32), np.array([0.0, np.nan], np.float32), inputs)[0] == "agrees"
    )
    assert difference(f, np.array([0.0, 1], np.float32), np.array([-0.0, 1], np.float32), inputs)[0] == "differs"


def test_reasons_are_for_the_overload() -> None:
    assert "double" in reason(Function("j0", "float", ("float",)))
    assert not reason(Function("j0", "double", ("double",))) and not reason(Function("sinf", "float", ("float",)))


@pytest.mark.slow
def test_what_stands_in_for_hip_agrees() -> None:
    for device in ("ptx", "gfx942"):
        why = registry.why_not(device)
        if why is not None:
            pytest.skip(why)
    try:
        chosen = [f for f in functions(cuda_headers()) if FAST.match(f.name)]
    except SystemExit as ended:
        pytest.skip(str(ended))
    assert len(chosen) > 40
    found = list(rows(chosen))
    assert [row.function.written for row in found if row.status != "agrees"] == []
    assert {row.function.name for row in found if not row.replaced} >= {"__mul24", "__brev"}
    own = {row.function.name for row in found if row.replaced}
    assert own >= {"__hne", "__hne2", "__hbequ2", "__int2half_rz", "__hisinf", "__hisnan2", "hsin", "h2sin"}

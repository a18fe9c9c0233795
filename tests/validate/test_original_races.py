"""A port is held to an original whose plain accesses to global memory race: its verdict says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validate.running import by_name, devices, run

SOURCE = """
__global__ void counts(int* a) { a[threadIdx.x % 48] += 1; }  // lanes 0 and 48: two warps, one wavefront
__global__ void lanes(int* a) { a[threadIdx.x] = warpSize == 64; }
"""
CASES = """schema = "porter-case/1"
source = "k.cu"

[[case]]
kernel = "counts"
grid = 1
block = 96
arguments = ["inout a: int32[48] = zeros"]

[[case]]
kernel = "lanes"
grid = 1
block = 96
arguments = ["out a: int32[96]"]
port = "port.hip"
port_lanes = 64
"""
PORT = "#include <hip/hip_runtime.h>\n__global__ void lanes(int* a) { a[threadIdx.x] = 1; }\n"


@pytest.mark.slow
def test_the_verdict_names_the_original(tmp_path: Path) -> None:
    if "ptx" not in devices():
        pytest.skip("needs an original")
    (tmp_path / "k.cu").write_text(SOURCE)
    (tmp_path / "port.hip").write_text(PORT)
    path = tmp_path / "k.case.toml"
    path.write_text(CASES)
    found = by_name(run(path, schedules=1))
    (counts,), (lanes,) = found["counts"].pairs, found["lanes"].pairs
    assert counts.status.value == lanes.status.value == "wrong-values"
    assert counts.reason.count("depend on the order of its threads") == 1 and "its accesses race" in counts.reason
    assert "depend on the order" not in lanes.reason  # wrong, and nothing of the original's
    original = next(side for side in found["counts"].sides if side.side == "original")
    assert original.status.value == "nondeterministic" and "data race in global memory" in original.reason

"""CUB inside kernels: the port of the sample on AMD's own rocPRIM, as machine code for gfx942.

Debian has rocPRIM and not hipCUB, which is a thin layer over it; `rocprim_as_hipcub` stands for that layer, for the few
names that the sample uses. What it shows: rocPRIM's code under the port's block and warp sizes. What it does not: the
overloads of hipCUB itself, and the device-wide calls from the host.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.verdict import Status

from tests.samples.loading import SAMPLES
from tests.validate.running import by_name, run

ROCPRIM = Path("/usr/include/rocprim/block/block_scan.hpp")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ROCPRIM.exists(), reason="rocPRIM is not installed (librocprim-dev)"),
]
SAMPLE = SAMPLES / "cub_sort_reduce"


def _cases(folder: Path, more: str = "") -> Path:
    text = (SAMPLE / "cub_sort_reduce.case.toml").read_text()
    text = text.replace('source = "', f'{more}\nroot = "{SAMPLE}"\nsource = "{SAMPLE}/')
    text = text.replace('"reference.py:', f'"{SAMPLE}/reference.py:')
    headers = Path(__file__).with_name("rocprim_as_hipcub")
    path = folder / "cub.case.toml"
    path.write_text(text.replace("\n\n[[case]]", f'\ninclude_dirs = ["{headers}"]\n\n[[case]]', 1))
    return path


def test_the_port_runs_on_rocprim(tmp_path: Path) -> None:
    results = by_name(run(_cases(tmp_path), warps=("preserve", "native")))
    for name in ("row_sum_block", "row_max_warp", "block_scan"):
        ports = [side for side in results[name].sides if side.side == "port"]
        assert [side.status for side in ports] == [Status.PASSED] * 2, (name, [side.reason for side in ports])


def test_a_port_by_names_alone_is_rejected(tmp_path: Path) -> None:
    """`WarpReduce<float>` has 64 lanes here: two rows get into one reduction."""
    text = (SAMPLE / "cub_sort_reduce.cu").read_text().partition("// Device-wide calls")[0]
    text = text.replace("<cub/cub.cuh>", "<hipcub/hipcub.hpp>").replace("cub::", "hipcub::")
    naive = text.replace("<cuda_runtime.h>", "<hip/hip_runtime.h>").replace("cudaError_t", "hipError_t")
    (tmp_path / "naive.hip").write_text(naive)
    results = by_name(run(_cases(tmp_path, 'port = "naive.hip"'), names=("row_max_warp", "row_sum_block")))
    assert results["row_max_warp"].status in (Status.WRONG_VALUES, Status.FAULT)
    assert results["row_sum_block"].status is Status.PASSED

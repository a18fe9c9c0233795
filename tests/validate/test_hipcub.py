"""CUB inside kernels, on AMD's own hipCUB: what a port by names alone would do to the sample's warp reduction."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.toolchain.headers import find_headers
from porter.validation.verdict.outcome import Status

from tests.samples.loading import SAMPLES
from tests.validate.running import by_name, run

SAMPLE = SAMPLES / "cub_sort_reduce"


@pytest.mark.slow
def test_a_port_by_names_alone_is_rejected(tmp_path: Path) -> None:
    """`WarpReduce<float>` has 64 lanes here: two rows get into one reduction."""
    headers = find_headers()
    if not isinstance(headers, Path) or not (headers / "hipcub").is_dir():
        pytest.skip("hipCUB is not installed (porter headers)")
    cases = (SAMPLE / "cub_sort_reduce.case.toml").read_text()
    cases = cases.replace('source = "', f'port = "naive.hip"\nroot = "{SAMPLE}"\nsource = "{SAMPLE}/')
    (tmp_path / "cub.case.toml").write_text(cases.replace('"reference.py:', f'"{SAMPLE}/reference.py:'))
    text = (SAMPLE / "cub_sort_reduce.cu").read_text().partition("// Device-wide calls")[0]
    text = text.replace("<cub/cub.cuh>", "<hipcub/hipcub.hpp>").replace("cub::", "hipcub::")
    naive = text.replace("<cuda_runtime.h>", "<hip/hip_runtime.h>").replace("cudaError_t", "hipError_t")
    (tmp_path / "naive.hip").write_text(naive)
    results = by_name(run(tmp_path / "cub.case.toml", names=("row_max_warp", "row_sum_block")))
    assert results["row_max_warp"].status in (Status.WRONG_VALUES, Status.FAULT)
    assert results["row_sum_block"].status is Status.PASSED

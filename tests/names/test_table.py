"""The loader: versions, custom names, the cache, and what the shipped tables promise."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from porter.model import Effort
from porter.names import records
from porter.names import table as tables
from porter.names.error_numbers import ERROR_NUMBERS
from porter.names.table import KINDS, NameTable, load_names, version_key


@pytest.fixture(scope="module")
def table() -> NameTable:
    """The shipped tables for the newest ROCm."""
    return load_names(None, {})


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("cudaMalloc", "hipMalloc"),
        ("cudaDeviceProp", "hipDeviceProp_t"),
        ("cudaErrorMemoryAllocation", "hipErrorOutOfMemory"),
        ("cuMemcpyHtoD_v2", "hipMemcpyHtoD"),
        ("cuLaunchKernel", "hipModuleLaunchKernel"),
        ("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT", "hipDeviceAttributeMultiprocessorCount"),
        ("cublasSgemm", "hipblasSgemm"),
        ("CUBLAS_OP_T", "HIPBLAS_OP_T"),
        ("cufftExecC2C", "hipfftExecC2C"),
        ("curand_uniform", "hiprand_uniform"),
        ("cusparseSpMV", "hipsparseSpMV"),
        ("cusolverDnDgetrf", "hipsolverDnDgetrf"),
        ("ncclAllReduce", "ncclAllReduce"),
        ("nvtxRangePushA", "roctxRangePushA"),
        ("nvrtcGetPTX", "hiprtcGetCode"),
        ("cub::BlockReduce", "hipcub::BlockReduce"),
        ("cub::DeviceScan::ExclusiveSum", "hipcub::DeviceScan::ExclusiveSum"),
        ("thrust::device_vector", "thrust::device_vector"),
        ("thrust::cuda::par", "thrust::hip::par"),
        ("cooperative_groups::this_thread_block", "cooperative_groups::this_thread_block"),
        ("cuda::std::atomic", "cuda::std::atomic"),
        ("cuFloatComplex", "hipFloatComplex"),
        ("__nv_bfloat16", "__hip_bfloat16"),
        ("nv_half", "__half"),
        ("threadIdx", "threadIdx"),
        ("__syncthreads", "__syncthreads"),
        ("sinf", "sinf"),
    ],
)
def test_well_known_names(table: NameTable, cuda: str, hip: str) -> None:
    """One or more per library."""
    row = table.get(cuda)
    assert row is not None
    assert row.hip == hip


@pytest.mark.parametrize(
    ("cuda", "hip"),
    [
        ("cuda_runtime.h", "hip/hip_runtime.h"),
        ("cuda.h", "hip/hip_runtime.h"),
        ("cublas_v2.h", "hipblas/hipblas.h"),
        ("cub/cub.cuh", "hipcub/hipcub.hpp"),
        ("cub/block/block_reduce.cuh", "hipcub/block/block_reduce.hpp"),
        ("thrust/device_vector.h", "thrust/device_vector.h"),
        ("nccl.h", "rccl/rccl.h"),
        ("cuda_fp16.h", "hip/hip_fp16.h"),
        ("cooperative_groups.h", "hip/hip_cooperative_groups.h"),
        ("nvtx3/nvToolsExt.h", "porter/nvtx.hpp"),
        ("math_constants.h", "hip/hip_math_constants.h"),
    ],
)
def test_headers(table: NameTable, cuda: str, hip: str) -> None:
    """Headers are rows of their own kind."""
    row = table.header(cuda)
    assert row is not None
    assert (row.hip, row.kind) == (hip, "header")
    assert cuda not in table


@pytest.mark.parametrize(
    ("name", "words", "effort"),
    [
        ("cublasXtCreate", "several GPUs", Effort.MANUAL),
        ("nvmlInit_v2", "AMD SMI", Effort.MANUAL),
        ("nvcuda::wmma::fragment", "rocWMMA", Effort.MANUAL),
        ("tex2D", "no texture units", Effort.MANUAL),
        ("cudaGraphConditionalHandleCreate", "conditional", Effort.MANUAL),
        ("cudaErrorLaunchMaxDepthExceeded", "never returns", Effort.REVIEW),
        ("cuTensorMapEncodeTiled", "TMA", Effort.MANUAL),
        ("__grid_constant__", "performance only", Effort.REVIEW),
    ],
)
def test_gaps_say_why(table: NameTable, name: str, words: str, effort: Effort) -> None:
    """A gap names its reason and the work it leaves."""
    row = table.get(name)
    assert row is not None
    assert row.hip is None
    assert words in row.gap
    assert row.effort is effort


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cudaGraphInstantiate", "more arguments"),
        ("cudaEventCreate", "lacks the overload"),
        ("cudaMemAdvise", "CUDA 13"),
        ("cudaMemPrefetchAsync", "CUDA 13"),
        ("cudaGraphExecUpdate", "1 more argument"),
        ("cusparseSpSM_solve", "externalBuffer"),
        ("cuMemcpy", "direction"),
        ("curand_init", "same seed"),
        ("cudaCreateTextureObject", "hipErrorNotSupported"),
        ("__nv_fp8_e4m3", "FNUZ"),
        ("__syncwarp", "1 fewer argument (mask)"),
        ("__ballot", "unsigned long long"),
    ],
)
def test_differences_are_visible(table: NameTable, name: str, words: str) -> None:
    """Nothing that differs is renamed in silence."""
    row = table.get(name)
    assert row is not None
    assert row.hip is not None
    assert words in row.signature
    assert row.effort is not Effort.NONE


def test_every_row_is_whole(table: NameTable) -> None:
    """Unknown = 0: each row has a counterpart or a reason, a known kind, and work where something differs."""
    count = 0
    for row in table.rows():
        count += 1
        assert row.kind in KINDS, row
        assert bool(row.hip) != bool(row.gap), row
        assert not row.gap or row.effort is not Effort.NONE or row.kind == "field", row
        assert not row.signature or row.effort is not Effort.NONE, row
    assert count == len(table) > 20_000


def test_numbers_stand_for_errors_that_hip_lacks(table: NameTable) -> None:
    """911 is an error of HIP's, of another kind; 10000 is past what `hipError_t` holds."""
    for name, number in ERROR_NUMBERS.items():
        row = table.get(name)
        assert row is not None and row.hip is None and (row.gap or "").startswith("HIP never returns"), name
        assert 0 < number < 1024, name
    without = {"cudaErrorExternalDevice", "CUDA_ERROR_EXTERNAL_DEVICE", "cudaErrorApiFailureBase"}
    assert not without & ERROR_NUMBERS.keys()
    assert 911 not in ERROR_NUMBERS.values()


def test_active_names(table: NameTable) -> None:
    """What is the same in HIP needs no look; generic words are not among the rest."""
    assert {"cudaMalloc", "cublasXtCreate", "nvmlInit"} <= table.active
    assert not table.active & {"threadIdx", "sinf", "dim3", "malloc", "atomicAdd", "assert", "min", "clock"}
    assert not table.active & {"Get", "None", "MEXP", "dgemm_", "fftw_plan", "saturate", "any", "all", "STD"}
    assert table.active == frozenset(
        row.cuda
        for row in table.rows()
        if row.kind not in ("header", "field") and "::" not in row.cuda and (row.hip != row.cuda or row.signature)
    )


def test_namespaces(table: NameTable) -> None:
    """Roots of qualified names."""
    assert table.namespaces == {"cub", "thrust", "cuda", "nvcuda", "cooperative_groups"}


def test_older_rocm() -> None:
    """What came later is a gap, what had another name has that, and what was removed is still there."""
    old, new = load_names("5.7", {}), load_names(None, {})
    row = old.get("cudaLibraryLoadData")
    assert row is not None
    assert row.hip is None
    assert row.gap == "hipLibraryLoadData came with ROCm 7.1; the port is for 5.7"
    assert "cudaLibraryLoadData" in old.active
    link = old.get("cuLinkCreate")
    assert link is not None
    assert link.hip == "hiprtcLinkCreate"
    header = load_names("5.1", {}).header("cublas_v2.h")
    assert header is not None
    assert header.hip == "hipblas.h"
    kept, gone = old.get("cub::CountingInputIterator"), new.get("cub::CountingInputIterator")
    assert kept is not None
    assert kept.hip == "hipcub::CountingInputIterator"
    assert gone is not None
    assert gone.hip is None
    assert "removed" in gone.gap
    assert load_names("10", {}).get("cub::CountingInputIterator") == gone


def test_patch_versions_count() -> None:
    """6.3.1 has what 6.3 has, and 6.10 is after 6.9."""
    assert version_key("6.3.1") > version_key("6.3") > version_key("6.2.4")
    assert version_key("6.10") > version_key("6.9")


def test_fields(table: NameTable) -> None:
    """Members of CUDA's structs."""
    clock, numa = table.field("cudaDeviceProp", "clockRate"), table.field("cudaDeviceProp", "hostNumaId")
    assert clock is not None
    assert (clock.hip, clock.removed) == ("clockRate", "13")
    assert numa is not None
    assert numa.hip is None
    assert table.field("cudaDeviceProp", "no_such_field") is None


def test_custom_names() -> None:
    """The project's own names win, and count as active."""
    table = load_names(None, {"my_cuda_thing": "my_hip_thing", "cudaMalloc": "my_malloc", "mine::f": "mine::g"})
    for name, hip in (("my_cuda_thing", "my_hip_thing"), ("cudaMalloc", "my_malloc"), ("mine::f", "mine::g")):
        row = table.get(name)
        assert row is not None
        assert row.hip == hip
    assert {"my_cuda_thing", "cudaMalloc"} <= table.active
    assert "mine" in table.namespaces
    assert "my_cuda_thing" in table


def test_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written once, used next time, remade when damaged."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    first = records.load_records()
    (cache,) = (tmp_path / "cache").glob("names/*.bin")
    monkeypatch.setattr(records, "parse", lambda texts: pytest.fail("parsed again"))
    assert records.load_records() == first
    monkeypatch.undo()
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    whole = cache.read_bytes()
    for damaged in (b"", whole[:-100], whole[:5000] + b"\xff" + whole[5001:], b"\0" * 64):
        cache.write_bytes(damaged)
        assert records.load_records() == first
        assert cache.read_bytes() == whole


def test_unwritable_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file where the folder should be: the tables are parsed, nothing fails."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert records.load_records().names["cudaMalloc"][2] == "hipMalloc"


def test_changed_table_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache entry is named after the content."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(records, "table_files", lambda: [tmp_path / "x.toml"])
    for hip in ("hipOne", "hipTwo"):
        (tmp_path / "x.toml").write_text(f'[names]\ncudaX = {{ kind = "function", hip = "{hip}" }}\n')
        assert records.load_records().names["cudaX"][2] == hip


@pytest.mark.slow
def test_loading_is_fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the cache: CPU time, the best of several; twice the goal, for a busy machine."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path))
    records.load_records()
    best = min(_seconds() for _ in range(5))
    assert best < 0.08, f"{best * 1000:.0f} ms on {os.cpu_count()} cores"


def _seconds() -> float:
    tables._records.cache_clear()
    start = time.process_time()
    table = load_names(None, {})
    assert "cudaMalloc" in table.active
    return time.process_time() - start

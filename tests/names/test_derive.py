"""The derivation over small header trees: matching, versions, gaps, overrides, the written tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from porter.names.derive.cli import main

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

RUNTIME = """
#define cudaHostAllocPortable 0x01
enum cudaError { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorFancy = 900 };
typedef enum cudaError cudaError_t;
typedef struct CUstream_st *cudaStream_t;
struct cudaDeviceProp { char name[256]; int major; int clockRate; int hostNumaId; };
enum cudaDeviceAttr { cudaDevAttrOld = 1, cudaDevAttrWarpSize = 10 };
cudaError_t cudaMalloc(void **p, size_t n);
cudaError_t cudaEventCreate(int *e);
cudaError_t cudaGraphInstantiate(int *e, int g, unsigned long long flags);
cudaError_t cudaFuture(int a);
cudaError_t cudaOnlyHere(int a);
"""
DRIVER = """
typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_OUT_OF_MEMORY = 2 } CUresult;
typedef enum CUdevice_attribute_enum { CU_DEVICE_ATTRIBUTE_WARP_LANES = 10 } CUdevice_attribute;
#define cuMemAlloc cuMemAlloc_v2
CUresult cuMemAlloc(void **p, size_t n);
CUresult cuGetErrorName(CUresult e, const char **s);
"""
HIP = """
#define hipHostAllocPortable 0x01
typedef enum { hipSuccess = 0, hipErrorOutOfMemory = 2, hipErrorMemoryAllocation = 2 } hipError_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct hipDeviceProp_t { char name[256]; int major; int clockRate; } hipDeviceProp_t;
typedef enum { hipDeviceAttributeWarpSize = 87 } hipDeviceAttribute_t;
hipError_t hipMalloc(void **p, size_t n);
hipError_t hipEventCreate(int *e);
hipError_t hipGraphInstantiate(int *e, int g, int *node, char *log, size_t n);
const char *hipGetErrorName(hipError_t e);
hipError_t hipDrvGetErrorName(hipError_t e, const char **s);
"""
OVERRIDES = """
[[renamed]]
why = "the typedef has another ending"
[renamed.names]
cudaDeviceProp = "hipDeviceProp_t"
CUresult = "hipError_t"
cuMemAlloc = "hipMalloc"

[[renamed]]
why = "gone from CUDA, still in HIP"
kind = "function"
removed = "11"
[renamed.names]
cudaLaunch = "hipLaunchByPtr"

[[missing]]
gap = "HIP never returns it"
effort = "review"
names = 'cudaError\\w+'

[[differs]]
signature = "means something else"
effort = "manual"
names = ["cudaEventCreate"]

[headers]
"cuda_runtime_api.h" = { hip = "hip/hip_runtime_api.h", before = { "6.0" = "hip/old.h" } }
"""


@pytest.fixture
def derived(tmp_path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Sections of runtime.toml and driver.toml, merged by name, as the command writes them."""
    trees = {
        "cuda11/cuda_runtime_api.h": RUNTIME.replace("unsigned long long flags", "int *node, char *log, size_t n"),
        "cuda12/cuda_runtime_api.h": RUNTIME + "cudaError_t cudaNewOne(int a);\n",
        "cuda12/cuda.h": DRIVER,
        "hip5/hip/hip_runtime_api.h": HIP,
        "hip7/hip/hip_runtime_api.h": HIP + "hipError_t hipFuture(int a);\n",
        "out/overrides/runtime.toml": OVERRIDES,
    }
    for name, text in trees.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folders = [
        ("--cuda", "11", "cuda11"),
        ("--cuda", "12", "cuda12"),
        ("--hip", "7.0", "hip7"),
        ("--hip", "5.2", "hip5"),
    ]
    arguments = [part for flag, label, folder in folders for part in (flag, f"{label}={tmp_path / folder}")]
    assert main([*arguments, "-o", str(tmp_path / "out"), "--coverage", str(tmp_path / "coverage.md")]) == 0
    found: dict[str, dict[str, dict[str, Any]]] = {"names": {}, "headers": {}, "fields": {}}
    for library in ("runtime", "driver"):
        document = tomllib.loads((tmp_path / "out" / f"{library}.toml").read_text())
        for section, rows in found.items():
            rows.update(document.get(section, {}))
    assert "| **all** |" in (tmp_path / "coverage.md").read_text()
    return found


def test_same_rest_of_the_name_matches(derived: dict[str, Any]) -> None:
    """Prefix replaced, kind kept, oldest version noted."""
    names = derived["names"]
    assert names["cudaMalloc"] == {"kind": "function", "hip": "hipMalloc", "since": "5.2"}
    assert names["cudaHostAllocPortable"] == {"kind": "macro", "hip": "hipHostAllocPortable", "since": "5.2"}
    assert names["cudaStream_t"]["hip"] == "hipStream_t"
    assert names["CUstream_st"]["hip"] == "ihipStream_t"


def test_versions(derived: dict[str, Any]) -> None:
    """`since` of HIP, `added` of CUDA, a signature that changed between CUDA versions."""
    names = derived["names"]
    assert names["cudaFuture"]["since"] == "7.0"
    assert names["cudaNewOne"]["added"] == "12"
    graph = names["cudaGraphInstantiate"]
    assert graph["signature"] == "CUDA 12: HIP takes 2 more arguments"
    assert graph["effort"] == "review"


def test_gaps_have_reasons(derived: dict[str, Any]) -> None:
    """By group where there is one, and what was looked at otherwise."""
    names = derived["names"]
    assert names["cudaErrorFancy"] == {"kind": "enumerator", "gap": "HIP never returns it", "effort": "review"}
    assert "ROCm 7.0 has no counterpart" in names["cudaOnlyHere"]["gap"]


def test_overrides(derived: dict[str, Any]) -> None:
    """Names, extra names, differences and headers set by hand."""
    names = derived["names"]
    assert names["cudaDeviceProp"]["hip"] == "hipDeviceProp_t"
    assert names["cudaDeviceProp"]["why"] == "the typedef has another ending"
    assert names["cudaLaunch"]["removed"] == "11"
    assert (names["cudaEventCreate"]["signature"], names["cudaEventCreate"]["effort"]) == (
        "means something else",
        "manual",
    )
    header = derived["headers"]["cuda_runtime_api.h"]
    assert header == {"hip": "hip/hip_runtime_api.h", "before": {"6.0": "hip/old.h"}}


def test_driver_names(derived: dict[str, Any]) -> None:
    """Versioned names, the candidate with the right prototype, enumerators by the runtime's value."""
    names = derived["names"]
    assert names["cuMemAlloc"]["hip"] == "hipMalloc"
    assert "cuMemAlloc_v2" in names
    assert names["cuGetErrorName"]["hip"] == "hipDrvGetErrorName"
    assert "signature" not in names["cuGetErrorName"]
    assert names["CU_DEVICE_ATTRIBUTE_WARP_LANES"]["hip"] == "hipDeviceAttributeWarpSize"
    assert names["CU_DEVICE_ATTRIBUTE_WARP_LANES"]["value"] == "10 -> 87"


def test_fields(derived: dict[str, Any]) -> None:
    """Members of structs that have a counterpart."""
    fields = derived["fields"]
    assert fields["cudaDeviceProp.clockRate"]["hip"] == "clockRate"
    assert fields["cudaDeviceProp.hostNumaId"]["gap"] == "hipDeviceProp_t has no such field"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cuda", "12", "--hip", "7=/"], "is not LABEL=DIR"),
        (["--cuda", "12=/no/such/folder", "--hip", "7=/"], "is no folder"),
    ],
)
def test_unusable_arguments(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Said in words, with exit code 2."""
    assert main([*arguments, "-o", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[renamed]]\n[renamed.names]\na = 'b'", "lacks `why`"),
        ("[[missing]]\ngap = 'x'\neffort = 'huge'\nnames = 'a'", "is no effort"),
        ("[surprise]\na = 1", "unknown tables surprise"),
    ],
)
def test_bad_overrides(text: str, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """An override without a reason is not accepted."""
    (tmp_path / "overrides").mkdir()
    (tmp_path / "overrides" / "runtime.toml").write_text(text)
    assert main(["--cuda", f"12={tmp_path}", "--hip", f"7={tmp_path}", "-o", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err

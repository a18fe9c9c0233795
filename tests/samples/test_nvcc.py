"""Every original compiles with nvcc, without warnings. Extra include folders: PORTER_TEST_INCLUDE."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import kept
from tests.outside import needs, require
from tests.samples.loading import NAMES, SAMPLES

pytestmark = [pytest.mark.slow, needs("nvcc")]

HEADERS = {
    "cublas_curand": ("cublas_v2.h", "curand.h"),
    "nccl_allreduce": ("nccl.h",),
    "nvrtc_string": ("nvrtc.h",),
    "torch_extension": ("cublas_v2.h", "cusparse.h", "cusolverDn.h"),
}
UNITS = [
    (name, path.relative_to(SAMPLES / name).as_posix())
    for name in NAMES
    for path in sorted((SAMPLES / name).rglob("*.cu"))
]


def _includes() -> list[str]:
    folders = [folder for folder in os.environ.get("PORTER_TEST_INCLUDE", "").split(os.pathsep) if folder]
    return [flag for folder in folders for flag in ("-isystem", folder)]


def _nvcc(source: Path, output: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [require("nvcc"), "-c", "-arch=sm_80", "-Xcompiler", "-Wall", *_includes(), *flags]
    return kept.compiled(command, source, output)


@cache
def _missing(header: str) -> bool:
    command = [require("nvcc"), "-E", "-x", "cu", *_includes(), "-"]
    probe = subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, text=True, check=False)
    return probe.returncode != 0


def _torch_flags() -> list[str]:
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        pytest.skip("PyTorch is not installed")
    include = Path(spec.origin).parent / "include"
    if not (include / "c10/cuda/impl/cuda_cmake_macros.h").exists() and _missing("c10/cuda/impl/cuda_cmake_macros.h"):
        pytest.skip("this PyTorch was built without CUDA: c10/cuda/impl/cuda_cmake_macros.h is missing")
    folders = (include, include / "torch/csrc/api/include", sysconfig.get_path("include"))
    flags = [flag for folder in folders for flag in ("-isystem", str(folder))]
    return ["-std=c++20", "-DTORCH_EXTENSION_NAME=_C", *flags]


@pytest.mark.parametrize(("sample", "unit"), UNITS)
def test_compiles_without_warnings(sample: str, unit: str, tmp_path: Path) -> None:
    for header in HEADERS.get(sample, ()):
        if _missing(header):
            pytest.skip(f"{header} is not installed")
    folder = SAMPLES / sample
    flags = _torch_flags() if sample == "torch_extension" else ["-std=c++17"]
    result = _nvcc(folder / unit, tmp_path / "unit.o", "-I", str(folder / "include"), *flags)
    assert result.returncode == 0, result.stderr
    assert "warning" not in result.stderr, result.stderr


def test_the_kernel_in_the_string_compiles(tmp_path: Path) -> None:
    text = (SAMPLES / "nvrtc_string/nvrtc_string.cu").read_text(encoding="utf-8")
    kernel = re.search(r'R"cuda\((.*?)\)cuda"', text, re.DOTALL)
    assert kernel is not None
    source = tmp_path / "kernel.cu"
    source.write_text(kernel[1], encoding="utf-8")
    result = _nvcc(source, tmp_path / "kernel.o", "-DDEGREE=4", "-DINFINITY_F=__int_as_float(0x7f800000)")
    assert result.returncode == 0, result.stderr
    assert "warning" not in result.stderr, result.stderr

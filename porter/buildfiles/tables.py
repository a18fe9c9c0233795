"""The tables of build names in `rules/buildfiles`."""

from __future__ import annotations

import functools
import importlib.resources
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

HIP_VARIABLE = "CMAKE_HIP_"
CUDA_VARIABLE = "CMAKE_CUDA_"
_COMPILER = re.compile(r"(?:.*/)?nvcc(?:\.exe)?")


@functools.cache
def table(section: str) -> Mapping[str, Any]:
    """One section of `cmake.toml`."""
    path = Path(str(importlib.resources.files("porter.rules"))) / "buildfiles" / "cmake.toml"
    document: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    section_table: Mapping[str, Any] = document[section]
    return section_table


def language_variable(name: str) -> str | None:
    """CMAKE_HIP_X for a CMAKE_CUDA_X that CMake has for both languages."""
    if not name.startswith(CUDA_VARIABLE):
        return None
    rest = name[len(CUDA_VARIABLE) :]
    for known in table("language")["variables"]:
        if rest == known or (known.endswith("*") and rest.startswith(known[:-1])):
            return HIP_VARIABLE + rest
    return None


def library(name: str) -> str | None:
    """ROCm's library for one of CUDA's, by the name that follows -l; empty: none is needed; None: not CUDA's."""
    found = table("libraries").get(name)
    return None if found is None else str(found)


_NVIDIA_ONLY = frozenset(
    [
        "cudnn",
        "cutensor",
        "cutensorMg",
        "cupti",
        "nvml",
        "nvidia-ml",
        "nvjpeg",
        "nppc",
        "nppial",
        "nppicc",
        "nppidei",
        "nppif",
        "nppig",
        "nppim",
        "nppist",
        "nppisu",
        "nppitc",
        "npps",
        "cufile",
        "nvgraph",
        "nvJitLink",
        "nvJitLink_static",
        "nvPTXCompiler",
        "nvvm",
        "cusparseLt",
        "cuquantum",
        "custatevec",
        "nvinfer",
        "nvshmem",
        "optix",
    ]
)


def is_nvidia_library(name: str) -> bool:
    """Whether a library is NVIDIA's and has no counterpart that could be linked in its place."""
    return name in _NVIDIA_ONLY


def is_compiler(text: str) -> bool:
    """Whether a word calls nvcc."""
    return "nvcc" in text and _COMPILER.fullmatch(text) is not None

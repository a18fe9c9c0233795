"""The tables of build names in `rules/buildfiles`."""

from __future__ import annotations

import functools
import importlib.resources
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porter.model import Effort

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


_LINKED = re.compile(r"(?<![\w-])lib(\w+)\.(?:(so|dylib)(?![\w-])((?:\.[\d*]+)+)?|(a)(?![\w.-])|(?=\$[({]))")


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """A library's file in a build: [start, end), what it becomes, and what is said of it."""

    start: int
    end: int
    new: str | None
    effort: Effort
    message: str


def linked_files(text: str) -> Iterator[LinkedFile]:
    """The files of CUDA's libraries in a text: `libcudart.so`, `libcublas.${SUFFIX}`, `libcudart_static.a`."""
    for match in _LINKED.finditer(text) if "lib" in text else ():
        old, _, version, static = match.groups()
        new = library(old)
        if new:
            file = f"lib{new}.so" if static else f"lib{new}{match[0][len(old) + 3 :]}"
            why = ": ROCm installs shared libraries" if static else ", with versions of its own" if version else ""
            effort = Effort.REVIEW if why else Effort.NONE
            yield LinkedFile(*match.span(), file, effort, f"lib{old} is lib{new} in ROCm{why}")
        elif new == "" or is_nvidia_library(old):
            message = f"{match[0]} is NVIDIA's: no counterpart that could be linked"
            yield LinkedFile(*match.span(), None, Effort.MANUAL, message)


def is_compiler(text: str) -> bool:
    """Whether a word calls nvcc."""
    return "nvcc" in text and _COMPILER.fullmatch(text) is not None

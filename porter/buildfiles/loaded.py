"""CUDA's libraries that a program loads by file name, functions that it looks up there, and what ROCm has instead."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.buildfiles.tables import is_nvidia_library, library
from porter.model import Effort
from porter.names.table import NameTable

_FILE = re.compile(r"(?:.*/)?lib([\w-]+?)(\.so|\.dylib)((?:\.\d+)*)(\.\S*)?|(nv\w+|cu[a-zA-Z]+?)(?:64)?[\d_]*\.dll")
_OF_DLLS = {"nvcuda": "cuda", "nvml": "nvidia-ml"}


@dataclass(frozen=True, slots=True)
class LoadedLibrary:
    """What a text that is the name of such a file becomes."""

    file: str | None
    """ROCm's file; None: it is not known, or there is none."""
    effort: Effort
    message: str


def loaded_library(text: str) -> LoadedLibrary | None:
    """What is said of a text that is nothing but the file name of one of CUDA's libraries."""
    named = _FILE.fullmatch(text)
    if named is None:
        return None
    old, suffix, version, rest, of_windows = named.groups()
    old = old or _OF_DLLS.get(of_windows, of_windows)
    new = library(old)
    if new is None and not is_nvidia_library(old):
        return None
    if not new:
        return LoadedLibrary(None, Effort.MANUAL, f"{text} is NVIDIA's: no counterpart to load")
    if of_windows:
        message = f"{text} is NVIDIA's: HIP's libraries for Windows have versions in their names"
        return LoadedLibrary(None, Effort.MANUAL, message)
    message = f"lib{old} is lib{new} in ROCm"
    if rest is not None:
        return LoadedLibrary(None, Effort.REVIEW, f"{message}, with version numbers of its own")
    was = f", and {version[1:]} is CUDA's version" if version else ""
    message = f"{message}{was}; whether the name without one is installed is not known"
    return LoadedLibrary(f"lib{new}{suffix}", Effort.REVIEW, message)


_SYMBOLS = {"hipGetDeviceProperties": "hipGetDevicePropertiesR0600", "hipChooseDevice": "hipChooseDeviceR0600"}
"""What HIP's headers make of a name since 6.0; the library has the old one too, for the structure of before."""
_WITH_TYPES = re.compile(r"hipblas(?:Gemm|Trsm|Axpy|Dotc?|Nrm2|Rot|Scal)(?:Strided)?(?:Batched)?Ex(?:WithFlags)?")
"""Functions that are told types by number. hipBLAS of ROCm 6 has them twice, since 7 once, with `hipDataType`."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What a text that is the name of one of CUDA's functions becomes."""

    name: str | None
    """HIP's; None: there is none."""
    effort: Effort
    message: str


def looked_up(name: str, names: NameTable, rocm: str | None) -> LookedUp | None:
    """What is said of a function that is looked up by name in a ROCm (None: the newest); None where HIP calls it so, or
    CUDA has none."""
    row = names.get(name)
    if row is None or row.kind != "function" or row.hip == name:
        return None
    if row.hip is None:
        return LookedUp(None, Effort.MANUAL, f"{name}, looked up by name: {row.gap}")
    new = _SYMBOLS.get(row.hip, row.hip)
    told = _WITH_TYPES.fullmatch(new) is not None
    if told and rocm is not None and rocm.startswith("6"):
        new += "_v2"
    message = f"{name}, looked up by name, is {new} in HIP"
    if told:
        message += " (hipDataType: with _v2 in ROCm 6, without since 7)"
    if row.signature:
        message += f": {row.signature}"
    return LookedUp(new, max(row.effort, Effort.REVIEW, key=lambda effort: effort.rank), message)

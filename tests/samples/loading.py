"""Finds the samples, their references and the kernels that their sources define."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType

SAMPLES = Path(__file__).parents[2] / "samples"
NAMES = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir() and not path.name.startswith((".", "__")))

_TEMPLATE = r"(?:template\s*<(?P<template>[^<>]*)>\s*)?"
_KERNEL = re.compile(
    _TEMPLATE + r"(?:extern\s+\"C\"\s+)?__global__\s+void\s+"
    r"(?:__launch_bounds__\s*\([^()]*\)\s*)?(?P<name>\w+)\s*\((?P<parameters>[^()]*)\)\s*\{"
)
_LAST_WORD = re.compile(r"(\w+)\s*$")


@cache
def reference(sample: str) -> ModuleType:
    """The sample's reference.py as a module."""
    spec = importlib.util.spec_from_file_location(f"reference_of_{sample}", SAMPLES / sample / "reference.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sources(sample: str) -> list[Path]:
    """The CUDA sources of a sample, headers included."""
    return sorted(path for path in (SAMPLES / sample).rglob("*.cu*") if path.suffix in (".cu", ".cuh"))


def kernels(sample: str) -> dict[str, list[str]]:
    """Kernel -> the names of its template parameters and parameters."""
    found: dict[str, list[str]] = {}
    for path in sources(sample):
        for match in _KERNEL.finditer(path.read_text(encoding="utf-8")):
            declared = ",".join(filter(None, (match["template"], match["parameters"])))
            found[match["name"]] = [word[1] for part in declared.split(",") if (word := _LAST_WORD.search(part))]
    return found

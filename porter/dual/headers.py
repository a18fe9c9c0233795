"""The headers that only AMD builds of a dual tree see: CUDA's header names, and CUDA's names as macros."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from porter.engine.support import FOLDER, header_bytes
from porter.model import Settings
from porter.project.records import FileRecord

SHIMS = f"{FOLDER}/hip"
"""The folder that goes first on the include path of AMD builds."""

NAMES = f"{SHIMS}/cuda_to_hip.h"
MARK = b"Written by porter"
"""In the first lines of each header."""

_RUNTIME = ("cuda_runtime.h", "cuda.h", "cuda_runtime_api.h")
_LIBRARY = re.compile(rb"#[ \t]*include[ \t]*<(?!hip/)\w+/\w+")
_INCLUDED = re.compile(r'#include (?:(<[^>]+>)|"([^"]+)")')
_MACRO = re.compile(r"#define (\w+) (.+)")
_TOP = """// {mark}: for AMD GPUs. CUDA builds must not find this folder: put it on the include path of HIP builds only.
#pragma once

"""


@dataclass(frozen=True, slots=True)
class Needs:
    """What the files of a tree want from the headers."""

    macros: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    support: tuple[str, ...] = ()
    """Our headers and HIP's, as included."""
    device_only: frozenset[str] = frozenset()
    """Those of them that only files with device code need."""


def collect(found: Iterable[tuple[str, ...]]) -> Needs:
    """The needs that records hold, as `pack` wrote them."""
    macros: dict[str, str] = {}
    headers: dict[str, tuple[str, ...]] = {}
    device: set[str] = set()
    everywhere: set[str] = set()
    for lines in found:
        for line in lines:
            kind, name, *rest = line.split("\t")
            if kind == "macro":
                macros.setdefault(name, rest[0])
            elif kind == "header":
                headers[name] = tuple(dict.fromkeys((*headers.get(name, ()), *rest)))
            else:
                (device if kind == "device" else everywhere).add(name)
    return Needs(macros, headers, tuple(sorted(device | everywhere)), frozenset(device - everywhere))


def generated(needs: Needs) -> dict[str, bytes]:
    """Every header, by its path in the tree."""
    library = tuple(name for name in needs.support if name.startswith(FOLDER + "/") and _wants_library(name))
    files = {NAMES: _names(needs, library)}
    for name in sorted({*needs.headers, *_RUNTIME}):
        if name not in _RUNTIME or name in needs.headers or name == "cuda_runtime.h":
            files[f"{SHIMS}/{name}"] = _shim(name, needs, library)
    return {path: text.encode() for path, text in files.items()}


def support_of(needs: Needs) -> frozenset[str]:
    """Our support headers among the needs."""
    operands = {*needs.support, *(operand for operands in needs.headers.values() for operand in operands)}
    return frozenset(operand for operand in operands if operand.startswith(FOLDER + "/"))


def _wants_library(support: str) -> bool:
    return _LIBRARY.search(header_bytes(support)) is not None


def _names(needs: Needs, library: tuple[str, ...]) -> str:
    lines = ["#include <hip/hip_runtime.h>"]
    shared = [name for name in needs.support if name not in library and name not in needs.device_only]
    device = [name for name in needs.support if name not in library and name in needs.device_only]
    if shared:
        lines += ["#if defined(__cplusplus)", *(_include(name, SHIMS) for name in shared), "#endif"]
    if device:
        lines += ["#if defined(__HIPCC__)", *(_include(name, SHIMS) for name in device), "#endif"]
    lines.append("")
    lines += [f"#define {old} {new}" for old, new in sorted(needs.macros.items())]
    return _TOP.format(mark=MARK.decode()) + "\n".join(lines) + "\n"


def _shim(name: str, needs: Needs, library: tuple[str, ...]) -> str:
    """A header of CUDA's name; macros that HIP's own headers could trip over are off while these are read."""
    folder = posixpath.dirname(f"{SHIMS}/{name}")
    operands = [operand for operand in needs.headers.get(name, ()) if operand != "<hip/hip_runtime.h>"]
    if any(operand.startswith("<hipblas") for operand in operands):
        operands += [operand for operand in library if operand not in operands]
    risky = [old for old in sorted(needs.macros) if old.startswith("__") or old in ("cub", "cooperative_groups")]
    lines = [_include(NAMES, folder)]
    if operands:
        for old in risky:
            lines += [f'#pragma push_macro("{old}")', f"#undef {old}"]
        lines += [_include(operand, folder) for operand in operands]
        lines += [f'#pragma pop_macro("{old}")' for old in reversed(risky)]
    return _TOP.format(mark=MARK.decode()) + "\n".join(lines) + "\n"


def _include(operand: str, folder: str) -> str:
    if operand.startswith("<"):
        return f"#include {operand}"
    return f'#include "{posixpath.relpath(operand.strip(chr(34)), folder)}"'


def pack(
    macros: Iterable[tuple[str, str]],
    headers: Iterable[tuple[str, tuple[str, ...]]],
    includes: Iterable[str],
    *,
    device: bool,
) -> tuple[str, ...]:
    """The needs of one file as lines for its record."""
    kind = "device" if device else "host"
    return (
        *(f"macro\t{old}\t{new}" for old, new in macros),
        *("\t".join(("header", name, *operands)) for name, operands in headers),
        *(f"{kind}\t{name}" for name in includes if name != "<hip/hip_runtime.h>"),
    )


def earlier(written: Mapping[str, bytes]) -> tuple[str, ...]:
    """The needs that headers of an earlier port show, for the lines that it wrote for AMD say them no more."""
    lines: list[str] = []
    for path, data in written.items():
        names = path == NAMES
        kind = "host"
        operands: list[str] = []
        for line in data.decode("latin-1").splitlines():
            if names and line.startswith("#if "):
                kind = "device" if "__HIPCC__" in line else "host"
            elif (include := _INCLUDED.match(line)) is not None:
                operand = include[1] or posixpath.normpath(posixpath.join(posixpath.dirname(path), include[2]))
                if names and operand != "<hip/hip_runtime.h>":
                    lines.append(f"{kind}\t{operand}")
                elif operand != NAMES:
                    operands.append(operand)
            elif (macro := _MACRO.match(line)) is not None and names:
                lines.append(f"macro\t{macro[1]}\t{macro[2]}")
        if not names:
            lines.append("\t".join(("header", path[len(SHIMS) + 1 :], *operands)))
    return tuple(lines)


def dual_headers(
    settings: Settings, records: Iterable[FileRecord], before: tuple[str, ...] = ()
) -> tuple[dict[str, bytes], frozenset[str]]:
    """The headers of a tree for both vendors, and the support headers that they include; none in another style.

    What headers of an earlier port have besides is kept.
    """
    if settings.style != "dual":
        return {}, frozenset()
    needs = collect((*(record.dual for record in records), before))
    return generated(needs), support_of(needs)

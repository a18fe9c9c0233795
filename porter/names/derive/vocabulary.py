"""Decides which HIP name each CUDA name stands for, over all libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from porter.names.derive.compare import Comparison
from porter.names.derive.cudaside import CudaName
from porter.names.derive.declarations import Declaration
from porter.names.derive.hipside import HipSide
from porter.names.derive.library import Library
from porter.names.derive.match import fitting
from porter.names.derive.syntax import NOT_NAMES

TWINS = {
    "CUdevice_attribute": "cudaDeviceAttr",
    "CUresult": "cudaError",
    "CUlimit": "cudaLimit",
    "CUmem_advise": "cudaMemoryAdvise",
    "CUjit_option": "cudaJitOption",
    "CUdevice_P2PAttribute": "cudaDeviceP2PAttr",
    "CUmemPool_attribute": "cudaMemPoolAttr",
    "CUaddress_mode": "cudaTextureAddressMode",
    "CUgraphicsMapResourceFlags": "cudaGraphicsMapFlags",
    "CUgraphicsRegisterFlags": "cudaGraphicsRegisterFlags",
    "CUarray_cubemap_face": "cudaGraphicsCubeFace",
    "CUlaunchAttributeID": "cudaLaunchAttributeID",
    "CUGLDeviceList": "cudaGLDeviceList",
    "CUstreamUpdateCaptureDependencies_flags": "cudaStreamUpdateCaptureDependenciesFlags",
}
"""Enums of the driver whose values mean what those of an enum of the runtime mean."""

_VARIANT = re.compile(r"(?:_v\d)?(?:_st|_enum|_union)$|_v\d$")


@dataclass
class Vocabulary:
    """CUDA name -> HIP name; None where there is no counterpart."""

    side: HipSide
    overrides: Mapping[str, Mapping[str, Any]]
    mapped: dict[str, str] = field(default_factory=dict)
    typedefs: dict[str, str] = field(default_factory=dict)
    enums: set[str] = field(default_factory=set)

    def comparison(self) -> Comparison:
        """Compares prototypes in this vocabulary."""
        return Comparison(
            lambda word: self.mapped.get(word, ""),
            lambda word: self.typedefs.get(word, ""),
            self.hip_typedef,
            lambda word: word in self.enums,
        )

    def hip_typedef(self, word: str) -> str:
        known = self.side.names.get(word)
        return known.declaration.target if known and known.declaration.kind in ("type", "macro") else ""


def vocabulary(
    names: Mapping[Library, Mapping[str, CudaName]], side: HipSide, overrides: Mapping[str, Mapping[str, Any]]
) -> Vocabulary:
    """Types and constants first, so that functions can be told apart by their prototypes."""
    found = Vocabulary(side, overrides)
    for library, entries in names.items():
        for name, entry in entries.items():
            _learn(found, entry)
            if entry.declaration.kind != "function":
                _settle(
                    found,
                    name,
                    _overridden(overrides, name) or fitting(name, entry.declaration.kind, library.families, side)[:1],
                )
    for entries in names.values():
        _variants(found, entries)
    _twins(found, names)
    comparison = found.comparison()
    for library, entries in names.items():
        for name, entry in entries.items():
            if entry.declaration.kind == "function":
                hips = _overridden(overrides, name) or _functions(name, library, side)
                _settle(found, name, [_closest(entry.declaration, hips, side, comparison)] if hips else [])
    return found


def _overridden(overrides: Mapping[str, Mapping[str, Any]], name: str) -> list[str]:
    override = overrides.get(name, {})
    return [str(override["hip"])] if "hip" in override else []


def _settle(found: Vocabulary, name: str, hips: Iterable[str]) -> None:
    for hip in hips:
        found.mapped.setdefault(name, hip)


def _learn(found: Vocabulary, entry: CudaName) -> None:
    for declaration in entry.by_version.values():
        if declaration.kind == "type" and declaration.target:
            found.typedefs[declaration.name] = declaration.target
        if declaration.kind == "enumerator" and declaration.owner:
            found.enums.add(declaration.owner)


def _functions(name: str, library: Library, side: HipSide) -> list[str]:
    return fitting(name, "function", library.families, side)


def _closest(cuda: Declaration, hips: list[str], side: HipSide, comparison: Comparison) -> str:
    """The candidate whose prototype differs least; the likeliest name among equals."""

    def distance(hip: str) -> int:
        found = (
            comparison.difference(cuda.overloads, side.names[hip].declaration.overloads) if hip in side.names else None
        )
        return len(found.text) if found else 0

    return min(hips, key=distance)


def _variants(found: Vocabulary, entries: Mapping[str, CudaName]) -> None:
    """`CUmem_advise_enum`, `CUDA_MEMCPY2D_v2` and the tags behind handles follow the type they belong to."""
    for name, entry in entries.items():
        if entry.declaration.kind != "type" or name in found.mapped:
            continue
        base = _VARIANT.sub("", name)
        for plain in (base, base + "_t"):
            if plain != name and plain in found.mapped and not _is_handle(found, plain):
                _settle(found, name, [found.mapped[plain]])
    for name in entries:
        tag = found.typedefs.get(name, "").removeprefix("struct ").strip()
        if tag.endswith("*") and name in found.mapped:
            pointee = tag.rstrip("* ").removeprefix("struct ").strip()
            target = found.hip_typedef(found.mapped[name]).strip()
            if pointee not in NOT_NAMES and target.endswith("*") and target.count("*") == 1:
                _settle(found, pointee, [target.rstrip("* ").removeprefix("struct ").strip()])


def _is_handle(found: Vocabulary, name: str) -> bool:
    return found.typedefs.get(name, "").endswith("*")


def _plain(enum: str) -> str:
    return enum.removesuffix("_enum")


def _twins(found: Vocabulary, names: Mapping[Library, Mapping[str, CudaName]]) -> None:
    """Enumerators without a match take that of the other enum's enumerator with their value."""
    other = {**TWINS, **{runtime: driver for driver, runtime in TWINS.items()}}
    values: dict[tuple[str, int], str] = {}
    waiting: list[tuple[str, str, int]] = []
    for entries in names.values():
        for name, entry in entries.items():
            enum, value = _plain(entry.declaration.owner), entry.declaration.value
            if entry.declaration.kind != "enumerator" or value is None or enum not in other:
                continue
            if name in found.mapped:
                values.setdefault((enum, value), found.mapped[name])
            else:
                waiting.append((name, enum, value))
    for name, enum, value in waiting:
        _settle(found, name, [values[other[enum], value]] if (other[enum], value) in values else [])

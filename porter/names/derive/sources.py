"""Where the headers are: labelled include folders of CUDA and HIP, as given on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.names.derive.declarations import Declaration, Harvest
from porter.names.derive.harvest import harvest, headers_below
from porter.names.derive.hipside import HipSide, join, version_order
from porter.names.derive.library import Library
from porter.names.derive.namespaces import ccl_namespaces
from porter.names.derive.preprocess import preprocessed
from porter.names.derive.reader import read_declarations

_HIP_HEADERS = (
    "hip/*.h", "hipblas/*.h", "hipblas-common/*.h", "hipblaslt/*.h", "hipfft/*.h", "hipfft*.h",
    "hiplibxt.h", "hiprand/*.h", "hipsparse/*.h", "hipsolver/**/*.h", "rccl/*.h", "roctracer/roctx.h",
    "rocprofiler-sdk-roctx/*.h", "miopen/miopen.h", "amd_smi/amdsmi.h", "rocm_smi/rocm_smi.h",
)  # fmt: skip
_DEVICE_HEADERS = ("hip/amd_detail/*.h",)
_HIP_TEMPLATES = ("hipcub/**/*.hpp", "thrust/**/*.h", "rocwmma/**/*.hpp", "cuda/**/*", "hip/std/**/*")
_BINDINGS = ("**/c*.pxd",)
_FOR_NVIDIA = re.compile(r"nvcc|nvidia|(?:^|/)cub/|backend/cub|system/cuda/")


@dataclass(frozen=True)
class Source:
    """Include folders of one version."""

    label: str
    roots: tuple[Path, ...]


def parse_sources(texts: Iterable[str]) -> list[Source]:
    """`LABEL=DIR[:DIR...]`, labels may repeat; sorted by version."""
    found: dict[str, list[Path]] = {}
    for text in texts:
        label, _, folders = text.partition("=")
        if not folders:
            raise ValueError(f"{text!r} is not LABEL=DIR")
        for folder in folders.split(":"):
            if not Path(folder).is_dir():
                raise ValueError(f"{folder} is no folder")
            found.setdefault(label, []).append(Path(folder))
    return [Source(label, tuple(found[label])) for label in sorted(found, key=version_order)]


def cuda_harvests(library: Library, sources: Sequence[Source]) -> dict[str, Harvest]:
    """What each CUDA version declares in a library's headers."""
    return {
        source.label: harvest(headers_below(source.roots, library.headers), library.namespaces) for source in sources
    }


def hip_side(sources: Sequence[Source], clang: str | None) -> HipSide:
    """What the HIP versions declare: headers as they are, and the device headers once more preprocessed."""
    found: dict[str, Harvest] = {}
    for source in sources:
        result = harvest(_for_amd(source, _HIP_HEADERS))
        templates = harvest(_for_amd(source, _HIP_TEMPLATES), ccl_namespaces)
        bindings = [(path, "") for root in source.roots for pattern in _BINDINGS for path in sorted(root.glob(pattern))]
        for other in (templates, harvest(bindings), *device_harvest(source, clang)):
            _merge(result, other)
        found[source.label] = result
    return join(found)


def _for_amd(source: Source, patterns: Sequence[str]) -> list[tuple[Path, str]]:
    return [entry for entry in headers_below(source.roots, patterns) if not _FOR_NVIDIA.search(entry[1])]


def device_harvest(source: Source, clang: str | None) -> list[Harvest]:
    """The device headers as a compiler sees them; read as they are when there is no compiler."""
    root = next((root for root in source.roots if (root / "hip" / "amd_detail").is_dir()), None)
    if clang is None or root is None:
        return [harvest(_for_amd(source, _DEVICE_HEADERS), ccl_namespaces)]
    result = Harvest()
    for text in preprocessed(clang, root):
        result.extend(harvest_text(text))
    return [result]


def harvest_text(text: str) -> list[Declaration]:
    """Declarations of preprocessed text."""
    found = read_declarations(text, "hip/hip_runtime.h", ccl_namespaces)
    for declaration in found:
        declaration.preprocessed = True
    return found


def _merge(into: Harvest, other: Harvest) -> None:
    into.extend(other.names.values())
    for members in other.fields.values():
        for member in members.values():
            into.add_field(member)
    into.headers |= other.headers


def all_fields(harvests: Mapping[str, Harvest]) -> dict[str, dict[str, str]]:
    """Struct -> field -> its type as written, over several versions."""
    found: dict[str, dict[str, str]] = {}
    for harvest_ in harvests.values():
        for owner, members in harvest_.fields.items():
            found.setdefault(owner, {}).update({name: member.target for name, member in members.items()})
    return found

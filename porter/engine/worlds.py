"""The compilers that may see a file, of either vendor and in either pass, and what macros mean to them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

from porter.cpp.preprocessor import ABSENT, PRESENT, UNKNOWN, Macro, header_of


class World(NamedTuple):
    """One compiler that may see the file, in one of its passes."""

    vendor: str
    device: bool
    lanes: int = 0
    gfx: str = ""
    arch: int = 0
    """What `__CUDA_ARCH__` comes to."""


PLAIN = "c++"
"""Stands for the GPU of a compiler that knows none."""
WORLDS = (
    World("nvidia", False),
    World("nvidia", True),
    World("none", False),
    World("amd", False, 64),
    World("amd", True, 64, "942"),
    World("amd", True, 64, "9"),
    World("amd", True, 32, "1"),
    World("port", False, 64, PLAIN),
    World("port", False, 64),
    World("port", True, 64, "942", 700),
    World("port", True, 64, "942", 800),
)
"""The port is seen as porter makes it: `__CUDACC__` is `__HIPCC__`, and `__CUDA_ARCH__` 700 or, where needed, 800; its
plain C++ files have a compiler that knows nothing of HIP, and the build's macros."""
ALL = (1 << len(WORLDS)) - 1


def _worlds(*vendors: str) -> int:
    return sum(1 << number for number, world in enumerate(WORLDS) if world.vendor in vendors)


NVIDIA, AMD, PORT, NONE = _worlds("nvidia"), _worlds("amd"), _worlds("port"), _worlds("none")
HOST = sum(1 << n for n, world in enumerate(WORLDS) if not world.device)
PORT_DEVICE = sum(1 << n for n, world in enumerate(WORLDS) if world.vendor == "port" and world.device)
"""Sets of worlds: a bit for the number of each."""

_AMD_BUILD = frozenset({"__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__", "USE_ROCM"})
_AMD_COMPILER = frozenset({"__HIPCC__", "__HIP__"})
_AMD_DEVICE = frozenset({"__HIP_DEVICE_COMPILE__", "__AMDGCN__", "__AMDGPU__", "__AMD__"})
_COMPILERS = _AMD_BUILD | _AMD_COMPILER | _AMD_DEVICE
_NVIDIA_ALWAYS = frozenset({"__CUDACC__", "__NVCC__", "__HIP_PLATFORM_NVIDIA__", "__HIP_PLATFORM_NVCC__"})
_WAVEFRONT = frozenset({"__AMDGCN_WAVEFRONT_SIZE", "__AMDGCN_WAVEFRONT_SIZE__"})
TOOLKIT: Mapping[str, Macro] = {
    **dict.fromkeys(("CUDA_VERSION", "CUDART_VERSION", "PORTER_CUDA_VERSION"), Macro(True, 12000)),
    **dict.fromkeys(("__CUDACC_VER_MAJOR__", "PORTER_CUDA_VERSION_MAJOR"), Macro(True, 12)),
    **dict.fromkeys(("__CUDACC_VER_MINOR__", "PORTER_CUDA_VERSION_MINOR"), Macro(True, 0)),
    **dict.fromkeys(("__CUDACC_VER_BUILD__", "PORTER_CUDA_VERSION_BUILD"), Macro(True, 0)),
}
"""The versions of CUDA that a port sees, as arch.hpp has them."""
_GFX = re.compile(r"__gfx([0-9a-f]+)__")
_FAMILY = re.compile(r"__GFX(\d+)__")
_AMD_CHOICE = re.compile(
    r"_*(?:[A-Z0-9]+_)*(?:USE|USES|USING|ENABLE|ENABLED|WITH|BUILD|IS|HAVE|HAS|PLATFORM|BACKEND|TARGET|FOR|ON)_*"
    r"(?:[A-Z0-9]+_)*?(?:HIP|HIPCC|ROCM|AMD|AMDGPU|AMDGCN)_*|_*(?:[A-Z0-9]+_)?(?:HIP|ROCM|AMDGPU)_*"
    r"|_*(?:[A-Z0-9]+_)*(?:HIP|ROCM)_(?:ENABLED?|BUILD|BACKEND|PLATFORM|SUPPORT|ON)_*",
)
"""A project's own switch for AMD builds, by its name."""
_AMD_KIND = re.compile(
    r"_*(?:\w*_)?(?:HIP|ROCM|ROCPRIM|AMDGPU|AMDGCN|HCC|MI\d{2,3}\w*|GFX\d+\w*|gfx\d+\w*|RDNA\w*|CDNA\w*)(?:_\w*)?"
)
"""A name that only says which AMD GPU or which ROCm: `HIP_VERSION`, `__HIP__MI300__`, `ROCPRIM_TARGET_RDNA3`."""
_OF_HIPS_HEADERS = frozenset({"HIP_DISABLE_WARP_SYNC_BUILTINS", "HIP_ENABLE_WARP_SYNC_BUILTINS"})
"""What HIP's own headers ask for, though one of the names says no."""
_WAVE64 = re.compile(r"_*(?:\w+_)?(?:WAVE|WAVEFRONT|WARP)_?(?:SIZE_?)?64", re.IGNORECASE)
_NEGATED = re.compile(r"(?:^|_)(?:NO|NOT|DISABLE\w*|WITHOUT|SKIP|AVOID)(?:_|$)")
_GUARD = re.compile(r"(?:_H|_HPP|_HH|_HXX|_CUH|_INCLUDED|_GUARD)_*$", re.IGNORECASE)
HIP_HEADERS = re.compile(
    r"(?:hip|hipcub|rocprim|rocthrust|rocwmma|rocblas|hipblas|hipblaslt|rocrand|hiprand|rocfft|hipfft|rocsparse|hipsparse"
    r"|rocsolver|hipsolver|miopen|rccl|roctracer|rocprofiler|ck|ck_tile)/.+|hip_runtime\.h|rocprim\.hpp|hipcub\.hpp"
)


@functools.lru_cache(maxsize=1 << 12)
def undefined_here(name: str) -> tuple[Macro, ...]:
    """By world: what compilers say, or the name of what the file defines nowhere above."""
    if not _is_of_compilers(name) and not _is_told_by_name(name):
        return _UNKNOWN
    return tuple(_of_compilers(name, world) or _by_name(name, world) for world in WORLDS)


@functools.lru_cache(maxsize=1 << 12)
def defined_here(name: str) -> tuple[Macro, ...]:
    """The same of what it defines in some worlds."""
    if not _is_of_compilers(name):
        return _UNKNOWN
    return tuple(_of_compilers(name, world) or UNKNOWN for world in WORLDS)


_UNKNOWN = (UNKNOWN,) * len(WORLDS)
_OF_COMPILERS = frozenset(
    {*_AMD_BUILD, *_AMD_COMPILER, *_AMD_DEVICE, *_NVIDIA_ALWAYS, *_WAVEFRONT, "__CUDA_ARCH__"}
    | {"PORTER_CUDA_ARCH", "PORTER_CUDA_ARCH_SOLE", *TOOLKIT}
)


def _is_of_compilers(name: str) -> bool:
    """Whether `_of_compilers` may know a name."""
    return name in _OF_COMPILERS or name.startswith(("__gfx", "__GFX")) or header_of(name) != ""


def is_own_switch(name: str) -> bool:
    """Whether a macro is a project's own word for builds for AMD, or for some of AMD's GPUs."""
    if name in _COMPILERS or "VERSION" in name:
        return False
    return _AMD_CHOICE.fullmatch(name) is not None or _AMD_KIND.fullmatch(name) is not None


def _is_told_by_name(name: str) -> bool:
    """Whether `_by_name` may."""
    return any(names.fullmatch(name) is not None for names in (_WAVE64, _AMD_KIND, _AMD_CHOICE))


def known_by_compilers(name: str) -> bool:
    return any(_of_compilers(name, world) is not None for world in WORLDS[:1])


@functools.lru_cache(maxsize=1 << 14)
def _of_compilers(name: str, world: World) -> Macro | None:
    """What a compiler defines by itself, or a build for AMD by common agreement."""
    amd = world.vendor in ("amd", "port")
    if header_of(name):
        return (Macro(True, 1) if amd else ABSENT) if HIP_HEADERS.fullmatch(header_of(name)) else None
    if name in _AMD_BUILD:
        return Macro(True, 1) if amd else ABSENT
    if name in _AMD_COMPILER:
        return Macro(True, 1) if amd and world.gfx != PLAIN else ABSENT
    if name in _AMD_DEVICE:
        return Macro(True, 1) if amd and world.device else ABSENT
    if name in _NVIDIA_ALWAYS:
        return Macro(True, None) if world.vendor == "nvidia" else ABSENT
    if name in ("__CUDA_ARCH__", "PORTER_CUDA_ARCH", "PORTER_CUDA_ARCH_SOLE"):
        if world.vendor == "port" and world.device:
            return Macro(True, world.arch)
        return PRESENT if world.vendor == "nvidia" and world.device else ABSENT
    if name in TOOLKIT:
        return TOOLKIT[name] if world.vendor == "port" else _toolkit_elsewhere(name, world)
    if name in _WAVEFRONT:
        return (Macro(True, world.lanes) if world.device else UNKNOWN) if amd else ABSENT
    if (match := _GFX.fullmatch(name)) is not None:
        return _target(match[1], world) if amd else ABSENT
    if (match := _FAMILY.fullmatch(name)) is not None:
        return _family(match[1], world) if amd else ABSENT
    return None


def _toolkit_elsewhere(name: str, world: World) -> Macro | None:
    """nvcc alone says what it is; the versions of the headers may be in sight of any compiler, or a project's own."""
    if not name.startswith("__CUDACC_VER_"):
        return None
    return PRESENT if world.vendor == "nvidia" else ABSENT


def _target(gfx: str, world: World) -> Macro:
    if not world.device:
        return ABSENT
    if world.gfx == "942" or gfx == "942":
        return PRESENT if world.gfx == gfx else ABSENT
    return UNKNOWN if gfx.startswith(world.gfx) else ABSENT


def _family(number: str, world: World) -> Macro:
    if not world.device:
        return ABSENT
    if world.lanes == 64:
        return Macro(True, 1) if number == "9" else ABSENT
    return UNKNOWN if number != "9" else ABSENT


@functools.lru_cache(maxsize=1 << 14)
def _by_name(name: str, world: World) -> Macro:
    """What a macro of the project's own, defined nowhere in sight, promises by its name."""
    if _WAVE64.fullmatch(name) and world.vendor == "amd" and world.device:
        return Macro(True, 1) if world.lanes == 64 else ABSENT
    if not _AMD_KIND.fullmatch(name) and not _AMD_CHOICE.fullmatch(name):
        return UNKNOWN
    if name not in _OF_HIPS_HEADERS and (_GUARD.search(name) or _NEGATED.search(name)):
        return UNKNOWN
    if world.vendor in ("nvidia", "none"):
        return ABSENT
    if world.vendor == "port":
        return UNKNOWN
    return Macro(True, 1) if _AMD_CHOICE.fullmatch(name) else UNKNOWN

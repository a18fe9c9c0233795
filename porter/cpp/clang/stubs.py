"""Declaration stubs for clang, compiled once per machine into precompiled headers in the user's cache."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.resources
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from porter.cpp.clang.hip_stubs import hip_stubs
from porter.cpp.clang.libclang import accepts_pch, clang_version
from porter.cpp.clang.reached_headers import macros_of
from porter.system.cache import as_kept, is_ours, keep, kept_folder, mark_used
from porter.system.folders import whole
from porter.system.process import run
from porter.system.reading import read_regular

if TYPE_CHECKING:
    from importlib.abc import Traversable

COMMON = (
    "-nocudainc",
    "-nocudalib",
    "--cuda-path=/nonexistent",
    "--target=x86_64-unknown-linux-gnu",
    "-std=c++17",
    "-nostdinc",
    "-nostdinc++",
    "-ferror-limit=0",
    "-w",
    "-Wno-register",
    "-Wno-narrowing",
    "-Wno-non-pod-varargs",
    "-Wno-reserved-user-defined-literal",
    "-Wno-implicit-function-declaration",
    "-fdeclspec",
    "-fgpu-rdc",
    "-fconstexpr-steps=200000",
    "-Xclang",
    "-fcuda-allow-variadic-functions",
)
_LANGUAGES = {
    "cuda": ("-x", "cuda"),
    "hip": ("-x", "hip", "-nogpuinc", "-nogpulib", "-D__HIP_PLATFORM_AMD__=1"),
}
ARCHITECTURE = 800
"""`__CUDA_ARCH__` in the device's pass."""
_SIDES = {
    ("cuda", "host"): ("--cuda-host-only",),
    ("cuda", "device"): ("--cuda-device-only", f"--cuda-gpu-arch=sm_{ARCHITECTURE // 10}"),
    ("hip", "host"): ("--cuda-host-only",),
    ("hip", "device"): ("--cuda-device-only", "--offload-arch=gfx942"),
}


def flags(language: str, side: str) -> tuple[str, ...]:
    """Compiler flags of one pass (`cuda` or `hip`, `host` or `device`), stubs included."""
    base = _base(language, side)
    pch = _pch(language, side)
    if pch is not None:
        return (*base, "-include-pch", pch)
    return (*base, "-include", _main_header(_stub_folder(language)))


LATE = frozenset({"stack", "queue", "list", "forward_list", "variant", "any", "future"})
"""Standard headers whose names programs like to use themselves: declared only where one of them is included."""


def late_flags(language: str) -> tuple[str, ...]:
    """Flags that add the declarations of the `LATE` headers."""
    return ("-include", str(Path(_stub_folder(language)) / "std" / "late.h"))


def _base(language: str, side: str) -> tuple[str, ...]:
    return (*_LANGUAGES[language], *_SIDES[language, side], *COMMON)


def _main_header(folder: str) -> str:
    return str(Path(folder) / "all.h")


@functools.lru_cache(maxsize=4096)
def origin_of(path: str) -> str | None:
    """`std` or `cuda` for a file of the stubs, None for any other file."""
    match = _CACHED_STUB.search(path)
    inside = path[match.end() :] if match is not None else path.removeprefix(_installed() + os.sep)
    if match is None and inside == path:
        return None
    return "std" if inside.startswith(("std/", "std\\")) else "cuda"


_CACHED_STUB = re.compile(r"[/\\]stubs-[0-9a-f]{20}[/\\]stubs[/\\]")


def _installed() -> str:
    return str(importlib.resources.files("porter") / "stubs")


@functools.cache
def _stub_folder(language: str) -> str:
    """The stubs as files: in the user's cache, or where they are installed if nothing can be written."""
    files = _stub_files(language)
    with contextlib.suppress(OSError):
        folder = kept_folder(f"stubs-{_digest(files)}") / "stubs"
        if not all(_is_as_written(folder / name, data) for name, data in files.items()):
            with whole(folder) as made:
                for name, data in files.items():
                    (made / name).parent.mkdir(parents=True, exist_ok=True)
                    (made / name).write_bytes(data)
        mark_used(folder.parent)
        return str(folder)
    return _installed()


def _is_as_written(path: Path, data: bytes) -> bool:
    try:
        return is_ours(path) and read_regular(path) == data
    except OSError:
        return False


def _stub_files(language: str) -> dict[str, bytes]:
    root = importlib.resources.files("porter") / "stubs"
    found: dict[str, bytes] = {}

    def walk(folder: Traversable, prefix: str) -> None:
        for item in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if item.is_dir():
                walk(item, f"{prefix}{item.name}/")
            elif item.name.endswith(".h"):
                found[prefix + item.name] = item.read_bytes()

    walk(root, "")
    return hip_stubs(found) if language == "hip" else found


@functools.cache
def macros(language: str) -> frozenset[str]:
    """The macros that the stubs define."""
    return frozenset().union(*map(macros_of, _stub_files(language).values()))


def _digest(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256(repr((clang_version(), COMMON, _LANGUAGES, _SIDES)).encode())
    for name, data in files.items():
        digest.update(name.encode() + b"\0" + data + b"\0")
    return digest.hexdigest()[:20]


@functools.cache
def _pch(language: str, side: str) -> str | None:
    """Path of the precompiled stubs, built if there are none that clang accepts; None where that fails.

    They keep their time: clang refuses what another process has just built upon them when it changes.
    """
    folder = Path(_stub_folder(language))
    if str(folder) == _installed():
        return None
    path = folder.parent / f"{language}-{side}.pch"
    base = _base(language, side)
    if as_kept(path) is not None and accepts_pch(base, str(path)):
        return str(path)
    staging = folder.parent / f".{language}-{side}-{os.getpid()}.pch"
    try:
        if _builds(_main_header(str(folder)), base, staging) and accepts_pch(base, str(staging)):
            keep(path, read_regular(staging))
            return str(path)
    except OSError:
        pass
    finally:
        staging.unlink(missing_ok=True)
    return None


_BUILD = (
    "import sys; sys.path[:] = sys.argv[1].split(sys.argv[2]); from porter.cpp.clang.libclang import build_pch; "
    "sys.exit(not build_pch(sys.argv[3], sys.argv[5:], sys.argv[4]))"
)


def _builds(header: str, base: tuple[str, ...], target: Path) -> bool:
    """Precompiles in a process of its own: libclang ends the one in which it finds a full disk."""
    places = os.pathsep.join(filter(None, sys.path))
    return run([sys.executable, "-c", _BUILD, places, os.pathsep, header, str(target), *base]).ok


def prepare(languages: tuple[str, ...] = ("cuda",)) -> None:
    """Builds what is missing before worker processes start."""
    for language in languages:
        for side in ("host", "device"):
            _pch(language, side)

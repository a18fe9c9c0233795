"""Declaration stubs for clang, compiled once per machine into precompiled headers in the user's cache."""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from porter.parsing.clang import accepts_pch, build_pch, clang_version

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
    "-fno-spell-checking",
    "-fdeclspec",
    "-fconstexpr-steps=200000",
    "-Xclang",
    "-fcuda-allow-variadic-functions",
)
_LANGUAGES = {
    "cuda": ("-x", "cuda"),
    "hip": ("-x", "hip", "-nogpuinc", "-nogpulib", "-D__HIP_PLATFORM_AMD__=1"),
}
_SIDES = {
    ("cuda", "host"): ("--cuda-host-only",),
    ("cuda", "device"): ("--cuda-device-only", "--cuda-gpu-arch=sm_80"),
    ("hip", "host"): ("--cuda-host-only",),
    ("hip", "device"): ("--cuda-device-only", "--offload-arch=gfx942"),
}


def flags(language: str, side: str) -> tuple[str, ...]:
    """Compiler flags of one pass (`cuda` or `hip`, `host` or `device`), stubs included."""
    base = _base(language, side)
    pch = _pch(language, side)
    if pch is not None:
        return (*base, "-include-pch", pch)
    return (*base, "-include", _main_header(_stub_folder()))


LATE = frozenset({"stack", "queue", "list", "forward_list", "variant", "any", "future"})
"""Standard headers whose names programs like to use themselves: declared only where one of them is included."""


def late_flags() -> tuple[str, ...]:
    """Flags that add the declarations of the `LATE` headers."""
    return ("-include", str(Path(_stub_folder()) / "std" / "late.h"))


def _base(language: str, side: str) -> tuple[str, ...]:
    return (*_LANGUAGES[language], *_SIDES[language, side], *COMMON)


def _main_header(folder: str) -> str:
    return str(Path(folder) / "all.h")


def origin_of(path: str) -> str | None:
    """`std` or `cuda` for a file of the stubs, None for any other file."""
    folder = _stub_folder() + os.sep
    if not path.startswith(folder):
        return None
    return "std" if path.startswith(folder + "std" + os.sep) else "cuda"


@functools.cache
def _stub_folder() -> str:
    """A folder of this machine that has the stubs as files; in the cache where that can be written."""
    files = _stub_files()
    cache = _cache_folder(_digest(files))
    if cache is not None:
        target = cache / "stubs"
        if target.is_dir() or _write(files, target):
            return str(target)
    fallback = Path(tempfile.mkdtemp(prefix="porter-stubs-")) / "stubs"
    _write(files, fallback)
    return str(fallback)


def _stub_files() -> dict[str, bytes]:
    root = importlib.resources.files("porter") / "stubs"
    found: dict[str, bytes] = {}

    def walk(folder: Traversable, prefix: str) -> None:
        for item in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if item.is_dir():
                walk(item, f"{prefix}{item.name}/")
            elif item.name.endswith(".h"):
                found[prefix + item.name] = item.read_bytes()

    walk(root, "")
    return found


def _digest(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256(repr((clang_version(), COMMON, _LANGUAGES, _SIDES)).encode())
    for name, data in files.items():
        digest.update(name.encode() + b"\0" + data + b"\0")
    return digest.hexdigest()[:20]


def _cache_folder(name: str) -> Path | None:
    """The first place for a cache that is ours and can be written."""
    for base in _cache_bases():
        folder = base / f"stubs-{name}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            status = folder.stat()
        except OSError:
            continue
        ours = not hasattr(os, "getuid") or status.st_uid == os.getuid()
        if ours and os.access(folder, os.W_OK) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return folder
    return None


def _cache_bases() -> list[Path]:
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return [Path(home) / "porter", Path(tempfile.gettempdir()) / f"porter-{user}"]


def _write(files: dict[str, bytes], target: Path) -> bool:
    """Writes all stubs, then renames the folder into place; another process may have been faster."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".stubs-", dir=target.parent))
        for name, data in files.items():
            path = staging / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        try:
            staging.rename(target)
        except OSError:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError:
        return False
    return target.is_dir()


@functools.cache
def _pch(language: str, side: str) -> str | None:
    """Path of the precompiled stubs, built if there are none that clang accepts; None where that fails."""
    folder = Path(_stub_folder())
    path = folder.parent / f"{language}-{side}.pch"
    base = _base(language, side)
    if path.is_file() and accepts_pch(base, str(path)):
        return str(path)
    staging = folder.parent / f".{language}-{side}-{os.getpid()}.pch"
    try:
        if build_pch(_main_header(str(folder)), base, str(staging)) and accepts_pch(base, str(staging)):
            staging.replace(path)
            return str(path)
        staging.unlink(missing_ok=True)
    except OSError:
        pass
    return None


def prepare(languages: tuple[str, ...] = ("cuda",)) -> None:
    """Builds what is missing before worker processes start."""
    for language in languages:
        for side in ("host", "device"):
            _pch(language, side)

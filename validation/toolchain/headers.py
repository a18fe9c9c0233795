"""HIP's headers, and those of ROCm's libraries: where they are, and how a compiler is told."""

from __future__ import annotations

import os
from pathlib import Path

from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.rocm_headers import fetched

_SYSTEM = Path("/usr/include")


def rocm_roots() -> list[Path]:
    """Folders that may hold a ROCm, named ones first; `/usr` is where distributions have theirs."""
    named = [Path(os.environ[name]) for name in ("ROCM_PATH", "HIP_PATH") if os.environ.get(name)]
    return [*named, Path("/opt/rocm"), Path("/usr")]


def find_headers() -> Path | Missing:
    """The folder that holds `hip/hip_runtime.h`: an installed ROCm's, the fetched ones, the distribution's."""
    *own, system = (root / "include" for root in rocm_roots())
    for folder in (*own, fetched(), system):
        if folder is not None and (folder / "hip/hip_runtime.h").exists():
            return folder
    return Missing("no HIP headers (hip/hip_runtime.h): `porter headers`, or install libamdhip64-dev or set ROCM_PATH")


def include_options(headers: Path) -> tuple[str, ...]:
    """For clang, which searches the system's folder by itself, and last."""
    return () if headers == _SYSTEM else ("-isystem", str(headers))


def library_options(hipcc: str) -> tuple[str, ...]:
    """For a distribution's hipcc: the fetched headers of the libraries, beside its own of HIP, to which it links."""
    folder = fetched()
    if folder is None or Path(hipcc).parent != Path("/usr/bin"):
        return ()
    return ("-isystem", str(folder.with_name("libraries")))

"""The last resort: libclang checks syntax and types against HIP's headers; no code comes out of it."""

from __future__ import annotations

import functools
import sys
from importlib.metadata import version
from pathlib import Path

from porter.validation.build.compile import AS_GCC, Compiled, common_options, compiled_as, is_for_host
from porter.validation.toolchain.headers import find_headers, include_options
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.store import DEPFILE, Made, Recipe, make

_NEEDED = "__clang_hip_runtime_wrapper.h"
_BUILTIN = (
    *("/opt/rocm/llvm/lib/clang/*", "/opt/rocm/lib/llvm/lib/clang/*"),
    *("/usr/lib/llvm-*/lib/clang/*", "/usr/lib/clang/*", "/usr/lib64/clang/*"),
)
_SECONDS = 300.0
_SIDES = ("device", "host")


@functools.cache
def _resource_folder() -> Path | None:
    """Clang's own headers, newest last in the alphabet; libclang from PyPI comes without them."""
    for pattern in _BUILTIN:
        found = [path for path in Path("/").glob(pattern[1:]) if (path / "include" / _NEEDED).is_file()]
        if found:
            return max(found, key=lambda path: [int(part) for part in path.name.split(".") if part.isdigit()])
    return None


def syntax_tool() -> str | None:
    """None, or what is missing for a syntax check."""
    headers = find_headers()
    if isinstance(headers, Missing):
        return headers.reason
    if _resource_folder() is None:
        return f"no {_NEEDED} (clang's own headers): install libclang-common-dev or ROCm's llvm"
    return None


def check_syntax(source: Path, target: str, options: tuple[str, ...], seconds: float = _SECONDS) -> Compiled:
    """All passes of one unit through libclang, in processes of their own; results are kept by content."""
    headers = find_headers()
    if isinstance(headers, Missing):
        raise ValueError(headers.reason)
    hip = ("-x", "hip", "-nogpulib", f"--offload-arch={target}")
    kinds = (AS_GCC,) if is_for_host(source, options) else tuple((*hip, f"--cuda-{side}-only") for side in _SIDES)
    resources = ("-resource-dir", str(_resource_folder()), *include_options(headers))
    shared = ("-D__HIP_PLATFORM_AMD__", *resources, *common_options(source, options))
    return compiled_as(tuple(_passed(source, (*kind, *shared), seconds) for kind in kinds))


def _passed(source: Path, flags: tuple[str, ...], seconds: float) -> Made:
    def command(folder: Path) -> tuple[str, ...]:
        return (sys.executable, "-m", "porter.cpp.clang.syntax_check", str(folder / DEPFILE), str(source), *flags)

    return make(Recipe(f"libclang {version('libclang')}", command, (source,), (), folder=Path(sys.prefix)), seconds)

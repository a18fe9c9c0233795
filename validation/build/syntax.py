"""The last resort: libclang checks syntax and types against HIP's headers; no code comes out of it."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from porter.validation.build.compile import Compiled, common_options
from porter.validation.toolchain.headers import find_headers, include_options
from porter.validation.toolchain.invoke import invoke
from porter.validation.toolchain.result import Missing

_NEEDED = "__clang_hip_runtime_wrapper.h"
_BUILTIN = (
    *("/opt/rocm/llvm/lib/clang/*", "/opt/rocm/lib/llvm/lib/clang/*"),
    *("/usr/lib/llvm-*/lib/clang/*", "/usr/lib/clang/*", "/usr/lib64/clang/*"),
)
_SECONDS = 300.0


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
    """Both passes of one unit through libclang, in a process of its own."""
    headers = find_headers()
    if isinstance(headers, Missing):
        raise ValueError(headers.reason)
    shared = (
        *("-x", "hip", "-nogpulib", "-D__HIP_PLATFORM_AMD__", f"--offload-arch={target}"),
        *("-resource-dir", str(_resource_folder()), *include_options(headers), *common_options(source, options)),
    )
    program = (sys.executable, "-m", "porter.cpp.clang.syntax_check", str(source), *shared)
    passes = ("--cuda-device-only", "--cuda-host-only")
    return Compiled(tuple(invoke((*program, side), seconds, Path(sys.prefix)) for side in passes), "", None, False, ())

"""Which compilers and headers are here, as results and workers say it."""

from __future__ import annotations

from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.toolchain.clang import find_compiler
from porter.validation.toolchain.headers import find_headers
from porter.validation.toolchain.hipcc import find_hipcc
from porter.validation.toolchain.nvcc import find_nvcc
from porter.validation.toolchain.result import Missing


def known_tools() -> dict[str, str]:
    """By name: the version, or why there is none."""
    clang, nvcc, hipcc, host, headers = find_compiler(), find_nvcc(), find_hipcc(), find_host_compiler(), find_headers()
    return {
        "clang++": clang.reason if isinstance(clang, Missing) else clang[1],
        "nvcc": nvcc.reason if isinstance(nvcc, Missing) else nvcc.version,
        "hipcc": hipcc.reason if isinstance(hipcc, Missing) else f"{hipcc.version} (clang {hipcc.clang})",
        "C compiler": host.reason if isinstance(host, Missing) else host.version,
        "HIP headers": headers.reason if isinstance(headers, Missing) else str(headers),
    }

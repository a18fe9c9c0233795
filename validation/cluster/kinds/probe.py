"""Who a worker is, and a task that does nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from porter.validation.cluster.identity import short_identity
from porter.validation.devices import registry
from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.run.codec import plain
from porter.validation.toolchain.clang import find_compiler
from porter.validation.toolchain.headers import find_headers
from porter.validation.toolchain.hipcc import find_hipcc
from porter.validation.toolchain.nvcc import find_nvcc
from porter.validation.toolchain.result import Missing

from porter.system.cache import cache_folder


def do(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The identity, with compilers and those devices that are asked for."""
    devices = {name: registry.why_not_asked(name) for name in payload.get("devices", ())}
    found = replace(short_identity(), devices=devices, tools=_tools(), cache=str(cache_folder()))
    return {"identity": plain(found)}


def _tools() -> dict[str, str]:
    clang, nvcc, hipcc, host, headers = find_compiler(), find_nvcc(), find_hipcc(), find_host_compiler(), find_headers()
    return {
        "clang++": clang.reason if isinstance(clang, Missing) else clang[1],
        "nvcc": nvcc.reason if isinstance(nvcc, Missing) else nvcc.version,
        "hipcc": hipcc.reason if isinstance(hipcc, Missing) else f"{hipcc.version} (clang {hipcc.clang})",
        "C compiler": host.reason if isinstance(host, Missing) else host.version,
        "HIP headers": headers.reason if isinstance(headers, Missing) else str(headers),
    }


def nothing(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Waits for as long as it is told."""
    time.sleep(float(payload.get("wait", 0.0)))
    return {"number": payload.get("number"), "text": "x" * int(payload.get("size", 0))}

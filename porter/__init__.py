"""porter: brings CUDA code to HIP on 64-lane AMD GPUs and says what is left to do."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.2.0"
_PLACES = {
    **dict.fromkeys(("port", "scan", "validate", "Ported", "Validated"), "porter.api"),
    **dict.fromkeys(("Device", "Launched"), "porter.validation.device_api"),
    "triton_device": "porter.validation.triton.driver",
    **dict.fromkeys(("CompileError", "DeviceError", "KernelFault", "NotRunHere", "Unusable"), "porter.errors"),
}

__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    """The Python API, imported when it is used."""
    if name not in _PLACES:
        raise AttributeError(f"module 'porter' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)

"""Runs clang's preprocessor over HIP's device headers: their macros declare functions that no reader of tokens sees."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

_HEADERS = (
    "hip_runtime.h hip_fp16.h hip_bf16.h hip_fp8.h hip_fp6.h hip_fp4.h hip_complex.h hip_cooperative_groups.h "
    "hip_math_constants.h math_functions.h device_functions.h hip_vector_types.h hip_gl_interop.h hip_ext.h hiprtc.h"
)
_MARKER = re.compile(r'^# \d+ "([^"]*)".*$', re.MULTILINE)


def preprocessed(clang: str, root: Path) -> list[str]:
    """What the HIP headers below an include folder expand to, in the device and in the host pass."""
    names = [name for name in _HEADERS.split() if (root / "hip" / name).is_file()]
    source = "".join(f"#include <hip/{name}>\n" for name in names)
    return [_kept(_run(clang, root, source, side), root) for side in ("--cuda-device-only", "--cuda-host-only")]


def _run(clang: str, root: Path, source: str, side: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.hip"
        path.write_text(source)
        command = [clang, "-std=c++17", "-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-D__HIP_PLATFORM_AMD__"]
        command += ["-isystem", str(root), "-E", "-dD", side, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120, check=False)
    if not done.stdout:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def _kept(text: str, root: Path) -> str:
    """The stretches that come from HIP's headers or from clang's own HIP headers."""
    kept: list[str] = []
    markers = list(_MARKER.finditer(text))
    for place, marker in enumerate(markers):
        origin = marker.group(1)
        end = markers[place + 1].start() if place + 1 < len(markers) else len(text)
        if "/clang/" in origin or origin.startswith(str(root / "hip")) or origin == "<built-in>":
            kept.append(text[marker.end() : end])
    return "".join(kept)

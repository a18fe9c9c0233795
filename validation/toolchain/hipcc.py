"""hipcc: where it is, which targets it and its device libraries know, and the environment it needs."""

from __future__ import annotations

import functools
import os
import re
import shutil
import site
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.headers import library_options
from porter.validation.toolchain.invoke import first_line, invoke
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.store import identity

ENVIRONMENT = {"HIP_PLATFORM": "amd"}
"""Where nvcc is on the PATH too, hipcc would compile for NVIDIA."""
_VERSION = re.compile(r"HIP version:\s*([\d.]+)")
_CLANG = re.compile(r"clang version ([\d.]+)")
_ERROR = re.compile(r"error: (.*)")
_SECONDS = 30


@dataclass(frozen=True)
class Hipcc:
    """A usable hipcc."""

    path: str
    version: str
    """HIP's, `5.2.21153`."""
    clang: str
    """The version of the clang behind it."""

    @property
    def identity(self) -> str:
        """As part of a key."""
        return identity(self.path, f"hipcc {self.version} clang {self.clang}")

    @property
    def libraries(self) -> tuple[str, ...]:
        """Options for the headers of ROCm's libraries, where a distribution has none."""
        return library_options(self.path)


def _candidates() -> Iterator[tuple[str, Path]]:
    if os.environ.get("PORTER_HIPCC"):
        yield "PORTER_HIPCC", Path(os.environ["PORTER_HIPCC"])
    for name in ("ROCM_PATH", "HIP_PATH"):
        if os.environ.get(name):
            yield name, Path(os.environ[name]) / "bin" / "hipcc"
    on_path = shutil.which("hipcc")
    if on_path:
        yield "PATH", Path(on_path)
    yield "/opt/rocm", Path("/opt/rocm/bin/hipcc")
    for folder in dict.fromkeys([*site.getsitepackages(), site.getusersitepackages(), *sys.path]):
        for found in sorted(Path(folder or ".").glob("_rocm_sdk_*/bin/hipcc")):
            yield "pip", found


@functools.cache
def _examine(path: str, stamp: tuple[int, int]) -> Hipcc | Missing:
    del stamp
    shown = invoke((path, "--version"), _SECONDS, environment=ENVIRONMENT)
    version, clang = _VERSION.search(shown.output), _CLANG.search(shown.output)
    if not shown.ok or version is None or clang is None:
        return Missing(f"{path} --version: {first_line(shown.said) or f'exit status {shown.code}'}")
    return Hipcc(path, version[1], clang[1])


def find_hipcc() -> Hipcc | Missing:
    """$PORTER_HIPCC, $ROCM_PATH, $HIP_PATH, PATH, /opt/rocm, pip's packages; or why there is none."""
    reasons: list[str] = []
    for origin, path in _candidates():
        if not path.exists():
            if origin != "/opt/rocm":
                reasons.append(f"{origin}: no {path}")
            continue
        status = path.stat()
        found = _examine(str(path), (status.st_mtime_ns, status.st_size))
        if isinstance(found, Hipcc):
            return found
        reasons.append(found.reason)
    return Missing("no hipcc: " + ("; ".join(reasons) or "not on PATH, not below ROCM_PATH, HIP_PATH or /opt/rocm"))


@functools.cache
def supports(hipcc: Hipcc, target: str) -> str | None:
    """None, or why it cannot compile for a target: asked by compiling an empty kernel."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.hip"
        source.write_text("__global__ void probe() {}\n")
        command = (hipcc.path, "-c", f"--offload-arch={target}", "--cuda-device-only", str(source))
        done = invoke((*command, "-o", str(Path(folder) / "probe.o")), _SECONDS, environment=ENVIRONMENT)
    if done.ok:
        return None
    said = _ERROR.search(done.output)
    return f"{hipcc.path} {hipcc.version}, {target}: {said[1] if said else first_line(done.said)}"

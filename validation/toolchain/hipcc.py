"""hipcc: where it is, which targets it and its device libraries know, and the environment it needs."""

from __future__ import annotations

import functools
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.headers import library_options
from porter.validation.toolchain.invoke import first_line, invoke
from porter.validation.toolchain.programs import Program, find
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.store import identity

ENVIRONMENT = {"HIP_PLATFORM": "amd"}
"""Where nvcc is on the PATH too, hipcc would compile for NVIDIA."""
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


def find_hipcc() -> Hipcc | Missing:
    """$PORTER_HIPCC, $ROCM_PATH, $HIP_PATH, PATH, pip's packages, /opt/rocm; or why there is none."""
    found = find("hipcc", _no_clang, ENVIRONMENT)
    if isinstance(found, Missing):
        return found
    return Hipcc(found.path, found.version, _clang(found) or "")


def _clang(found: Program) -> str | None:
    clang = _CLANG.search(found.said)
    return clang[1] if clang else None


def _no_clang(found: Program) -> str | None:
    return None if _clang(found) else f"it names no clang: {first_line(found.said)}"


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

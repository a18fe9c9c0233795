"""The port on an AMD GPU."""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass

from porter.validation.devices.core.result import NotRun
from porter.validation.devices.device import BuildFailed, Loaded, Program
from porter.validation.devices.presence import find_gpu
from porter.validation.devices.real import compile_real
from porter.validation.harness.build import why_not
from porter.validation.toolchain.hipcc import find_hipcc, supports
from porter.validation.toolchain.invoke import invoke
from porter.validation.toolchain.result import Missing

from porter.system.programs import on_this_machine

_PREFERRED = ("gfx942", "gfx90a")
_LISTED = re.compile(r"^\s*(?:Name:\s*)?(gfx[0-9a-f]+(?::[a-z]+[+-])*)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Hip:
    """hipcc, and the first GPU that the runtime lists."""

    name: str = "hip"
    language: str = "hip"
    lanes: int = 64
    does_not_show: tuple[str, ...] = (
        "accesses outside an array that hit other memory, further than 256 bytes away",
        "races and uses of uninitialised memory that do not change the result of the runs made",
    )

    def available(self) -> str | None:
        """None, or the reason why nothing can run on it here: compiler, Python side, runtime, GPU, the GPU's target."""
        hipcc = find_hipcc()
        if isinstance(hipcc, Missing):
            return hipcc.reason
        return why_not() or find_gpu("hip")[0] or supports(hipcc, architecture())

    def compile(self, program: Program, seconds: float) -> Loaded | BuildFailed | NotRun:
        """Compile one kernel into a module; needs no GPU."""
        return compile_real(self.name, program, architecture(), seconds)


@functools.cache
def _detected() -> str | None:
    """The first GPU that ROCm's own tools list."""
    for tool in ("rocm_agent_enumerator", "rocminfo"):
        path = on_this_machine(tool)
        found = _LISTED.findall(invoke((path,), 30).output) if path else []
        gpus = [name for name in found if name != "gfx000"]
        if gpus:
            return str(gpus[0])
    return None


def architecture() -> str:
    """$PORTER_HIP_ARCH, else that of the GPU, else the first of gfx942 and gfx90a that hipcc knows."""
    wanted = os.environ.get("PORTER_HIP_ARCH") or _detected()
    if wanted:
        return wanted
    hipcc = find_hipcc()
    if isinstance(hipcc, Missing):
        return _PREFERRED[0]
    return next((name for name in _PREFERRED if supports(hipcc, name) is None), _PREFERRED[0])


def open_device() -> Hip:
    """The device."""
    return Hip()

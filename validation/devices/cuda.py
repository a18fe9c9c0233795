"""The original on an NVIDIA GPU."""

from __future__ import annotations

import os
from dataclasses import dataclass

from porter.validation.devices.core.result import NotRun
from porter.validation.devices.device import BuildFailed, Loaded, Program
from porter.validation.devices.presence import find_gpu
from porter.validation.devices.real import compile_real
from porter.validation.harness.build import why_not
from porter.validation.toolchain.nvcc import find_nvcc
from porter.validation.toolchain.result import Missing

_DEFAULT = "sm_80"


@dataclass(frozen=True)
class Cuda:
    """nvcc, and the first GPU that the driver lists."""

    name: str = "cuda"
    language: str = "cuda"
    lanes: int = 32
    does_not_show: tuple[str, ...] = (
        "accesses outside an array that hit other memory, further than 256 bytes away",
        "races and uses of uninitialised memory that do not change the result of the runs made",
    )

    def available(self) -> str | None:
        """None, or the reason why nothing can run on it here: compiler, Python side, driver, GPU."""
        nvcc = find_nvcc()
        if isinstance(nvcc, Missing):
            return nvcc.reason
        return why_not() or find_gpu("cuda")[0]

    def compile(self, program: Program, seconds: float) -> Loaded | BuildFailed | NotRun:
        """Compile one kernel into a module; needs no GPU."""
        return compile_real(self.name, program, architecture(), seconds)


def architecture() -> str:
    """$PORTER_CUDA_ARCH, else that of the GPU, else sm_80, whose PTX later GPUs take."""
    return os.environ.get("PORTER_CUDA_ARCH") or find_gpu("cuda")[1] or _DEFAULT


def open_device() -> Cuda:
    """The device."""
    return Cuda()

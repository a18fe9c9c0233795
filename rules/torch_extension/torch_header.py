"""T001: PyTorch's headers about CUDA, for ports that PyTorch's hipify shall not touch."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Example, Finding, Rule, Settings, Span, Unit, clean, todo

_FOLDERS = (
    "ATen/cuda/",
    "ATen/native/cuda/",
    "ATen/native/nested/cuda/",
    "ATen/native/quantized/cuda/",
    "ATen/native/sparse/cuda/",
    "ATen/native/transformers/cuda/",
    "c10/cuda/",
)
STANDALONE = Settings(torch="standalone")


class TorchHeader(Rule):
    """PyTorch header about CUDA, in a standalone port

    ROCm builds of PyTorch install `ATen/cuda/CUDAContext.h` as `ATen/hip/HIPContext.h` and `c10/cuda/CUDAGuard.h` as
    `c10/hip/HIPGuard.h`; the namespaces `at::cuda` and `c10::cuda` stay since PyTorch 2.11 (they were `at::hip` and
    `c10::hip` before). By default these names are left to PyTorch's own hipify, which runs when the extension is built
    and knows its own version's; with `--torch standalone` the port has them itself, and needs 2.11 or newer.
    """

    code = "T001"
    text = "cuda/"
    hazards = ("hipify-v2-namespaces",)
    examples = (
        Example(
            "#include <ATen/cuda/CUDAContext.h>\n#include <c10/cuda/CUDAGuard.h>",
            "#include <ATen/hip/HIPContext.h>\n#include <c10/hip/HIPGuard.h>",
            Effort.NONE,
            "example.cu",
            STANDALONE,
        ),
        clean("#include <ATen/cuda/CUDAContext.h>"),
        Example("#include <ATen/Dispatch.h>", None, None, "example.cu", STANDALONE),
        todo("#include <THC/THC.h>", "THC is gone from PyTorch: use ATen"),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether the port is to be complete."""
        return unit.settings.torch == "standalone"

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per header."""
        for include in unit.tokens.includes:
            if not include.name.startswith(_FOLDERS):
                continue
            new = _hip_name(include.name)
            edit = Edit(include.start, include.end, new)
            message = f"{include.name} is {new} in ROCm builds of PyTorch"
            yield self.finding(unit, Span(include.start, include.end), message, Effort.NONE, (edit,))


def _hip_name(name: str) -> str:
    folder, file = posixpath.split(name)
    return posixpath.join(folder.replace("cuda", "hip"), file.replace("CUDA", "HIP").replace("cuda", "hip"))

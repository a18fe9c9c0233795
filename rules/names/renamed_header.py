"""A010: CUDA's headers and their counterparts."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Edit, Effort, Finding, Span
from porter.rule import Rule, clean, fixes
from porter.support import FOLDER
from porter.unit import Unit


class RenamedHeader(Rule):
    """CUDA header that has a counterpart

    Only the exact names of CUDA's own headers are mapped, whether in angle brackets or in quotes. A header of the
    project that merely has such a name, or a name like `user-cuda.h`, stays. Where the counterpart declares something
    else than CUDA's header does, the finding says what.
    """

    code = "A010"
    examples = (
        fixes("#include <cuda_runtime.h>", "#include <hip/hip_runtime.h>", path="a.h"),
        fixes('#include "cuda_fp16.h"', '#include "hip/hip_fp16.h"', path="a.h"),
        fixes("#include <cudnn.h>", "#include <miopen/miopen.h>", path="a.h", effort=Effort.MANUAL),
        fixes("#include <cublas.h>", "#include <hipblas/hipblas.h>", path="a.h", effort=Effort.REVIEW),
        clean('#include "user-cuda.h"\n#include <my/cuda_runtime.h>', path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per #include."""
        for include in unit.tokens.includes:
            row = unit.names.header(include.name)
            if row is None or row.hip is None or row.hip == include.name or unit.is_project_header(include.name):
                continue
            span = Span(include.start, include.end)
            supplied = row.hip.startswith(FOLDER + "/")
            new = "hip/hip_runtime.h" if supplied else row.hip
            includes = (row.hip,) if supplied else ()
            message, effort = f"<{include.name}> is <{row.hip}>", Effort.NONE
            if row.signature:
                message = f"{message}: {row.signature}"
                effort = row.effort if row.effort is not Effort.NONE else Effort.REVIEW
            yield self.finding(unit, span, message, effort, (Edit(*span, new),), includes)

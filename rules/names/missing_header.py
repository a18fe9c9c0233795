"""A011: CUDA's headers that ROCm has nothing for."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Dialect, Effort, Finding, Rule, Span, Unit, clean, reports


class MissingHeader(Rule):
    """CUDA header without a counterpart in ROCm

    The library or feature behind it does not exist for AMD GPUs, or goes by another design. What the file uses of it
    has to be replaced by hand; the finding says what is known about it. Of a library with many headers the first one
    stands for all that the file includes.
    """

    code = "A011"
    only_reports = True
    dialect = Dialect.BOTH
    by_names = True
    examples = (
        reports("#include <cublasXt.h>", path="a.h"),
        reports("#include <cutlass/numeric_types.h>", path="a.h"),
        reports("#include <rmm/device_uvector.hpp>", effort=Effort.REVIEW, path="a.h"),
        reports('#include "cutlass/half.h"\n#include "cute/tensor.hpp"\n#include "cute/layout.hpp"', path="a.h"),
        clean("#include <cuda_runtime.h>", path="a.h"),
        clean("#include <hip/hip_runtime.h>\n#include <nvbench/nvbench.cuh>", path="a.h"),
        clean("#ifdef USE_ROCM\n#include <cutlass/numeric_types.h>\n#endif", path="a.h"),
        reports("#include <hip/hip_runtime.h>\n#include <cublasXt.h>", path="a.h"),
        clean('#include "cudalike.h"', path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per #include, and one for all of a library's folder."""
        folders: set[str] = set()
        for include in unit.tokens.includes:
            own = unit.names.header(include.name)
            row = own or unit.names.header_folder(include.name)
            if row is None or row.hip is not None or unit.is_project_header(include.name):
                continue
            name = include.name if own is not None else f"{include.name.partition('/')[0]}/..."
            if own is None and (row.gap in folders or unit.dialects.is_hip(include.start)):
                continue  # HIP code that includes another library brings one that AMD's compiler takes
            folders.update(() if own is not None else (row.gap,))
            yield self.finding(unit, Span(include.start, include.end), f"<{name}>: {row.gap}", row.effort)

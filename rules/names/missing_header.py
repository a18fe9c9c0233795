"""A011: CUDA's headers that ROCm has nothing for."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Dialect, Effort, Finding, Rule, Span, Unit, clean, reports


class MissingHeader(Rule):
    """CUDA header without a counterpart in ROCm

    The library or feature behind it does not exist for AMD GPUs, or goes by another design. What the file uses of it
    has to be replaced by hand; the finding says what is known about it.
    """

    code = "A011"
    dialect = Dialect.BOTH
    by_names = True
    examples = (
        reports("#include <cublasXt.h>", path="a.h"),
        reports("#include <cutlass/numeric_types.h>", path="a.h"),
        reports("#include <rmm/device_uvector.hpp>", effort=Effort.REVIEW, path="a.h"),
        clean("#include <cuda_runtime.h>", path="a.h"),
        clean('#include "cudalike.h"', path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per #include."""
        for include in unit.tokens.includes:
            row = unit.names.header(include.name) or unit.names.header_folder(include.name)
            if row is not None and row.hip is None and not unit.is_project_header(include.name):
                span = Span(include.start, include.end)
                yield self.finding(unit, span, f"<{include.name}>: {row.gap}", row.effort)

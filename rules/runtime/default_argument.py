"""R017: calls that leave out an argument which HIP has no default for."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Edit, Effort, Finding
from porter.rule import Rule, clean, fixes
from porter.unit import Unit

_DEFAULTS = {
    "cudaGraphInstantiateWithFlags": (3, "0"),
    "cudaMalloc3DArray": (4, "0"),
    "cudaMemcpy2DArrayToArray": (9, "cudaMemcpyDeviceToDevice"),
    "cudaSignalExternalSemaphoresAsync": (4, "0"),
    "cudaWaitExternalSemaphoresAsync": (4, "0"),
}
"""The number of arguments with the last one, and CUDA's default for that."""


class DefaultArgument(Rule):
    """Argument left out

    CUDA's runtime gives the last argument of `cudaMalloc3DArray`, `cudaGraphInstantiateWithFlags` and others a default;
    HIP's declarations have none, so it is written out.
    """

    code = "R017"
    triggers = frozenset(_DEFAULTS)
    answers = triggers - {"cudaMalloc3DArray"}
    examples = (
        fixes(
            "void f(cudaArray_t a) { cudaMalloc3DArray(&a, &d, make_cudaExtent(1, 2, 3)); }",
            "void f(cudaArray_t a) { cudaMalloc3DArray(&a, &d, make_cudaExtent(1, 2, 3), 0); }",
        ),
        fixes(
            "void f() { cudaMemcpy2DArrayToArray(a, 0, 0, b, 0, 0, w, h); }",
            "void f() { cudaMemcpy2DArrayToArray(a, 0, 0, b, 0, 0, w, h, cudaMemcpyDeviceToDevice); }",
        ),
        clean("void f(cudaArray_t a) { cudaMalloc3DArray(&a, &d, extent, cudaArrayLayered); }"),
        clean("void f() { pool.cudaMalloc3DArray(&a, &d, extent); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call without the last argument."""
        for name in sorted(self.triggers & unit.tokens.names.keys()):
            count, default = _DEFAULTS[name]
            for index in unit.occurrences(name):
                arguments = unit.arguments(index)
                if len(arguments) == count - 1:
                    end = arguments[-1].end
                    message = f"HIP has no default for the last argument of {name}"
                    edits = (Edit(end, end, f", {default}"),)
                    yield self.finding(unit, unit.span(index), message, Effort.NONE, edits)

"""R017: calls that leave out an argument which HIP has no default for."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_DEFAULTS = {
    "cudaGraphInstantiateWithFlags": (3, ("0",)),
    "cudaLaunchCooperativeKernel": (6, ("0", "0")),
    "cudaMalloc3DArray": (4, ("0",)),
    "cudaMemcpy2DArrayToArray": (9, ("cudaMemcpyDeviceToDevice",)),
    "cudaMemcpyFromSymbolAsync": (5, ("0", "cudaMemcpyDeviceToHost")),
    "cudaMemcpyToSymbolAsync": (5, ("0", "cudaMemcpyHostToDevice")),
    "cudaSignalExternalSemaphoresAsync": (4, ("0",)),
    "cudaStreamWaitEvent": (3, ("0",)),
    "cudaWaitExternalSemaphoresAsync": (4, ("0",)),
}
"""The number of arguments that HIP wants, and CUDA's defaults for the last of them."""
_OWN_ROWS = frozenset({"cudaMalloc3DArray", "cudaLaunchCooperativeKernel"})
"""Names about which the tables have more to say."""


class DefaultArgument(Rule):
    """Argument left out

    CUDA's runtime gives the last arguments of `cudaMemcpyToSymbolAsync`, `cudaLaunchCooperativeKernel` and others
    defaults; HIP's declarations have none, so they are written out.
    """

    code = "R017"
    triggers = frozenset(_DEFAULTS)
    settles = True
    answers = triggers - _OWN_ROWS
    examples = (
        fixes(
            "void f(cudaArray_t a) { cudaMalloc3DArray(&a, &d, make_cudaExtent(1, 2, 3)); }",
            "void f(cudaArray_t a) { cudaMalloc3DArray(&a, &d, make_cudaExtent(1, 2, 3), 0); }",
        ),
        fixes(
            "void f() { cudaMemcpy2DArrayToArray(a, 0, 0, b, 0, 0, w, h); }",
            "void f() { cudaMemcpy2DArrayToArray(a, 0, 0, b, 0, 0, w, h, cudaMemcpyDeviceToDevice); }",
        ),
        fixes(
            "void f(float *p) { cudaMemcpyToSymbolAsync(c, p, 16); cudaMemcpyFromSymbolAsync(p, c, 16, 4); }",
            "void f(float *p) { cudaMemcpyToSymbolAsync(c, p, 16, 0, cudaMemcpyHostToDevice);"
            " cudaMemcpyFromSymbolAsync(p, c, 16, 4, cudaMemcpyDeviceToHost); }",
        ),
        fixes(
            "void f(void **p) { cudaLaunchCooperativeKernel(k, grid, block, p); }",
            "void f(void **p) { cudaLaunchCooperativeKernel(k, grid, block, p, 0, 0); }",
        ),
        fixes(
            "void f(cudaStream_t s) { cudaStreamWaitEvent(s, made()); }",
            "void f(cudaStream_t s) { cudaStreamWaitEvent(s, made(), 0); }",
        ),
        clean("void f(cudaStream_t s) { cudaStreamWaitEvent(s, e, flags); }"),
        clean("void f(float *p) { cudaMemcpyToSymbolAsync(c, p, 16, 0, cudaMemcpyHostToDevice); }"),
        clean("void f(cudaArray_t a) { cudaMalloc3DArray(&a, &d, extent, cudaArrayLayered); }"),
        clean("void f() { pool.cudaMalloc3DArray(&a, &d, extent); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call without the last argument."""
        for name in sorted(self.triggers & unit.tokens.names.keys()):
            count, defaults = _DEFAULTS[name]
            for index in unit.occurrences(name):
                arguments = unit.arguments(index)
                missing = count - len(arguments)
                if 0 < missing <= len(defaults):
                    end = arguments[-1].end
                    message = f"HIP has no default for the last argument{'s' if missing > 1 else ''} of {name}"
                    edits = (Edit(end, end, "".join(f", {default}" for default in defaults[-missing:])),)
                    yield self.finding(unit, unit.span(index), message, Effort.NONE, edits)

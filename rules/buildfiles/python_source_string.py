"""K204: CUDA source in Python strings."""

from __future__ import annotations

from collections.abc import Iterator

from porter.buildfiles.rule import BuildRule, BuildUnit, Effort, Finding, Kind, clean, reports
from porter.engine.python_strings import sources_of


class PythonSourceString(BuildRule):
    """CUDA source in a Python string

    CuPy (`RawKernel`, `RawModule`, `ElementwiseKernel`, `ReductionKernel`), PyTorch's `load_inline`, PyCUDA's
    `SourceModule`, cuda-python and cuda.core compile text at run time. A text that stands in a literal, or in a
    variable that nothing else is done with, is ported in place by the rules for files, and findings name its line. CuPy
    for ROCm and PyTorch compile the result; PyCUDA, cuda-python and cuda.core have no version for AMD, and the call has
    to be written for another library.
    Text that is put together at run time (formatted, joined, read from a file) is not ported: move it to a file, and
    port that.
    """

    code = "K204"
    kinds = frozenset({Kind.PYTHON})
    hazards = ("hipify-textual-limits",)
    examples = (
        reports("k = cupy.RawKernel('__global__ void k() {}', 'k')", path="build.py", effort=Effort.NONE),
        reports(
            "m = load_inline('m', cpp_sources=c, cuda_sources=[S])\nS = 'int a;'", path="build.py", effort=Effort.NONE
        ),
        reports("m = load_inline('m', cpp_sources=c, cuda_sources=s)", path="build.py"),
        reports("k = cupy.RawKernel(code % 4, 'k')", path="build.py"),
        reports("m = SourceModule('__global__ void k() {}')", path="build.py"),
        clean("m = load_inline('m', cpp_sources=c)", path="build.py"),
        clean("p = Program('text', 'c++')", path="build.py"),
        clean("k = cupy.RawKernel", path="build.py"),
    )

    def find(self, unit: BuildUnit) -> Iterator[Finding]:
        """One finding per text."""
        for source in sources_of(unit.source):
            compiler = source.compiler
            if source.problem:
                message = (
                    f"{source.call}: the CUDA source is not ported, because {source.problem}; move it to a .cu file"
                )
            elif compiler.on_amd:
                message = f"{source.call}: the CUDA source is ported in place, but {compiler.on_amd}"
            else:
                message = f"{source.call}: the CUDA source is ported in place, for {compiler.library} on ROCm"
            effort = Effort.MANUAL if source.problem or compiler.on_amd else Effort.NONE
            yield self.finding(unit, source.start, source.end, message, effort)

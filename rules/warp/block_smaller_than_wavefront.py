"""W109: a block fills only part of a wavefront."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports
from porter.warp.bodies import bodies_of
from porter.warp.flow.geometry import block_threads, launches_of

_WAVEFRONT = 64


class BlockSmallerThanWavefront(Rule):
    """Block with fewer threads than a wavefront

    A block of 32 threads occupies a wavefront of 64 lanes and leaves half of it idle; with at most 32 blocks on a
    compute unit, half of its lanes stay empty. The results are right. Where it matters, put two logical warps into one
    block, or port the kernel to 64 lanes.
    """

    code = "W109"
    only_reports = True
    triggers = frozenset({"__global__", "cudaLaunchKernel", "hipLaunchKernelGGL"})
    hazards = ("block-32-half-wave", "blocks-per-cu-limit")
    examples = (
        reports("__global__ void k(int *x); void f(int *x) { k<<<100, 32>>>(x); }", effort=Effort.NONE),
        reports(
            "__global__ void k(int *x); void f(int *x) { dim3 block(16, 2); k<<<100, block>>>(x); }", effort=Effort.NONE
        ),
        reports(
            "__global__ void k(int *x);void f(int *x) { dim3 block; block.x = 16; block.y = 2; k<<<100, block>>>(x); }",
            effort=Effort.NONE,
        ),
        clean(
            "__global__ void k(int *x);"
            "void f(int *x, int n) { dim3 block; block.x = 16; block.y = n; k<<<100, block>>>(x); }"
        ),
        clean("__global__ void k(int *x); void f(int *x) { dim3 block(32, 8); k<<<100, block>>>(x); }"),
        clean("__global__ void k(int *x); void f(int *x, int n) { k<<<100, n>>>(x); k<<<1, 1>>>(x); }"),
    )

    def applies(self, unit: Unit) -> bool:
        """Kernels may be declared elsewhere."""
        return "<<<" in unit.source.text or super().applies(unit)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per launch."""
        for launch in launches_of(unit):
            threads = block_threads(bodies_of(unit), launch)
            if threads is not None and 1 < threads < _WAVEFRONT:
                message = (
                    f"blocks of {threads} threads leave {_WAVEFRONT - threads} of 64 lanes idle [block-32-half-wave]"
                )
                yield self.finding(unit, launch.span, message, Effort.NONE)

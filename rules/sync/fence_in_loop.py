"""S106: a device-wide fence in a loop."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports
from porter.warp.bodies import bodies_in_sight, bodies_of, mentions_in_sight
from porter.warp.flow.fences import FENCE_WORDS, FENCES, fences_in_loops


class FenceInLoop(Rule):
    """Device-wide fence in a loop

    `__threadfence()` writes back and invalidates caches across eight L2 caches on MI300X: right, and far dearer than on
    NVIDIA. Keep it out of loops where the algorithm allows, or put order and scope on the one access that publishes
    (`__hip_atomic_store(p, v, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT)`).
    """

    code = "S106"
    only_reports = True
    triggers = FENCES
    hazards = ("threadfence-semantics", "threadfence-system-works")
    examples = (
        reports(
            "__global__ void k(int *x, int n) { for (int i = 0; i < n; ++i) { x[i] = i; __threadfence(); } }",
            effort=Effort.NONE,
        ),
        clean("__global__ void k(int *x) { x[0] = 1; __threadfence(); x[1] = 1; }"),
        clean("__global__ void k(int *x, int n) { for (int i = 0; i < n; ++i) { x[i] = i; __threadfence_block(); } }"),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether there is such a fence, be it in a helper of a header."""
        return bool(bodies_of(unit).functions) and mentions_in_sight(unit, FENCE_WORDS)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per fence."""
        bodies = bodies_in_sight(unit)
        for function in bodies.functions:
            for fence, name in fences_in_loops(bodies, function):
                message = f"{name} in a loop: dear across eight L2 caches [threadfence-semantics]"
                yield self.finding(unit, unit.span(fence.first, fence.last), message, Effort.NONE)

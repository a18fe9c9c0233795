"""S106: a device-wide fence in a loop."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Node, calls
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports
from porter.warp.bodies import bodies_of

_FENCES = frozenset({"__threadfence", "__threadfence_system"})


class FenceInLoop(Rule):
    """Device-wide fence in a loop

    `__threadfence()` writes back and invalidates caches across eight L2 caches on MI300X: right, and far dearer than on
    NVIDIA. Keep it out of loops where the algorithm allows, or put order and scope on the one access that publishes
    (`__hip_atomic_store(p, v, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT)`).
    """

    code = "S106"
    only_reports = True
    triggers = _FENCES
    hazards = ("threadfence-semantics", "threadfence-system-works")
    examples = (
        reports(
            "__global__ void k(int *x, int n) { for (int i = 0; i < n; ++i) { x[i] = i; __threadfence(); } }",
            effort=Effort.NONE,
        ),
        clean("__global__ void k(int *x) { x[0] = 1; __threadfence(); x[1] = 1; }"),
        clean("__global__ void k(int *x, int n) { for (int i = 0; i < n; ++i) { x[i] = i; __threadfence_block(); } }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per fence."""
        bodies = bodies_of(unit)
        for function in bodies.functions:
            if not any(bodies.calls(function, name) for name in _FENCES):
                continue
            for fence in dict.fromkeys(_in_loops(function.body)):
                message = f"{fence.callee} in a loop: dear across eight L2 caches [threadfence-semantics]"
                yield self.finding(unit, unit.span(fence.first, fence.last), message, Effort.NONE)


def _in_loops(body: Node) -> Iterator[Node]:
    for node in body.walk():
        if node.kind in ("for", "while", "do", "range", "macroloop"):
            yield from (call for call in calls(node) if call.callee in _FENCES)

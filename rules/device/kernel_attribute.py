"""D012: attributes of kernels and parameters that HIP does not know."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes, reports

_DROPPED = {
    "__grid_constant__": "kernel parameters are read-only memory on AMD GPUs anyway",
    "__maxnreg__": "register limits of CUDA do not carry over; use __launch_bounds__ or amdgpu_waves_per_eu",
}
_CLUSTER = frozenset({"__cluster_dims__", "__block_size__"})


class KernelAttribute(Rule):
    """Kernel attribute that HIP does not know

    `__grid_constant__` and `__maxnreg__(n)` do not exist in HIP and are removed: the first changes nothing on AMD
    GPUs, the second only limits registers. `__cluster_dims__` and `__block_size__` start thread block clusters, which
    gfx942 does not have: the kernel has to be written for blocks alone.
    """

    code = "D012"
    triggers = frozenset(_DROPPED) | _CLUSTER
    settles = True
    answers = triggers
    hazards = ("grid-constant", "cluster-maxnreg-attrs", "thread-block-cluster")
    examples = (
        fixes(
            "__global__ void k(const __grid_constant__ P p) {}",
            "__global__ void k(const P p) {}",
        ),
        fixes(
            "__global__ void __maxnreg__(128) k() {}",
            "__global__ void k() {}",
            effort=Effort.REVIEW,
        ),
        reports("__global__ void __cluster_dims__(2, 1, 1) k() {}"),
        clean("#define __grid_constant__\nint a;"),
        clean("__global__ void __launch_bounds__(128) k() {}"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per attribute."""
        tokens = unit.tokens
        for name in self.triggers & tokens.names.keys():
            if any(map(tokens.defines, tokens.names[name])):
                continue
            for index in unit.occurrences(name):
                last = tokens.partner.get(index + 1, index) if unit.next_is(index, "(") else index
                span = unit.span(index, last)
                if name in _CLUSTER:
                    message = f"{name}: gfx942 has no thread block clusters"
                    yield self.finding(unit, span, message, Effort.MANUAL)
                    continue
                effort = Effort.NONE if last == index else Effort.REVIEW
                end = tokens.starts[last + 1]
                blank = unit.slice(Span(span.end, end))
                edit = Edit(span.start, end if blank and not blank.strip(" \t") else span.end, "")
                yield self.finding(unit, span, f"{name} removed: {_DROPPED[name]}", effort, (edit,))

"""R010: C++ overloads with flags that HIP has under another name."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Edit, Effort, Finding
from porter.rule import Rule, clean, fixes
from porter.unit import Unit

_COUNTS = {"cudaEventCreate": 2, "cudaStreamCreate": 2, "cudaGraphInstantiate": 3}


class OverloadWithFlags(Rule):
    """Overload with flags

    CUDA overloads `cudaEventCreate(&event, flags)` and, since CUDA 12, `cudaGraphInstantiate(&exec, graph, flags)`.
    HIP has these with flags only as `...WithFlags`.
    """

    code = "R010"
    triggers = frozenset(_COUNTS)
    answers = triggers
    hazards = ("event-create-flags-overload", "graph-instantiate-3arg")
    examples = (
        fixes(
            "void f(cudaEvent_t e) { cudaEventCreate(&e, cudaEventDisableTiming); }",
            "void f(cudaEvent_t e) { cudaEventCreateWithFlags(&e, cudaEventDisableTiming); }",
        ),
        fixes(
            "void f() { cudaGraphInstantiate(&exec, graph, 0); }",
            "void f() { cudaGraphInstantiateWithFlags(&exec, graph, 0); }",
        ),
        clean("void f() { cudaGraphInstantiate(&exec, graph, NULL, NULL, 0); }"),
        clean("void f(cudaEvent_t e) { cudaEventCreate(&e); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call with flags."""
        for name, count in _COUNTS.items():
            for index in unit.occurrences(name):
                if len(unit.arguments(index)) == count:
                    span = unit.span(index)
                    edits = (Edit(span.end, span.end, "WithFlags"),)
                    yield self.finding(unit, span, f"{name} with flags is {name}WithFlags", Effort.NONE, edits)

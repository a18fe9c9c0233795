"""R010: C++ overloads with flags that HIP has under another name."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_COUNTS = {"cudaEventCreate": 2, "cudaStreamCreate": 2, "cudaGraphInstantiate": 3}
_MAY_LEAVE_OUT = frozenset({"cudaGraphInstantiate"})


class OverloadWithFlags(Rule):
    """Overload with flags

    CUDA overloads `cudaEventCreate(&event, flags)` and, since CUDA 12, `cudaGraphInstantiate(&exec, graph, flags)`,
    whose flags may be left out. HIP has these with flags only as `...WithFlags`.
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
        fixes(
            "void f() { cudaGraphInstantiate(&exec, graph); }",
            "void f() { cudaGraphInstantiateWithFlags(&exec, graph, 0); }",
        ),
        clean("void f() { cudaGraphInstantiate(&exec, graph, NULL, NULL, 0); }"),
        clean("void f(cudaEvent_t e) { cudaEventCreate(&e); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call with flags."""
        for name, count in _COUNTS.items():
            for index in unit.occurrences(name):
                arguments = unit.arguments(index)
                left_out = name in _MAY_LEAVE_OUT and len(arguments) == count - 1
                if len(arguments) == count or left_out:
                    span = unit.span(index)
                    edits: tuple[Edit, ...] = (Edit(span.end, span.end, "WithFlags"),)
                    if left_out:
                        edits += (Edit(arguments[-1].end, arguments[-1].end, ", 0"),)
                    yield self.finding(unit, span, f"{name} with flags is {name}WithFlags", Effort.NONE, edits)

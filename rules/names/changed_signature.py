"""A003: names whose HIP counterpart takes or means something else."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, answered_names, clean, reports
from porter.names.causes import one_cause


class ChangedSignature(Rule):
    """CUDA name whose HIP counterpart differs in its arguments or meaning

    HIP has the name, but with other arguments, types or values than CUDA. It is renamed, so that the compiler sees the
    right function, and each use is listed here with what differs; a rule of its own rewrites the call where that can
    be done.
    """

    code = "A003"
    only_reports = True
    by_names = True
    examples = (
        reports("void f() { cudaStreamUpdateCaptureDependencies(0, 0, 0, 0); }", effort=Effort.REVIEW),
        clean("void f(int **p) { cudaMalloc(p, 4); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        answered = answered_names(unit.settings)
        for use in unit.uses:
            row = use.row
            if (
                use.name not in answered
                and use.support is None
                and row is not None
                and row.hip is not None
                and row.signature
            ):
                effort = row.effort if row.effort is not Effort.NONE else Effort.REVIEW
                message = one_cause(f"{use.name} -> {row.hip}: ", row.signature)
                yield self.finding(unit, unit.span(use.first, use.last), message, effort)

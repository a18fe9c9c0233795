"""A005: names that look like CUDA's and that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Effort, Finding
from porter.renames import unknown_names
from porter.rule import Rule, clean, reports
from porter.unit import Unit


class UnknownName(Rule):
    """Name that looks like CUDA's, and is in no table

    It is neither in the headers the tables were derived from nor declared by the project: a name of a newer CUDA, of a
    library without a table, or of the project's own headers that were not found. Nothing was changed; if it is the
    project's own, list it under `ignore_names` in porter.toml.
    """

    code = "A005"
    examples = (
        reports("void f() { cudaFrobnicateAsync(0); }", effort=Effort.REVIEW),
        clean("void cudaHelper(int); void f() { cudaHelper(1); }"),
        clean("void f(int **p) { cudaMalloc(p, 4); int cutoff = 3; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        for index in unknown_names(unit):
            name = unit.tokens.texts[index]
            yield self.finding(unit, unit.span(index), f"{name} is in no name table", Effort.REVIEW)

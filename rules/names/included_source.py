"""A013: #include of a source file that the port renames."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace

from porter.cpp.syntax import Include
from porter.engine.rule import Dialect, Edit, Effort, Example, Finding, Rule, Span, Unit, clean, fixes, reports


def _where(example: Example, **renamed: str) -> Example:
    return replace(example, renamed=tuple(renamed.items()))


class IncludedSource(Rule):
    """Included CUDA source that gets a new name

    `kernels.cu` becomes `kernels.hip`, so an `#include "kernels.cu"` has to follow. The folder part of the name stays.
    A name that fits several files which get different names is left for a person.
    """

    code = "A013"
    dialect = Dialect.BOTH
    text = r"\.[cC][uU]"
    examples = (
        _where(fixes('#include "kernels.cu"', '#include "kernels.hip"'), **{"kernels.cu": "kernels.hip"}),
        _where(
            fixes('#include "../src/a.cu"', '#include "../src/a.cu.hip"', path="test/t.cpp"),
            **{"src/a.cu": "src/a.cu.hip"},
        ),
        _where(
            reports("#include <kernels.cu>", effort=Effort.REVIEW),
            **{"x/kernels.cu": "x/kernels.hip", "y/kernels.cu": "y/kernels.cu.hip"},
        ),
        _where(clean('#include "elsewhere.cu"'), **{"kernels.cu": "kernels.hip"}),
        _where(clean('#include "kernels.cuh"'), **{"kernels.cu": "kernels.hip"}),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per #include."""
        for include in unit.tokens.includes:
            if not include.name.lower().endswith(".cu"):
                continue
            names = _new_names(unit, include)
            span = Span(include.start, include.end)
            if len(names) > 1:
                choices = " or ".join(sorted(names))
                message = f"{include.name} is one of several renamed files: write {choices}"
                yield self.finding(unit, span, message, Effort.REVIEW)
            for name in names if len(names) == 1 else ():
                message = f"{include.name} is now {name}"
                yield self.finding(unit, span, message, Effort.NONE, (Edit(*span, name),))


def _new_names(unit: Unit, include: Include) -> set[str]:
    """What the include may have to say now: the file beside this one, else every file whose path ends so."""
    folder = posixpath.dirname(include.name)
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(unit.source.path), include.name))
    found = [unit.renamed[beside]] if beside in unit.renamed else _by_tail(unit, include.name)
    return {posixpath.join(folder, posixpath.basename(output)) for output in found}


def _by_tail(unit: Unit, name: str) -> list[str]:
    tail = name
    while tail.startswith(("../", "./")):
        tail = tail.partition("/")[2]
    return [output for path, output in unit.renamed.items() if path == tail or path.endswith("/" + tail)]

"""C102: headers that hold parts of CUDA's cooperative groups."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_PARTS = frozenset(
    f"cooperative_groups/{part}.h" for part in ("reduce", "scan", "memcpy_async", "details/partitioning")
)


class CooperativeGroupsPart(Rule):
    """Header with a part of CUDA's cooperative groups

    `cooperative_groups/reduce.h`, `scan.h` and `memcpy_async.h` do not exist in most versions of HIP. What they declare
    is in `porter/cooperative_groups.hpp`.
    """

    code = "C102"
    triggers = _PARTS
    settles = True
    hazards = ("cg-missing-reduce-scan", "cg-memcpy-async")
    examples = (
        fixes("#include <cooperative_groups/reduce.h>\nint x;", "int x;"),
        clean('#include "my/cooperative_groups/reduce.h"\nint x;'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per header."""
        for include in unit.tokens.includes:
            if include.name not in _PARTS:
                continue
            text = unit.source.text
            end = include.line_end
            if text.startswith("\r\n", end):
                end += 2
            elif text.startswith("\n", end):
                end += 1
            span = Span(include.line_start, include.line_end)
            message = f"<{include.name}> is part of porter/cooperative_groups.hpp [cg-missing-reduce-scan]"
            edit = Edit(include.line_start, end, "")
            yield self.finding(unit, span, message, Effort.NONE, (edit,), ("porter/cooperative_groups.hpp",))

"""A004: names that a support header in the ported tree supplies."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Effort, Finding
from porter.renames import replacement
from porter.rule import Rule, clean, fixes
from porter.unit import Unit


class SupportName(Rule):
    """CUDA name that a header in the ported tree supplies

    Warp functions work on 32 lanes in CUDA and on 64 in HIP for MI300X; others do not exist in HIP at all. A small
    header written into the ported tree (`porter/warp32.hpp` and its neighbours, no dependency beyond HIP) supplies
    them with CUDA's meaning; only the identifier changes, so it works through macros and templates.
    """

    code = "A004"
    examples = (
        fixes(
            "__device__ int sum(int v) { return v + __shfl_xor_sync(0xffffffff, v, 1); }",
            "__device__ int sum(int v) { return v + porter::shfl_xor_sync(0xffffffff, v, 1); }",
        ),
        fixes("#define ALL(p) __all_sync(~0u, p)", "#define ALL(p) porter::all_sync(~0u, p)"),
        clean("struct S { int __shfl_sync(int); }; int f(S s) { return s.__shfl_sync(1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        for use in unit.uses:
            support = use.support
            if support is None:
                continue
            edits = replacement(unit.tokens, use, support.name)
            message = f"{use.name} becomes {support.name} ({support.header})"
            span = unit.span(use.first, use.last)
            yield self.finding(unit, span, message, Effort.NONE, edits, (support.header,))

"""H004: operators of bfloat16 before ROCm 6.1."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Example, Finding, Rule, Settings, Unit, clean
from porter.names.table import version_key

_TYPES = frozenset({"nv_bfloat16", "__nv_bfloat16", "nv_bfloat162", "__nv_bfloat162"})
_HEADER = "porter/bf16.hpp"
_OLD = Settings(rocm="6.0")


class Bfloat16Operators(Rule):
    """Arithmetic on bfloat16 without operators

    CUDA's `__nv_bfloat16` has operators, HIP's `__hip_bfloat16` has them since ROCm 6.1. For older versions a header
    supplies them, so that templates which are used with both half types compile. What cannot be supplied from outside
    are conversions: `b = 1.0f` and `float f = b` need `__float2bfloat16` and `__bfloat162float` there.
    """

    code = "H004"
    triggers = _TYPES
    examples = (
        Example("__nv_bfloat16 *p;", "__nv_bfloat16 *p;", Effort.NONE, "a.cuh", _OLD),
        Example("int *p;", None, None, "a.cuh", _OLD),
        Example('#include "porter/bf16.hpp"\n__nv_bfloat16 *p;', None, None, "a.cuh", _OLD),
        clean("__nv_bfloat16 *p;", path="a.cuh"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per file."""
        rocm = unit.settings.rocm
        if rocm is None or version_key(rocm) >= version_key("6.1") or any(n.endswith(_HEADER) for n in unit.included):
            return
        uses = (index for name in sorted(_TYPES & unit.identifiers) for index in unit.occurrences(name))
        first = min(uses, default=None)
        if first is not None and not unit.source.path.endswith(".c"):
            message = "bfloat16 has no operators before ROCm 6.1: porter/bf16.hpp supplies them"
            yield self.finding(unit, unit.span(first), message, Effort.NONE, includes=(_HEADER,))

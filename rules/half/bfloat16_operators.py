"""H004: bfloat16 before ROCm 6.2."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Example, Finding, Rule, Settings, Span, Unit, clean
from porter.names.table import version_key

_TYPES = frozenset({"nv_bfloat16", "__nv_bfloat16", "nv_bfloat162", "__nv_bfloat162"})
_CUDA = "cuda_bf16.h"
_HEADER = "porter/bf16.hpp"
_OLD = Settings(rocm="6.0")
_ONES = "#include <cuda_bf16.h>\n"


class Bfloat16Operators(Rule):
    """Conversions and arithmetic of bfloat16

    CUDA's `__nv_bfloat16` converts from and to numbers and has operators. HIP's `__hip_bfloat16` has operators
    since ROCm 6.1 and the conversions since 6.2. For older versions a header of ours stands for HIP's, before anything
    else includes that, so that templates which are used with `float` and both half types compile.
    """

    code = "H004"
    triggers = _TYPES | {_CUDA}
    examples = (
        Example("__nv_bfloat16 *p;", "__nv_bfloat16 *p;", Effort.NONE, "a.cuh", _OLD),
        Example(f"{_ONES}int *p;", f"{_ONES}int *p;", Effort.NONE, "a.cuh", _OLD),
        Example("__nv_bfloat16 *p;", "__nv_bfloat16 *p;", Effort.NONE, "a.cuh", Settings(rocm="6.1")),
        Example("int *p;", None, None, "a.cuh", _OLD),
        Example('#include "porter/bf16.hpp"\n__nv_bfloat16 *p;', None, None, "a.cuh", _OLD),
        clean("__nv_bfloat16 *p;", path="a.cuh"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per file."""
        rocm = unit.settings.rocm
        if rocm is None or version_key(rocm) >= version_key("6.2") or any(n.endswith(_HEADER) for n in unit.included):
            return
        if unit.source.path.endswith(".c"):
            return
        uses = (index for name in sorted(_TYPES & unit.identifiers) for index in unit.occurrences(name))
        first = min(uses, default=None)
        span = unit.span(first) if first is not None else _included(unit)
        if span is not None:
            message = "bfloat16 has no conversions before ROCm 6.2: porter/bf16.hpp supplies them"
            yield self.finding(unit, span, message, Effort.NONE, includes=(_HEADER,))


def _included(unit: Unit) -> Span | None:
    """Where the file includes CUDA's header."""
    places = (Span(one.start, one.end) for one in unit.tokens.includes if one.name == _CUDA)
    return next(places, None)

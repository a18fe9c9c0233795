"""A002: names that HIP does not have."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.renames import Use
from porter.engine.rule import Dialect, Finding, Rule, Unit, answered_names, clean, reports
from porter.names.causes import one_cause
from porter.names.table import NameRow


class MissingName(Rule):
    """CUDA name that HIP does not have

    The name has no counterpart in the ROCm version that was asked for. The finding says why and, where there is one,
    what to use instead. The text is left as it is, so that the compiler points at the same place. Names of one thing
    (tensor maps, multicast objects, NVTX's events) have one text, and are one cause with many places.
    """

    code = "A002"
    dialect = Dialect.BOTH
    by_names = True
    examples = (
        reports("void f(cudaExternalMemory_t m) { cublasXtHandle_t h; cublasXtCreate(&h); }"),
        reports("CUtensorMap make(CUtensorMapSwizzle s);"),
        clean("#if !defined(MINE) && defined(CUB_DEBUG_ALL)\n#define MINE\n#endif", path="a.hip"),
        reports("#include <cuda/annotated_ptr>\n#include <cuda/api.hpp>\ncuda::access_property p;"),
        reports("cuda::access_property p;"),
        clean(
            "#include <cuda/api.hpp>\nvoid f() { cuda::device_t d = cuda::device::current::get(); cuda::launch(g, d); }"
        ),
        clean("void f(int **p) { cudaMalloc(p, 4); }"),
        clean("using namespace cub;\n__global__ void k(int *p) { *p = max(*p, 1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        answered = answered_names(unit.settings)
        for use in unit.uses:
            row = use.row
            if _is_asked_by_amd(unit, use.first):
                continue
            if use.name not in answered and use.support is None and row is not None and row.hip is None:
                span = unit.span(use.first, use.last)
                yield self.finding(unit, span, _message(unit, use, row), row.effort)


def _message(unit: Unit, use: Use, row: NameRow) -> str:
    """What is missing: of a namespace the member that no table has, which can be another library's."""
    texts = unit.tokens.texts
    if row.kind == "namespace" and texts[use.last + 1] == "::":
        member = f"{use.name}::{texts[use.last + 2]}"
        return f"{member} is in no name table: it is another library's or the project's; as CUDA's, {row.gap}"
    return one_cause(f"{use.name}: ", row.gap or "")


def _is_asked_by_amd(unit: Unit, index: int) -> bool:
    """Whether HIP code asks with `#if` for a macro of CUDA's: what is not defined is not so."""
    directive = unit.tokens.directive_of(index)
    asks = directive is not None and directive.name in ("if", "elif", "ifdef", "ifndef")
    return asks and unit.dialects.is_hip(unit.tokens.starts[index])

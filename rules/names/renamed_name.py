"""A001: names that HIP has under another name."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Effort, Finding
from porter.renames import replacement
from porter.rule import Rule, clean, fixes
from porter.unit import Unit


class RenamedName(Rule):
    """CUDA name that HIP has under another name

    HIP's runtime and its libraries follow CUDA's naming: `cudaMalloc` is `hipMalloc`, `cublasSgemm` is
    `hipblasSgemm`, `cub::BlockReduce` is `hipcub::BlockReduce`. The tables below `rules/api/` hold every public name
    of CUDA's headers, derived from both vendors' headers. Names that the project declares itself, members,
    strings and comments are left alone.
    """

    code = "A001"
    examples = (
        fixes("void f(int **p) { cudaMalloc(p, 4); }", "void f(int **p) { hipMalloc(p, 4); }"),
        fixes(
            "#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) die(); } while (0)",
            "#define CHECK(x) do { hipError_t e = (x); if (e != hipSuccess) die(); } while (0)",
        ),
        fixes("using Sum = cub::BlockReduce<int, 128>;", "using Sum = hipcub::BlockReduce<int, 128>;"),
        fixes("namespace my_cub = cub;", "namespace my_cub = hipcub;"),
        clean("struct Pool { void *cudaMalloc(int); }; void f(Pool &p) { p.cudaMalloc(4); }"),
        clean('const char *s = "cudaMalloc failed"; // cudaMalloc'),
        clean("namespace mine { void cudaFree(int); } void f() { mine::cudaFree(1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        for use in unit.uses:
            row = use.row
            if use.support is not None or row is None or row.hip is None or row.hip == use.name:
                continue
            edits = replacement(unit.tokens, use, row.hip)
            if edits:
                span = unit.span(use.first, use.last)
                yield self.finding(unit, span, f"{use.name} is {row.hip} in HIP", Effort.NONE, edits)

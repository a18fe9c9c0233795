"""A170: the project's macros whose names AMD's headers use."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, fixes
from porter.model import Span
from porter.source import SourceFile

_COMPLEX = "<hip/hip_complex.h>"
_PRIM = "<rocprim/rocprim.hpp>"
_MEETS = {"real": _COMPLEX, "imag": _COMPLEX, "warp": _PRIM}
"""Macro names -> the header of AMD's with names of its own that are spelt so."""
_BRINGS = {
    _COMPLEX: re.compile(
        r"cuComplex\.h|cublas\w*\.h|cusparse\w*\.h|cufft\w*\.h|cusolver\w*\.h|hip(?:blas|sparse|fft|solver)/.*"
    ),
    _PRIM: re.compile(r"(?:hip)?cub/.*|thrust/.*"),
}
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(real|imag|warp)(?=[ \t])", re.MULTILINE)


class MacroInLibraryHeader(Rule):
    """Macro that AMD's headers meet

    `#define real double` is a project's way to choose a precision. CUDA's headers have no names of their own that are
    spelt so; HIP's complex functions have variables called `real` and `imag`, and rocPRIM has a namespace `warp`, which
    the macro replaces where the library is included after it. The unit includes the header ahead of everything.
    """

    code = "A170"
    text = r"#[ \t]*include"
    examples = (
        fixes(
            "#define real float\n#include <cusparse.h>\nreal *p;",
            "#define real float\n#include <cusparse.h>\nreal *p;",
        ),
        fixes(
            "#define warp (threadIdx.x / 32)\n#include <cub/cub.cuh>",
            "#define warp (threadIdx.x / 32)\n#include <cub/cub.cuh>",
        ),
        clean("#define real float\nreal *p;"),
        clean("#define real(x) creal(x)\n#include <cusparse.h>"),
        clean("#include <cusparse.h>\nfloat real;"),
        clean("#define real float\n#include <cusparse.h>\nreal *p;", path="a.h"),
        clean("#include <hip/hip_complex.h>\n#define real float\n#include <cusparse.h>\nreal *p;"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per unit and header; what a unit's headers define is found from the unit."""
        if not unit.source.path.endswith(".cu"):
            return
        sources = (unit.source, *unit.program.headers)
        macros = {name for one in sources for name in _macros(one)}
        for header in sorted({_MEETS[name] for name in macros}):
            included = {name for one in sources for name in _included(one)}
            if header.strip("<>") in unit.included or not any(_BRINGS[header].fullmatch(name) for name in included):
                continue
            name = min(name for name in macros if _MEETS[name] == header)
            message = f"the macro {name} would meet {header}: it is included ahead of it"
            yield self.finding(unit, _place(unit), message, Effort.NONE, includes=(header,))


@functools.lru_cache(maxsize=2048)
def _macros(source: SourceFile) -> frozenset[str]:
    return frozenset(_MACRO.findall(source.text)) if "define" in source.text else frozenset()


@functools.lru_cache(maxsize=2048)
def _included(source: SourceFile) -> tuple[str, ...]:
    return tuple(re.findall(r'#[ \t]*include[ \t]*[<"]([^>"\n]+)', source.text))


def _place(unit: Unit) -> Span:
    first = unit.tokens.includes[0]
    return Span(first.start, first.end)

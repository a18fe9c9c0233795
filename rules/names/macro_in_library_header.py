"""A170: the project's macros whose names AMD's headers use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.kept_tokens import tokens_of
from porter.cpp.lex import Tokens
from porter.engine.rule import Effort, Finding, Rule, Span, Unit, clean, fixes

_COMPLEX = "<hip/hip_complex.h>"
_PRIM = "<rocprim/rocprim.hpp>"
_MEETS = {"real": _COMPLEX, "imag": _COMPLEX, "warp": _PRIM}
"""Macro names -> the header of AMD's with names of its own that are spelt so."""
_DEFINES = re.compile(r"#[ \t]*define[ \t]+(?:" + "|".join(_MEETS) + r")\b")
_BRINGS = {
    _COMPLEX: re.compile(
        r"cuComplex\.h|cublas\w*\.h|cusparse\w*\.h|cufft\w*\.h|cusolver\w*\.h|hip(?:blas|sparse|fft|solver)/.*"
    ),
    _PRIM: re.compile(r"(?:hip)?cub/.*|thrust/.*"),
}


class MacroInLibraryHeader(Rule):
    """Macro that AMD's headers meet

    `#define real double` is a project's way to choose a precision. CUDA's headers have no names of their own that are
    spelt so; HIP's complex functions have variables called `real` and `imag`, and rocPRIM has a namespace `warp`, which
    the macro replaces where the library is included after it. The unit includes the header ahead of everything.
    """

    code = "A170"
    by_names = True
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
        if not any(one.matches(_DEFINES) for one in (unit.source, *unit.program.headers)):
            return
        parts = (unit.tokens, *(tokens_of(one) for one in unit.program.headers))
        macros = {name for tokens in parts for name in _MEETS.keys() & tokens.names.keys() if _is_macro(tokens, name)}
        for header in sorted({_MEETS[name] for name in macros}):
            brings = _BRINGS[header]
            if header.strip("<>") in unit.included or not any(
                brings.fullmatch(one.name) for tokens in parts for one in tokens.includes
            ):
                continue
            name = min(name for name in macros if _MEETS[name] == header)
            message = f"the macro {name} would meet {header}: it is included ahead of it"
            first = unit.tokens.includes[0]
            yield self.finding(unit, Span(first.start, first.end), message, Effort.NONE, includes=(header,))


def _is_macro(tokens: Tokens, name: str) -> bool:
    """Whether a name is defined as a macro without parameters."""
    return any(
        tokens.defines(index) and not (tokens.texts[index + 1] == "(" and tokens.starts[index + 1] == tokens.end(index))
        for index in tokens.names[name]
    )

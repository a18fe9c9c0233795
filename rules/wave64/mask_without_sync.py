"""V110: a mask given to a function that takes none."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.constants import number
from porter.cpp.lex import Tokens
from porter.engine.rule import Dialect, Effort, Finding, Rule, Unit, clean, reports

_FORMS = ("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor")
_ALL = frozenset({0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF})


class MaskWithoutSync(Rule):
    """Mask given to a shuffle that takes none

    `__shfl_down(0xffffffff, v, 1)` compiles: the mask is what is exchanged, and the value is taken for the lane. It
    comes of a macro that is `__shfl_down_sync` for CUDA and `__shfl_down` in the branch for AMD
    (`#define SHFL_DOWN __shfl_down`), and of `_sync` cut off by hand. Leave the mask out, or make the macro one with
    parameters.
    """

    code = "V110"
    only_reports = True
    dialect = Dialect.BOTH
    text = r"__shfl(?:_up|_down|_xor)?\b"
    hazards = ("mask32-literal-static-assert",)
    examples = (
        reports("__device__ float f(float v) { return __shfl_down(0xffffffff, v, 1); }", path="a.hip"),
        reports(
            """
            #if defined(__HIP_PLATFORM_AMD__)
            #define SHFL_DOWN __shfl_down
            #else
            #define SHFL_DOWN __shfl_down_sync
            #endif
            __device__ float f(float v) { return v + SHFL_DOWN(0xffffffff, v, 1); }
            """
        ),
        clean(
            """
            #if defined(__HIP_PLATFORM_AMD__)
            #define SHFL_DOWN(mask, v, n) __shfl_down(v, n)
            #else
            #define SHFL_DOWN __shfl_down_sync
            #endif
            __device__ float f(float v) { return v + SHFL_DOWN(0xffffffff, v, 1); }
            """
        ),
        clean("__device__ unsigned f() { return __shfl(0xffffffff, 1); }", path="a.hip"),
        clean("__device__ float f(float v) { return __shfl_down(v, 1, 32); }", path="a.hip"),
        clean("__device__ float f(float v) { return __shfl_down_sync(0xffffffffffffffffull, v, 1); }", path="a.hip"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        for name in (*_FORMS, *_macros(unit)):
            for index in unit.tokens.names.get(name, ()):
                meaning = unit.dialects.at(unit.tokens.starts[index])
                amds = meaning.dialect is Dialect.HIP if name in _FORMS else meaning.compiled
                if amds and unit.is_free(index) and _has_mask(unit.tokens, index):
                    message = f"{name} takes no mask in HIP: the mask is exchanged, and the value is taken for the lane"
                    yield self.finding(unit, unit.span(index), message, Effort.MANUAL)


def _macros(unit: Unit) -> Iterator[str]:
    """Macros that are nothing but such a function in lines of AMD's."""
    tokens = unit.tokens
    for form in _FORMS:
        for index in tokens.names.get(form, ()):
            directive = tokens.directive_of(index)
            if directive is None or directive.name != "define" or directive.last - directive.first != 2:
                continue
            if unit.dialects.is_hip(directive.start) and directive.first == index - 1:
                yield tokens.texts[directive.first]


def _has_mask(tokens: Tokens, index: int) -> bool:
    """Whether a call has all bits of a mask, and then a value and a lane."""
    texts = tokens.texts
    if texts[index + 1] != "(" or texts[index + 3] != ",":
        return False
    closing = tokens.partner.get(index + 1, index + 1)
    place, commas = index + 2, 0
    while place < closing:
        commas += texts[place] == ","
        place = tokens.partner.get(place, place) + 1 if texts[place] in ("(", "[", "{") else place + 1
    return commas >= 2 and number(texts[index + 2]) in _ALL

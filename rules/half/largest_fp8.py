"""H006: 448, the largest e4m3."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.lex import NUMBER
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_LARGEST = re.compile(r"448(?<!\w448)(?:\.0*)?[fF]?(?![\w.])")
_OF_FP8 = re.compile(r"e4m3|fp8|float_?8", re.IGNORECASE)
_BEFORE, _AFTER = 40, 12
"""Tokens around the number in which something has to speak of the format: 448 is also a size of images."""
_MESSAGE = "the largest e4m3 that gfx942 computes with is 240 (FNUZ): what is scaled to 448 saturates"


class LargestFp8(Rule):
    """The largest e4m3, written as a number

    Kernels scale by the largest value of a format before they convert to it. gfx942's e4m3 is FNUZ, whose largest value
    is 240 where CUDA's has 448: numbers above become 240, or NaN, and nothing says so. The number often stands where no
    type of CUDA's does, behind the project's own alias. It is right as it is where the project's own code, and not the
    hardware, reads and writes the bits.
    """

    code = "H006"
    text = r"448"
    only_reports = True
    hazards = ("fp8-fnuz-vs-ocp",)
    examples = (
        clean("__device__ int f(int x) { return x % 448; }"),
        clean("template <> struct Image<448> { static constexpr int width = 448; };"),
        clean("__device__ float f() { return 1448.0f + 4480 + 0x448; } // fp8"),
        clean("inline float largest_fp8() { return 448.0f; }", path="cpu.cpp"),
        clean("#ifdef USE_ROCM\nconstexpr float kFp8Max = 240.f;\n#else\nconstexpr float kFp8Max = 448.f;\n#endif"),
        reports("constexpr float kFp8Max = 448.f;", effort=Effort.REVIEW),
        reports("template <> struct Traits<fp8e4m3> { static constexpr double maxNorm = 448; };", effort=Effort.REVIEW),
        reports(
            "__device__ float scale(float amax) { return amax / FP8_E4M3_MAX; }\n#define FP8_E4M3_MAX 448.0f",
            effort=Effort.REVIEW,
        ),
        reports(
            "__device__ float f(float a);\nconstexpr float largest_e4m3 = 448.0f;",
            path="a.h",
            effort=Effort.REVIEW,
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per number."""
        if not unit.source.path.lower().endswith((".cu", ".cuh")) and "__device__" not in unit.tokens.text:
            return
        tokens = unit.tokens
        for match in _LARGEST.finditer(tokens.text):
            index = tokens.at(match.start())
            if tokens.starts[index] != match.start() or tokens.kinds[index] != NUMBER:
                continue
            around = " ".join(tokens.texts[max(0, index - _BEFORE) : index + _AFTER])
            if _OF_FP8.search(around):
                yield self.finding(unit, unit.span(index, index), _MESSAGE, Effort.REVIEW)

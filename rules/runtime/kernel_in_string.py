"""R014: kernel source inside a string literal."""

from __future__ import annotations

from collections.abc import Iterator

from porter.lex import STRING
from porter.model import Effort, Finding
from porter.rule import Rule, clean, reports
from porter.unit import Unit

_MARKS = ("__global__", "__device__")


class KernelInString(Rule):
    """Kernel source inside a string

    The text is compiled at run time (NVRTC, here hipRTC) and is CUDA still: strings are never rewritten, because what
    reads them cannot be known. Warp functions, 32-lane masks and CUDA's headers in it break on gfx942 as they do in a
    file, and nothing says so before the program runs. Put the source into a file that is ported and read, or port the
    text by hand.
    """

    code = "R014"
    hazards = ("nvrtc-builtin-headers",)
    examples = (
        reports('const char *source = "extern \\"C\\" __global__ void k(float *x) { x[threadIdx.x] *= 2; }";'),
        reports('const char *source = R"cuda(\n__global__ void k(float *x) { *x = 1; }\n)cuda";'),
        clean('__global__ void k(char *c) { printf("a kernel is marked with global"); }'),
        clean('// "__global__ void k()"\n__global__ void k() {}'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per string literal that holds device code."""
        tokens = unit.tokens
        if not any(mark in unit.source.text for mark in _MARKS) or STRING not in tokens.kinds:
            return
        for index, (kind, text) in enumerate(zip(tokens.kinds, tokens.texts, strict=True)):
            if kind == STRING and any(mark in text for mark in _MARKS):
                message = "CUDA source in a string is compiled at run time and was not ported"
                yield self.finding(unit, unit.span(index), message, Effort.MANUAL)

"""R014: kernel source inside a string literal."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.runtime_strings import RuntimeSource, runtime_sources
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_USED = 'void f(nvrtcProgram *p) { nvrtcCreateProgram(p, source, "k.cu", 0, nullptr, nullptr); }'


class KernelInString(Rule):
    """Kernel source inside a string

    The text is compiled at run time (NVRTC, here hipRTC) and is CUDA still. Where a literal is handed to
    `nvrtcCreateProgram` and nothing else is done with it, directly, through variables or through a parameter of a
    function of the same file, also together with other texts, its text is ported like a file of its own and written
    back into the literal; support headers that it needs reach hipRTC through `porter/rtc.hpp`. A function of another
    file is trusted if its name speaks of compiling, and a text that nothing in its file uses is taken to be compiled by
    another: look whether it is. Everything else, a text that is formatted or searched say, is reported with the reason:
    port it by hand, or put it into a file that is ported and read.
    """

    code = "R014"
    text = "__(?:global|device)__"
    hazards = ("nvrtc-builtin-headers",)
    examples = (
        reports('void f() { out << "extern \\"C\\" __global__ void k(float *x) { x[threadIdx.x] *= 2; }"; }'),
        reports('const char *source = R"cuda(\n__global__ void k(float *x) { *x = 1; }\n)cuda";', effort=Effort.REVIEW),
        reports(
            'const char *source = R"(__global__ void k(float *x) { *x = 1; })";\n' + _USED,
            effort=Effort.NONE,
        ),
        reports(
            'const char *source = "__global__ void k(%s *x) { *x = 1; }";\nvoid g() { printf(source, 1); }\n' + _USED
        ),
        clean('__global__ void k(char *c) { printf("a kernel is marked with global"); }'),
        clean('// "__global__ void k()"\n__global__ void k() {}'),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per string literal that holds device code."""
        for source in runtime_sources(unit.tokens):
            span = unit.span(source.first, source.last)
            if source.problem:
                message = f"CUDA source in a string is compiled at run time and was not ported: {source.problem}"
                yield self.finding(unit, span, message, Effort.MANUAL)
            elif source.elsewhere and not _is_ported(source):
                message = f"{_message(source)}, as {source.elsewhere}"
                yield self.finding(unit, span, message, Effort.REVIEW)
            elif "nvrtcCreateProgram" in unit.tokens.names:
                yield self.finding(unit, span, _message(source), Effort.NONE)


def _is_ported(source: RuntimeSource) -> bool:
    """Whether the text uses our functions: nothing is left to be looked at in a port."""
    return source.literal is not None and "porter::" in source.literal.text


def _message(source: RuntimeSource) -> str:
    where = f"the string {source.name}" if source.name else "a string"
    return f"CUDA source in {where} is compiled at run time; it was ported like a file of its own"

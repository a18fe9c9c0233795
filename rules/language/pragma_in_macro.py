"""L029: macros that stand for a line of `#pragma`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_JOIN = re.compile(r"\\\r?\n")


class PragmaInMacro(Rule):
    r"""Macro that stands for a `#pragma` line

    `#define UNROLL #pragma unroll` works with nvcc, whose reader looks for directives in what macros expand to. In C++
    there are none, and clang stops at the `#` wherever the macro is used: `expected expression`. The operator
    `_Pragma("unroll")` means the same to both compilers. Such a line in a branch that clang takes for CUDA alone
    (`__CUDA__` is not defined in HIP) is the one that a port gets.
    """

    code = "L029"
    text = r"(?m:^[ \t]*#[ \t]*define[ \t]+\w+(?:[ \t]|\\\r?\n)+#[ \t]*pragma\b)"
    examples = (
        fixes("#define UNROLL #pragma unroll", '#define UNROLL _Pragma("unroll")'),
        fixes(
            "#  define NO_UNROLL   # pragma  unroll 1 // as it is",
            '#  define NO_UNROLL   _Pragma("unroll 1") // as it is',
        ),
        fixes("#define FOUR \\\n  #pragma unroll (4)\nint n;", '#define FOUR \\\n  _Pragma("unroll (4)")\nint n;'),
        fixes('#define SAY #pragma message("a\\n")', '#define SAY _Pragma("message(\\"a\\\\n\\")")'),
        fixes(
            '#ifdef __CUDA__\n#define U _Pragma("unroll")\n#else\n#define U #pragma unroll\n#endif',
            '#ifdef __CUDA__\n#define U _Pragma("unroll")\n#else\n#define U _Pragma("unroll")\n#endif',
        ),
        clean('#define UNROLL _Pragma("unroll")'),
        clean("#define PRAGMA(x) _Pragma(#x)\n#define UNROLL PRAGMA(unroll)"),
        clean("#define TEXT(pragma) #pragma"),
        clean("#define NOTHING\n#pragma unroll\n"),
        clean('const char *source = R"(\n#define UNROLL #pragma unroll\n)";'),
        clean("// #define UNROLL #pragma unroll\n/*\n#define UNROLL #pragma unroll\n*/"),
        clean("#define EMPTY #pragma"),
        clean("#ifdef __HIP_PLATFORM_AMD__\n#define U\n#else\n#define U unroll\n#endif"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per macro whose whole body is the line."""
        tokens = unit.tokens
        for directive in tokens.directives:
            first = directive.first + 1
            if directive.name != "define" or tokens.texts[first : min(first + 2, directive.last)] != ["#", "pragma"]:
                continue
            if first + 2 >= directive.last:
                continue
            start, end = tokens.starts[first], tokens.end(directive.last - 1)
            said = " ".join(_JOIN.sub(" ", tokens.text[tokens.starts[first + 2] : end]).split())
            escaped = said.replace("\\", "\\\\").replace('"', '\\"')
            message = f"{tokens.texts[directive.first]} is a #pragma that clang does not find in a macro"
            span = unit.span(first, directive.last - 1)
            yield self.finding(unit, span, message, Effort.NONE, (Edit(start, end, f'_Pragma("{escaped}")'),))

"""C043: declarations of CUDA's built-in variables in the project."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_VARIABLES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})


class BuiltinRedeclared(Rule):
    """`extern const uint3 threadIdx;` in the project

    Headers declare the built-in variables once more, for the host's pass or for an editor. CUDA has them of the same
    types and does not mind; HIP's are objects of other types: "redeclaration with a different type". HIP's runtime
    header declares them for both passes, so the project's declaration goes.
    """

    code = "C043"
    triggers = _VARIABLES
    text = r"\bextern\b"
    examples = (
        fixes("extern const dim3 blockDim;\nextern const uint3 threadIdx;\nint x;", "int x;", path="a.h"),
        fixes(
            'extern "C" {\nextern uint3 blockIdx;\nint f();\n}',
            'extern "C" {\nint f();\n}',
            path="a.h",
        ),
        clean("extern int x; __global__ void k(int *p) { p[threadIdx.x] = blockDim.x; }"),
        clean("#ifdef __INTELLISENSE__\nextern uint3 threadIdx;\n#endif", path="a.h"),
        clean("extern void f(int threadIdx);", path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per declaration."""
        tokens = unit.tokens
        for name in sorted(_VARIABLES & unit.identifiers):
            for index in tokens.names[name]:
                if tokens.texts[index + 1] != ";":
                    continue
                first = index
                while first > 0 and tokens.kinds[first - 1] == "i" and tokens.texts[first] != "extern":
                    first -= 1
                if tokens.texts[first] != "extern" or not unit.declares(index):  # or for an editor
                    continue
                span = unit.span(first, index + 1)
                after = unit.source.text.find("\n", span.end)
                rest = unit.source.text[span.end : after]
                end = after + 1 if after >= 0 and not rest.strip() else span.end
                message = f"{name} is an object in HIP, which its header declares"
                yield self.finding(unit, span, message, Effort.NONE, (Edit(span.start, end, ""),))

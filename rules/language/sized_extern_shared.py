"""L012: dynamic shared memory declared with a size."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes


class SizedExternShared(Rule):
    """`extern __shared__` array with a size

    Dynamic shared memory is as large as the launch says. nvcc takes a size in `extern __shared__ float s[32][32];` and
    ignores it; clang takes an array without its first size only, and stops with "cannot be 'extern'".
    """

    code = "L012"
    triggers = frozenset({"__shared__"})
    examples = (
        fixes(
            "__global__ void k() { extern __shared__ float s[32][32]; s[0][0] = 1; }",
            "__global__ void k() { extern __shared__ float s[][32]; s[0][0] = 1; }",
        ),
        fixes("extern __shared__ int a[N + 1];", "extern __shared__ int a[];"),
        clean("extern __shared__ int a[];"),
        clean("extern __shared__ __align__(16) char a[];"),
        clean("__global__ void k() { __shared__ float s[32]; extern int n[4]; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per declaration."""
        tokens = unit.tokens
        for index in tokens.names.get("__shared__", ()):
            if "extern" not in tokens.texts[max(index - 1, 0) : index + 2]:
                continue
            place = index + 1
            while place < len(tokens) and tokens.texts[place] not in (";", "{", "=", "["):
                place = tokens.partner.get(place, place) + 1 if tokens.texts[place] == "(" else place + 1
            closed = tokens.partner.get(place) if tokens.texts[place] == "[" else None
            if closed is None or closed == place + 1:
                continue
            span = unit.span(place + 1, closed - 1)
            message = "dynamic shared memory has no size in its declaration"
            yield self.finding(unit, span, message, Effort.NONE, (Edit(span.start, span.end, ""),))

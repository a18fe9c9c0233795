"""L011: launches with a list in braces for a size."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.launches import configuration_end
from porter.cpp.syntax import closing, split_commas
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes


class BracedLaunch(Rule):
    """Launch with a list in braces for its grid or block

    nvcc takes `kernel<<<blocks, {32, 8, 1}>>>(...)`, where the list becomes a `dim3`. Clang knows no list there, and
    stops with "expected expression". The size becomes `dim3(32, 8, 1)`.
    """

    code = "L011"
    text = "<<<"
    examples = (
        fixes(
            "__global__ void k(int a) {}\nvoid f(int n) { k<<<n, {32, 8, 1}>>>(3); }",
            "__global__ void k(int a) {}\nvoid f(int n) { k<<<n, dim3(32, 8, 1)>>>(3); }",
        ),
        fixes(
            "__global__ void k(int a) {}\nvoid f(int n) { k<<<{n, n}, dim3{32, 8}>>>(3); }",
            "__global__ void k(int a) {}\nvoid f(int n) { k<<<dim3(n, n), dim3{32, 8}>>>(3); }",
        ),
        clean("__global__ void k(int a) {}\nvoid f(int n) { k<<<n, dim3{32, 8}>>>(int{3}); }"),
        clean("struct P { int a, b; };\n__global__ void k(P p) {}\nvoid f() { k<<<1, 32>>>({1, 2}); }"),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether there is a launch."""
        return "<<<" in unit.source.text

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per list."""
        tokens = unit.tokens
        for index in tokens.launches:
            end = configuration_end(tokens, index, len(tokens))
            for first, last in split_commas(tokens, index + 1, end) if end is not None else ():
                closed = closing(tokens, first, last) if tokens.texts[first] == "{" else None
                if closed is not None:
                    edits = (
                        Edit(tokens.starts[first], tokens.end(first), "dim3("),
                        Edit(tokens.starts[closed], tokens.end(closed), ")"),
                    )
                    span = Span(tokens.starts[first], tokens.end(closed))
                    yield self.finding(unit, span, "a list in braces is a dim3 for nvcc only", Effort.NONE, edits)

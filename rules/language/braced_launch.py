"""L011: launches with a list in braces for a size."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Edit, Effort, Finding, Span
from porter.rule import Rule, clean, fixes
from porter.unit import Unit

_STARTS = frozenset({"<<<", ","})


class BracedLaunch(Rule):
    """Launch with a list in braces for its grid or block

    nvcc takes `kernel<<<blocks, {32, 8, 1}>>>(...)`, where the list becomes a `dim3`. Clang knows no list there, and
    stops with "expected expression". The size becomes `dim3(32, 8, 1)`.
    """

    code = "L011"
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
        for index, text in enumerate(tokens.texts):
            if text != "<<<":
                continue
            place = index + 1
            while place < len(tokens) and tokens.texts[place] not in (">>>", ";"):
                closed = tokens.partner.get(place) if tokens.texts[place] in "([{" else None
                if closed is not None and tokens.texts[place] == "{" and tokens.texts[place - 1] in _STARTS:
                    edits = (
                        Edit(tokens.starts[place], tokens.end(place), "dim3("),
                        Edit(tokens.starts[closed], tokens.end(closed), ")"),
                    )
                    span = Span(tokens.starts[place], tokens.end(closed))
                    yield self.finding(unit, span, "a list in braces is a dim3 for nvcc only", Effort.NONE, edits)
                place = (closed or place) + 1

"""L010: launches with blanks between the angle brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.syntax import IDENTIFIER, Tokens
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_LONGEST = 200
_OPENS, _CLOSES = frozenset("([{"), frozenset(")]}")
_SPACED = re.compile(r"<<\s+<|<\s+<<|>>\s+>\s*(?:[(/]|$)|>\s+>>\s*(?:[(/]|$)", re.MULTILINE)
_BEFORE = frozenset({">", ">>>", ")", "]"})
"""What a kernel may end in besides a name: `k<A<B<int>>>`, `(k)`, `table[n]`."""


class SpacedLaunch(Rule):
    """Launch written with blanks between its angle brackets

    nvcc takes `kernel << <grid, block >> > (...)` for a launch, as some formatters write it. Clang does not, and
    PyTorch's hipify does not see it either. The brackets are written together.
    """

    code = "L010"
    text = r"<<(?:\s|\\|//[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)+<"
    hazards = ("hipify-launch-text",)
    examples = (
        fixes(
            "__global__ void k(int a) {}\nvoid f() { k << <1, 32 >> > (3); }",
            "__global__ void k(int a) {}\nvoid f() { k <<<1, 32 >>> (3); }",
        ),
        fixes(
            "template <int N> __global__ void k(int a) {}\nvoid f(int n) { k<4> << <(n + 31) / 32, 32>>> (3); }",
            "template <int N> __global__ void k(int a) {}\nvoid f(int n) { k<4> <<<(n + 31) / 32, 32>>> (3); }",
        ),
        fixes(
            "__global__ void k(int a) {}\nvoid f() { k<<<1, 32>> >(3); k< <<1, 32> >>(3); }",
            "__global__ void k(int a) {}\nvoid f() { k<<<1, 32>>>(3); k<<<1, 32>>>(3); }",
        ),
        fixes(
            "template <class T> __global__ void k(int a) {}\nvoid f() { k<A<B<int>>> << <1, 32>> > (3); }",
            "template <class T> __global__ void k(int a) {}\nvoid f() { k<A<B<int>>> <<<1, 32>>> (3); }",
        ),
        fixes(
            "__global__ void k(int a) {}\nvoid f(int n) { (n ? k : k) << <1, 32>> >(3); }",
            "__global__ void k(int a) {}\nvoid f(int n) { (n ? k : k) <<<1, 32>>>(3); }",
        ),
        fixes("#define ONE << <1, 32>> >\nvoid f() { k ONE (3); }", "#define ONE <<<1, 32>>>\nvoid f() { k ONE (3); }"),
        clean("int f(int a, int b) { return (a) << (b) >> (a > 1); }"),
        clean("__global__ void k(int a) {}\nvoid f() { k<<<1, 32>>>(3); }"),
        clean("template <class T> T g(T);\nvoid f() { k<<<1, 32>>>(g<A<B<int>> >(3)); }"),
        clean("int g(int a, int b) { return a << (b < 3 ? 1 : 2); }"),
        clean("template <int N> struct A {};\nint f(int a) { return a >> 2 > (a << 1); }"),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether a launch is written so anywhere."""
        text, line = unit.source.text, unit.tokens.first_characters
        if "<<" not in line and ">>" not in line:
            return False
        return ("<<<" in text or "<< <" in text or "<<  <" in text) and _SPACED.search(text) is not None

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per launch."""
        tokens = unit.tokens
        for index in range(1, len(tokens)):
            opened = _written(tokens, index, "<<<")
            if not opened or (tokens.kinds[index - 1] != IDENTIFIER and tokens.texts[index - 1] not in _BEFORE):
                continue
            directive = tokens.directive_of(index)
            end, closed = _end(tokens, index + opened, len(tokens) if directive is None else directive.last)
            if opened == closed == 1 or not closed:
                continue
            edits = tuple(
                Edit(tokens.starts[first], tokens.end(first + count - 1), together)
                for first, count, together in ((index, opened, "<<<"), (end, closed, ">>>"))
                if count > 1
            )
            message = "a launch with blanks between its angle brackets"
            yield self.finding(unit, Span(edits[0].start, edits[0].end), message, Effort.NONE, edits)


def _written(tokens: Tokens, index: int, together: str) -> int:
    """How many tokens from an index on are the three brackets; 0 when they are something else."""
    text = ""
    for count in range(1, len(together) + 1):
        text += tokens.texts[index + count - 1] if index + count <= len(tokens) else ""
        if text == together:
            return count
        if not together.startswith(text):
            return 0
    return 0


def _end(tokens: Tokens, index: int, last: int) -> tuple[int, int]:
    """Where the brackets before `(` or the end of a macro begin that close a launch, and how many tokens they are.

    0 when it is none.
    """
    depth = 0
    for place in range(index, min(last, index + _LONGEST)):
        text = tokens.texts[place]
        depth += (text in _OPENS) - (text in _CLOSES)
        if depth < 0 or text in (";", "<<<"):
            break
        if depth == 0 and text[0] == ">":
            count = _written(tokens, place, ">>>")
            if count and (tokens.texts[place + count] == "(" or place + count == last < len(tokens)):
                return place, count
    return index, 0

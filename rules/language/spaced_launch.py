"""L010: launches with blanks between the angle brackets."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import IDENTIFIER, Tokens
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_LONGEST = 200
_OPENS, _CLOSES = frozenset("([{"), frozenset(")]}")


class SpacedLaunch(Rule):
    """Launch written with blanks between its angle brackets

    nvcc takes `kernel << <grid, block >> > (...)` for a launch, as some formatters write it. Clang does not, and
    PyTorch's hipify does not see it either. The brackets are written together.
    """

    code = "L010"
    text = r"<<(?:\s|\\|//[^\n]*|/\*(?s:.)*?\*/)+<"
    hazards = ("hipify-launch-text",)
    examples = (
        fixes(
            "__global__ void k(int a) {}\nvoid f() { k << <1, 32 >> > (3); }",
            "__global__ void k(int a) {}\nvoid f() { k <<<1, 32 >>> (3); }",
        ),
        clean("__global__ void k(int a) {}\nvoid f() { k<<<1, 32>>>(3); }"),
        clean("int g(int a, int b) { return a << (b < 3 ? 1 : 2); }"),
        clean("template <int N> struct A {};\nint f(int a) { return a >> 2 > (a << 1); }"),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether a launch is written so anywhere."""
        return "<< <" in unit.source.text or "<<  <" in unit.source.text

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per launch."""
        tokens = unit.tokens
        for index, text in enumerate(tokens.texts):
            if text != "<<" or index == 0 or index + 1 >= len(tokens) or tokens.texts[index + 1] != "<":
                continue
            if tokens.kinds[index - 1] != IDENTIFIER and tokens.texts[index - 1] != ">":
                continue
            end = _end(tokens, index + 2)
            if end is None:
                continue
            edits = (
                Edit(tokens.starts[index], tokens.end(index + 1), "<<<"),
                Edit(tokens.starts[end], tokens.end(end + 1), ">>>"),
            )
            message = "a launch with blanks between its angle brackets"
            yield self.finding(unit, Span(edits[0].start, edits[0].end), message, Effort.NONE, edits)


def _end(tokens: Tokens, index: int) -> int | None:
    """Index of the `>>` before `> (` that closes a launch; None when it is something else."""
    depth = 0
    for place in range(index, min(len(tokens) - 2, index + _LONGEST)):
        text = tokens.texts[place]
        depth += (text in _OPENS) - (text in _CLOSES)
        if depth < 0 or text in (";", "<<<"):
            return None
        if depth == 0 and text == ">>" and tokens.texts[place + 1] == ">" and tokens.texts[place + 2] == "(":
            return place
    return None

"""R022: `threadIdx.x` and the like where a type is deduced from them."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import tokens_of
from porter.cpp.templates import template_heads
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_INDICES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_MEMBERS = frozenset({"x", "y", "z"})
_DEDUCING = frozenset({"printf", "min", "max"})
_DEDUCING_SCOPES = frozenset({"std", "thrust", "porter"})
_OPENINGS = {")": "(", "]": "[", "}": "{"}


class CoordinateAsTemplateArgument(Rule):
    """Type deduced from a built-in index

    In CUDA `blockDim.x` is an `unsigned`. In HIP's headers it is an object of a class of its own that converts to
    one: arithmetic is the same, but a template that takes `(T, T)` finds two types, `min` none that fits, `printf` an
    object, and `auto` keeps the class. There it becomes `unsigned(blockDim.x)`.
    """

    code = "R022"
    triggers = _INDICES
    settles = True
    examples = (
        fixes(
            "template <class T> __device__ T up(T a, T b);\n__global__ void k(unsigned n) { up(n, blockDim.x); }",
            "template <class T> __device__ T up(T a, T b);\n"
            "__global__ void k(unsigned n) { up(n, unsigned(blockDim.x)); }",
        ),
        fixes(
            '__global__ void k() { printf("%d", threadIdx.x); auto i = threadIdx.y; }',
            '__global__ void k() { printf("%d", unsigned(threadIdx.x)); auto i = unsigned(threadIdx.y); }',
        ),
        fixes(
            "__global__ void k(unsigned n) { n = min(n, gridDim.x); }",
            "__global__ void k(unsigned n) { n = min(n, unsigned(gridDim.x)); }",
        ),
        clean("__device__ int up(int a, int b);\n__global__ void k(int n) { up(n, blockDim.x); int i = threadIdx.x; }"),
        clean("__global__ void k(int n) { auto i = blockIdx.x * blockDim.x; n = min(n, threadIdx.x + 1); }"),
        clean("__global__ void k(P p) { auto i = p.threadIdx.x; m.min(n, p->gridDim.x); dim3 d(blockDim.x, 1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        texts = unit.tokens.texts
        for name in sorted(self.triggers & unit.identifiers):
            for index in unit.tokens.names[name]:
                if texts[index + 1] != "." or texts[index + 2] not in _MEMBERS:
                    continue
                if unit.tokens.directive_of(index) is not None:
                    continue
                if (_is_auto(unit, index) or _is_deduced_argument(unit, index)) and unit.is_cuda(index):
                    span = unit.span(index, index + 2)
                    text = unit.slice(span)
                    message = f"{text} is an object in HIP, and a type is deduced from it here"
                    yield self.finding(unit, span, message, Effort.NONE, (Edit(*span, f"unsigned({text})"),))


def _is_auto(unit: Unit, index: int) -> bool:
    """`auto name = threadIdx.x` and no more."""
    texts = unit.tokens.texts
    ends = texts[index + 3] in (";", ",")
    return ends and texts[index - 1] == "=" and texts[index - 3] == "auto"


def _is_deduced_argument(unit: Unit, index: int) -> bool:
    """Whether the member alone is an argument of a function that deduces its type."""
    tokens = unit.tokens
    if tokens.texts[index - 1] not in ("(", ",") or tokens.texts[index + 3] not in (",", ")"):
        return False
    callee = _callee(unit, index)
    if callee is None or tokens.texts[callee - 1] in (".", "->"):
        return False
    name = tokens.texts[callee]
    if name == "unsigned":
        return False
    if tokens.texts[callee - 1] == "::":
        return tokens.texts[callee - 2] in _DEDUCING_SCOPES or _is_template(unit, name)
    return name in _DEDUCING or name in unit.support.names or _is_template(unit, name)


def _callee(unit: Unit, index: int) -> int | None:
    """The token before the parenthesis that the argument stands in."""
    texts, depth = unit.tokens.texts, 0
    for place in range(index - 1, max(0, index - 400), -1):
        text = texts[place]
        if text in _OPENINGS:
            depth += 1
        elif text in "([{" and depth:
            depth -= 1
        elif text == "(":
            return place - 1 if unit.tokens.kinds[place - 1] == "i" else None
        elif text in "[{;":
            return None
    return None


def _is_template(unit: Unit, name: str) -> bool:
    """Whether the file or a header of the project declares a function template of that name."""
    sources = (unit.source, *unit.program.headers)
    return any(
        next(template_heads(tokens_of(source), name), None) is not None for source in sources if name in source.text
    )

"""D017: `threadIdx.x` and its like beside operator templates that take anything."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from porter.cpp.kept_tokens import fact_of
from porter.cpp.syntax import IDENTIFIER, Tokens
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_COORDINATES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_AXES = frozenset("xyz")
_BINARY = frozenset(["+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "<<", ">>", "&&", "||"])
_NUMBERS = frozenset(["bool", "char", "short", "int", "long", "unsigned", "float", "double", "size_t", "uint32_t"])
_SPELT = frozenset({"const", "&", "&&", "__restrict__"})
_GUARDED = frozenset({"enable_if", "enable_if_t", "requires"})
_GUARD_NAMES = re.compile("|".join(sorted(_GUARDED)))
_BEFORE_UNARY = frozenset({"(", ",", "=", "return", "["})
_BORDERS = frozenset({";", "{", "}", ""})
_LONGEST_HEAD = 120


class CoordinateOperand(Rule):
    """Index of a thread beside an operator template

    `blockIdx.x` is an `unsigned` in CUDA, and in HIP an object of a class that converts to one. An operator template
    that takes any type, such as `template <class V, class T> V operator*(V, T)` for vectors of any kind, fits that
    object better than the product of numbers, and `blockIdx.x * blockDim.x` no longer compiles, or means another thing.
    Where such an operator is in sight, the index is converted at once.
    """

    code = "D017"
    triggers = frozenset(_COORDINATES)
    hazards = ("vector-operators-ambiguous",)
    examples = (
        fixes(
            "template <class S, class V> __device__ V operator*(V a, S b) { return make(a.x * b, a.y * b); }\n"
            "__global__ void k(float *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = gridDim.x; }",
            "template <class S, class V> __device__ V operator*(V a, S b) { return make(a.x * b, a.y * b); }\n"
            "__global__ void k(float *p) { p[unsigned(blockIdx.x) * unsigned(blockDim.x) + threadIdx.x] = gridDim.x; }",
        ),
        fixes(
            "template <typename V> inline __device__ V operator+(const V &a, float b) { return V{a.x + b, a.y + b}; }\n"
            "__global__ void k(float *p, int n) { int i = (threadIdx.x) + n; p[i - threadIdx.y] = 0; }",
            "template <typename V> inline __device__ V operator+(const V &a, float b) { return V{a.x + b, a.y + b}; }\n"
            "__global__ void k(float *p, int n) { int i = (unsigned(threadIdx.x)) + n; p[i - threadIdx.y] = 0; }",
        ),
        clean(
            "template <class V> __device__ V operator*(V a, V b) { return make(a.x * b.x); }\n"
            "__global__ void k(float *p) { p[threadIdx.x + 1] = 0; }",
        ),
        clean(
            "template <class T> __device__ V<T> operator*(V<T> a, T b) { return make(a.x * b); }\n"
            "__global__ void k(float *p) { p[blockIdx.x * blockDim.x] = 0; }",
        ),
        clean(
            "template <class V, enable_if_t<is_vector<V>, int> = 0> __device__ V operator*(V a, float b);\n"
            "__global__ void k(float *p) { p[blockIdx.x * 4] = 0; }",
        ),
        clean(
            "template <class T> using if_vector = std::enable_if_t<is_vector<T>, T>;\n"
            "template <class V> __device__ if_vector<V> operator*(const V &a, const V &b);\n"
            "__global__ void k(float *p) { p[blockIdx.x * 4] = 0; }",
        ),
        clean(
            "template <class T> struct V { T x; __device__ V operator*(T b) const; };\n"
            "template <class T> __device__ T operator-(T a);\n__global__ void k(float *p) { p[blockIdx.x * 4] = 0; }",
        ),
        clean(
            "template <class V> __device__ V operator*(V a, float b);\n"
            "__global__ void k(float *p) { p[(int)threadIdx.x * 2] = int(blockIdx.x) * f(blockIdx.y) * 2; }",
        ),
        clean(
            "template <class V> __device__ V operator*(V a, float b);\n"
            "__global__ void k(float *p, Grid g) { p[threadIdx.x] = g.blockIdx.x * 2; }",
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per index that such an operator would take."""
        sources = (unit.source, *unit.program.headers)
        guards = _GUARDED.union(*(fact_of(one, _guards, _guards) for one in sources if one.matches(_GUARD_NAMES)))
        symbols = frozenset[str]().union(
            *(
                fact_of(one, (_symbols, guards), lambda tokens: frozenset(_symbols(tokens, guards)))
                for one in sources
                if "operator" in one.text
            )
        )
        if not symbols:
            return
        for name in _COORDINATES:
            for index in unit.occurrences(name):
                if _is_operand(unit.tokens, index, symbols):
                    yield self._converted(unit, index)

    def _converted(self, unit: Unit, index: int) -> Finding:
        span = unit.span(index, index + 2)
        text = unit.slice(span)
        message = f"{text} is an object in HIP, and an operator template in sight takes any type: unsigned({text})"
        return self.finding(unit, span, message, Effort.NONE, (Edit(*span, f"unsigned({text})"),))


def _is_operand(tokens: Tokens, index: int, symbols: frozenset[str]) -> bool:
    """Whether `threadIdx.x`, in parentheses of its own or not, stands at such an operator."""
    texts = tokens.texts
    if texts[index + 1] != "." or texts[index + 2] not in _AXES:
        return False
    left, right = index - 1, index + 3
    while left > 0 and texts[left] == "(" and texts[right] == ")" and tokens.kinds[left - 1] != IDENTIFIER:
        left, right = left - 1, right + 1
    if left < 1 or texts[left] == ")":  # `(int)threadIdx.x` is converted at once
        return False
    is_binary = texts[left] in symbols and texts[left - 1] not in _BEFORE_UNARY
    return is_binary or texts[right] in symbols


def _guards(tokens: Tokens) -> frozenset[str]:
    """Aliases that stand for `enable_if`: `template <class T> using if_vector = std::enable_if_t<...>`."""
    texts = tokens.texts
    starts = (index for index in tokens.names.get("using", ()) if texts[index + 2] == "=")
    return frozenset(texts[start + 1] for start in starts if not _GUARDED.isdisjoint(_statement(texts, start)))


def _statement(texts: list[str], start: int) -> Iterator[str]:
    """The words up to the end of a declaration."""
    return itertools.takewhile(lambda text: text not in _BORDERS, itertools.islice(texts, start, start + _LONGEST_HEAD))


def _symbols(tokens: Tokens, guards: frozenset[str]) -> Iterator[str]:
    """The binary operators for which a text has a template that takes anything as one of its operands."""
    for index in tokens.names.get("operator", ()):
        symbol, opening = tokens.texts[index + 1], index + 2
        if symbol not in _BINARY or tokens.texts[opening] != "(" or tokens.directive_of(index) is not None:
            continue
        closing = tokens.partner.get(opening, -1)
        types = _types(tokens.texts[opening + 1 : closing]) if closing > opening else ()
        free = _free_types(tokens, index, guards) if len(types) == 2 else frozenset()
        if free.intersection(types) and all(one in free or one in _NUMBERS for one in types):
            yield symbol


def _types(texts: list[str]) -> tuple[str, ...]:
    """The type of each parameter; empty for one that is no single word."""
    if not {"<", "(", "[", "..."}.isdisjoint(texts):
        return ()
    parts = " ".join(text for text in texts if text not in _SPELT).split(" , ")
    words = [part.split() for part in parts]
    return tuple(one[0] if 1 <= len(one) <= 2 else "" for one in words)


def _free_types(tokens: Tokens, index: int, guards: frozenset[str]) -> frozenset[str]:
    """The type parameters of the template that a declaration is; none where it is limited to some types."""
    first = index
    while first > 0 and index - first < _LONGEST_HEAD and tokens.texts[first - 1] not in _BORDERS:
        if tokens.directive_of(first - 1) is not None:
            break
        first -= 1
    head = tokens.texts[first:index]
    if head[:2] != ["template", "<"] or not guards.isdisjoint(head):
        return frozenset()
    pairs = itertools.pairwise(head)
    return frozenset(name for word, name in pairs if word in ("class", "typename") and name.isidentifier())

"""L028: `__restrict__` where no pointer stands before it."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.lex import IDENTIFIER
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_WORDS = ("__restrict__", "__restrict")
_BORDERS = frozenset({"(", ",", ";", "{", "}"})
_ENDS = frozenset({"*", "&", "&&", "[", ",", ")", ";", "=", "{", "("})
_QUALIFIERS = frozenset({"const", "volatile", "static", "register", *_WORDS})
_TYPES = frozenset(
    {"bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "size_t", "half", "__half"}
    | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
    | {f"{kind}{count}" for kind in ("char", "uchar", "short", "ushort", "int", "uint", "float") for count in (2, 3, 4)}
    | {"double2", "longlong2", "ulonglong2", "uchar", "ushort", "uint", "ulong"}
)
"""Types that are no pointers for certain: a project's own may be."""


class RestrictWithoutPointer(Rule):
    """`__restrict__` without a pointer before it

    nvcc takes `const __restrict__ uint8_t m[32]` and `const __restrict__ float *p`; clang says that restrict requires a
    pointer or reference. Before a `*` the word goes behind it, which is what was meant; of an array or a value it goes.
    """

    code = "L028"
    triggers = frozenset(_WORDS)
    settles = True
    examples = (
        fixes(
            "__device__ void f(const __restrict__ uint8_t m[32], uint8_t c[4]) {}",
            "__device__ void f(const uint8_t m[32], uint8_t c[4]) {}",
        ),
        fixes("__device__ void f(const uint64_t __restrict__ r[4]) {}", "__device__ void f(const uint64_t r[4]) {}"),
        fixes(
            "__global__ void k(int n, const __restrict__ float *p, float __restrict__ * q) {}",
            "__global__ void k(int n, const float *__restrict__ p, float * __restrict__ q) {}",
        ),
        fixes(
            "__global__ void k(__restrict__ unsigned int *__restrict__ p) {}",
            "__global__ void k(unsigned int *__restrict__ p) {}",
        ),
        fixes("__global__ void k(float *p, int __restrict__ n) {}", "__global__ void k(float *p, int n) {}"),
        clean("__global__ void k(const float *__restrict__ p, float* __restrict q, float &__restrict__ r) {}"),
        clean("__global__ void k(Pointer __restrict__ p, const __restrict__ T p[2]) {}"),
        clean("template <class T> __global__ void k(thrust::device_ptr<int> __restrict__ p) {}"),
        clean("__device__ void f(int (*__restrict__ p)[4], float (&__restrict__ q)[3]) {}"),
        clean("#define RESTRICT __restrict__\n#define __restrict__"),
        clean("__device__ void f(float m[__restrict__ 4]);"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per word."""
        for name in _WORDS:
            for index in unit.tokens.names.get(name, ()):
                if _follows_no_pointer(unit, index):
                    edits = tuple(_edits(unit, index))
                    message = (
                        "clang takes restrict of pointers and references alone: it is moved behind the * or left out"
                    )
                    yield self.finding(unit, unit.span(index), message, Effort.NONE, edits)


def _end(unit: Unit, index: int) -> int:
    """The token that ends the type, or the name of what is declared."""
    while index < len(unit.tokens) and unit.tokens.texts[index] not in _ENDS:
        index += 1
    return index


def _follows_no_pointer(unit: Unit, index: int) -> bool:
    """Whether the word stands in a type that is none of a pointer's."""
    tokens = unit.tokens
    first = index
    while first > 0 and tokens.texts[first - 1] not in _BORDERS and tokens.kinds[first - 1] == IDENTIFIER:
        first -= 1
    if first == 0 or tokens.texts[first - 1] not in _BORDERS or tokens.directive_of(index) is not None:
        return False
    end = _end(unit, index + 1)
    words = tokens.texts[first:end]
    if tokens.texts[end] not in ("*", "&", "&&") and words[-1] not in _QUALIFIERS:
        words = words[:-1]
    types = [word for word in words if word not in _QUALIFIERS]
    return bool(types) and _TYPES.issuperset(types)


def _edits(unit: Unit, index: int) -> Iterator[Edit]:
    tokens = unit.tokens
    yield Edit(tokens.starts[index], tokens.starts[index + 1], "")
    last = _end(unit, index + 1)
    if tokens.texts[last] not in ("*", "&", "&&"):
        return
    while tokens.texts[last + 1] in ("*", "const"):
        last += 1
    if tokens.texts[last + 1] not in _WORDS:
        at = tokens.end(last)
        blank = unit.source.text[at : at + 1].isspace()
        yield Edit(at, at, f" {tokens.texts[index]}" if blank else f"{tokens.texts[index]} ")

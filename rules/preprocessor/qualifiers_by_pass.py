"""P003: `__host__ __device__` that is defined in the device pass alone."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Directive, Group, Tokens, find_groups, knows_hip
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_PASS = "PORTER_CUDA_ARCH"
"""`__CUDA_ARCH__` has this name once it was looked at."""
_QUALIFIERS = frozenset({"__host__", "__device__", "__forceinline__", "__noinline__", "__inline__", "inline"})
_LONGEST_ALONE = 5
"""Tokens of `defined(X)`, and one more."""
_OF_BOTH = frozenset({"__host__", "__device__"})


class QualifiersByPass(Rule):
    """Function qualifiers defined by `__CUDA_ARCH__`

    `#ifdef __CUDA_ARCH__` around `#define HD __host__ __device__` leaves HD empty in nvcc's host pass, where nvcc looks
    at no kernel's body. Clang looks at kernels in both passes, and a function without `__device__` cannot be called
    there. The condition becomes `__HIPCC__`, which both passes have. Where no `__host__` stands beside `__device__`,
    the functions are the host's in the other pass: they get both.
    """

    code = "P003"
    triggers = frozenset({_PASS})
    text = r"define\b(?:\\\r?\n|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|(?!/\*)[^\n])*?__(?:host|device)__"
    examples = (
        fixes(
            "#ifdef PORTER_CUDA_ARCH\n#define HD __host__ __device__\n#else\n#define HD\n#endif",
            "#ifdef __HIPCC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif",
            path="a.h",
        ),
        fixes(
            "#if defined(PORTER_CUDA_ARCH)\n# define D __device__\n# define H __host__\n#else\n# define D\n# define H\n"
            "#endif",
            "#if defined(__HIPCC__)\n# define D __device__\n# define H __host__\n#else\n# define D\n# define H\n#endif",
            path="a.h",
        ),
        fixes(
            "#ifdef PORTER_CUDA_ARCH\n#define HD __device__\n#else\n#define HD\n#endif",
            "#ifdef __HIPCC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif",
            path="a.h",
        ),
        fixes(
            "#if defined(__HIPCC__) && defined(PORTER_CUDA_ARCH)\n#define HD __device__ inline\n"
            "#else\n#define HD inline\n#endif",
            "#if defined(__HIPCC__)\n#define HD __host__ __device__ inline\n#else\n#define HD inline\n#endif",
            path="a.h",
        ),
        clean(
            "#if defined(__HIPCC__) && defined(PORTER_CUDA_ARCH)\n#define C __constant__\n#else\n#define C\n#endif",
            path="a.h",
        ),
        clean(
            "#if defined(FAST) && defined(PORTER_CUDA_ARCH)\n#define HD __device__\n#else\n#define HD\n#endif",
            path="a.h",
        ),
        clean(
            "#if defined(__HIP_PLATFORM_AMD__) && defined(PORTER_CUDA_ARCH)\n#define HD __device__\n#endif", path="a.h"
        ),
        clean("#ifdef PORTER_CUDA_ARCH\n#define HD __device__\n#define FAST 1\n#else\n#define HD\n#endif", path="a.h"),
        clean("#if PORTER_CUDA_ARCH >= 600\n#define HD __device__\n#else\n#define HD\n#endif", path="a.h"),
        clean("#ifdef PORTER_CUDA_ARCH\n#define HD __device__\nint f();\n#endif", path="a.h"),
        clean("#ifdef PORTER_CUDA_ARCH\n#define I inline\n#else\n#define I\n#endif", path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per condition."""
        tokens = unit.tokens
        if unit.settings.style == "dual":
            return
        for group in find_groups(tokens):
            opening = group.directives[0]
            named = [index for index in range(opening.first, opening.last) if tokens.texts[index] == _PASS]
            if len(named) != 1 or not _asks_for_the_pass(tokens, opening) or _is_of_hip(tokens, group):
                continue
            if len(group.directives) > 2 and group.directives[1].name != "else":
                continue
            if _defines_qualifiers_alone(tokens, group):
                span = unit.span(named[0])
                message = "clang looks at kernels in the host pass too, and needs the qualifiers there: __HIPCC__"
                yield self.finding(unit, span, message, Effort.NONE, _edits(tokens, group, named[0]))


def _edits(tokens: Tokens, group: Group, named: int) -> tuple[Edit, ...]:
    """The condition without the pass, and functions that are the host's as well."""
    opening = group.directives[0]
    texts = tokens.texts
    if opening.last - opening.first < _LONGEST_ALONE:
        asked = [Edit(tokens.starts[named], tokens.end(named), "__HIPCC__")]
    else:
        asked = [Edit(tokens.starts[opening.first], tokens.end(opening.last - 1), "defined(__HIPCC__)")]
    start, end = group.span
    inside = range(tokens.at(start), tokens.at(end))
    if any(texts[index] == "__host__" for index in inside):
        return tuple(asked)
    sides = [tokens.starts[index] for index in inside if texts[index] == "__device__"]
    return (*asked, *(Edit(place, place, "__host__ ") for place in sides))


def _asks_for_the_pass(tokens: Tokens, opening: Directive) -> bool:
    """`#ifdef X` or `#if defined(X)`, with `defined(__HIPCC__)` before or behind it, and nothing else."""
    texts = [text for text in tokens.texts[opening.first : opening.last] if text not in "()"]
    if opening.name == "ifdef":
        return texts == [_PASS]
    alone, compiler = ["defined", _PASS], ["defined", "__HIPCC__"]
    return opening.name == "if" and texts in (alone, [*alone, "&&", *compiler], [*compiler, "&&", *alone])


def _is_of_hip(tokens: Tokens, group: Group) -> bool:
    """Whether the project chooses for AMD here; `__HIPCC__` beside the pass stands for CUDA's compiler."""
    texts = tokens.texts[group.directives[0].first : group.directives[0].last]
    return knows_hip(group.parent if "__HIPCC__" in texts else group, tokens)


def _defines_qualifiers_alone(tokens: Tokens, group: Group) -> bool:
    """Whether the group holds `#define`s of qualifiers and nothing else, one of them of a side."""
    start, end = group.span
    inner = [one for one in tokens.directives_in(start + 1, end) if one not in group.directives]
    inside = range(tokens.at(start), tokens.at(end))
    if any(one.name != "define" for one in inner) or any(tokens.directive_of(index) is None for index in inside):
        return False
    bodies = [tokens.texts[one.first + 1 : one.last] for one in inner]
    words = {word for body in bodies for word in body}
    return words <= _QUALIFIERS and not words.isdisjoint(_OF_BOTH)

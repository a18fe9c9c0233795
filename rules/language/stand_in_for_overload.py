"""L021: overloads that CUDA has, HIP lacks, and the project brings for compilers without CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.sides import Sides
from porter.cpp.syntax import Group, Tokens, find_groups, group_at
from porter.cpp.templates import beginning
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_OF_FLOAT = frozenset({"sincos", "sincospi"})
_OF_HOST = frozenset(
    name for base in ("rsqrt", "rcbrt", "sinpi", "cospi", "rhypot", "normcdf") for name in (base, f"{base}f")
) | {"fdividef"}
"""What HIP has in device code only."""
_NAMES = _OF_FLOAT | _OF_HOST
_CONDITIONS = (
    ["__CUDACC__"],
    ["!", "defined", "(", "__CUDACC__", ")"],
    ["!", "defined", "__CUDACC__"],
)


class StandInForOverload(Rule):
    """Overload that the project brings where CUDA is not there

    `sincos(float, float *, float *)` is CUDA's; HIP has `sincos` of `double` alone. A project that declares it under
    `#ifndef __CUDACC__`, for its other compilers, declares it for HIP's as well. So it does with `rsqrtf` and its like,
    which HIP has in device code only.
    """

    code = "L021"
    triggers = _NAMES
    examples = (
        fixes(
            """
            #ifndef __CUDACC__
            int other();
            __host__ __device__ inline void sincos(float f, float *a, float *b)
            {
                *a = sinf(f);
                *b = cosf(f);
            }
            #endif
            """,
            """
            #ifndef __CUDACC__
            int other();
            #endif
            __host__ __device__ inline void sincos(float f, float *a, float *b)
            {
                *a = sinf(f);
                *b = cosf(f);
            }
            #ifndef __HIPCC__
            #endif
            """,
            path="a.h",
        ),
        clean("#ifndef __CUDACC__\ninline void sincos(float f, float *a, float *b) {}\n#endif", path="a.h"),
        clean("#ifdef __CUDACC__\n__device__ inline void sincos(float f, float *a, float *b) {}\n#endif", path="a.h"),
        clean(
            "#ifndef __CUDACC__\nstruct S { __device__ void sincos(float f, float *a, float *b) {} };\n#endif",
            path="a.h",
        ),
        clean(
            "#if !defined(__CUDACC__) && !defined(__HIPCC__)\n"
            "__device__ inline void sincos(float f, float *a, float *b) {}\n#endif",
            path="a.h",
        ),
        clean(
            "#ifndef __CUDACC__\n__device__ inline void sincos(double f, double *a, double *b) {}\n#endif", path="a.h"
        ),
        clean("#ifndef __CUDACC__\nint a;\n#else\n__device__ void sincos(float f, float *, float *) {}\n#endif"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per overload."""
        tokens = unit.tokens
        groups = find_groups(tokens)
        sides = Sides((unit.source, *unit.program.headers))
        for name in sorted(_NAMES & unit.identifiers):
            for index in tokens.names[name]:
                last = _end_of_definition(tokens, index)
                if last is None:
                    continue
                first = beginning(tokens, index)
                span = unit.span(first, last)
                group = group_at(groups, span.start)
                if group is None or group_at(groups, span.end) is not group or not _is_without_cuda(tokens, group):
                    continue
                if _is_member(tokens, first, group) or not _fits(tokens, index, sides.of(tokens.texts[first:index])):
                    continue
                yield self._opened(unit, name, index, span)

    def _opened(self, unit: Unit, name: str, index: int, span: Span) -> Finding:
        newline = unit.source.newline
        text = unit.source.text
        start = text.rfind(newline, 0, span.start) + len(newline)
        after = text.find(newline, span.end)
        end = after if after >= 0 else len(text)
        edits = (
            Edit(start, start, f"#endif{newline}"),
            Edit(end, end, f"{newline}#ifndef __HIPCC__"),
        )
        what = "of float" if name in _OF_FLOAT else "for host code"
        message = f"HIP has no {name} {what}: the project's own is there for HIP, too"
        return self.finding(unit, unit.span(index), message, Effort.NONE, edits)


def _fits(tokens: Tokens, index: int, sides: frozenset[str]) -> bool:
    """Whether it is what HIP lacks, for the sides that it is for."""
    if tokens.texts[index] in _OF_HOST:
        return not sides
    return tokens.texts[index + 2] == "float" and "__device__" in sides


def _end_of_definition(tokens: Tokens, index: int) -> int | None:
    """The last token of the function that is defined with this name."""
    closing = tokens.partner.get(index + 1, -1) if tokens.texts[index + 1] == "(" else -1
    if closing < 0 or tokens.texts[closing + 1] != "{":
        return None
    return tokens.partner.get(closing + 1)


def _is_without_cuda(tokens: Tokens, group: Group) -> bool:
    """Whether all of a group is for compilers other than nvcc."""
    first = group.directives[0]
    words = tokens.texts[first.first : first.last]
    asked = words in _CONDITIONS[:1] if first.name == "ifndef" else words in _CONDITIONS[1:]
    return asked and first.name in ("if", "ifndef") and len(group.directives) == 2


def _is_member(tokens: Tokens, first: int, group: Group) -> bool:
    """Whether a brace is open that the group opens."""
    return any(tokens.starts[brace] > group.span.start for brace in tokens.braces_around(first))

"""W113: a shuffle over all 64 lanes in the project's own branch for AMD."""

from __future__ import annotations

from collections.abc import Iterator

from porter.conditionals import Group, find_groups, group_at, knows_hip
from porter.lex import Directive
from porter.model import Effort, Finding
from porter.rule import Rule, clean, reports
from porter.unit import Unit

_SHUFFLES = ("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor")


class ShuffleInAmdBranch(Rule):
    """Shuffle without a width in the project's own branch for AMD

    A project that knows AMD already often has `#define SHFL(mask, v, lane) __shfl(v, lane)` there and `__shfl_sync` in
    the branch for CUDA. Where it declares overloads of `__shfl` itself (for half types), these names are its own and
    left alone; but without a width HIP's shuffles work on all 64 lanes of an MI300X wavefront, so that the second half
    of it reads the values of the first. Add the width 32, to the overloads as well, or make sure that everything that
    uses the macro counts with 64 lanes.
    """

    code = "W113"
    examples = (
        reports(
            """
            struct half_t { float x; };
            __device__ half_t __shfl(half_t v, int lane);
            #ifdef USE_ROCM
            #define SHFL_SYNC(mask, var, lane) __shfl(var, lane)
            #else
            #define SHFL_SYNC __shfl_sync
            #endif
            """,
            effort=Effort.REVIEW,
        ),
        clean(
            """
            #ifdef USE_ROCM
            #define SHFL_SYNC(mask, var, lane) __shfl(var, lane)
            #else
            #define SHFL_SYNC __shfl_sync
            #endif
            """
        ),
        clean(
            """
            struct half_t { float x; };
            __device__ half_t __shfl(half_t v, int lane, int width);
            #ifdef USE_ROCM
            #define SHFL_SYNC(mask, var, lane) __shfl(var, lane, 32)
            #else
            #define SHFL_SYNC __shfl_sync
            #endif
            """
        ),
        clean(
            """
            #ifdef USE_ROCM
            __device__ float last(float v) { return __shfl(v, warpSize - 1); }
            #endif
            """
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether both kinds of shuffles are there."""
        return not unit.tokens.names.keys().isdisjoint(_SHUFFLES)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per shuffle in a branch whose other side has the one for warps of 32."""
        groups = find_groups(unit.tokens)
        ported = {use.first for use in unit.uses}
        for name in _SHUFFLES:
            for index in unit.tokens.names.get(name, ()):
                if index in ported:
                    continue
                group = group_at(groups, unit.tokens.starts[index])
                if len(unit.arguments(index)) == 2 and _has_counterpart(unit, group, index, name):
                    message = (
                        f"{name} without a width: 64 lanes in this branch for AMD, where {name}_sync has 32 for CUDA"
                    )
                    yield self.finding(unit, unit.span(index), message, Effort.REVIEW)


def _has_counterpart(unit: Unit, group: Group | None, index: int, name: str) -> bool:
    """Whether another branch of a choice between AMD and CUDA has the shuffle with a mask."""
    if group is None or not knows_hip(group, unit.tokens):
        return False
    own = _branch(group, unit.tokens.starts[index])
    others = unit.tokens.names.get(f"{name}_sync", ())
    inside = (unit.tokens.starts[other] for other in others)
    return any(group.span.start < at < group.span.end and _branch(group, at) is not own for at in inside)


def _branch(group: Group, offset: int) -> Directive:
    """The `#if`, `#elif` or `#else` that an offset comes after."""
    return max((one for one in group.directives if one.start <= offset), key=lambda one: one.start)

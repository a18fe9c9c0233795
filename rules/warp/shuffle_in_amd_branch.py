"""W113: a shuffle over all 64 lanes in the project's own branch for AMD."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Directive, Group, find_groups, group_at, knows_hip, looks_like_warp_size
from porter.engine.rule import Dialect, Effort, Finding, Rule, Unit, clean, reports

_NAME = "__shfl"


class ShuffleInAmdBranch(Rule):
    """Shuffle without a width in the project's own branch for AMD

    A project that knows AMD already often has `#define SHFL(mask, v, lane) __shfl(v, lane)` there and `__shfl_sync` in
    the branch for CUDA. Without a width HIP's shuffles work on all 64 lanes of an MI300X wavefront: where the code that
    uses the macro counts with warps of 32, the second half of a wavefront reads the values of the first. (By distances
    up to 16, as in `__shfl_down` and `__shfl_xor`, each half stays with itself.) Such lines are the project's own and
    stay. Add the width 32, or make sure that everything that uses the macro counts with 64 lanes.
    Nothing is said where the branch for AMD says so itself, with a warp size of 64 or `warpSize`.
    """

    code = "W113"
    only_reports = True
    dialect = Dialect.BOTH
    text = "__shfl"
    examples = (
        reports(
            """
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
            #define WARP_SIZE 64
            #define SHFL_SYNC(mask, var, lane) __shfl(var, lane)
            #else
            #define WARP_SIZE 32
            #define SHFL_SYNC __shfl_sync
            #endif
            """
        ),
        clean(
            """
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
            __device__ float sum(float v) { for (int m = 32; m; m /= 2) v += __shfl_xor(v, m); return v; }
            #else
            __device__ float sum(float v) { for (int m = 16; m; m /= 2) v += __shfl_xor_sync(~0u, v, m); return v; }
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
        clean(
            """
            __device__ float next(float v) {
            #if CUDART_VERSION >= 9000
              return __shfl_down_sync(~0u, v, 1);
            #else
              return __shfl_down(v, 1);
            #endif
            }
            """
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether both kinds of shuffles are there."""
        return {_NAME, f"{_NAME}_sync"} <= unit.tokens.names.keys() and unit.dialects.has_hip

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per shuffle in a branch whose other side has the one for warps of 32."""
        places = unit.tokens.names.get(_NAME, ())
        own = [index for index in places if unit.dialects.is_for_64(unit.tokens.starts[index])]
        if not own or _says_64(unit):
            return
        groups = find_groups(unit.tokens)
        for index in sorted(own):
            name = unit.tokens.texts[index]
            group = group_at(groups, unit.tokens.starts[index])
            if len(unit.arguments(index)) == 2 and _passes_on(unit, index) and _has_counterpart(unit, group, index):
                message = f"{name} without a width: 64 lanes in this branch for AMD, where {name}_sync has 32 for CUDA"
                yield self.finding(unit, unit.span(index), message, Effort.REVIEW)


def _passes_on(unit: Unit, index: int) -> bool:
    """Whether the shuffle is a macro's, or all that a function returns: its callers count the lanes."""
    return unit.tokens.directive_of(index) is not None or unit.tokens.texts[index - 1] == "return"


def _says_64(unit: Unit) -> bool:
    """Whether the project's lines for AMD name the size of a wavefront."""
    tokens = unit.tokens
    return any(
        unit.dialects.is_hip(tokens.starts[index])
        for index, text in enumerate(tokens.texts)
        if text in ("64", "63", "warpSize") or looks_like_warp_size(text)
    )


def _has_counterpart(unit: Unit, group: Group | None, index: int) -> bool:
    """Whether another branch of a choice between AMD and CUDA has the shuffle with a mask."""
    if group is None or not knows_hip(group, unit.tokens):
        return False
    own = _branch(group, unit.tokens.starts[index])
    others = unit.tokens.names.get(f"{_NAME}_sync", ())
    inside = (unit.tokens.starts[other] for other in others)
    return any(group.span.start < at < group.span.end and _branch(group, at) is not own for at in inside)


def _branch(group: Group, offset: int) -> Directive:
    """The `#if`, `#elif` or `#else` that an offset comes after."""
    return max((one for one in group.directives if one.start <= offset), key=lambda one: one.start)

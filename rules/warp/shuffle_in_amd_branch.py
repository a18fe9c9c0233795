"""W113: a shuffle or vote over all 64 lanes in the project's own branch for AMD."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Directive, Group, find_groups, group_at, knows_hip, looks_like_warp_size
from porter.engine.rule import Dialect, Effort, Finding, Rule, Unit, clean, reports

_VOTES = ("__any", "__all")
_NAMES = ("__shfl", *_VOTES)


class ShuffleInAmdBranch(Rule):
    """Shuffle without a width, or vote, in the project's own branch for AMD

    A project that knows AMD already often has `#define SHFL(mask, v, lane) __shfl(v, lane)` there and `__shfl_sync` in
    the branch for CUDA. Without a width HIP's shuffles work on all 64 lanes of an MI300X wavefront: where the code that
    uses the macro counts with warps of 32, the second half of a wavefront reads the values of the first. (By distances
    up to 16, as in `__shfl_down` and `__shfl_xor`, each half stays with itself.) Such lines are the project's own and
    stay. Add the width 32, or make sure that everything that uses the macro counts with 64 lanes. So it is with votes:
    `__any(p)` asks 64 lanes where `__any_sync` asks 32. Nothing is said where the branch for AMD says so itself, with a
    warp size of 64 or `warpSize`.
    """

    code = "W113"
    only_reports = True
    dialect = Dialect.BOTH
    text = "__(?:shfl|any|all)"
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
        """Whether both kinds of an operation are there."""
        there = unit.tokens.names.keys()
        return any({name, f"{name}_sync"} <= there for name in _NAMES) and unit.dialects.has_hip

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per operation in a branch whose other side has the one for warps of 32."""
        places = (index for name in _NAMES for index in unit.tokens.names.get(name, ()))
        own = [index for index in places if unit.dialects.is_for_64(unit.tokens.starts[index])]
        if not own or _says_64(unit):
            return
        groups = find_groups(unit.tokens)
        for index in sorted(own):
            name = unit.tokens.texts[index]
            group = group_at(groups, unit.tokens.starts[index])
            if _counts_all(unit, index) and _has_counterpart(unit, group, index):
                how = name if name in _VOTES else f"{name} without a width"
                message = f"{how}: 64 lanes in this branch for AMD, where {name}_sync has 32 for CUDA"
                yield self.finding(unit, unit.span(index), message, Effort.REVIEW)


def _counts_all(unit: Unit, index: int) -> bool:
    """Whether an operation has no width: where it is called, or where a macro is another name of it."""
    name, arguments = unit.tokens.texts[index], unit.arguments(index)
    if unit.tokens.texts[index + 1] != "(":
        return unit.tokens.directive_of(index) is not None
    return name in _VOTES or len(arguments) == 2 or [unit.slice(one) for one in arguments] == ["__VA_ARGS__"]


def _says_64(unit: Unit) -> bool:
    """Whether the project's lines for AMD name the size of a wavefront."""
    tokens = unit.tokens
    return any(
        unit.dialects.is_hip(tokens.starts[index])
        for index, text in enumerate(tokens.texts)
        if text in ("64", "63", "warpSize") or looks_like_warp_size(text)
    )


def _has_counterpart(unit: Unit, group: Group | None, index: int) -> bool:
    """Whether another branch of a choice between AMD and CUDA has the operation with a mask."""
    if group is None or not knows_hip(group, unit.tokens):
        return False
    own = _branch(group, unit.tokens.starts[index])
    others = unit.tokens.names.get(f"{unit.tokens.texts[index]}_sync", ())
    inside = (unit.tokens.starts[other] for other in others)
    return any(group.span.start < at < group.span.end and _branch(group, at) is not own for at in inside)


def _branch(group: Group, offset: int) -> Directive:
    """The `#if`, `#elif` or `#else` that an offset comes after."""
    return max((one for one in group.directives if one.start <= offset), key=lambda one: one.start)

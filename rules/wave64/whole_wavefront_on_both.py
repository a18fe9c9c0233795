"""V109: 64 lanes written out in code that is also compiled for GPUs with 32."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import unwrapped
from porter.engine.rule import Dialect, Effort, Finding, Rule, Span, Unit, clean, reports
from porter.warp.wave64.wavefronts import HALF, TRACE, WHOLE, View, views


class WholeWavefrontOnBoth(Rule):
    """64 lanes written out in code that is also compiled for 32

    The file has a branch for gfx10, gfx11 or gfx12, whose wavefronts have 32 lanes in HIP, and outside of it a function
    counts lanes with a literal 64 (`threadIdx.x & 63`, `>> 6`) beside operations between lanes: it is right on gfx942
    and wrong on the others, where `__shfl_xor(v, 32)` reaches nothing. Count with `warpSize`, or with a constant that
    the target decides.
    """

    code = "V109"
    only_reports = True
    dialect = Dialect.HIP
    text = TRACE
    hazards = ("gfx-macro-host-pass",)
    examples = (
        reports(
            """
            #if defined(__gfx1100__)
            #define FAST 1
            #endif
            __global__ void sum(float *x) {
              float v = x[threadIdx.x];
              for (int o = 32; o > 0; o >>= 1) v += __shfl_xor(v, o);
              if ((threadIdx.x & 63) == 0) x[threadIdx.x >> 6] = v;
            }
            """,
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        clean(
            """
            __global__ void sum(float *x) {
              float v = x[threadIdx.x];
              for (int o = 32; o > 0; o >>= 1) v += __shfl_xor(v, o);
              if ((threadIdx.x & 63) == 0) x[threadIdx.x >> 6] = v;
            }
            """,
            path="a.hip",
        ),
        clean(
            """
            #if defined(__gfx1100__)
            #define FAST 1
            #endif
            __global__ void sum(float *x) {
              float v = x[threadIdx.x];
              for (int o = warpSize / 2; o > 0; o >>= 1) v += __shfl_xor(v, o);
              if (threadIdx.x % warpSize == 0) x[threadIdx.x / warpSize] = v;
            }
            """,
            path="a.hip",
        ),
        clean(
            """
            #if defined(__gfx1100__)
            #define FAST 1
            #endif
            #if defined(__gfx942__)
            __global__ void sum(float *x) {
              float v = x[threadIdx.x];
              for (int o = 32; o > 0; o >>= 1) v += __shfl_xor(v, o);
              if ((threadIdx.x & 63) == 0) x[threadIdx.x >> 6] = v;
            }
            #endif
            """,
            path="a.hip",
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether the file has lines for wavefronts of 32 alone."""
        edges = [region.start for region in unit.dialects.regions]
        return any(unit.dialects.at(edge).lanes == frozenset({HALF}) for edge in edges)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per function."""
        for view in views(unit):
            place = _written_out(view)
            if place is not None and view.collectives and HALF in unit.dialects.at(place.start).lanes:
                message = "64 lanes are written out here, and the file is compiled for GPUs with 32 as well"
                yield self.finding(unit, place, f"{message} [gfx-macro-host-pass]", Effort.REVIEW)


def _written_out(view: View) -> Span | None:
    """The first place where a function counts lanes with a literal for 64."""
    for one in view.divisions:
        if one.group == WHOLE and unwrapped(one.node.kids[1]).kind == "number":
            return view.unit.span(one.node.first, one.node.last)
    return None

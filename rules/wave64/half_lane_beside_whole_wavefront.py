"""V105: lanes counted by 32 beside operations on all 64."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Node, unwrapped
from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.wave64.wavefronts import (
    COUNTS,
    HALF,
    TRACE,
    WHOLE,
    Collective,
    View,
    argument,
    exchanges,
    has_operations,
    loops_of,
    views,
)

_NEIGHBOURS = frozenset({"+", "-", "^", "&", "%"})
_DEEPEST = 3
_FROM_A_LANE = frozenset({"__shfl", "__shfl_sync", "WARP_SHFL"})


class HalfLaneBesideWholeWavefront(Rule):
    """Lanes counted by 32 beside operations on all 64

    A function that counts its lanes by 32 (`threadIdx.x & 31`, `threadIdx.x / 32`) works on two groups per wavefront.
    `__shfl(v, 0)` without a width then gives both the value of the first group, a loop of `__shfl_down` from 32 mixes
    them, and a bit of `__ballot` below the lane is one of the first group. A shuffle from a fixed lane gets the width
    32; the rest is reported: count by 64, or take the half of the mask (`__ballot(p) >> (__lane_id() & 32)`).
    """

    code = "V105"
    dialect = Dialect.BOTH
    text = TRACE
    hazards = ("hardcoded-warp-32-lane-id", "shfl-src-lane-from-64", "warp-id-roles-32")
    examples = (
        fixes(
            """
            __global__ void rows(float *x) {
              int row = threadIdx.x / 32;
              float first = __shfl(x[threadIdx.x], 0);
              x[threadIdx.x] = first * row;
            }
            """,
            """
            __global__ void rows(float *x) {
              int row = threadIdx.x / 32;
              float first = __shfl(x[threadIdx.x], 0, 32);
              x[threadIdx.x] = first * row;
            }
            """,
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        fixes(
            """
            __global__ void turn(float *x) {
              float v = x[threadIdx.x];
              for (int l = 0; l <= 4; ++l) v += WARP_SHFL(v, (threadIdx.x + (1 << l)) & 31);
              x[threadIdx.x] = v;
            }
            """,
            """
            __global__ void turn(float *x) {
              float v = x[threadIdx.x];
              for (int l = 0; l <= 4; ++l) v += WARP_SHFL(v, (threadIdx.x + (1 << l)) & 31, 32);
              x[threadIdx.x] = v;
            }
            """,
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        reports(
            """
            __device__ float sum(float v) {
              for (int o = 32; o > 0; o >>= 1) v += __shfl_down(v, o);
              return v;
            }
            __global__ void rows(float *x) {
              float v = sum(x[threadIdx.x]);
              if ((threadIdx.x & 31) == 0) x[threadIdx.x >> 5] = v;
            }
            """,
            path="a.hip",
        ),
        reports(
            """
            #ifdef USE_ROCM
            #define WARP_SIZE warpSize
            #define SHFL_XOR(v, m) __shfl_xor(v, m)
            #else
            #define WARP_SIZE 32
            #define SHFL_XOR(v, m) __shfl_xor_sync(0xffffffff, v, m)
            #endif
            __device__ float sum(float v) {
              for (int m = WARP_SIZE / 2; m > 0; m >>= 1) v += SHFL_XOR(v, m);
              return v;
            }
            __device__ float block(float v) {
              static __shared__ float s[32];
              int lane = threadIdx.x & 0x1f, warp = threadIdx.x >> 5;
              v = sum(v);
              if (lane == 0) s[warp] = v;
              __syncthreads();
              return sum(threadIdx.x < blockDim.x / (WARP_SIZE * 1.0f) ? s[lane] : 0.f);
            }
            """,
        ),
        reports(
            """
            __global__ void ranks(const int *x, int *y) {
              int lane = threadIdx.x & 31;
              unsigned long long m = __ballot(x[threadIdx.x]);
              y[threadIdx.x] = __popcll(m & ((1ull << lane) - 1));
            }
            """,
            path="a.hip",
        ),
        reports(
            """
            __global__ void rows(float *x) {
              float v = x[threadIdx.x];
              for (int o = 32; o > 0; o >>= 1) v += __shfl_down(v, o);
              if ((threadIdx.x & 31) == 0) x[threadIdx.x >> 5] = v;
            }
            """,
            path="a.hip",
        ),
        clean(
            """
            __global__ void rows(float *x) {
              float v = x[threadIdx.x];
              for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);
              if ((threadIdx.x & 31) == 0) x[threadIdx.x >> 5] = v;
            }
            """,
            path="a.hip",
        ),
        clean(
            """
            __global__ void rows(float *x) {
              int lane = threadIdx.x & 31;
              unsigned m = (unsigned)(__ballot(x[threadIdx.x] > 0) >> (__lane_id() & 32));
              x[threadIdx.x] = __popc(m & ((1u << lane) - 1)) + __shfl(x[threadIdx.x], 0, 32);
            }
            """,
            path="a.hip",
        ),
        clean(
            """
            __device__ float sum(float v) {
              for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);
              return v;
            }
            __global__ void rows(float *x) {
              float v = sum(x[threadIdx.x]);
              if ((threadIdx.x & 31) == 0) x[threadIdx.x >> 5] = v;
            }
            """,
            path="a.hip",
        ),
        clean("__global__ void t(float *x) { x[threadIdx.x] += x[threadIdx.x & 31]; }", path="a.hip"),
        clean(
            """
            __global__ void groups(const float *x, float *y) {
              float best = 0;
              for (int i = 0; i < 4; ++i) best += x[(threadIdx.x + i * 64) / 32];
              float third = __shfl(best, 3);
              y[threadIdx.x % 32] = third;
            }
            """,
            path="a.hip",
        ),
        clean("__global__ void rows(float *x) { x[threadIdx.x / 32] = __shfl(x[threadIdx.x], 0); }"),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether there are operations between lanes."""
        return has_operations(unit, "shfl", "ballot")

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per operation."""
        for view in views(unit):
            if not view.counts_with_32 or view.speaks_of_64:
                continue
            for call, one in view.collectives:
                if one.kind == "shuffle" and _from_fixed_lane(view, call, one):
                    yield self._shuffle(unit, view, call, one)
                elif one.kind == "ballot" and _is_ranked(view, call):
                    message = "a bit of this mask is a lane of 64, and the function counts its lanes by 32"
                    yield self._left(unit, call, f"{message}{view.why}")
            for place in _joining(view):
                message = "this loop joins all 64 lanes, and the function counts them by 32"
                yield self._left(unit, place, f"{message}{view.why}")
            for call, helpers in exchanges(view):
                if all(any(True for _ in _joining(helper)) for helper in helpers):
                    message = f"{call.callee} joins all 64 lanes, and the function counts them by 32"
                    yield self._left(unit, call, f"{message}{view.why}")

    def _shuffle(self, unit: Unit, view: View, call: Node, one: Collective) -> Finding:
        name = call.callee
        message = f"{name} without a width reads a lane of 64, and the function counts its lanes by 32{view.why}"
        if view.shared or name in view.branches.operations:
            return self._left(unit, call.kids[0], message)
        end = unit.tokens.starts[call.last]
        edits = (Edit(end, end, ", 32"),)
        done = f"{message}: the width 32 added [shfl-src-lane-from-64]"
        return self.finding(unit, unit.span(call.kids[0].first, call.kids[0].last), done, Effort.REVIEW, edits)

    def _left(self, unit: Unit, node: Node, message: str) -> Finding:
        span = unit.span(node.first, node.last)
        return self.finding(unit, span, f"{message} [hardcoded-warp-32-lane-id]", Effort.MANUAL)


def _joining(view: View) -> Iterator[Node]:
    """Where loops over shuffles begin at half of a wavefront, and so join all of it."""
    for steps in loops_of(view):
        if steps.down and view.size(steps.start) == HALF and _without_width(view, steps.shuffles):
            yield steps.start


def _from_fixed_lane(view: View, call: Node, one: Collective) -> bool:
    """`__shfl(v, 0)`, `__shfl(v, (tid + 1) & 31)`: from a lane below 32, whichever group asks."""
    lane = argument(call, one.lane)
    if one.name not in _FROM_A_LANE or lane is None or argument(call, one.width) is not None:
        return False
    size = view.size(lane)
    return _is_of_half(view, lane, 0) if size is None else 0 <= size < HALF


def _is_of_half(view: View, node: Node, depth: int) -> bool:
    """A lane of 32, and what is a constant away from one: `lane ^ 1`, `(lane + 1) & 31`."""
    if view.lane(node) == HALF:
        return True
    inner = unwrapped(node)
    if inner.kind != "binary" or inner.text not in _NEIGHBOURS or depth > _DEEPEST:
        return False
    left, right = inner.kids
    return view.size(right) is not None and view.size(right) != HALF and _is_of_half(view, left, depth + 1)


def _without_width(view: View, shuffles: tuple[tuple[Node, Collective], ...]) -> bool:
    return all(view.width(call, one) == WHOLE for call, one in shuffles)


def _is_ranked(view: View, call: Node) -> bool:
    """Whether the mask, or a variable that holds it, is counted or searched below a lane of 32, uncut."""
    above = view.around(call)
    if above.kind == "variable":
        name = above.text
        uses = [n for n in view.nodes if n.kind == "name" and n.text == name]
        return view.is_mask(call) and any(_meets_lane(view, use) for use in uses) and not view.takes_halves
    return _meets_lane(view, call)


def _meets_lane(view: View, node: Node) -> bool:
    """`m & ((1 << lane) - 1)`, `m >> lane`, and `__ffsll(m)`, with a lane of 32."""
    above = view.around(node)
    if above.kind == "binary" and above.text == "&":
        other = next((kid for kid in above.kids if kid is not node), above.kids[1])
        return any(n.kind == "binary" and n.text == "<<" and view.lane(n.kids[1]) == 32 for n in other.walk())
    if above.kind == "binary" and above.text == ">>" and above.kids[0] is node:
        return view.lane(above.kids[1]) == 32
    return above.kind == "call" and above.callee in (*COUNTS, *COUNTS.values())

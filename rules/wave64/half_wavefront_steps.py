"""V104: a reduction or scan over half of a wavefront."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Node, unwrapped
from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.wave64.wavefronts import (
    HALF,
    TRACE,
    WHOLE,
    Steps,
    View,
    argument,
    exchanges,
    exponents_of,
    file_groups,
    has_operations,
    loops_of,
    views,
)

_STEPS = (16, 8, 4, 2, 1)


_EXPONENTS_OF_32 = 5


class HalfWavefrontSteps(Rule):
    """Reduction or scan that covers half of a wavefront

    `for (o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);` adds up 32 lanes: on a wavefront of 64 the other half is left
    out, and lane 0 has half of the sum. So does a scan whose steps end before 32. Where the function counts its lanes
    by 64 (`threadIdx.x % 64`, `__lane_id()`, `warpSize`) the first step becomes 32 (the last one of a scan as well);
    where nothing tells, it is reported. Groups of 32 lanes on purpose are left alone: lanes counted by 32 (`& 31`), a
    width of 32 or less, or a step of 32 beside the loop.
    """

    code = "V104"
    dialect = Dialect.BOTH
    text = TRACE
    hazards = ("butterfly-steps-from-16", "shfl-down-tail-logical32", "log2-warp-constants")
    examples = (
        fixes(
            """
            __global__ void sum(const float *x, float *y) {
              float v = x[threadIdx.x];
              for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);
              if (threadIdx.x % 64 == 0) y[threadIdx.x / 64] = v;
            }
            """,
            """
            __global__ void sum(const float *x, float *y) {
              float v = x[threadIdx.x];
              for (int o = 32; o > 0; o >>= 1) v += __shfl_down(v, o);
              if (threadIdx.x % 64 == 0) y[threadIdx.x / 64] = v;
            }
            """,
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        fixes(
            """
            __device__ int scan(int v) {
              int lane = __lane_id();
              for (int o = 1; o < 32; o <<= 1) { int t = __shfl_up(v, o); if (lane >= o) v += t; }
              return v;
            }
            """,
            """
            __device__ int scan(int v) {
              int lane = __lane_id();
              for (int o = 1; o < 64; o <<= 1) { int t = __shfl_up(v, o); if (lane >= o) v += t; }
              return v;
            }
            """,
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        reports(
            "__device__ float sum(float v) { for (int o = 16; o; o /= 2) v += __shfl_xor(v, o); return v; }",
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        reports(
            """
            __device__ float sum(float v) {
              v += __shfl_xor(v, 16); v += __shfl_xor(v, 8); v += __shfl_xor(v, 4); v += __shfl_xor(v, 2);
              return v + __shfl_xor(v, 1);
            }
            """,
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        clean(
            "__device__ float sum(float v) { for (int o = 32; o; o /= 2) v += __shfl_xor(v, o); return v; }",
            path="a.hip",
        ),
        clean(
            "__device__ float sum(float v) { for (int o = 16; o; o /= 2) v += __shfl_xor(v, o, 32); return v; }",
            path="a.hip",
        ),
        clean(
            """
            __device__ float sum(float v) {
              for (int o = 16; o; o /= 2) v += __shfl_xor(v, o);
              return v + __shfl_xor(v, 32);
            }
            """,
            path="a.hip",
        ),
        clean(
            """
            __global__ void rows(float *x) {
              int lane = threadIdx.x & 31, row = threadIdx.x >> 5;
              float v = x[threadIdx.x];
              for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);
              if (lane == 0) x[row] = v;
            }
            """,
            path="a.hip",
        ),
        clean(
            "__device__ float sum(float v) { for (int o = 16; o > 2; o /= 2) v += __shfl_xor(v, o); return v; }",
            path="a.hip",
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether there are shuffles."""
        return has_operations(unit, "shfl")

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per loop, or per row of steps."""
        for view in views(unit):
            if HALF in view.groups or view.steps_by_32:
                continue
            whole = WHOLE in view.groups
            if not whole and HALF in file_groups(unit):
                continue
            for steps in loops_of(view):
                bound = _half(view, steps)
                if bound is not None:
                    yield self._found(unit, view, bound, whole=whole)
            for loop, _ in (one for one in exponents_of(view) if one[1] == _EXPONENTS_OF_32):
                yield self.finding(unit, unit.span(loop.first), _message("this loop", view), Effort.REVIEW)
            first = _written_out(view)
            if first is not None:
                message = _message("these steps", view)
                yield self.finding(unit, unit.span(first.first, first.last), message, Effort.REVIEW)
            for call, helpers in exchanges(view) if whole else ():
                if not any(map(view.bodies.is_own, (helper.function for helper in helpers))) and all(
                    map(_covers_half, helpers)
                ):
                    message = f"{call.callee} covers 32 of 64 lanes, and the function counts them by 64{view.why}"
                    span = unit.span(call.first, call.last)
                    yield self.finding(unit, span, f"{message} [butterfly-steps-from-16]", Effort.MANUAL)

    def _found(self, unit: Unit, view: View, bound: tuple[Node, str], *, whole: bool) -> Finding:
        node, text = bound
        span = unit.span(node.first, node.last)
        if not whole or view.shared or not text:
            return self.finding(unit, span, _message("this loop", view), Effort.REVIEW)
        message = f"{_message('this loop', view)}; {text} now"
        return self.finding(unit, span, message, Effort.REVIEW, (Edit(*span, text),))


def _message(what: str, view: View) -> str:
    return f"{what} over shuffles covers 32 of 64 lanes{view.why} [butterfly-steps-from-16]"


def _covers_half(view: View) -> bool:
    """Whether a function's own shuffles leave out half of a wavefront, and nothing in it counts by 32."""
    if HALF in view.groups or view.steps_by_32:
        return False
    return _written_out(view) is not None or any(_half(view, steps) is not None for steps in loops_of(view))


def _half(view: View, steps: Steps) -> tuple[Node, str] | None:
    """The constant that ends or begins a loop at half of a wavefront, and what it should be."""
    if any(view.width(call, one) != WHOLE for call, one in steps.shuffles):
        return None
    condition = unwrapped(steps.condition)
    if steps.down:
        if view.size(steps.start) == 16 and _to_one(view, condition, steps.variable):
            return steps.start, "32" if steps.start.kind == "number" and steps.loop.kind == "for" else ""
        return None
    if view.size(steps.start) != 1 or condition.kind != "binary" or unwrapped(condition.kids[0]).text != steps.variable:
        return None
    bound = condition.kids[1]
    wanted = {("<", 32): "64", ("<=", 16): "32", ("!=", 32): "64"}.get((condition.text, view.size(bound) or 0))
    if wanted is None:
        return None
    return bound, wanted if bound.kind == "number" and steps.loop.kind == "for" else ""


def _to_one(view: View, condition: Node, name: str) -> bool:
    if condition.kind == "name":
        return condition.text == name
    if condition.kind != "binary" or unwrapped(condition.kids[0]).text != name:
        return False
    return (condition.text, view.size(condition.kids[1])) in ((">", 0), (">=", 1), ("!=", 0))


def _written_out(view: View) -> Node | None:
    """The first of shuffles by 16, 8, 4, 2 and 1, one after the other."""
    found: list[Node] = []
    for call, one in view.collectives:
        lane = argument(call, one.lane) if one.kind == "shuffle" else None
        if lane is None or view.width(call, one) != WHOLE:
            continue
        size = view.size(lane)
        if size == _STEPS[len(found)]:
            found.append(call)
            if len(found) == len(_STEPS):
                return found[0]
        elif size is not None and size in _STEPS:
            found = [call] if size == _STEPS[0] else []
    return None

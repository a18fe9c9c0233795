"""V106: wavefronts counted by 32 where lanes are counted by 64."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Node, unwrapped
from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.wave64.wavefronts import HALF, TRACE, WHOLE, Divided, View, views


class HalfGroupBesideWholeLane(Rule):
    """Wavefronts counted by 32 where lanes are counted by 64

    `lane = threadIdx.x % 64` with `wave = threadIdx.x / 32`, or `blockDim.x / 32` partial sums where `threadIdx.x / 64`
    wrote them: half of the numbers stand for no wavefront, and what is read for them was never written. The 32 becomes
    64 where the function counts its lanes by 64 everywhere else and uses operations between lanes. A table of 32
    elements that a lane of 64 indexes is too short, and reported.
    """

    code = "V106"
    dialect = Dialect.BOTH
    text = TRACE
    hazards = ("warp-id-roles-32", "smem-scratch-per-warp-32")
    examples = (
        fixes(
            """
            __global__ void sum(const float *x, float *y) {
              __shared__ float s[16];
              int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
              float v = reduce(x[threadIdx.x]);
              if (lane == 0) s[wave] = v;
              __syncthreads();
              v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0.f;
            }
            """,
            """
            __global__ void sum(const float *x, float *y) {
              __shared__ float s[16];
              int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
              float v = reduce(x[threadIdx.x]);
              if (lane == 0) s[wave] = v;
              __syncthreads();
              v = threadIdx.x < blockDim.x / 64 ? s[lane] : 0.f;
            }
            """,
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        fixes(
            "__global__ void k(int *x) { int lane = threadIdx.x & 63; int wave = threadIdx.x >> 5; x[wave] = lane; }",
            "__global__ void k(int *x) { int lane = threadIdx.x & 63; int wave = threadIdx.x >> 6; x[wave] = lane; }",
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        reports(
            """
            __global__ void turn(float *x) {
              __shared__ float row[4][32];
              int lane = threadIdx.x % 64;
              row[threadIdx.x / 64][lane] = x[threadIdx.x];
            }
            """,
            path="a.hip",
        ),
        reports(
            """
            __global__ void norm(float *x) {
              __shared__ float sums[1024 / warpSize];
              int lane = threadIdx.x % warpSize;
              x[threadIdx.x] = sums[lane];
            }
            """,
            path="a.hip",
        ),
        reports(
            "__global__ void rows(float *x) { int row = threadIdx.x / 32; x[row * warpSize + threadIdx.x % 32] = 0; }",
            path="a.hip",
        ),
        clean(
            "__global__ void k(int *x) { int lane = threadIdx.x & 63; int wave = threadIdx.x >> 6; x[wave] = lane; }",
            path="a.hip",
        ),
        clean(
            "__global__ void k(int *x) { int lane = threadIdx.x & 31; int row = threadIdx.x >> 5; x[row] = lane; }",
            path="a.hip",
        ),
        clean(
            """
            __global__ void tile(float *x) {
              int lane = threadIdx.x % 64, half = threadIdx.x % 64 / 32, column = lane % 32, row = threadIdx.x / 32;
              x[row * 32 + column] = half;
            }
            """,
            path="a.hip",
        ),
        clean(
            """
            __device__ int lane_id() { return threadIdx.x & 31; }
            __global__ void k(int *x) { if (lane_id() == 0) x[threadIdx.x / 32] = 1; }
            """,
            path="a.hip",
        ),
        clean(
            """
            __global__ void first(float *x) {
              __shared__ float row[32];
              int lane = threadIdx.x % 64;
              if (lane < 32) row[lane] = x[threadIdx.x];
            }
            """,
            path="a.hip",
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per number and per table."""
        for view in views(unit):
            divisions = view.divisions
            yield from self._products(unit, view)
            if any(one.group == HALF and one.remainder for one in divisions) or _has_lane_of_32(view):
                continue
            if any(one.group == WHOLE and one.remainder for one in divisions) or _asks_lane(view):
                for one in divisions:
                    if one.group == HALF and not one.remainder and _is_written_out(view, one):
                        yield self._number(unit, view, one)
            yield from self._tables(unit, view)

    def _products(self, unit: Unit, view: View) -> Iterator[Finding]:
        """`threadIdx.x / 32 * warpSize`: the number of a group of 32, and the size of a whole wavefront."""
        for node in view.nodes:
            if node.kind != "binary" or node.text != "*":
                continue
            for left, right in (node.kids, node.kids[::-1]):
                if view.size(right) == WHOLE and unwrapped(right).kind == "name" and _is_number_of_32(view, left):
                    message = "the wavefront is counted by 32, and this multiplies by its size of 64"
                    message += f"{view.why} [warp-id-roles-32]"
                    yield self.finding(unit, unit.span(node.first, node.last), message, Effort.MANUAL)

    def _number(self, unit: Unit, view: View, one: Divided) -> Finding:
        right = unwrapped(one.node.kids[1])
        text = "6" if one.node.text == ">>" else "64"
        what = "the number of wavefronts" if one.threads else "the number of the wavefront"
        message = f"{what} is counted by 32, the lanes by 64"
        if view.shared:
            message += f"{view.why} [warp-id-roles-32]"
            return self.finding(unit, unit.span(one.node.first, one.node.last), message, Effort.MANUAL)
        message += f"; {text} now [warp-id-roles-32]"
        edit = Edit(*unit.span(right.first), text)
        return self.finding(unit, unit.span(one.node.first, one.node.last), message, Effort.REVIEW, (edit,))

    def _tables(self, unit: Unit, view: View) -> Iterator[Finding]:
        last = {
            node.text: view.size(node.dimensions[-1])
            for node in view.nodes
            if node.kind == "variable" and node.dimensions and "__shared__" in node.extra
        }
        for node in view.nodes:
            if node.kind != "index" or view.lane(node.kids[1]) != WHOLE or view.guarded_below_32(node):
                continue
            table, depth = node.kids[0], 1
            while table.kind == "index":
                table, depth = table.kids[0], depth + 1
            size = last.get(table.text)
            short = size is not None and 1 < size < WHOLE
            if short and depth == _dimensions(view, table.text) and not _is_bounded(view, node):
                message = f"{table.text} has {size} elements, and the lane goes up to 63{view.why}"
                message += " [smem-scratch-per-warp-32]"
                yield self.finding(unit, unit.span(node.first, node.last), message, Effort.MANUAL)


def _is_written_out(view: View, one: Divided) -> bool:
    right = unwrapped(one.node.kids[1])
    return right.kind == "number" and view.size(right) in (HALF, 5)


def _is_number_of_32(view: View, node: Node) -> bool:
    """Whether an expression, or the variable that it names, is a thread's number divided by 32."""
    inner = unwrapped(node)
    values = view.values.get(inner.text, []) if inner.kind == "name" else [inner]
    found = [view.divided(unwrapped(value)) for value in values]
    return bool(found) and all(one is not None and one.group == HALF and not one.remainder for one in found)


def _asks_lane(view: View) -> bool:
    return any(node.kind == "call" and view.lane(node) == WHOLE for node in view.nodes)


def _has_lane_of_32(view: View) -> bool:
    """Whether the function has groups of 32 inside its wavefronts."""
    return any(node.kind == "binary" and view.lane(node) == HALF for node in view.nodes) or any(
        node.kind == "binary"
        and node.text in ("/", ">>")
        and view.lane(node.kids[0]) == WHOLE
        and view.size(node.kids[1]) in (HALF, 5)
        for node in view.nodes
    )


def _dimensions(view: View, name: str) -> int:
    return next((len(n.dimensions) for n in view.nodes if n.kind == "variable" and n.text == name), 0)


def _is_bounded(view: View, node: Node) -> bool:
    """Whether a condition around an access, or a `?:`, compares what it is indexed by."""
    above: Node | None = view.parents.get(id(node))
    below = node
    while above is not None:
        if above.kind in ("if", "ternary", "while", "for") and below is not above.kids[0]:
            condition = above.kids[0] if above.kind != "for" else above.kids[1]
            if any(n.kind == "binary" and n.text in ("<", "<=", "==") for n in condition.walk()):
                return True
        below = above
        above = view.parents.get(id(above))
    return False

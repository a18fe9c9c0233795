"""S103: a block barrier that only some threads of a wavefront reach."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Node
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports
from porter.warp.bodies import Bodies, Function, bodies_in_sight, mentions_in_sight
from porter.warp.flow.divergence import (
    BARRIERS,
    GROUPS,
    Branch,
    Event,
    Spread,
    flow_of,
    keeps_wavefronts,
    nested_barriers,
)


class DivergentBarrier(Rule):
    """Block barrier in divergent code

    `__syncthreads()`, `block.sync()` or `bar.sync` inside a branch or loop that only some threads of a wavefront enter.
    `s_barrier` counts wavefronts, not threads: a wavefront waits once if any of its lanes comes by, and twice if both
    sides of a branch have a barrier, so the waits of different wavefronts pair up wrongly or one waits for ever. The
    last pass of a loop over `i < n` is the usual case; it is harmless only while n is a multiple of the block. Move the
    barrier out and guard the work. Threads that have returned are not waited for on gfx942; that is only noted.
    """

    code = "S103"
    only_reports = True
    triggers = BARRIERS | GROUPS | {"asm", "__asm__"}
    hazards = ("syncthreads-divergent", "warp-id-roles-32")
    examples = (
        reports(
            """
            __global__ void f(float *x, int n) {
              for (int i = threadIdx.x; i < n; i += blockDim.x) {
                x[i] *= 2;
                __syncthreads();
              }
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            __global__ void roles(float *x) {
              if (threadIdx.x / 32 == 0) { x[0] = 1; __syncthreads(); }
              else { __syncthreads(); x[1] = x[0]; }
            }
            """
        ),
        reports(
            """
            #define UNROLL _Pragma("unroll")
            __global__ void f(float *x, int n) {
              UNROLL
              for (int i = threadIdx.x; i < n; i += 64) { x[i] = 0; __syncthreads(); }
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            enum Role { LOAD, WORK };
            __device__ Role role() { return threadIdx.x / 32 == 0 ? LOAD : WORK; }
            __global__ void roles(float *x) {
              switch (role()) {
                case LOAD: x[0] = 1; __syncthreads(); break;
                case WORK: __syncthreads(); x[1] = x[0]; break;
              }
            }
            """
        ),
        reports(
            """
            __global__ void roles(float *x) {
              int warp = threadIdx.x / 32;
              if (warp == 0) { x[0] = 1; __syncthreads(); }
              if (warp == 1) { __syncthreads(); x[1] = x[0]; }
            }
            """
        ),
        reports(
            """
            __global__ void roles(float *x) {
              if (threadIdx.x / 32 == 0) { x[0] = 1; __syncthreads(); return; }
              __syncthreads();
              x[1] = x[0];
            }
            """
        ),
        clean(
            """
            __global__ void groups(float *x) {
              switch (threadIdx.x / 128) {
                case 0: x[0] = 1; __syncthreads(); break;
                default: __syncthreads(); x[1] = x[0]; break;
              }
              int warp = threadIdx.x / 32;
              if (warp < 2) { x[2] = 1; __syncthreads(); } else { __syncthreads(); }
            }
            """
        ),
        clean(
            """
            __device__ int group_of();
            __global__ void groups(float *x) {
              const int group = group_of(), mine = threadIdx.x % 128;
              if (group == 0) { x[0] = 1; __syncthreads(); }
              if (mine < 64) { __syncthreads(); x[1] = x[0]; }
            }
            """
        ),
        clean(
            """
            __global__ void steps(float *x) {
              int warp = threadIdx.x / 32;
              if (warp == 0) x[0] = 1;
              __syncthreads();
              if (warp == 1) x[1] = x[0];
              __syncthreads();
            }
            """
        ),
        clean(
            """
            __global__ void f(float *x, int n) {
              __shared__ int last;
              for (int tile = 0; tile < n; ++tile) {
                if (threadIdx.x == 0) last = x[tile] > 0;
                __syncthreads();
                if (last) { __syncthreads(); x[threadIdx.x] = 0; }
              }
            }
            """
        ),
        clean(
            """
            struct Found { float sum; };
            __global__ void f(float *x, float limit) {
              __shared__ Found found;
              float low = 0;
              while (low < limit) {
                if (threadIdx.x == 0) found.sum = x[threadIdx.x];
                __syncthreads();
                low = found.sum;
                __syncthreads();
              }
            }
            """
        ),
        reports(
            "__global__ void f(float *x, int n) { if (threadIdx.x >= n) return; __syncthreads(); }", effort=Effort.NONE
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether there is such an operation, be it in a helper of a header."""
        return mentions_in_sight(unit, self.triggers)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per branch that holds barriers."""
        bodies = bodies_in_sight(unit)
        for function in nested_barriers(bodies):
            seen: set[int] = set()
            exits: set[int] = set()
            roles: dict[str, Branch] = {}
            for event in flow_of(bodies, function).events:
                branch = _splitting(bodies, function, event)
                if branch is not None and branch.node.first not in seen:
                    if branch.spread is Spread.LANE or branch.both:
                        seen.add(branch.node.first)
                        yield self._finding(unit, event, branch)
                    elif (other := _other_role(unit, branch, roles)) is not None:
                        seen.add(branch.node.first)
                        yield self._roles(unit, event, branch, other)
                elif branch is None and (left := _left(event)) is not None and left.first not in exits:
                    exits.add(left.first)
                    yield self._note(unit, event, left)

    def _note(self, unit: Unit, event: Event, left: Node) -> Finding:
        line, _ = unit.source.position(unit.tokens.starts[left.first])
        message = (
            f"threads return in line {line} before this barrier; gfx942 waits for the wavefronts that are left, so it "
            "holds [syncthreads-divergent]"
        )
        return self.finding(unit, unit.span(event.node.first, event.node.last), message, Effort.NONE)

    def _roles(self, unit: Unit, event: Event, branch: Branch, other: str) -> Finding:
        message = (
            f"warps wait at one barrier where '{other}', at another where '{_condition(unit, branch)}': two logical "
            "warps share a wavefront, which then waits twice while others wait once; give each role whole wavefronts "
            "of 64 threads [warp-id-roles-32]"
        )
        return self.finding(unit, unit.span(event.node.first, event.node.last), message, Effort.MANUAL)

    def _finding(self, unit: Unit, event: Event, branch: Branch) -> Finding:
        condition = _condition(unit, branch)
        span = unit.span(event.node.first, event.node.last)
        if branch.spread is Spread.WARP:
            message = (
                f"both sides of '{condition}' wait at a barrier: two logical warps share a wavefront, which then waits "
                "twice while others wait once; give each role whole wavefronts of 64 threads [warp-id-roles-32]"
            )
            return self.finding(unit, span, message, Effort.MANUAL)
        message = (
            f"threads of one wavefront can part at '{condition}', and only some reach this barrier; gfx942 counts "
            "wavefronts at a barrier, not threads: move it out and guard the work [syncthreads-divergent]"
        )
        return self.finding(unit, span, message, Effort.REVIEW)


def _left(event: Event) -> Node | None:
    """The first `return` that only some threads of a wavefront took before a barrier."""
    return next((e for e in event.exits if e.kind == "return"), None) if event.kind == "barrier" else None


def _condition(unit: Unit, branch: Branch) -> str:
    return " ".join(unit.slice(unit.span(branch.node.first, branch.node.last)).split())


def _other_role(unit: Unit, branch: Branch, roles: dict[str, Branch]) -> str | None:
    """The condition of an `if` before, by which other warps wait at a barrier of their own."""
    condition = _condition(unit, branch)
    other = next((text for text in roles if text != condition), None)
    roles.setdefault(condition, branch)
    return other


def _splitting(bodies: Bodies, function: Function, event: Event) -> Branch | None:
    """The innermost branch around a barrier that parts a wavefront; last, one that other warps pass by."""
    if event.kind != "barrier" and not (event.kind == "call" and "barrier" in event.reaches):
        return None
    role: Branch | None = None
    for branch in reversed(event.branches):
        if branch.node.last < 0 or branch.spread is Spread.BLOCK:
            continue
        if branch.spread is Spread.LANE:
            return branch
        kept = keeps_wavefronts(bodies, function, branch.node) if branch.both or branch.kind == "if" else True
        if branch.both and not kept:
            return branch
        role = branch if role is None and kept is False else role
    return role

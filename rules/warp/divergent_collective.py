"""W102: a warp-wide operation with the full mask where only some lanes come by."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Effort, Finding
from porter.rule import Rule, clean, reports
from porter.unit import Unit
from porter.warp.bodies import bodies_of
from porter.warp.collectives import COLLECTIVES, EXCHANGES
from porter.warp.flow import Branch, Event, flows, names_all_lanes
from porter.warp.spread import Spread


class DivergentCollective(Rule):
    """Warp-wide operation with the full mask in divergent code

    The mask says that all 32 lanes take part, and the branch or loop around it lets only some of them come by. GPUs
    since Volta wait for the lanes that a mask names; an AMD wavefront does not reconverge at a `_sync` call, the
    operation sees the lanes that are active at that moment and no others. Move the operation out of the branch and
    predicate its operand, or compute the mask from the lanes that are there. A condition that is the same for a whole
    logical warp (`threadIdx.x < 32`, `warp == 0`, a vote) is not reported.
    """

    code = "W102"
    triggers = frozenset(name for name, found in COLLECTIVES.items() if found.kind in EXCHANGES)
    hazards = ("ballot-in-divergent-code", "shfl-inactive-source")
    examples = (
        reports(
            """
            __global__ void halves(int *out) {
              int v = out[threadIdx.x], lane = threadIdx.x & 31;
              if (lane < 16) v += __shfl_xor_sync(0xffffffff, v, 16);
              out[threadIdx.x] = v;
            }
            """
        ),
        reports(
            """
            __global__ void tail(float *out, const float *in, int n) {
              for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
                float v = in[i];
                v += __shfl_xor_sync(0xffffffff, v, 1);
                out[i] = v;
              }
            }
            """
        ),
        reports(
            """
            __global__ void ragged(int *x, const int *length) {
              int v = x[threadIdx.x];
              for (int k = 0; k < length[threadIdx.x]; ++k) v += __shfl_down_sync(__activemask(), v, 1);
              x[threadIdx.x] = v;
            }
            """,
            effort=Effort.REVIEW,
        ),
        clean(
            """
            __device__ int leader(unsigned mask, int v) { return __shfl_sync(mask, v, __ffs(mask) - 1); }
            __global__ void some(int *x) {
              int v = x[threadIdx.x];
              if (v > 3) v = leader(__activemask(), v);
              x[threadIdx.x] = v;
            }
            """
        ),
        clean(
            """
            __global__ void first_warp(float *s) {
              float v = s[threadIdx.x];
              if (threadIdx.x < 32) v += __shfl_xor_sync(0xffffffff, v, 1);
              if (threadIdx.x / 32 == 1) v += __shfl_xor_sync(0xffffffff, v, 2);
              s[threadIdx.x] = v;
            }
            """
        ),
        clean(
            """
            __global__ void uniform(float *s, int n, bool flag) {
              float v = s[threadIdx.x];
              if (flag && n > 3) v += __shfl_xor_sync(0xffffffff, v, 1);
              while (__any_sync(0xffffffff, v > 1)) v *= 0.5f;
              s[threadIdx.x] = v;
            }
            """
        ),
        clean(
            """
            __device__ int same(int x) {
              int y;
              asm volatile("shfl.sync.idx.b32 %0, %1, 0, 0x1f, 0xffffffff;" : "=r"(y) : "r"(x));
              return y;
            }
            __global__ void roles(float *s) {
              int warp = same(threadIdx.x / 32);
              float v = s[threadIdx.x];
              if (warp < 3) v += __shfl_xor_sync(0xffffffff, v, 1);
              s[threadIdx.x] = v;
            }
            """
        ),
        clean(
            """
            template <int ALL, int LOADERS> __global__ void loaders(float *s) {
              constexpr int first = ALL - LOADERS;
              float v = s[threadIdx.x];
              if (threadIdx.x >= first) v += __shfl_xor_sync(0xffffffff, v, 1);
              s[threadIdx.x] = v;
            }
            """
        ),
        clean(
            """
            __global__ void few(int *s) {
              int v = s[threadIdx.x];
              unsigned mask = (1u << (blockDim.x / 32)) - 1u;
              if (threadIdx.x < blockDim.x / 32) v += __shfl_up_sync(mask, v, 1);
              s[threadIdx.x] = v;
            }
            """
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per operation."""
        for flow in flows(bodies_of(unit)):
            seen: set[int] = set()
            for event in flow.events:
                branch = _splitting(event)
                if branch is not None and event.node.first not in seen:
                    seen.add(event.node.first)
                    yield self._finding(unit, event, branch)

    def _finding(self, unit: Unit, event: Event, branch: Branch) -> Finding:
        condition = unit.slice(unit.span(branch.node.first, branch.node.last)) if branch.node.last >= 0 else ""
        around = "loop" if branch.kind == "loop" else "condition"
        line, _ = unit.source.position(unit.tokens.starts[branch.node.first])
        if event.neighbours:
            message = (
                f"{event.node.callee} reads a lane that the {around} '{' '.join(condition.split())}' (line {line}) "
                "may have taken away: the value is undefined, on gfx942 often 0 [shfl-inactive-source]"
            )
            return self.finding(unit, unit.span(event.node.first, event.node.last), message, Effort.REVIEW)
        message = (
            f"{event.node.callee} names all 32 lanes, but the {around} '{' '.join(condition.split())}' (line {line}) "
            "lets only some of them come by; nothing brings them together on gfx942: hoist the operation and "
            "predicate its operand [ballot-in-divergent-code]"
        )
        return self.finding(unit, unit.span(event.node.first, event.node.last), message, Effort.MANUAL)


def _splitting(event: Event) -> Branch | None:
    """The innermost condition that parts the lanes of a warp around an operation that needs them all."""
    if event.collective is not None and event.collective.mask is None:
        return None
    if not names_all_lanes(event) and not event.neighbours:
        return None
    return next((branch for branch in reversed(event.branches) if branch.spread is Spread.LANE), None)

"""W101: lanes leave before a warp-wide operation that names them."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Node
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports
from porter.warp.bodies import bodies_in_sight, mentions_in_sight
from porter.warp.flow.divergence import COLLECTIVES, EXCHANGES, TILES, Event, flows, names_all_lanes


class EarlyExitBeforeCollective(Rule):
    """Lanes leave before a warp-wide operation that names them

    `if (i >= n) return;` followed by a shuffle, vote or match with the full mask: in the last warp some lanes are
    gone. CUDA lets a mask name lanes that have exited, but what is read from them is undefined there too, and often
    happened to be the old register. On gfx942 such a read gives zero or anything. Our header neither traps nor waits,
    so the result differs only where an exited lane is read. Keep all lanes until the last exchange: replace the
    `return` by a predicate (`bool live = i < n;`) and give dead lanes the neutral value. Exits that a whole logical
    warp takes together are not reported.
    """

    code = "W101"
    only_reports = True
    triggers = frozenset(name for name, found in COLLECTIVES.items() if found.kind in EXCHANGES) | TILES
    hazards = ("shfl-inactive-source", "full-mask-partial-wave-trap", "partial-wave-tail")
    examples = (
        reports(
            """
            __global__ void sum(float *out, const float *in, int n) {
              int i = blockIdx.x * blockDim.x + threadIdx.x;
              if (i >= n) return;
              float v = in[i];
              for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
              if (threadIdx.x % 32 == 0) atomicAdd(out, v);
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            __device__ float total(float v) {
              for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
              return v;
            }
            __global__ void sum(float *out, const float *in, int n) {
              int i = blockIdx.x * blockDim.x + threadIdx.x;
              if (i >= n) return;
              out[i] = total(in[i]);
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            #define RETURN_IF(condition) if (condition) return
            __global__ void sum(float *out, int n) {
              auto tile = cg::tiled_partition<32>(cg::this_thread_block());
              RETURN_IF(threadIdx.x >= n);
              out[threadIdx.x] += tile.shfl_down(out[threadIdx.x], 1);
            }
            """,
            effort=Effort.REVIEW,
        ),
        clean(
            """
            __global__ void stopped(float *out) {
              __shared__ bool stop;
              if (threadIdx.x == 0) stop = out[0] > 3;
              __syncthreads();
              if (stop) return;
              out[threadIdx.x] += __shfl_xor_sync(0xffffffff, out[threadIdx.x], 1);
            }
            """
        ),
        clean(
            """
            __global__ void rows(float *out, const float *in, int rows, int cols) {
              int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
              if (row >= rows) return;
              float v = 0;
              for (int j = lane; j < cols; j += 32) v += in[row * cols + j];
              for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
              if (lane == 0) out[row] = v;
            }
            """
        ),
        clean(
            """
            __global__ void compact(int *out, const int *in, int *count, int n) {
              int i = blockIdx.x * blockDim.x + threadIdx.x;
              if (i >= n) return;
              unsigned active = __activemask();
              unsigned kept = __ballot_sync(active, in[i] > 0);
            }
            """
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether there is such an operation, be it in a helper of a header."""
        return mentions_in_sight(unit, self.triggers)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per exit, at the first operation after it that names the lanes that left."""
        bodies = bodies_in_sight(unit)
        for flow in flows(bodies):
            seen: set[int] = set()
            for event in flow.events:
                exits = [e for e in event.exits if e.kind == "return" and e.first not in seen]
                if exits and names_all_lanes(bodies, flow.function, event):
                    seen.update(e.first for e in exits)
                    yield self._finding(unit, exits[-1], event)

    def _finding(self, unit: Unit, exit_: Node, event: Event) -> Finding:
        line, _ = unit.source.position(unit.tokens.starts[exit_.first])
        message = (
            f"some lanes of a warp return in line {line}, and {event.node.callee} exchanges values with all 32: what "
            "is read from a lane that left is undefined; keep the lanes and give them a neutral value "
            "[shfl-inactive-source, full-mask-partial-wave-trap]"
        )
        return self.finding(unit, unit.span(event.node.first, event.node.last), message, Effort.REVIEW)

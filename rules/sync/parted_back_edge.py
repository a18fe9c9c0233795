"""S108: a loop that ends and begins with a branch by lanes, with an exchange in between."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes
from porter.warp.bodies import bodies_in_sight, mentions_in_sight
from porter.warp.flow.divergence import COLLECTIVES, EXCHANGES, TILES, BackEdge, parted_back_edges


class PartedBackEdge(Rule):
    """Loop that ends with what one lane does, and begins with it

    A warp that takes its work from a queue: lane 0 draws a number, a shuffle hands it to the others, and at the end of
    the round lane 0 writes the result. clang for gfx942 (19, at -O2) sees that whoever did not write will not draw
    either, and gives these lanes a loop of their own, in which the shuffle never meets lane 0: they read 0 for ever.
    NVIDIA's `_sync` waits for all lanes. A wave barrier at the end of the round, which is no instruction, keeps the
    lanes in one loop.
    """

    code = "S108"
    triggers = frozenset(name for name, found in COLLECTIVES.items() if found.kind in EXCHANGES) | TILES
    hazards = ("intrawarp-spinlock",)
    examples = (
        fixes(
            """
            __global__ void work(int *next, int n, int *out) {
              int lane = threadIdx.x & 31;
              while (true) {
                int i = 0;
                if (lane == 0) i = atomicAdd(next, 1);
                i = __shfl_sync(0xffffffff, i, 0);
                if (i >= n) break;
                if (lane == 0) out[i] = i;
              }
            }
            """,
            """
            __global__ void work(int *next, int n, int *out) {
              int lane = threadIdx.x & 31;
              while (true) {
                int i = 0;
                if (lane == 0) i = atomicAdd(next, 1);
                i = __shfl_sync(0xffffffff, i, 0);
                if (i >= n) break;
                if (lane == 0) out[i] = i; porter::syncwarp();
              }
            }
            """,
        ),
        fixes(
            """
            struct Queue {
              int *next;
              __device__ int pop(int lane) {
                int i = 0;
                if (lane == 0) i = atomicAdd(next, 1);
                return __shfl_sync(0xffffffff, i, 0);
              }
            };
            __global__ void work(Queue q, int n, int *out) {
              int lane = threadIdx.x & 31;
              for (int i; (i = q.pop(lane)) < n;) if (lane == 0) out[i] = i;
            }
            """,
            """
            struct Queue {
              int *next;
              __device__ int pop(int lane) {
                int i = 0;
                if (lane == 0) i = atomicAdd(next, 1);
                return __shfl_sync(0xffffffff, i, 0);
              }
            };
            __global__ void work(Queue q, int n, int *out) {
              int lane = threadIdx.x & 31;
              for (int i; (i = q.pop(lane)) < n;) { if (lane == 0) out[i] = i; porter::syncwarp(); }
            }
            """,
        ),
        fixes(
            """
            __global__ void work(int *next, int n, int *out) {
              int lane = threadIdx.x & 31;
              while (true) {
                int i = __shfl_sync(0xffffffff, lane == 0 ? atomicAdd(next, 1) : 0, 0);
                if (i >= n) break;
                if (lane != 0) continue;
                out[i] = i;
              }
            }
            """,
            """
            __global__ void work(int *next, int n, int *out) {
              int lane = threadIdx.x & 31;
              while (true) { porter::syncwarp();
                int i = __shfl_sync(0xffffffff, lane == 0 ? atomicAdd(next, 1) : 0, 0);
                if (i >= n) break;
                if (lane != 0) continue;
                out[i] = i;
              }
            }
            """,
        ),
        clean(
            """
            __global__ void work(int *next, int n, int *out) {
              int lane = threadIdx.x & 31;
              while (true) {
                int i = 0;
                if (lane == 0) i = atomicAdd(next, 1);
                i = __shfl_sync(0xffffffff, i, 0);
                if (i >= n) break;
                if (lane == 0) out[i] = i;
                __syncwarp();
              }
            }
            """
        ),
        clean(
            """
            __device__ int sum(int v) {
              for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffff, v, o);
              return v;
            }
            __global__ void rows(const int *x, int n, int *out) {
              int lane = threadIdx.x & 31;
              for (int row = threadIdx.x / 32; row < n; row += blockDim.x / 32) {
                int v = sum(x[row * 32 + lane]);
                if (lane == 0) out[row] = v;
              }
            }
            """
        ),
        clean(
            """
            __global__ void work(int *next, int n, int *out) {
              int lane = threadIdx.x & 31;
              while (true) {
                int i = 0;
                if (lane == 0) i = atomicAdd(next, 1);
                i = __shfl_sync(0xffffffff, i, 0);
                if (i >= n) break;
                out[i * 32 + lane] = i;
              }
            }
            """
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether there is an exchange, be it in a helper of a header."""
        return mentions_in_sight(unit, self.triggers)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per loop."""
        for edge in parted_back_edges(bodies_in_sight(unit)):
            edits = _barrier(unit, edge)
            last = edge.body.kids[-1] if edge.body.kind == "block" else edge.body
            effort, includes = (Effort.NONE, ("porter/warp32.hpp",)) if edits else (Effort.REVIEW, ())
            how = "a wave barrier keeps" if edits else "let porter::syncwarp() keep"
            message = (
                "the lanes that do not take the last branch would get a loop of their own from the compiler for "
                f"gfx942, in which an exchange misses the others: {how} them in one loop [intrawarp-spinlock]"
            )
            yield self.finding(unit, unit.span(last.first, last.last), message, effort, edits, includes)


def _barrier(unit: Unit, edge: BackEdge) -> tuple[Edit, ...]:
    """At the end of the body, or at its beginning where lanes go back from before that; nothing where it cannot be."""
    tokens, body = unit.tokens, edge.body
    if tokens.directive_of(body.first) is not None or tokens.directive_of(body.last) is not None:
        return ()
    if body.kind != "block":
        start, end = tokens.starts[body.first], tokens.end(body.last)
        return () if edge.leaps else (Edit(start, start, "{ "), Edit(end, end, " porter::syncwarp(); }"))
    if edge.leaps:
        behind = tokens.end(body.first)
        return (Edit(behind, behind, " porter::syncwarp();"),) if edge.is_head_free else ()
    end = tokens.end(body.kids[-1].last)
    return (Edit(end, end, " porter::syncwarp();"),)

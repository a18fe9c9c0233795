"""S101: lanes of a warp hand shared memory to each other without a barrier."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Edit, Effort, Finding
from porter.rule import Rule, clean, fixes
from porter.unit import Unit
from porter.warp.bodies import Function, bodies_of
from porter.warp.lockstep import Gap, Lockstep
from porter.warp.lockstep_hints import candidates

_BARRIER = "porter::syncwarp();"
_HEADER = "porter/warp32.hpp"


class MissingWaveBarrier(Rule):
    """Warp-synchronous code without a barrier

    `if (tid < 32) { s[tid] += s[tid + 16]; s[tid] += s[tid + 8]; }` relies on the lanes of a warp running in lockstep.
    A wavefront does run in lockstep, but the compiler for gfx942 sees one thread at a time: it reads everything up
    front and writes once at the end, with or without `volatile` on part of the accesses, and the sums are wrong. A
    wave barrier (`porter::syncwarp()`, no instruction) between the steps keeps their order. `volatile` on a pointer
    parameter is then no longer needed and goes: on gfx942 it turns each access into a slow flat access.
    """

    code = "S101"
    triggers = frozenset({"__shared__", "volatile"})
    hazards = ("warp-synchronous-no-volatile", "volatile-shared-becomes-flat")
    examples = (
        fixes(
            """
            __global__ void sum(float *out, const float *in) {
              __shared__ float s[128];
              int tid = threadIdx.x;
              s[tid] = in[tid];
              __syncthreads();
              if (tid < 32) {
                s[tid] += s[tid + 32];
                s[tid] += s[tid + 16];
                s[tid] += s[tid + 8];
              }
              if (tid == 0) *out = s[0];
            }
            """,
            """
            __global__ void sum(float *out, const float *in) {
              __shared__ float s[128];
              int tid = threadIdx.x;
              s[tid] = in[tid];
              __syncthreads();
              if (tid < 32) {
                s[tid] += s[tid + 32]; porter::syncwarp();
                s[tid] += s[tid + 16]; porter::syncwarp();
                s[tid] += s[tid + 8];
              }
              if (tid == 0) *out = s[0];
            }
            """,
        ),
        fixes(
            """
            __device__ void warpReduce(volatile int *s, int tid) {
              for (int o = 32; o > 0; o >>= 1) s[tid] += s[tid + o];
            }
            """,
            """
            __device__ void warpReduce(int *s, int tid) {
              for (int o = 32; o > 0; o >>= 1) { s[tid] += s[tid + o]; porter::syncwarp(); }
            }
            """,
        ),
        clean(
            """
            __global__ void sum(float *out, const float *in) {
              __shared__ float s[128];
              int tid = threadIdx.x;
              s[tid] = in[tid];
              __syncthreads();
              for (int o = 64; o > 0; o >>= 1) {
                if (tid < o) s[tid] += s[tid + o];
                __syncthreads();
              }
              if (tid < 32) out[tid] = s[tid];
            }
            """
        ),
        clean(
            """
            __device__ void scan(volatile int *s, int lane) {
              int t = s[lane + 31];
              __syncwarp();
              s[lane + 32] += t;
              __syncwarp();
            }
            """
        ),
        clean(
            """
            __global__ void own(float *out) {
              __shared__ float s[32 * 4];
              int tid = threadIdx.x;
              s[tid * 4] = 1;
              s[tid * 4 + 1] = s[tid * 4] + 1;
              out[tid] = s[tid * 4 + 1];
            }
            """
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per function: its barriers belong together."""
        bodies = bodies_of(unit)
        for function in candidates(bodies):
            gaps = Lockstep(bodies, function).find()
            if gaps:
                yield self._finding(unit, function, gaps)

    def _finding(self, unit: Unit, function: Function, gaps: tuple[Gap, ...]) -> Finding:
        edits = tuple(edit for gap in gaps for edit in _edits(unit, gap))
        edits += _plain_pointers(unit, function, gaps)
        first = gaps[0].statement
        bases = ", ".join(sorted({gap.base for gap in gaps}))
        message = (
            f"lanes of a warp exchange {bases} without a barrier; the compiler reorders that on gfx942: "
            f"{len(gaps)} wave barrier{'s' if len(gaps) > 1 else ''} added [warp-synchronous-no-volatile]"
        )
        return self.finding(unit, unit.span(first.first, first.last), message, Effort.NONE, edits, (_HEADER,))


def _edits(unit: Unit, gap: Gap) -> tuple[Edit, ...]:
    start = unit.tokens.starts[gap.statement.first]
    end = unit.tokens.end(gap.statement.last)
    if not gap.alone:
        return (Edit(end, end, f" {_BARRIER}"),)
    return (Edit(start, start, "{ "), Edit(end, end, f" {_BARRIER} }}"))


def _plain_pointers(unit: Unit, function: Function, gaps: tuple[Gap, ...]) -> tuple[Edit, ...]:
    """Takes `volatile` off the pointers whose every exchange now has a barrier."""
    bodies = bodies_of(unit)
    strict = Lockstep(bodies, function, strict=True).find()
    if {gap.statement.last for gap in strict} != {gap.statement.last for gap in gaps}:
        return ()
    tokens = unit.tokens
    names = {gap.base for gap in gaps}
    found: list[Edit] = []
    for index in tokens.names.get("volatile", ()):
        if function.head.opening < index < function.head.closing and _declares(unit, index) in names:
            start = tokens.starts[index]
            found.append(Edit(start, tokens.starts[index + 1], ""))
    return tuple(found)


def _declares(unit: Unit, index: int) -> str:
    """The parameter that a `volatile` qualifies."""
    texts = unit.tokens.texts
    while index < len(texts) and texts[index] not in (",", ")"):
        index += 1
    return texts[index - 1]

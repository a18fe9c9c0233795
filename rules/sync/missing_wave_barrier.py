"""S101: lanes of a warp hand shared memory to each other without a barrier."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.nodes import Node, has_hole
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.flow.lockstep_gaps import (
    Function,
    Gap,
    Lockstep,
    gaps_in_headers,
    gaps_of,
    plain_pointers,
)

_BARRIER = "porter::syncwarp();"
_HEADER = "porter/warp32.hpp"


class MissingWaveBarrier(Rule):
    """Warp-synchronous code without a barrier

    `if (tid < 32) { s[tid] += s[tid + 16]; s[tid] += s[tid + 8]; }` relies on the lanes of a warp running in lockstep.
    A wavefront does run in lockstep, but the compiler for gfx942 sees one thread at a time: it reads everything up
    front and writes once at the end, with or without `volatile` on part of the accesses, and the sums are wrong. A
    wave barrier (`porter::syncwarp()`, no instruction) between the steps keeps their order, also between calls of a
    helper that is handed a warp's part of shared memory; a helper with a pointer gets one at both ends, since its next
    call is the next step. `volatile` on a pointer parameter is then no longer needed and goes, or is cast away where
    callers out of sight may have volatile pointers: on gfx942 it turns each access into a slow flat access. What one
    lane writes and all read (`if (lane == 0) s[warp] = v; w = s[warp];`) gets one as well: the compiler may read ahead
    for the lanes that do not write.
    """

    code = "S101"
    text = "(?i:global|device)"
    triggers = frozenset({"__shared__", "volatile", "__device__"})
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
            __device__ void f(volatile int *s, int t) {
              for (int o = 32; o > 0; o >>= 1) s[t] += s[t + o];
            }
            """,
            """
            __device__ void f(volatile int *porter_s, int t) { int *s = const_cast<int *>(porter_s); porter::syncwarp();
              for (int o = 32; o > 0; o >>= 1) { s[t] += s[t + o]; porter::syncwarp(); }
            }
            """,
        ),
        fixes(
            """
            template <class T, class Op> __device__ void f(volatile T *s, T &v, int t, int d, const Op &g) {
              T r = s[t + d];
              s[t] = v = g(v, r);
            }
            __device__ void all(int *s, int v, int t) { f(s, v, t, 16, Plus()); f(s, v, t, 8, Plus()); }
            """,
            """
            template <class T, class Op> __device__ void f(T *s, T &v, int t, int d, const Op &g) { porter::syncwarp();
              T r = s[t + d]; porter::syncwarp();
              s[t] = v = g(v, r);
            porter::syncwarp(); }
            __device__ void all(int *s, int v, int t) { f(s, v, t, 16, Plus()); f(s, v, t, 8, Plus()); }
            """,
        ),
        fixes(
            """
            __device__ int f(volatile int *s, int t, int v)
            {
              s[t - 16] = 0; s[t] = v;
              s[t] = v = v + s[t - 1];
              return s[t - 1];
            }
            """,
            """
            __device__ int f(volatile int *porter_s, int t, int v)
            { int *s = const_cast<int *>(porter_s); porter::syncwarp();
              s[t - 16] = 0; porter::syncwarp(); s[t] = v; porter::syncwarp();
              s[t] = v = v + s[t - 1]; porter::syncwarp();
              auto const porter_last = s[t - 1]; porter::syncwarp(); return porter_last;
            }
            """,
        ),
        fixes(
            """
            __global__ void k(int *out, const int *in) {
              __shared__ int s[64];
              int t = threadIdx.x;
              if (t < 32) {
                __pipeline_memcpy_async(s + t, in + t, 4);
                __pipeline_wait_prior(0);
                out[t] = s[31 - t];
              }
            }
            """,
            """
            __global__ void k(int *out, const int *in) {
              __shared__ int s[64];
              int t = threadIdx.x;
              if (t < 32) {
                __pipeline_memcpy_async(s + t, in + t, 4); porter::syncwarp();
                __pipeline_wait_prior(0);
                out[t] = s[31 - t];
              }
            }
            """,
        ),
        clean(
            """
            __global__ void k(int *out, const int *in) {
              __shared__ int s[64];
              int t = threadIdx.x;
              if (t < 32) { __pipeline_memcpy_async(&s[t], in + t, 4); __pipeline_wait_prior(0); out[t] = s[t]; }
            }
            """
        ),
        clean(
            """
            __global__ void k(int *out, const int *in, int n) {
              __shared__ int s[8], all[8], mine[8], last;
              int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
              if (lane == 0) s[warp] = in[warp];
              __syncwarp();
              all[warp] = n;
              if (lane == 0) { mine[warp] = in[warp]; out[warp] = mine[warp]; }
              if (threadIdx.x == 0) last = n;
              out[threadIdx.x] = s[warp] + all[warp];
              if (threadIdx.x == 0) out[0] = last;
              if (threadIdx.x < n) { __syncwarp(); out[1] = last; }
            }
            """
        ),
        fixes(
            """
            __global__ void k(int *out, const int *in, int n) {
              __shared__ int s[8];
              int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
              for (int i = 0; i < n; i++) {
                if (lane == 0) s[warp] = in[i + warp];
                sum += s[warp] + lane;
              }
              out[threadIdx.x] = sum;
            }
            """,
            """
            __global__ void k(int *out, const int *in, int n) {
              __shared__ int s[8];
              int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
              for (int i = 0; i < n; i++) {
                if (lane == 0) s[warp] = in[i + warp]; porter::syncwarp();
                sum += s[warp] + lane;
              }
              out[threadIdx.x] = sum;
            }
            """,
        ),
        fixes(
            """
            __global__ void k(int *out, int *next) {
              __shared__ int at;
              int lane = threadIdx.x & 31;
              if (lane == 0) { at = atomicAdd(next, 32); }
              out[at + lane] = lane;
            }
            """,
            """
            __global__ void k(int *out, int *next) {
              __shared__ int at;
              int lane = threadIdx.x & 31;
              if (lane == 0) { at = atomicAdd(next, 32); } porter::syncwarp();
              out[at + lane] = lane;
            }
            """,
        ),
        clean("__global__ void k() { __shared__ int s[64]; int t = threadIdx.x; s[t * 2] = 1; s[t * 2 + 1] = 2; }"),
        fixes(
            "__device__ void f(int *s, int t) { for (int d = 16; d > 0; d /= 2) { s[t] += s[t + d]; } }",
            "__device__ void f(int *s, int t) { porter::syncwarp(); "
            "for (int d = 16; d > 0; d /= 2) { s[t] += s[t + d]; porter::syncwarp(); } }",
        ),
        fixes(
            """
            __global__ void k(int *out) {
              __shared__ int s[256];
              int t = threadIdx.x;
              for (int o = 128; o > 0; o >>= 1) {
                if (t < o) s[t] += s[t + o]; if (o > 32) __syncthreads();
              }
            }
            """,
            """
            __global__ void k(int *out) {
              __shared__ int s[256];
              int t = threadIdx.x;
              for (int o = 128; o > 0; o >>= 1) {
                if (t < o) s[t] += s[t + o]; if (o > 32) __syncthreads(); porter::syncwarp();
              }
            }
            """,
        ),
        fixes(
            """
            template <int N> __device__ void sum(int *s) {
              if (N > 16) __syncthreads();
              if (threadIdx.x < N) { s[threadIdx.x] += s[threadIdx.x + N]; sum<N / 2>(s); }
            }
            """,
            """
            template <int N> __device__ void sum(int *s) { porter::syncwarp();
              if (N > 16) __syncthreads();
              if (threadIdx.x < N) { s[threadIdx.x] += s[threadIdx.x + N]; porter::syncwarp(); sum<N / 2>(s); }
            porter::syncwarp(); }
            """,
        ),
        clean(
            """
            __global__ void k(int *out, int n) {
              __shared__ int s[256];
              int t = threadIdx.x;
              for (int o = 128; o > 0; o >>= 1) { if (t < o) s[t] += 1; if (o > 32) __syncthreads(); }
            }
            """
        ),
        clean(
            """
            __global__ void k(int *out, int n) {
              __shared__ int s[256];
              int t = threadIdx.x;
              for (int o = 128; o > 0; o >>= 1) { if (t < o) s[t] += s[t + o]; if (n > 0) out[0] = 1; __syncthreads(); }
            }
            """
        ),
        clean("__device__ void f(int *s, int t) { for (int d = 16; d > 0; d--) { s[t] += s[t + d]; } }"),
        clean("__device__ void f(int *s, int t) { s[t] += s[t + 16]; s[t] += s[t + 8]; s[t] += s[t + 1]; }"),
        clean("__device__ int f(const int *s, int t) { return s[t] + s[t+16] + s[t+8] + s[t+4] + s[t+2] + s[t+1]; }"),
        clean("__device__ void step(volatile int *s, int t, int d) { s[t] += s[t + d]; }"),
        clean(
            """
            __global__ void k(int *out) {
              __shared__ int s[64];
              fill(s, 32);
              __syncthreads();
              use(s, out);
            }
            """
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
        clean(
            """
            __global__ void e() {
              __shared__ int s[64];
              int t = threadIdx.x;
              if (t < 16) { s[t] = [[[[[]]]]] p() x[] = s[] }
            }
            """
        ),
        reports("__device__ void h(volatile int *s, int t) { s[0]; s[t] +=; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per function: its barriers belong together."""
        for function, walk, gaps in gaps_of(unit):
            yield self._finding(unit, function, walk, gaps)
        for call, gap in gaps_in_headers(unit):
            message = (
                f"{call.callee} of a header exchanges {gap.base} between lanes of a warp without a barrier, and the "
                "compiler reorders that on gfx942: put `porter::syncwarp();` between its steps and at its ends "
                "[warp-synchronous-no-volatile]"
            )
            yield self.finding(unit, unit.span(call.first, call.last), message, Effort.MANUAL)

    def _finding(self, unit: Unit, function: Function, walk: Lockstep, gaps: tuple[Gap, ...]) -> Finding:
        first = gaps[0].statement
        bases = ", ".join(sorted({gap.base for gap in gaps}))
        exchange = f"lanes of a warp exchange {bases} without a barrier"
        if has_hole(function.body) or any(unit.tokens.texts[gap.statement.last] not in (";", "}") for gap in gaps):
            message = f"{exchange}, and where a statement ends cannot be read [warp-synchronous-no-volatile]"
            return self.finding(unit, unit.span(first.first, first.last), message, Effort.MANUAL)
        edits = tuple(edit for gap in gaps for edit in _edits(unit, gap))
        count = len(gaps)
        if any(gap.base in function.parameters for gap in gaps):
            pointers, declared = plain_pointers(unit, function, walk, gaps)
            ends = _ends(unit, function, walk, declared)
            edits += (*ends, *pointers)
            count += len(ends)
        message = (
            f"{exchange}; the compiler reorders that on gfx942: "
            f"{count} wave barrier{'s' if count > 1 else ''} added [warp-synchronous-no-volatile]"
        )
        return self.finding(unit, unit.span(first.first, first.last), message, Effort.NONE, edits, (_HEADER,))


def _ends(unit: Unit, function: Function, walk: Lockstep, declared: str) -> tuple[Edit, ...]:
    """A helper's first access after what its caller did, and its last before what the caller does next."""
    start, end = unit.tokens.end(function.head.body or 0), unit.tokens.starts[function.head.end - 1]
    last = function.body.kids[-1] if function.body.kids else None
    before = Edit(start, start, f"{declared} {_BARRIER}")
    if not walk.open:
        return (before,)
    if last is None or last.kind != "return":
        return (before, Edit(end, end, f"{_BARRIER} "))
    return (before, *_return(unit, last))


def _return(unit: Unit, last: Node) -> tuple[Edit, ...]:
    """A barrier between what a helper wrote, and what its `return` reads, and what the caller does next."""
    tokens, start, end = unit.tokens, unit.tokens.starts[last.first], unit.tokens.end(last.last)
    if not any(below.kind in ("index", "unary", "call") for below in last.walk()):
        return (Edit(start, start, f"{_BARRIER} "),)
    if last.kids[0].kind == "list":
        return ()
    kept = Edit(start, tokens.end(last.first), "auto const porter_last =")
    return (kept, Edit(end, end, f" {_BARRIER} return porter_last;"))


def _edits(unit: Unit, gap: Gap) -> tuple[Edit, ...]:
    start = unit.tokens.starts[gap.statement.first]
    end = unit.tokens.end(gap.statement.last)
    if not gap.alone:
        return (Edit(end, end, f" {_BARRIER}"),)
    return (Edit(start, start, "{ "), Edit(end, end, f" {_BARRIER} }}"))

"""S102: a loop that waits for another thread."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Example, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.bodies import bodies_in_sight, bodies_of
from porter.warp.flow.divergence import Spread
from porter.warp.flow.spin import Spin, Spins, Waits

_SIGNS = frozenset(
    [
        "atomicCAS",
        "atomicExch",
        "atomicCAS_block",
        "atomicExch_block",
        "atomicCAS_system",
        "volatile",
        "__ldcg",
        "__ldcv",
        "load",
        "ld_acquire",
        "__threadfence",
        "__threadfence_block",
        "__nanosleep",
        "atomicAdd",
        "atomicOr",
        "try_lock",
        "tryLock",
        "trylock",
        "try_acquire",
    ]
)
_FLAGS = """\
__device__ void tell(unsigned *p, unsigned v) {
  asm volatile("st.release.gpu.u32 [%1], %0;" :: "r"(v), "l"(p));
}
__device__ unsigned ask(unsigned *p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ bool reached(unsigned seen, unsigned wanted) { return int(seen - wanted) >= 0; }
"""
"""What the kernels of three examples set and ask flags with."""


def _with_flags(kernel: str, *, effort: Effort = Effort.MANUAL) -> Example:
    return reports(_FLAGS + inspect.cleandoc(kernel), effort=effort)


class SpinWait(Rule):
    """Loop that waits for another thread

    `while (atomicCAS(&lock, 0, 1) != 0);` works since Volta because each lane makes progress of its own. Lanes of an
    AMD wavefront do not: the lane that holds the lock waits, masked off, for the lanes that spin, and the kernel
    hangs. Two logical warps share a wavefront, so one lane of each is already enough, and so is a producer warp whose
    consumer warp spins. Let one thread per block take the lock, or put the critical section inside the loop, in the
    branch of the lane that won (`if (atomicCAS(...) == 0) { ...; release; done = true; }`), and end the loop by a flag,
    not by `break` or `return`: what a branch does before it leaves a loop is executed when all lanes have left it, and
    the lock is never released. An optimising compiler turns the flag into the same exit; the wave barrier that is added
    behind the branch keeps the release inside the loop. A wait for another block needs all blocks of the grid to be
    resident: launch cooperatively, or draw block numbers from a counter. Compare-and-swap loops that retry an update
    wait for nobody and are not reported.
    """

    code = "S102"
    text = "(?i:global|device)"
    triggers = _SIGNS
    hazards = ("intrawarp-spinlock", "interblock-spin", "memory-model-relaxed-plain", "warp-id-roles-32")
    examples = (
        clean("__device__ void f(Locks a, int *x) { if (a[0].try_lock()) { x[0]++; a[0].unlock(); } }"),
        reports("__device__ void f(Locks a, int *x) { while (!a[0].try_lock()) {} x[0]++; a[0].unlock(); }"),
        fixes(
            """
            template <class F> __device__ void all(F f) { f(); }
            __device__ void f(Locks a, int *x, int i) {
              bool done = false;
              all([&]() {
                while (!done) {
                  if (a[i].try_lock()) { if (x[i] > 0) { x[i]++; done = true; } a[i].unlock(); }
                }
              });
            }
            """,
            """
            template <class F> __device__ void all(F f) { f(); }
            __device__ void f(Locks a, int *x, int i) {
              bool done = false;
              all([&]() {
                while (!done) {
                  if (a[i].try_lock()) { if (x[i] > 0) { x[i]++; done = true; } a[i].unlock(); } porter::syncwarp();
                }
              });
            }
            """,
        ),
        clean("""
            __global__ void meet(int *x) {
              __shared__ int here;
              if (threadIdx.x == 0) here = 0;
              __syncthreads();
              x[threadIdx.x] = threadIdx.x;
              if (threadIdx.x % 32 == 0) atomicAdd(&here, 1);
              while (*(volatile int *)&here < blockDim.x / 32) {}
              x[threadIdx.x ^ 32] += 1;
            }
            """),
        reports("""
            __global__ void meet(int *x) {
              __shared__ int here;
              if (threadIdx.x == 0) here = 0;
              __syncthreads();
              if (threadIdx.x < 32) {
                if (threadIdx.x == 0) atomicAdd(&here, 1);
                while (*(volatile int *)&here < 2) {}
              } else {
                if (threadIdx.x == 32) atomicAdd(&here, 1);
              }
              x[threadIdx.x] += 1;
            }
            """),
        reports("""
            __global__ void turns(int *x) {
              __shared__ int here;
              if (threadIdx.x == 0) here = 0;
              __syncthreads();
              if (threadIdx.x == 0) atomicAdd(&here, 1);
              while (*(volatile int *)&here < threadIdx.x / 32 + 1) {}
              x[threadIdx.x] += 1;
              if (threadIdx.x % 32 == 0) atomicAdd(&here, 1);
            }
            """),
        clean(
            """
            template <class P> __device__ int first(P fits, int n) {
              int i = 0;
              while (!fits(i)) ++i;
              __threadfence();
              return i;
            }
            """
        ),
        clean(
            """
            template <class N> __device__ int last(N next) {
              int at = 0, seen;
              do { seen = at; at = next(at); __threadfence(); } while (at != seen);
              return at;
            }
            """
        ),
        reports(
            """
            template <class P> __device__ void wait_until(P over) {
              while (!over()) __nanosleep(20);
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            __global__ void add(int *lock, float *sum, float v) {
              int t;
              asm volatile("mov.u32 %0, %tid.y;" : "=r"(t));
              if (t == 0) while (atomicCAS(lock, 0, 1) != 0);
              __syncthreads();
              atomicAdd(sum, v);
              __threadfence();
              __syncthreads();
              if (t == 0) atomicExch(lock, 0);
            }
            """
        ),
        clean(
            """
            __global__ void k(int *out, const int *in) {
              __shared__ int head[64];
              __shared__ int next[64];
              next[threadIdx.x] = atomicExch(&head[in[threadIdx.x]], threadIdx.x);
              __syncthreads();
              int count = 0, at = head[in[threadIdx.x]];
              while (at >= 0) {
                if (in[at] == 3) count += at;
                at = next[at];
              }
              out[threadIdx.x] = count;
            }
            """
        ),
        clean(
            """
            __global__ void add(int *lock, float *sum, float v) {
              int t;
              asm volatile("mov.u32 %0, %tid.x;" : "=r"(t));
              if (t == 0) while (atomicCAS(lock, 0, 1) != 0);
              __syncthreads();
              atomicAdd(sum, v);
              __threadfence();
              __syncthreads();
              if (t == 0) atomicExch(lock, 0);
            }
            """
        ),
        reports(
            """
            __global__ void add(int *lock, float *sum, float v) {
              while (atomicCAS(lock, 0, 1) != 0);
              *sum += v;
              __threadfence();
              atomicExch(lock, 0);
            }
            """
        ),
        reports(
            """
            __global__ void add(int *lock, float *sum, float v) {
            again:
              if (atomicCAS(lock, 0, 1) != 0) goto again;
              *sum += v;
              __threadfence();
              atomicExch(lock, 0);
            }
            """
        ),
        reports(
            """
            __global__ void chain(volatile int *ready, float *x) {
              if (threadIdx.x == 0) while (ready[blockIdx.x - 1] == 0);
              __syncthreads();
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            __device__ unsigned fresh(const unsigned *p) {
              unsigned v;
              asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p));
              return v;
            }
            __global__ void follow(unsigned *next, unsigned *out) {
              unsigned at, tries = 0;
              while ((at = fresh(next)) == 0) {
                if (tries++ > 1000000) { printf("lost\\n"); __trap(); }
                my_sleep(tries);
              }
              __threadfence_block();
              out[0] = at;
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            volatile __device__ int arrived = 0;
            __device__ void all_blocks(int round) {
              __syncthreads();
              if (threadIdx.x == 0) {
                atomicAdd((int *)&arrived, 1);
                while (arrived < gridDim.x * round) { ; }
              }
              __syncthreads();
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            struct Stage {
              volatile int *count;
              __device__ void wait_for(int gen) const { while (count[0] < gen) {} }
            };
            """,
            effort=Effort.REVIEW,
        ),
        clean(
            """
            struct Stage {
              volatile int *count;
              int at;
              __device__ void skip(int gen) { while (at < gen) at++; count[0] = at; }
            };
            """
        ),
        clean(
            """
            __device__ int arrived = 0;
            __device__ void f(volatile int *p, int n) {
              int i = 0;
              atomicAdd(&arrived, 1);
              while (i < n) { p[i] = 0; i++; }
            }
            """
        ),
        clean(
            """
            __device__ unsigned plain(const unsigned *p) { return *p; }
            __global__ void count(unsigned *next, unsigned *out) {
              unsigned at = 0;
              while (plain(next + at) == 0) { if (at > 1000) __trap(); at++; }
              __threadfence_block();
              out[0] = at;
            }
            """
        ),
        clean(
            """
            __device__ void most(cuda::atomic_ref<int> cell, int v) {
              int seen = cell.load();
              while (!cell.compare_exchange_weak(seen, seen < v ? v : seen)) {}
            }
            """
        ),
        clean(
            """
            __device__ float atomicMaxFloat(float *p, float v) {
              int old = *(int *)p, assumed;
              do {
                assumed = old;
                old = atomicCAS((int *)p, assumed, __float_as_int(fmaxf(v, __int_as_float(assumed))));
              } while (assumed != old);
              return __int_as_float(old);
            }
            """
        ),
        reports(
            """
            __global__ void add(int *locks, float *sums, const int *bin, float v) {
              int b = bin[threadIdx.x], taken;
              do { taken = atomicCAS(&locks[b], 0, 1); } while (taken != 0);
              sums[b] += v;
              __threadfence();
              atomicExch(&locks[b], 0);
            }
            """
        ),
        reports(
            """
            __global__ void add(int *lock, float *sum, float v) {
              while (true) {
                if (atomicCAS(lock, 0, 1) == 0) { *sum += v; __threadfence(); atomicExch(lock, 0); break; }
              }
            }
            """
        ),
        reports(
            """
            __global__ void add(int *lock, float *sum, float v) {
              bool done = false;
              do {
                if (atomicExch(lock, 1) != 0) continue;
                *sum += v;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
              } while (!done);
            }
            """
        ),
        reports(
            """
            __global__ void neighbour(volatile float *x, float *y) {
              float v;
              do { v = x[threadIdx.x ^ 1]; } while (isnan(v));
              y[threadIdx.x] = v;
            }
            """
        ),
        reports(
            """
            __device__ void tell(unsigned *p, unsigned v) {
              asm volatile("st.volatile.u32 [%1], %0;" :: "r"(v), "l"(p));
            }
            __device__ unsigned ask(unsigned *p) {
              unsigned v;
              asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(v) : "l"(p));
              return v;
            }
            __global__ void meet(unsigned **all, unsigned *own, int me, int n, unsigned flag) {
              if (threadIdx.x < n) {
                tell(&all[threadIdx.x][me], flag);
                while (ask(&own[threadIdx.x]) != flag);
              }
              __syncthreads();
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            __device__ void tell(unsigned *p, unsigned v) {
              asm volatile("st.volatile.u32 [%1], %0;" :: "r"(v), "l"(p));
            }
            __device__ unsigned ask(unsigned *p) {
              unsigned v;
              asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(v) : "l"(p));
              return v;
            }
            __global__ void chain(unsigned *flags, unsigned flag) {
              while (ask(&flags[threadIdx.x]) != flag);
              tell(&flags[threadIdx.x + 1], flag);
            }
            """
        ),
        _with_flags(
            """
            __global__ void meet(unsigned **all, unsigned *own, int me, int n, unsigned flag) {
              if (threadIdx.x < n) {
                tell(&all[threadIdx.x][me], flag);
                while (!reached(ask(&own[threadIdx.x]), flag)) {}
              }
              __syncthreads();
            }
            """,
            effort=Effort.REVIEW,
        ),
        _with_flags(
            """
            __global__ void chain(unsigned *flags, unsigned flag) {
              while (!reached(ask(&flags[threadIdx.x]), flag)) {}
              tell(&flags[threadIdx.x + 1], flag);
            }
            """
        ),
        _with_flags(
            """
            __global__ void odd(unsigned *flags, unsigned flag) {
              if (threadIdx.x & 1) {
                tell(&flags[threadIdx.x], flag);
              } else {
                while (!reached(ask(&flags[threadIdx.x + 1]), flag)) {}
              }
            }
            """
        ),
        fixes(
            """
            __global__ void add(int *lock, float *sum, float v) {
              bool done = false;
              while (!done) {
                if (atomicCAS(lock, 0, 1) == 0) { *sum += v; atomicExch(lock, 0); done = true; }
              }
            }
            """,
            """
            __global__ void add(int *lock, float *sum, float v) {
              bool done = false;
              while (!done) {
                if (atomicCAS(lock, 0, 1) == 0) { *sum += v; atomicExch(lock, 0); done = true; } porter::syncwarp();
              }
            }
            """,
        ),
        clean(
            """
            __global__ void add(int *lock, float *sum, float v) {
              bool done = false;
              while (__any_sync(0xffffffff, !done)) {
                if (!done && atomicCAS(lock, 0, 1) == 0) { *sum += v; atomicExch(lock, 0); done = true; }
              }
            }
            """
        ),
        clean(
            """
            __global__ void insert(unsigned *slots, unsigned n, const unsigned *keys) {
              unsigned key = keys[threadIdx.x], place = key % n;
              while (true) {
                unsigned seen = atomicCAS(&slots[place], 0u, key);
                if (seen == 0u || seen == key) break;
                place = (place + 1) % n;
              }
            }
            """
        ),
        clean(
            """
            __global__ void stars(int *row, int *column, int n) {
              __shared__ bool again;
              do {
                __syncthreads();
                if (threadIdx.x == 0) again = false;
                __syncthreads();
                for (int i = threadIdx.x; i < n; i += blockDim.x) {
                  if (!atomicExch(&row[i], 1) && atomicExch(&column[i], 1)) { row[i] = 0; again = true; }
                }
                __syncthreads();
              } while (again);
            }
            """
        ),
        clean(
            """
            __global__ void powers(int *x) {
              __shared__ int limit;
              limit = x[0];
              __syncthreads();
              int k = threadIdx.x + 1;
              while (k < limit) { k *= 2; }
              x[threadIdx.x] = k;
            }
            """
        ),
        clean(
            """
            __global__ void push(int n, float *due, float *rank) {
              for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
                float share = atomicExch(&due[i], 0);
                if (share == 0) continue;
                rank[i] += share;
                for (int k = 0; k < n; ++k) atomicAdd(&due[k], share / n);
              }
            }
            """
        ),
        clean(
            """
            __global__ void once(int *mutex, float *sum, float v) {
              if (threadIdx.x == 0) {
                while (atomicCAS(mutex, 0, 1) != 0);
                *sum += v;
                __threadfence();
                atomicExch(mutex, 0);
              }
            }
            """
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether there is device code: what it waits for may stand in a header."""
        return bool(bodies_of(unit).functions)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per loop, and per function of a header that has one and is called."""
        bodies = bodies_in_sight(unit)
        for function in bodies.functions:
            spins = Spins(bodies, function)
            seen: set[tuple[int | str, Waits]] = set()
            for spin in spins.find() if spins.may_wait() else ():
                place = (spin.callee or spin.loop.first, spin.waits)
                if place not in seen:
                    seen.add(place)
                    yield from self._findings(unit, spin)

    def _findings(self, unit: Unit, spin: Spin) -> Iterator[Finding]:
        span = unit.span(spin.loop.first, spin.loop.last)
        if spin.waits in _LOCKED and spin.one_thread:
            return
        if spin.waits is Waits.TAKING_TURNS and not spin.is_in_macro:
            message = (
                "the lane that wins the lock releases it within the loop; the compiler for gfx942 would move that "
                "behind the loop, where no lane comes: a wave barrier keeps it inside [intrawarp-spinlock]"
            )
            edits = _barrier(unit, spin)
            yield self.finding(unit, span, message, Effort.NONE, edits, ("porter/warp32.hpp",))
            return
        message, effort = _said(spin)
        if spin.callee:
            message = f"{spin.callee}, called here, waits in a header: {message}"
        yield self.finding(unit, span, message, effort)


def _said(spin: Spin) -> tuple[str, Effort]:
    """What is wrong, and what is left to do."""
    if spin.waits is Waits.TAKING_TURNS:
        return (
            "the lane that wins the lock releases it within a loop that a macro has; the compiler for gfx942 would "
            "move that behind the loop, where no lane comes: put `porter::syncwarp();` behind the branch, in the macro "
            "[intrawarp-spinlock]"
        ), Effort.MANUAL
    if spin.waits is Waits.LEAVING:
        return (
            "the lane that wins the lock leaves the loop: on gfx942 what it does before is executed when all lanes "
            "of the wavefront have left the loop, so that the lock is never released; end the loop by a flag "
            "[intrawarp-spinlock]"
        ), Effort.MANUAL
    if spin.waits is Waits.FLAG and spin.signals_first and not spin.one_thread:
        return (
            "every lane sets the flag of another block or device, and then waits for its own: these must run at the "
            "same time, the memory must be fine-grained where it is another device's, and the flag be read with "
            "acquire semantics [interblock-spin]"
        ), Effort.REVIEW
    if spin.waits in (Waits.FLAG, Waits.ASKED) and (
        spin.one_thread or (spin.waits is Waits.FLAG and spin.spread is Spread.BLOCK)
    ):
        near = (
            ""
            if spin.one_thread
            else "; where a warp of its own block sets the flag, the kernel hangs if both are in one wavefront"
        )
        return (
            "this waits for another block: that block must be resident, which a normal launch does "
            "not promise on 304 compute units; launch cooperatively or draw block numbers from a counter, and "
            f"read the flag with acquire semantics{near} [interblock-spin]"
        ), Effort.REVIEW
    if spin.waits is Waits.ASKED:
        return (
            "this waits until a functor of the caller says so: where a lane of the same wavefront, be it of the other "
            "logical warp, must act before, the kernel hangs, for lanes make no progress of their own on gfx942 "
            "[intrawarp-spinlock]"
        ), Effort.REVIEW
    if spin.waits is Waits.FAR_FLAG:
        return (
            "this waits for what another device or the host writes: it must run at the same time, and the memory "
            "must be fine-grained (allocated as such, or host memory) for the load to see it [interblock-spin]"
        ), Effort.REVIEW
    what = "a lock" if spin.waits is Waits.LOCK else "a flag"
    who = "one lane of each of the two logical warps in" if spin.one_lane else "lanes of"
    return (
        f"{who} a wavefront can wait here for {what} that a lane of the same wavefront must release: lanes make "
        "no progress of their own on gfx942 and the kernel hangs [intrawarp-spinlock]"
    ), Effort.MANUAL


_LOCKED = frozenset({Waits.LOCK, Waits.LEAVING, Waits.TAKING_TURNS})


def _barrier(unit: Unit, spin: Spin) -> tuple[Edit, ...]:
    """A wave barrier behind the branch that holds the lock."""
    start, end = unit.tokens.starts[spin.winner.first], unit.tokens.end(spin.winner.last)
    if unit.tokens.texts[spin.winner.first - 1] in _INSIDE_BLOCK:
        return (Edit(end, end, " porter::syncwarp();"),)
    return (Edit(start, start, "{ "), Edit(end, end, " porter::syncwarp(); }"))


_INSIDE_BLOCK = frozenset("{};")

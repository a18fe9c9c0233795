"""S102: a loop that waits for another thread."""

from __future__ import annotations

from collections.abc import Iterator

from porter.model import Effort, Finding
from porter.rule import Rule, clean, reports
from porter.unit import Unit
from porter.warp.bodies import bodies_of
from porter.warp.spin import Spin, Spins, Waits
from porter.warp.spread import Spread

_WORDS = frozenset({"while", "do", "for"})
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
        "__nanosleep",
        "atomicAdd",
        "atomicOr",
    ]
)


class SpinWait(Rule):
    """Loop that waits for another thread

    `while (atomicCAS(&lock, 0, 1) != 0);` works since Volta because each lane makes progress of its own. Lanes of an
    AMD wavefront do not: the lane that holds the lock waits, masked off, for the lanes that spin, and the kernel
    hangs. Two logical warps share a wavefront, so one lane of each is already enough, and so is a producer warp whose
    consumer warp spins. Let one thread per block take the lock, or put the critical section inside the loop, in the
    branch of the lane that won (`if (atomicCAS(...) == 0) { ...; release; done = true; }`). A wait for another block
    needs all blocks of the grid to be resident: launch cooperatively, or draw block numbers from a counter.
    Compare-and-swap loops that retry an update wait for nobody and are not reported.
    """

    code = "S102"
    triggers = _SIGNS
    hazards = ("intrawarp-spinlock", "interblock-spin", "memory-model-relaxed-plain", "warp-id-roles-32")
    examples = (
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
            __global__ void chain(volatile int *ready, float *x) {
              if (threadIdx.x == 0) while (ready[blockIdx.x - 1] == 0);
              __syncthreads();
            }
            """,
            effort=Effort.REVIEW,
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
        clean(
            """
            __global__ void add(int *lock, float *sum, float v) {
              bool done = false;
              while (!done) {
                if (atomicCAS(lock, 0, 1) == 0) { *sum += v; __threadfence(); atomicExch(lock, 0); done = true; }
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

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per loop."""
        bodies = bodies_of(unit)
        for function in bodies.functions:
            texts = unit.tokens.texts[function.head.begin : function.head.end]
            if _WORDS.isdisjoint(texts) or _SIGNS.isdisjoint(texts):
                continue
            for spin in Spins(bodies, function).find():
                yield from self._findings(unit, spin)

    def _findings(self, unit: Unit, spin: Spin) -> Iterator[Finding]:
        span = unit.span(spin.loop.first, spin.loop.last)
        if spin.waits is Waits.LOCK and spin.one_thread:
            return
        if spin.waits is Waits.FLAG and (spin.one_thread or spin.spread is Spread.BLOCK):
            message = (
                "this waits for another block: that block must be resident, which a normal launch does "
                "not promise on 304 compute units; launch cooperatively or draw block numbers from a counter, and "
                "read the flag with acquire semantics [interblock-spin]"
            )
            yield self.finding(unit, span, message, Effort.REVIEW)
            return
        what = "a lock" if spin.waits is Waits.LOCK else "a flag"
        who = "one lane of each of the two logical warps in" if spin.one_lane else "lanes of"
        message = (
            f"{who} a wavefront can wait here for {what} that a lane of the same wavefront must release: lanes make "
            "no progress of their own on gfx942 and the kernel hangs [intrawarp-spinlock]"
        )
        yield self.finding(unit, span, message, Effort.MANUAL)

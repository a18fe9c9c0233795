"""S107: a loop ended by a flag that a loop inside it sets, which clang before 20 gets wrong."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Node
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes
from porter.warp.bodies import bodies_in_sight
from porter.warp.flow.inner_flag import InnerFlag, inner_flags

_SUPPORT = "porter/bits.hpp"
_INSIDE_BLOCK = frozenset("{};")
_ENDS = frozenset("};")


class FlagOfInnerLoop(Rule):
    """Loop ended by a flag that a loop inside it sets

    `while (!found) { for (...) if (hit) { found = true; break; } }`, or a spin lock within a loop that tries again:
    lanes leave the inner loop at different turns. Clang for AMD's GPUs asks for the flag inside the inner loop and
    keeps the answer of its last turn only, so that lanes which left it earlier go round the outer loop again: results
    are wrong, or it never ends. Seen with clang 19.1 at -O1 and above; LLVM 20 mends it (#118081), which came with
    ROCm 7; what ROCm's own clang of 6.2 to 6.4 does is not known. The flag goes through a function that hides its value
    behind the inner loop, so that it is asked for there.
    """

    code = "S107"
    text = "__(?:global|device)__|DEVICE"
    examples = (
        fixes(
            """
            __global__ void k(int *out, const int *x, int n) {
              int t = threadIdx.x;
              bool found = false;
              while (!found) {
                for (int i = 0; i < x[t]; ++i) {
                  t = (t * 5 + 1) % n;
                  if (x[t] == 3) { found = true; break; }
                }
              }
              out[threadIdx.x] = t;
            }
            """,
            """
            __global__ void k(int *out, const int *x, int n) {
              int t = threadIdx.x;
              bool found = false;
              while (!found) {
                for (int i = 0; i < x[t]; ++i) {
                  t = (t * 5 + 1) % n;
                  if (x[t] == 3) { found = true; break; }
                } found = porter::opaque(found);
              }
              out[threadIdx.x] = t;
            }
            """,
        ),
        fixes(
            """
            __global__ void add(int *lock, unsigned *v) {
              bool swapped = false;
              do {
                unsigned seen = *(volatile unsigned *)v;
                for (bool done = false; !done;) {
                  if (atomicCAS(lock, 0, 1) == 0) {
                    swapped = *v == seen;
                    if (swapped) *v = seen + 1;
                    __threadfence();
                    atomicExch(lock, 0);
                    done = true;
                  }
                }
              } while (!swapped);
            }
            """,
            """
            __global__ void add(int *lock, unsigned *v) {
              bool swapped = false;
              do {
                unsigned seen = *(volatile unsigned *)v;
                for (bool done = false; !done;) {
                  if (atomicCAS(lock, 0, 1) == 0) {
                    swapped = *v == seen;
                    if (swapped) *v = seen + 1;
                    __threadfence();
                    atomicExch(lock, 0);
                    done = true;
                  }
                } swapped = porter::opaque(swapped);
              } while (!swapped);
            }
            """,
        ),
        fixes(
            """
            __global__ void k(int *x) {
              int more = 1;
              while (more)
                for (int i = 0; i < threadIdx.x; ++i) if (x[i] == 7) more = 0;
            }
            """,
            """
            __global__ void k(int *x) {
              int more = 1;
              while (more)
                { for (int i = 0; i < threadIdx.x; ++i) if (x[i] == 7) more = 0; more = porter::opaque(more); }
            }
            """,
        ),
        clean(
            """
            __global__ void all_lanes_together(int *out, const int *x, int n) {
              bool found = false;
              int t = 0;
              while (!found) {
                for (int i = 0; i < n; ++i) { ++t; if (x[i] == 3) { found = true; break; } }
              }
              out[threadIdx.x] = t;
            }
            """
        ),
        clean(
            """
            __global__ void computed_behind(int *out, const int *x, int n) {
              int t = threadIdx.x, hits = 0;
              bool found = false;
              while (!found) {
                for (int i = 0; i < x[t]; ++i) { t = (t * 5 + 1) % n; hits += x[t]; }
                found = hits > 7;
              }
              out[threadIdx.x] = t;
            }
            """
        ),
        clean(
            """
            __global__ void its_own_flag(int *out, const int *x, int n) {
              int t = threadIdx.x;
              for (int k = 0; k < n; ++k) {
                bool found = false;
                for (int i = 0; i < x[t] && !found; ++i) { t = (t * 5 + 1) % n; found = x[t] == 3; }
              }
              out[threadIdx.x] = t;
            }
            """
        ),
        clean(
            """
            __global__ void one_loop(int *out, const int *x, int n) {
              int t = threadIdx.x;
              bool found = false;
              while (!found) { t = (t * 5 + 1) % n; if (x[t] == 3) found = true; }
              out[threadIdx.x] = t;
            }
            """
        ),
        clean(
            """
            __global__ void of_the_block(int *x, int n) {
              __shared__ int again;
              do {
                __syncthreads();
                again = 0;
                __syncthreads();
                for (int i = threadIdx.x; i < n; i += blockDim.x) if (atomicExch(&x[i], 1)) again = 1;
                __syncthreads();
              } while (again);
            }
            """
        ),
        clean(
            """
            struct Range { int beg, end; };
            __global__ void a_member_of_that_name(Range *r, int *out, const int *x) {
              const int end = x[threadIdx.x];
              for (int j = threadIdx.x; j < end; j += 32) {
                for (int i = 0; i < x[j]; ++i) if (x[i] == 3) { r[i].end = j; break; }
                out[j] = j;
              }
            }
            """
        ),
        clean(
            """
            __global__ void fixed_outside(int *out, const int *x, int n) {
              const int more = x[threadIdx.x];
              for (int k = 0; more && k < n; ++k) {
                for (int i = 0; i < x[threadIdx.x]; ++i) { int more = 1; if (x[i] == 3) more = 0; out[i] = more; }
              }
            }
            """
        ),
        clean("void host(int n) { bool f = false; while (!f) { for (int i = 0; i < n; ++i) if (rand()) f = true; } }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per flag and inner loop."""
        bodies = bodies_in_sight(unit)
        for function in bodies.functions:
            for flag in inner_flags(bodies, function):
                if unit.tokens.texts[_last(unit, flag.inner)] in _ENDS:
                    yield self._finding(unit, flag)

    def _finding(self, unit: Unit, flag: InnerFlag) -> Finding:
        inner = flag.inner
        message = (
            f"lanes leave this loop at different turns, and '{flag.name}' ends the one around it: clang before 20 ends "
            "that for lanes of the last turn only (LLVM #118081); the flag is hidden from it behind the inner loop"
        )
        span, edits = unit.span(inner.first, inner.last), _hidden(unit, flag)
        return self.finding(unit, span, message, Effort.NONE, edits, (_SUPPORT,))


def _last(unit: Unit, inner: Node) -> int:
    """The last token of a loop: of one that a macro has, the semicolon behind the macro."""
    texts = unit.tokens.texts
    return inner.last + 1 if texts[inner.last] not in _ENDS and texts[inner.last + 1] == ";" else inner.last


def _hidden(unit: Unit, flag: InnerFlag) -> tuple[Edit, ...]:
    """The flag, through a function, behind the inner loop."""
    tokens, inner = unit.tokens, flag.inner
    start, end = tokens.starts[inner.first], tokens.end(_last(unit, inner))
    name = flag.name
    value = f"static_cast<decltype({name})>(porter::opaque(static_cast<unsigned>({name})))"
    said = f"{name} = {value if flag.is_enumeration else f'porter::opaque({name})'};"
    if tokens.texts[inner.first - 1] not in _INSIDE_BLOCK:
        return (Edit(start, start, "{ "), Edit(end, end, f" {said} }}"))
    return (Edit(end, end, f" {said}"),)

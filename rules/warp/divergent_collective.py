"""W102: a warp-wide operation with the full mask where only some lanes come by."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Node
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports
from porter.warp.bodies import Bodies, Function, bodies_in_sight, mentions_in_sight
from porter.warp.flow.divergence import (
    COLLECTIVES,
    EXCHANGES,
    TILES,
    Branch,
    Event,
    PartedCall,
    Spread,
    flows,
    names_all_lanes,
    parted_behind_mask,
    parted_in_headers,
)


class DivergentCollective(Rule):
    """Warp-wide operation with the full mask in divergent code

    The mask says that all 32 lanes take part, and the branch or loop around it lets only some of them come by. GPUs
    since Volta wait for the lanes that a mask names; an AMD wavefront does not reconverge at a `_sync` call, the
    operation sees the lanes that are active at that moment and no others. Move the operation out of the branch and
    predicate its operand, or compute the mask from the lanes that are there. The same goes for lanes that a `break` or
    `continue` took away, for tiles of 32 threads, and for a branch whose two sides meet at `__syncwarp()`: on gfx942
    one side runs to its end before the other begins. A condition that is the same for a whole logical warp
    (`threadIdx.x < 32`, `warp == 0`, a vote, `i < n + lane` where `i` began at its own lane) is not reported. A functor
    or lambda that is handed to a template counts where the template calls it, and a helper of a header whose lanes part
    by what it is handed (`walk(first, length[i])`) is reported at the call.
    """

    code = "W102"
    only_reports = True
    triggers = frozenset(name for name, found in COLLECTIVES.items() if found.kind in EXCHANGES) | {
        *TILES,
        "__syncwarp",
    }
    hazards = ("ballot-in-divergent-code", "shfl-inactive-source", "intrawarp-spinlock")
    examples = (
        reports(
            """
            __global__ void k(float *x, int padded) {
              for (int i = threadIdx.x; i < padded; i += blockDim.x) x[i] += __shfl_xor_sync(0xffffffff, x[i], 1);
            }
            """
        ),
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
        reports(
            """
            __device__ float total(float v) {
              for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
              return v;
            }
            __global__ void some(float *x, const int *wanted) {
              float v = x[threadIdx.x];
              if (wanted[threadIdx.x]) v = total(v);
              x[threadIdx.x] = v;
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            __global__ void some(float *x) {
              auto pair = [](float v) { return v + __shfl_xor_sync(0xffffffff, v, 1); };
              if (threadIdx.x % 4 == 0) x[threadIdx.x] = pair(x[threadIdx.x]);
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            __global__ void some(float *x, int n) {
              for (int k = 0; k < n; k += blockDim.x) {
                int i = k + threadIdx.x;
                if (i >= n) continue;
                x[i] = __popc(__ballot_sync(0xffffffff, x[i] > 0));
              }
            }
            """
        ),
        reports(
            """
            __global__ void some(float *x, int n) {
              auto tile = cg::tiled_partition<32>(cg::this_thread_block());
              if (threadIdx.x < n) x[threadIdx.x] += tile.shfl_xor(x[threadIdx.x], 1);
            }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            __global__ void roles(float *x) {
              __shared__ float s[32];
              if (threadIdx.x < 16) { s[threadIdx.x] = x[threadIdx.x]; __syncwarp(); }
              else { __syncwarp(); x[threadIdx.x] = s[threadIdx.x - 16]; }
            }
            """
        ),
        *(
            reports(f"""
            __global__ void parts(float *x, int n) {{
              int lane = threadIdx.x % 32, start = threadIdx.y * 40;
              for (int i = start + lane; {condition}; {step}) {{
                {before} x[i] += __shfl_xor_sync(0xffffffff, x[i], 1);
              }}
            }}
            """)
            for condition, step, before in (
                ("i < n - lane", "i += 40", ""),
                ("i < n + 2 * lane", "i += 40", ""),
                ("i < n + lane", "i += lane", ""),
                ("i < n + lane", "i += 40", "if (x[i] > 0) i += 1;"),
                ("i < n + lane", "i += 40", "i = x[i] > 0 ? i + 1 : i;"),
                ("i < n + lane", "i += 40", "x[i] > 0 && (i += 1);"),
                ("i < (n | lane)", "i += 40", ""),
            )
        ),
        reports(
            """
            __global__ void padded(float *x, int n) {
              const int padded = (n + 15) & (~15);
              for (int i = threadIdx.x; i < padded; i += blockDim.x) x[i] += __shfl_xor_sync(0xffffffff, x[i], 1);
            }
            """
        ),
        clean(
            """
            __global__ void padded(float *x, int n) {
              const int padded = (n + 31) & (~31);
              for (int i = threadIdx.x; i < padded; i += blockDim.x) x[i] += __shfl_xor_sync(0xffffffff, x[i], 1);
            }
            """
        ),
        *(
            clean(f"""
            __global__ void whole(float *x, int n) {{
              int lane = threadIdx.x % 32, start = threadIdx.y * 40;
              for (int i = start + lane; {condition}; {step}) {{
                {before} x[i] += __shfl_xor_sync(0xffffffff, x[i], 1);
              }}
            }}
            """)
            for condition, step, before in (
                ("i < n + lane", "i += 40", ""),
                ("lane + n > i", "i = i + 40", ""),
                ("i - lane < n", "i += 40", ""),
                ("i < n + lane", "i += 40", "if (n > 5) i += 1;"),
                ("i != n + lane", "i += 40", ""),
            )
        ),
        clean(
            """
            __global__ void one_side(float *x) {
              __shared__ float s[32];
              int t = threadIdx.x;
              if (t < 16) { s[t] = x[t]; __syncwarp(); x[t] = s[15 - t]; }
            }
            """
        ),
        clean(
            """
            __global__ void first_of_warp(float *x, int n) {
              int lane = threadIdx.x % 32, warp = (threadIdx.x - lane) / 32;
              for (int i = warp; i < n; i += 4) x[i * 32 + lane] += __shfl_xor_sync(0xffffffff, x[i * 32 + lane], 1);
            }
            """
        ),
        reports(
            """
            struct Vote { __device__ int operator()(int v) const { return __any_sync(0xffffffff, v); } };
            template <class F> __device__ int walk(F f, int n) {
              int c = 0;
              for (int i = 0; i < n; i++) c += f(i);
              return c;
            }
            __global__ void k(int *x) { x[threadIdx.x] = walk(Vote(), x[threadIdx.x]); }
            """,
            effort=Effort.REVIEW,
        ),
        reports(
            """
            template <class F> __device__ int once(F f, int v) { return f(v); }
            __global__ void k(int *x) {
              auto vote = [=](int v) { return __any_sync(0xffffffff, v); };
              if (x[threadIdx.x] > 3) x[threadIdx.x] = once(vote, 1);
            }
            """,
            effort=Effort.REVIEW,
        ),
        clean(
            """
            struct Some {
              unsigned m;
              __device__ int operator()(int v) const { return __any_sync(m, v); }
            };
            template <class F> __device__ int once(F f, int v) { return f(v); }
            __global__ void k(int *x) {
              if (x[threadIdx.x] > 3) x[threadIdx.x] = once(Some{__activemask()}, 1);
            }
            """
        ),
        clean(
            """
            struct Plain { __device__ int operator()(int v) const { return v + 1; } };
            struct Vote { __device__ int operator()(int v) const { return __any_sync(0xffffffff, v); } };
            template <class F> __device__ int walk(F f, int n) {
              int c = 0;
              for (int i = 0; i < n; i++) c += f(i);
              return c;
            }
            __global__ void k(int *x, int n) {
              if (n > 3) x[threadIdx.x] = walk(Vote(), n);
              __syncwarp();
            }
            """
        ),
        clean(
            """
            __global__ void groups(float *x, int n) {
              auto tile = cg::tiled_partition<8>(cg::this_thread_block());
              for (int i = threadIdx.x / 8; i < n; i += blockDim.x / 8) x[i] = tile.shfl(x[i], 0);
            }
            """
        ),
        clean(
            """
            __global__ void padded(float *x, int n) {
              const int padded = round_up(n, 32);
              for (int i = threadIdx.x; i < padded; i += blockDim.x) x[i] += __shfl_xor_sync(0xffffffff, x[i], 1);
            }
            """
        ),
        clean(
            """
            __device__ int insert(int *table, int key) { return atomicCAS(table, 0, key); }
            __device__ int insert(int *table, int key, int lanes) {
              int ret = 0;
              if (threadIdx.x % lanes == 0) ret = insert(table, key);
              for (int o = 1; o < lanes; o *= 2) ret |= __shfl_xor_sync(0xffffffff, ret, o);
              return ret;
            }
            """
        ),
        clean(
            """
            __global__ void rounded(float *x, int n) {
              int all = n;
              if (all % 32) { all += 32 - all % 32; }
              for (int i = threadIdx.x; i < all; i += 32) x[i] = __popc(__ballot_sync(0xffffffff, i < n && x[i] > 0));
            }
            """
        ),
        clean(
            """
            __global__ void found(int *x, int key) {
              int lane = findKeyPerWarp(key, x[threadIdx.x]);
              if (lane >= 0) x[threadIdx.x] = __shfl_sync(0xffffffff, x[threadIdx.x], lane);
            }
            """
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

    def applies(self, unit: Unit) -> bool:
        """Whether there is such an operation, be it in a helper of a header."""
        return mentions_in_sight(unit, self.triggers)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per operation."""
        bodies = bodies_in_sight(unit)
        for flow in flows(bodies):
            seen: set[int] = set()
            for event in flow.events:
                parting = _parting(bodies, flow.function, event)
                branch = parted_behind_mask(flow.function, event) if parting is None else None
                if event.node.first in seen or (parting is None and branch is None):
                    continue
                seen.add(event.node.first)
                if parting is not None:
                    yield self._finding(unit, event, parting)
                elif branch is not None:
                    span = unit.span(event.node.first, event.node.last)
                    yield self.finding(unit, span, _missing(unit, event, branch), Effort.REVIEW)
        for parted in parted_in_headers(bodies, _parting):
            span = unit.span(parted.call.first, parted.call.last)
            yield self.finding(unit, span, _in_header(bodies, parted), Effort.REVIEW)

    def _finding(self, unit: Unit, event: Event, parting: Branch | Node) -> Finding:
        message, effort = _left(unit, event, parting) if isinstance(parting, Node) else _parted(unit, event, parting)
        return self.finding(unit, unit.span(event.node.first, event.node.last), message, effort)


_ADVICE = "nothing brings them together on gfx942: hoist the operation and predicate its operand"


def _in_header(bodies: Bodies, parted: PartedCall) -> str:
    branch = parted.branch
    condition = " ".join(bodies.tokens.texts[branch.node.first : branch.node.last + 1])
    return (
        f"{parted.helper.name}, called here, has {parted.event.node.callee} with all 32 lanes in a "
        f"{'loop' if branch.kind == 'loop' else 'branch'} ('{condition}') that what is handed to it here lets only "
        f"some of them come by; {_ADVICE} [ballot-in-divergent-code]"
    )


def _left(unit: Unit, event: Event, jump: Node) -> tuple[str, Effort]:
    line, _ = unit.source.position(unit.tokens.starts[jump.first])
    message = (
        f"{event.node.callee} names all 32 lanes, but some of them leave by '{jump.text}' in line {line}; {_ADVICE}"
    )
    return f"{message} [ballot-in-divergent-code]", _effort(event)


def _around(unit: Unit, branch: Branch) -> str:
    condition = unit.slice(unit.span(branch.node.first, branch.node.last)) if branch.node.last >= 0 else ""
    line, _ = unit.source.position(unit.tokens.starts[branch.node.first])
    return f"the {'loop' if branch.kind == 'loop' else 'condition'} '{' '.join(condition.split())}' (line {line})"


def _missing(unit: Unit, event: Event, branch: Branch) -> str:
    return (
        f"the mask of {event.node.callee} was chosen before {_around(unit, branch)}, which lets only some of the lanes "
        "come by that it may name; hoist the operation, or let the mask say which lanes are there "
        "[ballot-in-divergent-code]"
    )


def _parted(unit: Unit, event: Event, branch: Branch) -> tuple[str, Effort]:
    around = _around(unit, branch)
    if event.kind == "sync":
        message = (
            f"both sides of {around} wait for each other at {event.node.callee}; on gfx942 one side runs to its end "
            "before the other begins: split the branch at the barrier [intrawarp-spinlock]"
        )
        return message, Effort.MANUAL
    if event.neighbours:
        message = (
            f"{event.node.callee} reads a lane that {around} may have taken away: the value is undefined, on gfx942 "
            "often 0 [shfl-inactive-source]"
        )
        return message, Effort.REVIEW
    message = f"{event.node.callee} names all 32 lanes, but {around} lets only some of them come by; {_ADVICE}"
    return f"{message} [ballot-in-divergent-code]", _effort(event)


def _effort(event: Event) -> Effort:
    """What a helper or a tile does with lanes that are missing is to be looked up."""
    return Effort.REVIEW if event.kind in ("call", "tile") else Effort.MANUAL


def _parting(bodies: Bodies, function: Function, event: Event) -> Branch | Node | None:
    """What parts the lanes of a warp around an operation that needs them all: a condition, or a jump out of a loop."""
    if event.kind == "sync":
        return next((b for b in event.branches if event.full and b.both_sync and b.spread is Spread.LANE), None)
    if event.collective is not None and event.collective.mask is None:
        return None
    parting: Branch | Node | None
    parting = next((branch for branch in reversed(event.branches) if branch.spread is Spread.LANE), None)
    if parting is None and not event.neighbours:
        parting = next((left for left in event.exits if left.kind == "jump"), None)
    if parting is None or not (event.neighbours or names_all_lanes(bodies, function, event)):
        return None
    return parting

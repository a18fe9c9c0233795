"""Random kernels: statements that are CUDA text and what they do to a machine."""

# ruff: noqa: E501
from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tests.random_warps.machine import (
    ACCUMULATORS,
    KINDS,
    LANES,
    VARIABLES,
    Lanes,
    Machine,
    Values,
    folded,
    mask_of,
    nth,
    rank,
    scanned,
    source,
)
from tests.random_warps.rows import PRELUDE as SCALARS
from tests.random_warps.rows import ROWS, Row, bits_of

PRELUDE = (
    """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
"""
    + SCALARS
    + """
FN u32 from_up(u32 lane, u32 a, u32 w) { int s = (int)lane - (int)(a & 31); return s >= (int)(lane & ~(w - 1)) ? (u32)s : lane; }
FN u32 from_down(u32 lane, u32 a, u32 w) { u32 s = lane + (a & 31); return s <= (lane | (w - 1)) ? s : lane; }
FN u32 from_xor(u32 lane, u32 a, u32 w) { u32 s = lane ^ (a & 31); return s <= (lane | (w - 1)) ? s : lane; }
FN u32 from_idx(u32 lane, u32 a, u32 w) { return (lane & ~(w - 1)) | (a & (w - 1)); }
FN u32 nth(u32 mask, u32 n) { n %= (u32)__popc(mask); for (; n; n--) mask &= mask - 1; return (u32)__ffs((int)mask) - 1; }
template <class T> FN T known(bool is, T value, T other) { return is ? value : other; }
template <class T> FN T take(u32 mask, u32 lane, T value, T other) { return mask >> lane & 1 ? value : other; }
"""
)  # fmt: skip

FULL = "0xffffffffu"
_TELLS_WIDTH = re.compile(r"31|p_|clz|ffs|popc")
"""In an expression it may be about warps: `--warp native` leaves such kernels as they are."""


@dataclass(frozen=True)
class Expression:
    """Text and value."""

    text: str
    value: Callable[[Machine], Values]


Effect = Callable[[Machine, Lanes], None]


@dataclass(frozen=True)
class Statement:
    """One that has no others in it."""

    text: str
    effect: Effect

    def lines(self) -> Iterator[str]:
        """As CUDA."""
        yield self.text

    def run(self, machine: Machine, active: Lanes) -> Lanes:
        """What it does; the lanes that go on."""
        self.effect(machine, active)
        return active


@dataclass(frozen=True)
class Leave:
    """Some lanes return."""

    condition: Expression

    def lines(self) -> Iterator[str]:
        """As CUDA."""
        yield f"m0 = __ballot_sync({FULL}, !({self.condition.text}));"
        yield f"if ({self.condition.text}) {{ finish; return; }}"

    def run(self, machine: Machine, active: Lanes) -> Lanes:
        """The lanes that stay."""
        return active & ~self.condition.value(machine)


@dataclass(frozen=True)
class Branch:
    """Two arms with masks of their own."""

    name: str
    mask: str
    condition: Expression
    arms: tuple[Body, Body]

    def lines(self) -> Iterator[str]:
        """As CUDA."""
        name, mask = self.name, self.mask
        yield f"bool const b{name} = {self.condition.text};"
        yield f"u32 const m{name} = __ballot_sync({mask}, b{name}), n{name} = {mask} & ~m{name};"
        yield f"if (b{name}) {{"
        yield from _inside(self.arms[0])
        yield "} else {"
        yield from _inside(self.arms[1])
        yield "}"
        yield f"__syncwarp({mask});"

    def run(self, machine: Machine, active: Lanes) -> Lanes:
        """Both arms."""
        taken = self.condition.value(machine)
        for arm, lanes in zip(self.arms, (active & taken, active & ~taken), strict=True):
            _run(arm, machine, lanes)
        return active


@dataclass(frozen=True)
class Loop:
    """As many turns as each lane wants."""

    name: str
    mask: str
    turns: Expression
    most: int
    body: Body

    def lines(self) -> Iterator[str]:
        """As CUDA."""
        name, mask = self.name, self.mask
        yield f"u32 const t{name} = {self.turns.text} % {self.most + 1}u;"
        yield f"u32 m{name} = {mask};"
        yield f"for (u32 i{name} = 0;; i{name}++) {{"
        yield f"  u32 const g{name} = __ballot_sync(m{name}, i{name} < t{name});"
        yield f"  if (i{name} >= t{name}) break;"
        yield f"  m{name} = g{name};"
        yield f"  u0 += i{name};"
        yield from _inside(self.body)
        yield "}"
        yield f"__syncwarp({mask});"

    def run(self, machine: Machine, active: Lanes) -> Lanes:
        """Turn by turn."""
        turns = self.turns.value(machine) % np.uint32(self.most + 1)
        for turn in range(self.most):
            lanes = active & (turn < turns)
            machine.assign("u0", machine.variables["u0"] + np.uint32(turn), lanes)
            _run(self.body, machine, lanes)
        return active


@dataclass(frozen=True)
class Repeat:
    """A loop of all lanes."""

    name: str
    turns: int
    body: Body

    def lines(self) -> Iterator[str]:
        """As CUDA."""
        yield f"for (u32 i{self.name} = 0; i{self.name} < {self.turns}u; i{self.name}++) {{"
        yield f"  u1 ^= i{self.name};"
        yield from _inside(self.body)
        yield "}"

    def run(self, machine: Machine, active: Lanes) -> Lanes:
        """Turn by turn."""
        for turn in range(self.turns):
            machine.assign("u1", machine.variables["u1"] ^ np.uint32(turn), active)
            _run(self.body, machine, active)
        return active


Node = Statement | Leave | Branch | Loop | Repeat
Body = tuple[Node, ...]


def _inside(body: Body) -> Iterator[str]:
    for node in body:
        yield from ("  " + line for line in node.lines())


def _run(body: Body, machine: Machine, active: Lanes) -> Lanes:
    for node in body:
        active = node.run(machine, active)
    return active


@dataclass(frozen=True)
class Kernel:
    """One kernel and its launch."""

    seed: int
    grid: int
    block: tuple[int, ...]
    body: Body
    idiom: bool = False
    """Written as kernels are that `--warp native` widens."""

    @property
    def name(self) -> str:
        """Of the kernel."""
        return f"k{self.seed}"

    @property
    def threads(self) -> int:
        """Of a block."""
        return int(np.prod(self.block))

    def arrays(self) -> list[Values]:
        """What a launch is given: `out`, `sums` and `longs`."""
        return [self.given, np.zeros(ACCUMULATORS, np.uint32), np.zeros(ACCUMULATORS, np.uint64)]

    def difference(self, left: Sequence[Values]) -> str:
        """How what a launch left is not what the model leaves; empty when it is."""
        for name, got, want in zip(("out", "sums", "longs"), left, self.expected(), strict=True):
            bad = np.flatnonzero(got != want)
            if bad.size:
                first = f"first {bad[0]}: {got[bad[0]]:#x}, not {want[bad[0]]:#x}"
                return f"{bad.size} of {want.size} words of {name} differ, {first}"
        return ""

    def text(self) -> str:
        """As CUDA."""
        if self.idiom:
            return self._idiom_text()
        slots = -(-self.threads // LANES) * LANES
        body = "\n".join(_inside(self.body))
        whole = (
            "threadIdx.x"
            if len(self.block) == 1
            else "threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)"
        )
        finish = "\n    ^ ".join(
            ["u0", "(u64)u1 << 7", "(u64)u2 << 15", "(u64)u3 << 22", "(u64)(u32)s0 << 3", "(u64)(u32)s1 << 28", "q0", "rotate(q1, 9)", "rotate((u64)l0, 21)",
             "(u64)bits(x0) << 5", "(u64)bits(x1) << 17", "rotate(bits64(d0), 33)", "(u64)c0 << 40", "(u64)(u32)(i32)h0 << 31"]
        )  # fmt: skip
        used = [name for name in ("shared", "bins") if f" {name}[" in body or f"&{name}[" in body]
        sizes = {"shared": slots, "bins": 8}
        declared = "".join(f"  __shared__ u32 {name}[{sizes[name]}];\n" for name in used)
        cleared = "".join(f" for (u32 i = t; i < {sizes[name]}; i += {self.threads}) {name}[i] = 0;" for name in used)
        return f"""#undef finish
#define finish out[g] = {finish.replace(chr(10), " ")}
extern "C" __global__ void {self.name}(u64* out, u32* sums, u64* longs) {{
{declared}  u32 const t = {whole}, lane = t % 32, g = blockIdx.x * {self.threads} + t;
  u32 u0 = g * 2654435761u, u1 = t, u2 = t ^ 0x9e3779b9u, u3 = 17; i32 s0 = (i32)(g * 40503u), s1 = -5;
  u64 q0 = g * 0x9e3779b97f4a7c15ull, q1 = 3; i64 l0 = -(i64)t; float x0 = t, x1 = -3.75f; double d0 = t * 0.125; u8 c0 = t; i16 h0 = -t;
 {cleared}{" __syncthreads();" if used else ""}
  u32 m0 = __ballot_sync({FULL}, 1); (void)m0; (void)lane;
{body}
  finish;
}}
"""

    def _idiom_text(self) -> str:
        body = "\n".join(_inside(self.body))
        return f"""extern "C" __global__ void {self.name}(u64* out, u32* sums, u64* longs) {{
  u64 q0 = out[blockIdx.x * blockDim.x + threadIdx.x], q1 = 0; u32 u0 = (u32)q0, u1 = (u32)(q0 >> 29); i32 s0 = (i32)(q0 >> 13);
{body}
  out[blockIdx.x * blockDim.x + threadIdx.x] = q1;
}}
"""

    @property
    def given(self) -> Values:
        """What `out` holds before."""
        numbers = np.arange(self.grid * self.threads, dtype=np.uint64)
        return (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) if self.idiom else numbers * np.uint64(0)

    def _idiom_expected(self) -> Values:
        machine = Machine(self.grid, self.threads)
        with np.errstate(all="ignore"):
            q = self.given.reshape(machine.exists.shape)
            machine.variables = {
                "q0": q,
                "q1": q * np.uint64(0),
                "u0": q.astype(np.uint32),
                "u1": (q >> np.uint64(29)).astype(np.uint32),
                "s0": (q >> np.uint64(13)).astype(np.int32),
            }
            _run(self.body, machine, machine.exists)
        return machine.variables["q1"].reshape(-1)

    def expected(self) -> tuple[Values, Values, Values]:
        """What the launch leaves in its three arrays."""
        if self.idiom:
            return self._idiom_expected(), np.zeros(ACCUMULATORS, np.uint32), np.zeros(ACCUMULATORS, np.uint64)
        machine = Machine(self.grid, self.threads)
        thread = machine.thread.astype(np.uint32)
        number = thread + (np.arange(self.grid, dtype=np.uint32) * np.uint32(self.threads)).reshape(-1, 1, 1)
        with np.errstate(all="ignore"):
            signed = thread.astype(np.int32)
            starts = {
                "u0": number * np.uint32(2654435761), "u1": thread, "u2": thread ^ np.uint32(0x9E3779B9), "u3": np.full_like(thread, 17),
                "s0": number * np.uint32(40503), "s1": np.full_like(signed, -5), "q0": number.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15),
                "q1": np.full(thread.shape, 3), "l0": -thread.astype(np.int64), "x0": thread, "x1": np.full(thread.shape, -3.75),
                "d0": thread * 0.125, "c0": thread, "h0": -signed,
            }  # fmt: skip
            machine.variables = {name: np.array(starts[name]).astype(KINDS[name[0]][1]) for name in VARIABLES}
            _run(self.body, machine, machine.exists)
            v = machine.variables
            word = {name: v[name].astype(np.uint32).astype(np.uint64) for name in VARIABLES if name[0] in "uscqh"}
            word |= {"q0": v["q0"], "q1": v["q1"], "l0": v["l0"].astype(np.uint64), "d0": bits_of(v["d0"])}
            word |= {name: bits_of(v[name]).astype(np.uint64) for name in ("x0", "x1")}
            moved = {"u1": 7, "u2": 15, "u3": 22, "s0": 3, "s1": 28, "x0": 5, "x1": 17, "c0": 40, "h0": 31}
            turned = {"q1": 9, "l0": 21, "d0": 33}
            result = word["u0"] ^ word["q0"]
            for name, count in moved.items():
                result = result ^ word[name] << np.uint64(count)
            for name, count in turned.items():
                result = result ^ (word[name] << np.uint64(count) | word[name] >> np.uint64(64 - count))
        flat = result.reshape(self.grid, -1)[:, : self.threads].reshape(-1)
        return flat, machine.sums, machine.longs

    def smaller(self) -> Iterator[Kernel]:
        """The kernel without one of its statements, the large ones first; then its branches by one arm."""
        for body in _without(self.body):
            yield replace(self, body=body)


def _without(body: Body) -> Iterator[Body]:
    size = len(body)
    step = max(1, size // 2)
    while step:
        for at in range(0, size, step):
            if step < size or size == 1:
                yield body[:at] + body[at + step :]
        step //= 2
    for at, node in enumerate(body):
        if isinstance(node, Branch):
            for which in (0, 1):
                for arm in _without(node.arms[which]):
                    arms = (arm, node.arms[1]) if which == 0 else (node.arms[0], arm)
                    yield (*body[:at], replace(node, arms=arms), *body[at + 1 :])
        elif isinstance(node, Loop | Repeat):
            for inner in _without(node.body):
                yield (*body[:at], replace(node, body=inner), *body[at + 1 :])


@dataclass(frozen=True)
class Place:
    """Where a statement stands: which lanes run it together."""

    mask: str
    """A variable with the lanes that run it."""
    name: str
    """What the statements say of it."""
    whole: bool
    """All 32 lanes."""
    block: bool
    """All threads of the block."""


_BLOCKS: tuple[tuple[int, ...], ...] = (
    (32,), (64,), (96,), (128,), (160,), (256,), (1,), (7,), (33,), (50,), (100,), (127,), (16, 4), (8, 12), (5, 13), (32, 3), (4, 4, 4), (3, 5, 7),
)  # fmt: skip
_NAMED = {
    "add": "atomicAdd",
    "min": "atomicMin",
    "max": "atomicMax",
    "and": "atomicAnd",
    "or": "atomicOr",
    "xor": "atomicXor",
}
_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
_REDUCERS = {"add": "plus", "min": "less", "max": "greater", "and": "bit_and", "or": "bit_or", "xor": "bit_xor"}


@dataclass
class Generator:
    """Draws a kernel."""

    random: random.Random
    threads: int = 0
    names: int = 0
    left: bool = False
    names_of: tuple[str, ...] = VARIABLES
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in ROWS:
            self.rows.setdefault(row.kind, []).append(row)

    def kernel(self, seed: int) -> Kernel:
        """A launch and some statements."""
        block = self.random.choice(_BLOCKS)
        self.threads = int(np.prod(block))
        grid = self.random.choice((1, 1, 2, 3))
        place = Place("m0", FULL if self.random.random() < 0.5 else "m0", self.threads % LANES == 0, block=True)
        return Kernel(seed, grid, block, self.body(place, self.random.randrange(2, 7), 2))

    def idioms(self, seed: int) -> Kernel:
        """Reductions and scans of a block as people write them, with what each thread computes alone between them."""
        self.names_of = ("u0", "u1", "s0", "q0")
        self.rows = {
            kind: [
                row for row in self.rows[kind] if set(row.operands) <= set("usq") and not _TELLS_WIDTH.search(row.text)
            ]
            for kind in "usq"
        }
        block = (32 * self.random.randrange(1, 11),)
        self.threads = block[0]
        folds = tuple(self.block_fold() for _ in range(self.random.randrange(1, 4)))
        return Kernel(seed, self.random.choice((1, 2)), block, folds, idiom=True)

    def block_fold(self) -> Node:
        """A value of every thread folded over the block, or summed up to each thread."""
        kind = self.random.choice("usq")
        typed = KINDS[kind][0]
        value = self.expression(kind, 2)
        operation = self.random.choice(("add", "max", "min", "xor") if kind == "u" else ("add", "max", "min"))
        both = {"add": "{0} + {1}", "max": "max({0}, {1})", "min": "min({0}, {1})", "xor": "{0} ^ {1}"}[operation]
        least = {"u": "0u", "s": "(-2147483647 - 1)", "q": "0ull"}[kind]
        most = {"u": "0xffffffffu", "s": "2147483647", "q": "~0ull"}[kind]
        none = {"add": f"({typed})0", "xor": "0u", "max": least, "min": most}[operation]
        part, v, o = (stem + self.fresh() for stem in "pvo")
        steps = self.random.choice(
            (
                f"for (int {o} = 16; {o} > 0; {o} /= 2) {v} = {both.format(v, f'__shfl_down_sync({FULL}, {v}, {o})')};",
                f"for (int {o} = 16; {o} >= 1; {o} >>= 1) {v} = {both.format(v, f'__shfl_xor_sync({FULL}, {v}, {o})')};",
                " ".join(
                    f"{v} = {both.format(v, f'__shfl_down_sync({FULL}, {v}, {step})')};" for step in (16, 8, 4, 2, 1)
                ),
            )
        )
        warp, inner = f"w{part}", f"l{part}"
        text = (
            f"__shared__ {typed} {part}[32]; {typed} {v} = {value.text}; "
            f"int const {inner} = threadIdx.x % 32, {warp} = threadIdx.x / 32; {steps} "
            f"if ({inner} == 0) {part}[{warp}] = {v}; __syncthreads(); "
            f"if ({warp} == 0) {{ {v} = {inner} < (int)(blockDim.x / 32) ? {part}[{inner}] : {none}; {steps} "
            f"if ({inner} == 0) {part}[0] = {v}; }} __syncthreads(); q1 += (u64){part}[0]; __syncthreads();"
        )

        def effect(machine: Machine, active: Lanes) -> None:
            flat = value.value(machine).reshape(machine.blocks, -1)
            every = folded(operation, flat, active.reshape(machine.blocks, -1))
            machine.assign("q1", machine.variables["q1"] + every.reshape(active.shape).astype(np.uint64), active)

        return Statement(text, effect)

    def body(self, place: Place, count: int, depth: int) -> Body:
        """Some statements one after the other."""
        made: list[Node] = []
        for _ in range(count):
            made.append(self.node(place, depth))
            if isinstance(made[-1], Leave):
                place = Place("m0", place.name, whole=False, block=False)
        return tuple(made)

    def node(self, place: Place, depth: int) -> Node:
        """One statement."""
        roll = self.random.random()
        if depth and roll < 0.16:
            name = self.fresh()
            condition = self.condition()
            arms = [
                self.body(Place(m + name, m + name, whole=False, block=False), self.random.randrange(1, 4), depth - 1)
                for m in "mn"
            ]
            return Branch(name, place.mask, condition, (arms[0], arms[1]))
        if depth and roll < 0.24:
            name = self.fresh()
            turns = self.expression("u", 1)
            inner = Place("m" + name, "m" + name, whole=False, block=False)
            return Loop(
                name,
                place.mask,
                turns,
                self.random.randrange(2, 5),
                self.body(inner, self.random.randrange(1, 4), depth - 1),
            )
        if depth and roll < 0.28:
            return Repeat(
                self.fresh(), self.random.randrange(2, 4), self.body(place, self.random.randrange(1, 4), depth - 1)
            )
        if place.block and not self.left and depth == 2 and roll < 0.30:
            self.left = True
            return Leave(self.condition())
        if roll < 0.5:
            name = self.random.choice(VARIABLES)
            return assigned(name, self.expression(name[0], 2))
        makers = [
            self.shuffle,
            self.shuffle,
            self.vote,
            self.match,
            self.reduce,
            self.coalesced,
            self.own_word,
            self.global_sum,
            self.exchange,
        ]
        if place.block:
            makers += [self.block_exchange, self.bins, self.block_vote]
        if place.block and place.whole and not self.left:
            makers += [self.tile, self.tile, self.partition]
        return self.random.choice(makers)(place)

    def fresh(self) -> str:
        """A number for a name."""
        self.names += 1
        return str(self.names)

    def variable(self, kinds: str) -> str:
        """Any of these kinds."""
        return self.random.choice([name for name in self.names_of if name[0] in kinds])

    def expression(self, kind: str, depth: int) -> Expression:
        """A random one."""
        if depth == 0 or self.random.random() < 0.15:
            if self.random.random() < 0.75 or kind in "ch":
                name = self.variable(kind)
                return Expression(name, lambda m: m.variables[name])
            return self.constant(kind)
        row = self.random.choice(self.rows[kind])
        parts = [self.expression(operand, depth - 1) for operand in row.operands]
        kept = KINDS[kind][1]
        return Expression(
            row.text.format(*(part.text for part in parts)),
            lambda m: row.meaning(*(part.value(m) for part in parts)).astype(kept),
        )

    def constant(self, kind: str) -> Expression:
        """A number."""
        number: float
        if kind in "xd":
            number = self.random.choice((0.5, 3.0, -2.25, 1e6, 100.0))
            text = f"{number}f" if kind == "x" else f"{number}"
        elif kind in "sl":
            number = self.random.choice((1, -1, 7, 1000, -77))
            text = f"({KINDS[kind][0]}){number}"
        else:
            number = self.random.choice((0, 1, 2, 5, 31, 255, self.random.randrange(1 << 31)))
            number = 77 if number == 31 and self.names_of != VARIABLES else number
            text = f"{number}u" if kind == "u" else f"{number}ull"
        return Expression(text, lambda m: np.full(m.lane.shape, number, KINDS[kind][1]))

    def condition(self) -> Expression:
        """True for some lanes: of all, by lane, by warp or by value."""
        lane, bit = self.random.randrange(32), self.random.randrange(5)
        value = self.expression("u", 1)
        other = self.expression("s", 1)
        return self.random.choice(
            [
                Expression(f"lane < {lane}u", lambda m: m.lane < lane),
                Expression(f"(lane & {1 << bit}u) != 0", lambda m: m.lane >> bit & 1 == 1),
                Expression("t / 32 % 2 == 0", lambda m: m.thread // 32 % 2 == 0),
                Expression(
                    f"({value.text} & {1 << bit}u) == 0", lambda m: value.value(m) >> np.uint32(bit) & np.uint32(1) == 0
                ),
                Expression(f"{other.text} < 0", lambda m: other.value(m) < 0),
            ]
        )

    def shuffle(self, place: Place) -> Node:
        """A value of another lane; where that lane is not there, a constant."""
        kind = self.random.choice("uuusqlxdch")
        name, value = self.variable(kind), self.expression(kind, 1)
        way = self.random.choice(("idx", "up", "down", "xor", "nth"))
        width = self.random.choice((32, 32, 32, 16, 8, 4, 2))
        other = self.expression("u", 1)
        step = self.random.randrange(32)
        fixed = self.random.random() < 0.6
        amount = Expression(f"{step}", lambda m: np.full(m.lane.shape, step)) if fixed else other
        if way == "nth":  # a lane that is there, by number
            call, width = "__shfl_sync", 32
            argument = chosen = f"nth({place.mask}, {amount.text})"
        else:
            call = {"idx": "__shfl_sync"}.get(way, f"__shfl_{way}_sync")
            argument, chosen = amount.text, f"from_{way}(lane, {amount.text}, {width})"
        if way in ("up", "down", "xor") and not fixed:
            argument, chosen = f"{amount.text} & 31u", f"from_{way}(lane, {amount.text} & 31u, {width})"
        typed = KINDS[kind][0]
        said = f"{call}({place.name}, {value.text}, {argument}{f', {width}' if width < 32 or way == 'idx' else ''})"
        if not place.whole and way != "nth":
            said = f"take<{typed}>({place.mask}, {chosen}, ({typed}){said}, ({typed})7)"

        def effect(machine: Machine, active: Lanes) -> None:
            values, moved = value.value(machine), amount.value(machine)
            there = nth(active, moved.astype(np.uint32)) if way == "nth" else source(way, machine.lane, moved, width)
            taken = np.take_along_axis(values, there, -1)
            known = np.take_along_axis(active, there, -1)
            machine.assign(name, np.where(known, taken, np.array(7, values.dtype)), active)

        return Statement(f"{name} = {said};", effect)

    def vote(self, place: Place) -> Node:
        """any, all, ballot, and the same in PTX."""
        name, condition = self.variable("us"), self.condition()
        how = self.random.choice(("any", "all", "ballot", "popc", "below", "asm"))
        said = {
            "any": f"__any_sync({place.name}, {condition.text}) != 0",
            "all": f"__all_sync({place.name}, {condition.text}) != 0",
            "ballot": f"__ballot_sync({place.name}, {condition.text})",
            "popc": f"__popc(__ballot_sync({place.name}, {condition.text}))",
            "below": f"__popc(__ballot_sync({place.name}, {condition.text}) & ((1u << lane) - 1))",
            "asm": "",
        }[how]

        def effect(machine: Machine, active: Lanes) -> None:
            lanes = active & condition.value(machine)
            found = {
                "any": lambda: np.broadcast_to(lanes.any(-1, keepdims=True), lanes.shape),
                "all": lambda: np.broadcast_to((lanes == active).all(-1, keepdims=True), lanes.shape),
                "ballot": lambda: mask_of(lanes),
                "popc": lambda: np.broadcast_to(lanes.sum(-1, keepdims=True), lanes.shape),
                "below": lambda: rank(lanes),
                "asm": lambda: mask_of(lanes),
            }[how]()
            machine.assign(name, machine.variables[name] + found.astype(machine.variables[name].dtype), active)

        if how == "asm":
            inner = "{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
            text = f'{{ u32 r; asm volatile("{inner}" : "=r"(r) : "r"((u32)({condition.text})), "r"({place.name})); {name} += r; }}'
            return Statement(text, effect)
        return Statement(f"{name} += {said};", effect)

    def match(self, place: Place) -> Node:
        """Lanes with the same value."""
        kind = self.random.choice("uq")
        value = self.expression(kind, 1)
        low = self.random.choice((1, 3, 7))
        name = self.variable("u")
        if self.random.random() < 0.6:
            said = f"{name} = __match_any_sync({place.name}, {value.text} & {low});"
        else:
            said = f"{{ int p; {name} = __match_all_sync({place.name}, {value.text} & {low}, &p) + (p != 0); }}"
        every = "match_all" in said

        def effect(machine: Machine, active: Lanes) -> None:
            values = value.value(machine) & KINDS[kind][1](low)
            same = (values[..., :, None] == values[..., None, :]) & active[..., None, :]
            bits = (same.astype(np.uint64) << np.arange(LANES, dtype=np.uint64)).sum(-1).astype(np.uint32)
            if every:
                agreed = bits == mask_of(active)
                bits = np.where(agreed, bits + np.uint32(1), np.uint32(0))
            machine.assign(name, bits, active)

        return Statement(said, effect)

    def reduce(self, place: Place) -> Node:
        """One of sm_80's reductions."""
        kind = self.random.choice("us")
        name, value = self.variable(kind), self.expression(kind, 1)
        operation = self.random.choice(("add", "min", "max") if kind == "s" else tuple(_UFUNCS))

        def effect(machine: Machine, active: Lanes) -> None:
            machine.assign(name, folded(operation, value.value(machine), active), active)

        return Statement(f"{name} = __reduce_{operation}_sync({place.name}, {value.text});", effect)

    def coalesced(self, place: Place) -> Node:
        """The group of the lanes that are here."""
        kind = self.random.choice("us")
        name, value, condition = self.variable(kind), self.expression(kind, 1), self.condition()
        step = self.random.randrange(6)
        operation = self.random.choice(tuple(_REDUCERS))
        typed = KINDS[kind][0]
        how = self.random.choice(("size", "shfl", "down", "up", "ballot", "any", "reduce", "scan", "match"))
        said = {
            "size": "group.size() * 64 + group.thread_rank()",
            "shfl": f"group.shfl({value.text}, {step} % group.size())",
            "down": f"known<{typed}>(group.thread_rank() + {step} < group.size(), group.shfl_down({value.text}, {step}), 7)",
            "up": f"known<{typed}>(group.thread_rank() >= {step}, group.shfl_up({value.text}, {step}), 7)",
            "ballot": f"group.ballot({condition.text})",
            "any": f"group.any({condition.text}) + 2 * group.all({condition.text})",
            "reduce": f"cg::reduce(group, {value.text}, cg::{_REDUCERS[operation]}<{typed}>())",
            "scan": f"cg::inclusive_scan(group, {value.text})",
            "match": f"group.match_any({value.text} & 3)",
        }[how]

        def effect(machine: Machine, active: Lanes) -> None:
            values, chosen = value.value(machine), condition.value(machine) & active
            place_of, size = rank(active), np.broadcast_to(active.sum(-1, keepdims=True), active.shape)
            member = lambda number: np.take_along_axis(values, nth(active, number), -1)  # noqa: E731
            bits = np.where(chosen, np.uint64(1) << place_of.astype(np.uint64), np.uint64(0)).sum(-1, keepdims=True)
            same = (values[..., :, None] & 3 == values[..., None, :] & 3) & active[..., None, :]
            shift = np.uint64(1) << place_of.astype(np.uint64)
            found: dict[str, Callable[[], Values]] = {
                "size": lambda: size * 64 + place_of,
                "shfl": lambda: member(np.full(active.shape, step)),
                "down": lambda: np.where(place_of + step < size, member(place_of + step), 7),
                "up": lambda: np.where(place_of >= step, member(place_of - step), 7),
                "ballot": lambda: np.broadcast_to(bits, active.shape),
                "any": lambda: np.broadcast_to(
                    chosen.any(-1, keepdims=True) + 2 * (chosen == active).all(-1, keepdims=True), active.shape
                ),
                "reduce": lambda: folded(operation, values, active),
                "scan": lambda: scanned(values, active),
                "match": lambda: np.where(same, shift[..., None, :], np.uint64(0)).sum(-1),
            }
            machine.assign(name, found[how](), active)

        return Statement(
            f"{{ __syncwarp({place.name}); auto group = cg::coalesced_threads(); {name} = {said}; }}", effect
        )

    def tile(self, place: Place) -> Node:
        """A tile of 2 to 32 threads of the block."""
        width = self.random.choice((32, 32, 16, 8, 4, 2))
        kind = self.random.choice("usq")
        name, value, condition = self.variable(kind), self.expression(kind, 1), self.condition()
        step = self.random.randrange(width)
        operation = self.random.choice(("add", "min", "max") if kind == "q" else tuple(_REDUCERS))
        typed = KINDS[kind][0]
        how = self.random.choice(
            (
                "rank",
                "shfl",
                "shfl_xor",
                "shfl_up",
                "shfl_down",
                "ballot",
                "any",
                "match",
                "reduce",
                "inclusive",
                "exclusive",
            )
        )
        said = {
            "rank": "tile.thread_rank() * 256 + tile.meta_group_rank() * 4 + tile.size()",
            "ballot": f"tile.ballot({condition.text})",
            "any": f"tile.any({condition.text}) + 2 * tile.all({condition.text})",
            "match": f"tile.match_any({value.text} & 1)",
            "reduce": f"cg::reduce(tile, {value.text}, cg::{_REDUCERS[operation]}<{typed}>())",
            "inclusive": f"cg::inclusive_scan(tile, {value.text})",
            "exclusive": f"cg::exclusive_scan(tile, {value.text})",
        }.get(how, f"tile.{how}({value.text}, {step})")

        def effect(machine: Machine, active: Lanes) -> None:
            apart = (*machine.lane.shape[:2], LANES // width, width)
            values = value.value(machine).reshape(apart)
            chosen = (condition.value(machine) & active).reshape(apart)
            inner = machine.lane.reshape(apart) % width
            all_in = np.ones(apart, bool)
            same = (values[..., :, None] & values.dtype.type(1)) == (values[..., None, :] & values.dtype.type(1))
            bits = np.uint64(1) << np.arange(width, dtype=np.uint64)
            found: dict[str, Callable[[], Values]] = {
                "rank": lambda: inner * 256 + machine.thread.reshape(apart) // width * 4 + width,
                "ballot": lambda: np.broadcast_to((chosen * bits).sum(-1, keepdims=True), apart),
                "any": lambda: np.broadcast_to(
                    chosen.any(-1, keepdims=True) + 2 * chosen.all(-1, keepdims=True), apart
                ),
                "match": lambda: (same * bits).sum(-1),
                "reduce": lambda: folded(operation, values, all_in),
                "inclusive": lambda: scanned(values, all_in),
                "exclusive": lambda: scanned(values, all_in) - values,
            }
            if how.startswith("shfl"):
                way = how.partition("_")[2] or "idx"
                there = source(way, machine.lane, np.full(machine.lane.shape, step), width)
                result = np.take_along_axis(value.value(machine), there, -1)
            else:
                result = found[how]().reshape(machine.lane.shape)
            machine.assign(name, result, active)

        return Statement(
            f"{{ auto tile = cg::tiled_partition<{width}>(cg::this_thread_block()); {name} = {said}; }}", effect
        )

    def partition(self, place: Place) -> Node:
        """A tile cut by a label."""
        name, value, condition = self.variable("u"), self.expression("u", 1), self.condition()
        label, low = (condition, 1) if self.random.random() < 0.5 else (self.expression("u", 1), 3)
        cut = (
            f"cg::binary_partition(tile, {label.text})"
            if low == 1
            else f"cg::labeled_partition(tile, {label.text} & 3u)"
        )
        text = (
            f"{{ auto tile = cg::tiled_partition<32>(cg::this_thread_block()); auto part = {cut}; "
            f"{name} = cg::reduce(part, {value.text}, cg::plus<u32>()) + part.thread_rank() * 64 + part.size(); }}"
        )

        def effect(machine: Machine, active: Lanes) -> None:
            values, labels = value.value(machine), label.value(machine).astype(np.uint32) & np.uint32(low)
            same = labels[..., :, None] == labels[..., None, :]
            total = np.where(same, values[..., None, :], np.uint32(0)).sum(-1, dtype=np.uint32)
            before = np.tril(np.ones((LANES, LANES), bool), -1)
            machine.assign(name, total + (same & before).sum(-1) * 64 + same.sum(-1), active)

        return Statement(text, effect)

    def exchange(self, place: Place) -> Node:
        """A word of shared memory of another lane of the warp."""
        name, value, step = self.variable("u"), self.expression("u", 1), self.random.randrange(32)
        there = f"nth({place.mask}, lane + {step})"

        def effect(machine: Machine, active: Lanes) -> None:
            values = value.value(machine)
            shape = machine.lane.shape
            kept = machine.shared.reshape(shape)
            machine.shared = np.where(active, values, kept).reshape(machine.shared.shape)
            machine.assign(name, np.take_along_axis(values, nth(active, machine.lane + step), -1), active)

        own, mask = "shared[t]", place.name
        return Statement(
            f"__syncwarp({mask}); {own} = {value.text}; __syncwarp({mask}); {name} = shared[(t & ~31u) + {there}]; __syncwarp({mask});",
            effect,
        )

    def block_exchange(self, place: Place) -> Node:
        """A word of another thread of the block."""
        name, value = self.variable("u"), self.expression("u", 1)
        step = self.random.randrange(1, 64)

        def effect(machine: Machine, active: Lanes) -> None:
            machine.shared = np.where(active, value.value(machine), machine.shared.reshape(active.shape)).reshape(
                machine.shared.shape
            )
            there = (machine.thread + step) % machine.threads
            rows = np.broadcast_to(np.arange(machine.blocks).reshape(-1, 1, 1), there.shape)
            machine.assign(name, machine.shared[rows, there], active)

        text = f"__syncthreads(); shared[t] = {value.text}; __syncthreads(); {name} = shared[(t + {step}) % {self.threads}]; __syncthreads();"
        return Statement(text, effect)

    def block_vote(self, place: Place) -> Node:
        """A barrier that counts."""
        name, condition = self.variable("u"), self.condition()
        how = self.random.choice(("count", "and", "or"))

        def effect(machine: Machine, active: Lanes) -> None:
            chosen = (condition.value(machine) & active).reshape(machine.blocks, -1)
            every = active.reshape(machine.blocks, -1)
            found = {"count": chosen.sum(-1), "and": (chosen == every).all(-1), "or": chosen.any(-1)}[how]
            machine.assign(name, np.broadcast_to(found.reshape(-1, 1, 1).astype(np.uint32), active.shape), active)

        said = f"__syncthreads_{how}({condition.text})"
        return Statement(f"{name} = {said}{'' if how == 'count' else ' != 0'};", effect)

    def bins(self, place: Place) -> Node:
        """Atomics on shared memory, then what they left."""
        name, where, value = self.variable("u"), self.expression("u", 1), self.expression("u", 1)
        operation = self.random.choice(tuple(_UFUNCS))

        def effect(machine: Machine, active: Lanes) -> None:
            places, values = where.value(machine) & np.uint32(7), value.value(machine)
            rows = np.broadcast_to(np.arange(machine.blocks).reshape(-1, 1, 1), active.shape)
            _UFUNCS[operation].at(machine.bins, (rows[active], places[active]), values[active])
            machine.assign(name, machine.bins[rows, machine.lane & 7], active)

        call = f"{_NAMED[operation]}(&bins[{where.text} & 7], {value.text});"
        return Statement(f"__syncthreads(); {call} __syncthreads(); {name} = bins[lane & 7]; __syncthreads();", effect)

    def own_word(self, place: Place) -> Node:
        """An atomic that returns, on a word that nobody else uses."""
        name, value = self.variable("u"), self.expression("u", 1)
        how = self.random.choice(("Add", "Sub", "Exch", "CAS", "Inc", "Dec", "Max", "Min"))
        extra = ", u1" if how == "CAS" else ""

        def effect(machine: Machine, active: Lanes) -> None:
            old, values = machine.shared.reshape(active.shape), value.value(machine)
            one = np.uint32(1)
            new = {
                "Add": lambda: old + values,
                "Sub": lambda: old - values,
                "Exch": lambda: values,
                "CAS": lambda: np.where(old == values, machine.variables["u1"], old),
                "Inc": lambda: np.where(old >= values, np.uint32(0), old + one),
                "Dec": lambda: np.where((old == 0) | (old > values), values, old - one),
                "Max": lambda: np.maximum(old, values),
                "Min": lambda: np.minimum(old, values),
            }[how]()
            machine.assign(name, old, active)
            machine.shared = np.where(active, new, old).reshape(machine.shared.shape)

        return Statement(f"__syncwarp({place.name}); {name} = atomic{how}(&shared[t], {value.text}{extra});", effect)

    def global_sum(self, place: Place) -> Node:
        """Atomics on global memory, read when the kernel has ended."""
        long = self.random.random() < 0.3
        where, value = self.expression("u", 1), self.expression("q" if long else "u", 1)
        number = self.random.randrange(len(_UFUNCS))
        operation = tuple(_UFUNCS)[number]
        places = 1  # one operation for each word: different ones do not commute
        index = number
        del where, places

        def effect(machine: Machine, active: Lanes) -> None:
            target = machine.longs if long else machine.sums
            values = value.value(machine)[active]
            _UFUNCS[operation].at(target, np.full(values.shape, index), values)

        return Statement(f"{_NAMED[operation]}(&{'longs' if long else 'sums'}[{index}], {value.text});", effect)


def assigned(name: str, value: Expression) -> Statement:
    """An assignment."""
    return Statement(
        f"{name} = {value.text};", lambda machine, active: machine.assign(name, value.value(machine), active)
    )


assert len(_UFUNCS) <= ACCUMULATORS


def kernel(seed: int, *, idiom: bool = False) -> Kernel:
    """The kernel of a number: always the same."""
    made = Generator(random.Random(seed))
    return made.idioms(seed) if idiom else made.kernel(seed)


def text_of(kernels: Sequence[Kernel]) -> str:
    """One CUDA source."""
    rotate = "FN u64 rotate(u64 x, int k) { return x << k | x >> (64 - k); }\n"
    return "#include <cstdint>\n" + PRELUDE + rotate + "\n".join(map(_typed, kernels))


_STANDARD = {
    "u32": "uint32_t",
    "i32": "int32_t",
    "u64": "uint64_t",
    "i64": "int64_t",
    "u8": "uint8_t",
    "i16": "int16_t",
}


def _typed(kernel: Kernel) -> str:
    """`--warp native` takes a cast to a name of the file's own for a call."""
    text = kernel.text()
    return re.sub(r"\b[ui](?:8|16|32|64)\b", lambda match: _STANDARD[match[0]], text) if kernel.idiom else text

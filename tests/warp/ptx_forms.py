"""Inline PTX with memory, other lanes or the block in it: statements, and what each of 64 threads has afterwards."""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
THREADS = 64
LANE = np.arange(THREADS) % 32
WARP = np.arange(THREADS) // 32
GIVEN: Array = np.random.default_rng(5).integers(1, 1 << 31, THREADS).astype(np.uint32)
Expected = Callable[[Array], Array]


def _same(v: Array) -> Array:
    return v


def _left(v: Array) -> Array:
    """The value of the neighbour at t ^ 1, through shared memory."""
    return v[np.arange(THREADS) ^ 1]


def _of_warp(reduce: Callable[[Array], Any]) -> Expected:
    return lambda v: np.repeat([reduce(v[:32]), reduce(v[32:])], 32)


def _ballot(v: Array) -> Array:
    bits = [sum(int(odd) << i for i, odd in enumerate(v[w * 32 : w * 32 + 32] & 1)) for w in (0, 1)]
    return np.repeat(bits, 32)


def _from(lanes: Array) -> Expected:
    return lambda v: v[WARP * 32 + lanes]


def _matches(v: Array) -> Array:
    kinds = v & 3
    return np.array(
        [sum(1 << i for i in range(32) if kinds[w * 32 + i] == kinds[w * 32 + t]) for w in (0, 1) for t in range(32)]
    )


def _halves(operation: Callable[[Array, Array], Array]) -> Expected:
    """Of both halves of `h` and `g` of the kernel."""

    def expected(v: Array) -> Array:
        h = ((v & np.uint32(0x3FFF3FFF)) | np.uint32(0x04000400)).view(np.float16)
        g = ((v >> np.uint32(3) & np.uint32(0x37FF37FF)) | np.uint32(0x20002000)).view(np.float16)
        return np.ascontiguousarray(operation(h, g).astype(np.float16)).view(np.uint32)

    return expected


_LOADS = """
ld.global.u32 ld.volatile.global.u32 ld.relaxed.sys.u32 ld.global.cg.u32 ld.global.cv.u32 ld.mmio.relaxed.sys.global.u32
ld.global.L1::no_allocate.L2::256B.u32 ldu.global.u32 ld.acquire.gpu.global.u32 ld.global.nc.u32 ld.global.ca.u32
ld.global.cs.u32 ld.global.lu.u32 ld.relaxed.cta.global.u32 ld.relaxed.cluster.global.u32 ld.relaxed.gpu.global.u32
ld.acquire.cta.global.u32 ld.acquire.cluster.global.u32 ld.acquire.sys.global.u32
"""
LOADS = _LOADS.split()
_STORES = """
st.global.u32 st.global.wt.u32 st.global.cs.u32 st.release.gpu.global.u32 st.volatile.global.u32 st.global.cg.u32
st.global.wb.u32 st.relaxed.cta.global.u32 st.relaxed.cluster.global.u32 st.relaxed.gpu.global.u32
st.relaxed.sys.global.u32 st.release.cta.global.u32 st.release.cluster.global.u32 st.release.sys.global.u32
st.mmio.relaxed.sys.global.u32
"""
STORES = _STORES.split()
_NOTHING = """
membar.gl membar.cta membar.sys fence.acq_rel.gpu fence.proxy.async fence.mbarrier_init.release.cluster fence.sc.sys bar.sync|0 barrier.sync|0 cp.async.commit_group
cp.async.wait_group|0 cp.async.wait_all griddepcontrol.wait setmaxnreg.inc.sync.aligned.u32|64
fence.acq_rel.cta fence.acq_rel.cluster fence.acq_rel.sys fence.sc.cta bar.cta.sync|0 barrier.cta.sync|0
griddepcontrol.launch_dependents setmaxnreg.dec.sync.aligned.u32|40
"""
NOTHING = _NOTHING.split()
_HINTS = """
prefetch.global.L1|[%1] prefetch.global.L2::evict_last|[%1] prefetch.global.L2|[%1] prefetchu.L1|[%1] discard.global.L2|[%1],128 applypriority.global.L2::evict_normal|[%1],128
"""
HINTS = _HINTS.split()

_REAL = "(float(t) - 31.5f) * 0.097f"
_ABOVE_ZERO = "(float(t) + 0.5f) * 0.61f"
APPROXIMATE = {
    "ex2.approx.f32": (_REAL, "exp2(double(x))", 4e-7),
    "lg2.approx.f32": (_ABOVE_ZERO, "log2(double(x))", 4e-7),
    "sin.approx.f32": (_REAL, "sin(double(x))", 1e-6),
    "cos.approx.f32": (_REAL, "cos(double(x))", 1e-6),
    "tanh.approx.f32": (_REAL, "tanh(double(x))", 5e-4),
    "rsqrt.approx.f32": (_ABOVE_ZERO, "1.0 / sqrt(double(x))", 4e-7),
    "sqrt.approx.f32": (_ABOVE_ZERO, "sqrt(double(x))", 4e-7),
    "rcp.approx.ftz.f64": (_ABOVE_ZERO, "1.0 / double(x)", 2e-6),
    "rsqrt.approx.ftz.f64": (_ABOVE_ZERO, "1.0 / sqrt(double(x))", 2e-6),
}
"""Where the ISA leaves the last bits open: the operand, the exact function, and how far off PTX may be, absolute and relative."""
_DIVISIONS = ("div.full.f32", "div.approx.f32")


def _approximate(opcode: str, operand: str, exact: str, tolerance: float) -> str:
    kind, letter = ("double", "d") if opcode.endswith("f64") else ("float", "f")
    return (
        f'{kind} const x = {operand}; {kind} y; asm("{opcode} %0, %1;" : "={letter}"(y) : "{letter}"(x));'
        f" double const w = {exact}; r = fabs(double(y) - w) <= {tolerance} * (1.0 + fabs(w)) ? v : 0;"
    )


_WORDS: dict[str, Callable[[int, int, int], int]] = {
    "and": lambda a, b, bits: a & b,
    "or": lambda a, b, bits: a | b,
    "xor": lambda a, b, bits: a ^ b,
    "add": lambda a, b, bits: a + b,
    "exch": lambda a, b, bits: b,
    "min.u": lambda a, b, bits: min(a, b),
    "max.u": lambda a, b, bits: max(a, b),
    "min.s": lambda a, b, bits: min(a, b, key=lambda one: one - (one >> bits - 1 << bits)),
    "max.s": lambda a, b, bits: max(a, b, key=lambda one: one - (one >> bits - 1 << bits)),
}
_KINDS = {"and": "b", "or": "b", "xor": "b", "add": "us", "exch": "b", "min": "us", "max": "us"}
ATOMICS = tuple(
    (name, operation, kind, bits)
    for name in ("atom", "red")
    for operation, kinds in _KINDS.items()
    for kind in kinds
    for bits in (32, 64)
    if (name, operation) != ("red", "exch") and (operation, kind, bits) != ("add", "s", 64)
)


def _atomic(name: str, operation: str, kind: str, bits: int) -> tuple[str, Expected]:
    """Old and new value, with bits of the word's both ends in them."""
    cpp, letter = ("unsigned", "r") if bits == 32 else ("unsigned long long", "l")
    factor, step = (1, 0x9E3779B1) if bits == 32 else (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
    old = f"{cpp} old = 0; " if name == "atom" else f"{cpp} const old = 0; "
    form, out = ("%0, [%1], %2;", f'"={letter}"(old)') if name == "atom" else ("[%0], %1;", "")
    code = (
        f"auto o = ({cpp} *)own; *o = v * {factor:#x}{'u' if bits == 32 else 'ull'}; {old}"
        f'asm volatile("{name}.global.{operation}.{kind}{bits} {form}" : {out} : "l"(o), "{letter}"(({cpp})(t * {step:#x}ull)) : "memory");'
        f" {cpp} const all = old * 3 ^ *o; r = unsigned(all) ^ unsigned((unsigned long long)all >> 32);"
    )
    full = (1 << bits) - 1
    work = _WORDS[f"{operation}.{kind}" if operation in ("min", "max") else operation]

    def one(value: int, thread: int) -> int:
        was, by = value * factor & full, thread * step & full
        both = (was * 3 if name == "atom" else 0) ^ work(was, by, bits)
        both &= full
        return (both ^ both >> 32) & 0xFFFFFFFF

    return code, lambda v: np.array([one(int(value), thread) for thread, value in enumerate(v)], np.uint32)


def _predicate(opcode: str, condition: str, mask: bool) -> str:
    """A vote on `condition`, as 0 or 1."""
    more, given = (", %2", ', "r"(~0u)') if mask else ("", "")
    return (
        f'asm volatile("{{ .reg .pred p, q; setp.ne.u32 p, %1, 0; {opcode} q, p{more}; selp.u32 %0, 1, 0, q; }}"'
        f' : "=r"(r) : "r"({condition}){given});'
    )


_VOTES: dict[str, Callable[[Array], bool]] = {
    "any": lambda bits: bool(bits.any()),
    "all": lambda bits: bool(bits.all()),
    "uni": lambda bits: bool(bits.all() or not bits.any()),
}
_REDUCED: dict[str, Callable[[Array], Any]] = {
    "min.u32": np.min,
    "max.u32": np.max,
    "min.s32": lambda v: int(v.astype(np.int32).min()) & 0xFFFFFFFF,
    "max.s32": lambda v: int(v.astype(np.int32).max()) & 0xFFFFFFFF,
    "and.b32": np.bitwise_and.reduce,
    "or.b32": np.bitwise_or.reduce,
    "xor.b32": np.bitwise_xor.reduce,
}
_IN_TURN = "t < 32 ? 1 : v & 1"
ENDS = ("trap", "brkpt")
"""What ends the kernel with a fault."""

STATEMENTS: dict[str, tuple[str, Expected]] = {
    **{
        f"{name}.global.{operation}.{kind}{bits}": _atomic(name, operation, kind, bits)
        for name, operation, kind, bits in ATOMICS
    },
    **{
        f"vote{'.sync' if mask else ''}.{how}.pred": (
            _predicate(f"vote{'.sync' if mask else ''}.{how}.pred", _IN_TURN, mask),
            lambda v, test=test: np.repeat([1, int(test(v[32:] & 1))], 32),
        )
        for how, test in _VOTES.items()
        for mask in (False, True)
        if (how, mask) != ("all", True)
    },
    **{
        f"redux.sync.{how}": (
            f'asm volatile("redux.sync.{how} %0, %1, %2;" : "=r"(r) : "r"(v ^ t << 30), "r"(~0u));',
            lambda v, reduce=reduce: _of_warp(reduce)(v ^ (np.arange(THREADS, dtype=np.uint32) << np.uint32(30))),
        )
        for how, reduce in _REDUCED.items()
    },
    "shfl.down.b32": (
        'asm volatile("shfl.down.b32 %0, %1, 3, 0x1f;" : "=r"(r) : "r"(v));',
        _from(np.where(LANE + 3 < 32, LANE + 3, LANE)),
    ),
    "shfl.bfly.b32": ('asm volatile("shfl.bfly.b32 %0, %1, 9, 0x1f;" : "=r"(r) : "r"(v));', _from(LANE ^ 9)),
    "shfl.idx.b32": ('asm volatile("shfl.idx.b32 %0, %1, 30, 0x1f;" : "=r"(r) : "r"(v));', _from(LANE * 0 + 30)),
    "match.any.sync.b64": (
        'asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r) : "l"((unsigned long long)(v & 3) << 32), "r"(~0u));',
        _matches,
    ),
    "match.all.sync.b64": (
        'asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %1, %2; @p add.u32 %0, %0, 7; }"'
        ' : "=r"(r) : "l"(t < 32 ? 5ull << 40 : (unsigned long long)v << 32), "r"(~0u));',
        lambda v: np.repeat([6, 0], 32),
    ),
    "barrier.cta.red.popc.u32": (
        'asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.cta.red.popc.u32 %0, 0, p; }" : "=r"(r) : "r"(v & 1));',
        lambda v: np.full(THREADS, (v & 1).sum()),
    ),
    "barrier.red.and.pred": (
        _predicate("barrier.red.and.pred", "t != 3", False).replace("pred q, p", "pred q, 0, p"),
        lambda v: np.zeros(THREADS),
    ),
    "bar.cta.red.or.pred": (
        _predicate("bar.cta.red.or.pred", "t == 3", False).replace("pred q, p", "pred q, 0, p"),
        lambda v: np.ones(THREADS),
    ),
    **{
        # 64 words of a thread are more than clang moves to LDS, where `isspacep` would find them
        f"isspacep.{space}": (
            f'unsigned mine[64]; mine[v & 63] = t; asm("{{ .reg .pred p; isspacep.{space} p, %1; selp.u32 %0, 1, 0, p; }}" : "=r"(r) :'
            ' "l"(t % 3 == 0 ? (void *)(s + t) : t % 3 == 1 ? (void *)own : (void *)(mine + (v & 63))));',
            lambda v, wanted=wanted: np.arange(THREADS) % 3 == wanted,
        )
        for space, wanted in (("global", 1), ("local", 2))
    },
    "ld.local.u32": (
        'unsigned mine[2] = {v, t}; unsigned long long w; asm("cvta.to.local.u64 %0, %1;" : "=l"(w) : "l"(mine + t % 2));'
        ' asm volatile("ld.local.u32 %0, [%1];" : "=r"(r) : "l"(w) : "memory");',
        lambda v: np.where(np.arange(THREADS) % 2, np.arange(THREADS), v),
    ),
    "cvta.to.local.u64": (
        "unsigned mine[2] = {t, t}; unsigned long long w; "
        'asm("cvta.to.local.u64 %0, %1;" : "=l"(w) : "l"(mine + (v & 1))); asm volatile("st.local.u32 [%0], %1;" :: "l"(w), "r"(v) : "memory");'
        " r = mine[0] ^ mine[1];",
        lambda v: v ^ np.arange(THREADS, dtype=np.uint32),
    ),
    "st.local.u32": (
        "unsigned mine[2] = {t, t}; "
        'asm volatile("st.local.u32 [%0], %1;" :: "l"((unsigned long long)__cvta_generic_to_local(mine + (v & 1))), "r"(v) : "memory");'
        " r = mine[0] ^ mine[1];",
        lambda v: v ^ np.arange(THREADS, dtype=np.uint32),
    ),
    "cvta.local.u64": (
        "unsigned mine[2] = {v, t}; unsigned long long w; "
        'asm("cvta.local.u64 %0, %1;" : "=l"(w) : "l"((unsigned long long)__cvta_generic_to_local(mine + t % 2))); r = *(volatile unsigned *)w;',
        lambda v: np.where(np.arange(THREADS) % 2, np.arange(THREADS), v),
    ),
    "ld.const.u32": (
        'unsigned long long w; asm("cvta.to.const.u64 %0, %1;" : "=l"(w) : "l"(fixed + t % 4));'
        ' asm("ld.const.u32 %0, [%1];" : "=r"(r) : "l"(w));',
        lambda v: np.array([3, 5, 7, 11])[np.arange(THREADS) % 4],
    ),
    "cvta.to.const.u64": (
        'unsigned long long w; asm("cvta.to.const.u64 %0, %1;" : "=l"(w) : "l"(fixed + t % 4));'
        ' asm("cvta.const.u64 %0, %1;" : "=l"(w) : "l"(w)); r = *(const unsigned *)w;',
        lambda v: np.array([3, 5, 7, 11])[np.arange(THREADS) % 4],
    ),
    "createpolicy.range.L2::evict_last.b64": (
        'unsigned long long p; asm volatile("createpolicy.range.L2::evict_last.b64 %0, [%1], %2, %3;" : "=l"(p) : "l"(in), "r"(64u), "r"(64u));'
        ' asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(r) : "l"(in + t), "l"(p));',
        _same,
    ),
    "mov.u32 of registers": (
        'unsigned a, b, c, d, e, f, g, h2, i; asm("mov.u32 %0, %%tid.x;" : "=r"(a)); asm("mov.u32 %0, %%ntid.x;" : "=r"(b)); asm("mov.u32 %0, %%ctaid.x;" : "=r"(c));'
        ' asm("mov.u32 %0, %%nctaid.x;" : "=r"(d)); asm("mov.u32 %0, %%lanemask_eq;" : "=r"(e)); asm("mov.u32 %0, %%lanemask_le;" : "=r"(f));'
        ' asm("mov.u32 %0, %%lanemask_ge;" : "=r"(g)); asm("mov.u32 %0, %%lanemask_gt;" : "=r"(h2)); asm("mov.u32 %0, %%tid.y;" : "=r"(i));'
        " r = a + b * 64 + c * 7 + d * 9 + i; r ^= (e ^ f * 3) + (g * 5 ^ h2 * 7);",
        lambda v: (
            np.array(
                [
                    (t + 64 * 64 + 9)
                    ^ (
                        ((1 << n) ^ ((2 << n) - 1) * 3)
                        + ((0xFFFFFFFF << n & 0xFFFFFFFF) * 5 ^ (0xFFFFFFFE << n & 0xFFFFFFFF) * 7)
                    )
                    & 0xFFFFFFFF
                    for t, n in ((t, t % 32) for t in range(THREADS))
                ]
            ).astype(np.uint64)
            & np.uint64(0xFFFFFFFF)
        ),
    ),
    **{one: (_approximate(one, *row), _same) for one, row in APPROXIMATE.items()},
    **{
        one: (
            f'float const x = {_REAL}, z = {_ABOVE_ZERO}; float y; asm("{one} %0, %1, %2;" : "=f"(y) : "f"(x), "f"(z));'
            " double const w = double(x) / double(z); r = fabs(double(y) - w) <= 3e-7 * fabs(w) ? v : 0;",
            _same,
        )
        for one in _DIVISIONS
    },
    "ex2.approx.f16x2": (
        'asm("ex2.approx.f16x2 %0, %1;" : "=r"(r) : "r"(t % 2 ? 0x3c000000u : 0x4200bc00u));',
        lambda v: np.where(np.arange(THREADS) % 2, 0x40003C00, 0x48003800),
    ),
    "tanh.approx.f16": (
        'unsigned short y; asm("tanh.approx.f16 %0, %1;" : "=h"(y) : "h"((unsigned short)(t % 2 ? 0xcc00 : 0))); r = y;',
        lambda v: np.where(np.arange(THREADS) % 2, 0xBC00, 0),
    ),
    "tanh.approx.bf16x2": (
        'asm("tanh.approx.bf16x2 %0, %1;" : "=r"(r) : "r"(t % 2 ? 0xc1800000u : 0x41804180u));',
        lambda v: np.where(np.arange(THREADS) % 2, 0xBF800000, 0x3F803F80),
    ),
    "mov.u64": (
        'unsigned long long a, b, c, d; asm volatile("mov.u64 %0, %%clock64;" : "=l"(a)); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(c));'
        ' asm volatile("mov.u64 %0, %%clock64;" : "=l"(b)); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(d)); r = b >= a && d >= c ? v : 0;',
        _same,
    ),
    "createpolicy.fractional.L2::evict_last.b64": (
        'unsigned long long p; asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));'
        ' asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(r) : "l"(in + t), "l"(p));',
        _same,
    ),
    "shfl.up.b32": (
        'asm volatile("shfl.up.b32 %0, %1, 4, 0;" : "=r"(r) : "r"(v));',
        _from(np.where(LANE >= 4, LANE - 4, LANE)),
    ),
    **{
        f"{one}.noftz.{kind}": (
            f'own[0] = {was:#x}u; unsigned short r1 = 0; asm volatile("{one}.noftz.{kind} {form}" : {out} : "l"((char *)own + {at}), "h"((unsigned short){two:#x}));'
            " r = own[0] ^ r1;",
            lambda v, all=sums ^ (old if one == "atom.add" else 0): np.full(THREADS, all),
        )
        for kind, at, was, two, sums, old in (
            ("f16", 0, 0x40003C00, 0x4000, 0x40004200, 0x3C00),
            ("bf16", 2, 0x3F801234, 0x4000, 0x40401234, 0x3F80),
        )
        for one, form, out in (("atom.add", "%0, [%1], %2;", '"=h"(r1)'), ("red.add", "[%0], %1;", ""))
    },
    "cp.async.mbarrier.arrive.shared.b64": (
        "__shared__ unsigned long long bar3; unsigned const b = static_cast<unsigned>(__cvta_generic_to_shared(&bar3)); "
        'if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(64u) : "memory"); __syncthreads();'
        ' asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(in + t) : "memory");'
        ' asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(b) : "memory");'
        ' unsigned done = 0; while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"'
        ' : "=r"(done) : "r"(b), "r"(0u) : "memory"); r = s[t ^ 1];',
        _left,
    ),
    **{one: (f'asm volatile("{one} %0, [%1];" : "=r"(r) : "l"(in + t));', _same) for one in LOADS},
    **{one: (f'asm volatile("{one} [%0], %1;" :: "l"(own), "r"(v)); r = own[0];', _same) for one in STORES},
    **{one.split("|")[0]: (f'r = v; asm volatile("{one.replace("|", " ")};" ::: "memory");', _same) for one in NOTHING},
    **{
        one.split("|")[0]: (
            f'asm volatile("{one.replace("|", " ").replace("%1", "%0")};" :: "l"(room)); r = v;',
            _same,
        )
        for one in HINTS
    },
    "ld.global.nc.v4.f32": (
        'float a, b, c, d; asm("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) '
        ': "l"(in + t / 4 * 4)); r = __float_as_uint(t % 4 == 0 ? a : t % 4 == 1 ? b : t % 4 == 2 ? c : d);',
        _same,
    ),
    "ld.acquire.gpu.global.u64": (
        'unsigned long long w; asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(w) : "l"(in + t / 2 * 2));'
        " r = t % 2 ? unsigned(w >> 32) : unsigned(w);",
        _same,
    ),
    "st.global.v2.f32": (
        'asm volatile("st.global.v2.f32 [%0], {%1, %2};" :: "l"(own), "f"(__uint_as_float(v)), "f"(1.0f)); r = own[0];',
        _same,
    ),
    "st.shared.u32": (
        'asm volatile("st.shared.u32 [%0], %1;" :: "r"(at), "r"(v) : "memory"); __syncthreads(); r = s[t ^ 1];',
        _left,
    ),
    "st.volatile.shared.u32": (
        'asm volatile("st.volatile.shared.u32 [%0], %1;" :: "r"(at), "r"(v) : "memory"); __syncthreads(); r = s[t ^ 1];',
        _left,
    ),
    "ld.shared.u32": (
        's[t ^ 1] = v; __syncthreads(); asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"(at) : "memory");',
        _left,
    ),
    "cvta.to.shared.u64": (
        'unsigned long long w; asm("cvta.to.shared.u64 %0, %1;" : "=l"(w) : "l"(s + t)); s[t ^ 1] = v; __syncthreads();'
        ' asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"(unsigned(w)) : "memory");',
        _left,
    ),
    "cvta.to.global.u64": (
        'unsigned long long w; asm("cvta.to.global.u64 %0, %1;" : "=l"(w) : "l"(in + t));'
        ' asm volatile("ld.global.u32 %0, [%1];" : "=r"(r) : "l"(w));',
        _same,
    ),
    "cvta.global.u64": (
        'unsigned long long w; asm("cvta.global.u64 %0, %1;" : "=l"(w) : "l"(in + t)); r = *(const unsigned *)w;',
        _same,
    ),
    "isspacep.shared": (
        'asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "l"(t % 2 ? (void *)(s + t) : (void *)own));',
        lambda v: np.arange(THREADS) % 2,
    ),
    "cp.async.ca.shared.global": (
        'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(in + t) : "memory");'
        ' asm volatile("cp.async.wait_all;" ::: "memory"); __syncthreads(); r = s[t ^ 1];',
        _left,
    ),
    "cp.async.cg.shared.global": (
        'if (t % 4 == 0) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(in + t) : "memory");'
        ' asm volatile("cp.async.wait_all;" ::: "memory"); __syncthreads(); r = s[t ^ 1];',
        _left,
    ),
    "bar.warp.sync": ('s[t] = v; asm volatile("bar.warp.sync %0;" :: "r"(~0u) : "memory"); r = s[t ^ 1];', _left),
    "atom.global.add.u32": (
        'own[0] = v; asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(r) : "l"(own), "r"(t)); r ^= own[0];',
        lambda v: v ^ (v + np.arange(THREADS, dtype=np.uint32)),
    ),
    "atom.exch.b64": (
        "auto o = (unsigned long long *)own; *o = v; unsigned long long w; "
        'asm volatile("atom.exch.b64 %0, [%1], %2;" : "=l"(w) : "l"(o), "l"(7ull)); r = unsigned(w) + own[0];',
        lambda v: v + np.uint32(7),
    ),
    "atom.cas.b32": (
        'own[0] = v; asm volatile("atom.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "l"(own), "r"(v - t % 2), "r"(3u)); r += own[0];',
        lambda v: np.where(np.arange(THREADS) % 2 == 0, v + np.uint32(3), v + v),
    ),
    "atom.acquire.gpu.cas.b32": (
        'own[0] = v; asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "l"(own), "r"(v), "r"(3u)); r += own[0];',
        lambda v: v + np.uint32(3),
    ),
    "atom.shared.min.s32": (
        's[t] = 9; __syncthreads(); asm volatile("atom.shared.min.s32 %0, [%1], %2;" : "=r"(r) : "r"(at), "r"(int(t) - 30)); r += s[t];',
        lambda v: (9 + np.minimum(9, np.arange(THREADS) - 30)).astype(np.int64) & 0xFFFFFFFF,
    ),
    "atom.inc.u32": (
        'own[0] = t; asm volatile("atom.inc.u32 %0, [%1], %2;" : "=r"(r) : "l"(own), "r"(20u)); r = own[0];',
        lambda v: np.where(np.arange(THREADS) >= 20, 0, np.arange(THREADS) + 1),
    ),
    "atom.dec.u32": (
        'own[0] = t; asm volatile("atom.dec.u32 %0, [%1], %2;" : "=r"(r) : "l"(own), "r"(20u)); r = own[0];',
        lambda v: np.where((np.arange(THREADS) == 0) | (np.arange(THREADS) > 20), 20, np.arange(THREADS) - 1),
    ),
    "atom.add.f32": (
        'auto o = (float *)own; *o = 1.5f; float w; asm volatile("atom.add.f32 %0, [%1], %2;" : "=f"(w) : "l"(o), "f"(float(t)));'
        " r = unsigned((w + *o) * 2.0f);",
        lambda v: 6 + 2 * np.arange(THREADS),
    ),
    "atom.add.f64": (
        'auto o = (double *)own; *o = 1.5; double w; asm volatile("atom.add.f64 %0, [%1], %2;" : "=d"(w) : "l"(o), "d"(double(t)));'
        " r = unsigned((w + *o) * 2.0);",
        lambda v: 6 + 2 * np.arange(THREADS),
    ),
    "red.global.add.u32": (
        'own[0] = v; asm volatile("red.global.add.u32 [%0], %1;" :: "l"(own), "r"(t) : "memory"); r = own[0];',
        lambda v: v + np.arange(THREADS, dtype=np.uint32),
    ),
    "red.release.gpu.global.add.u32": (
        'own[0] = v; asm volatile("red.release.gpu.global.add.u32 [%0], %1;" :: "l"(own), "r"(t) : "memory"); r = own[0];',
        lambda v: v + np.arange(THREADS, dtype=np.uint32),
    ),
    "red.inc.u32": (
        'own[0] = t; asm volatile("red.inc.u32 [%0], %1;" :: "l"(own), "r"(20u) : "memory"); r = own[0];',
        lambda v: np.where(np.arange(THREADS) >= 20, 0, np.arange(THREADS) + 1),
    ),
    "shfl.sync.idx.b32": (
        'asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, %3;" : "=r"(r) : "r"(v), "r"((t * 7) & 31), "r"(~0u));',
        _from((np.arange(THREADS) * 7) & 31),
    ),
    "shfl.sync.down.b32": (
        'asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %1, 3, 0x1f, %2; @!p mov.u32 %0, 5; }" : "=r"(r) : "r"(v), "r"(~0u));',
        lambda v: np.where(LANE + 3 < 32, v[WARP * 32 + np.minimum(LANE + 3, 31)], 5),
    ),
    "shfl.sync.bfly.b32": (
        'asm volatile("shfl.sync.bfly.b32 %0, %1, 21, 0x1f, %2;" : "=r"(r) : "r"(v), "r"(~0u));',
        _from(LANE ^ 21),
    ),
    "shfl.sync.up.b32": (
        'asm volatile("shfl.sync.up.b32 %0, %1, 4, 0, %2;" : "=r"(r) : "r"(v), "r"(~0u));',
        _from(np.where(LANE >= 4, LANE - 4, LANE)),
    ),
    "vote.sync.ballot.b32": (
        'asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }" : "=r"(r) : "r"(v & 1), "r"(~0u));',
        _ballot,
    ),
    "vote.ballot.b32": (
        'asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.ballot.b32 %0, p; }" : "=r"(r) : "r"(v & 1));',
        _ballot,
    ),
    "vote.sync.all.pred": (
        'asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.all.pred q, p, %2; selp.u32 %0, 1, 0, q; }"'
        ' : "=r"(r) : "r"(t < 32 ? 1 : v & 1), "r"(~0u));',
        lambda v: np.repeat([1, int((v[32:] & 1).all())], 32),
    ),
    "match.any.sync.b32": (
        'asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(v & 3), "r"(~0u));',
        _matches,
    ),
    "match.all.sync.b32": (
        'asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %1, %2; @p add.u32 %0, %0, 7; }" : "=r"(r) : "r"(t < 32 ? 5 : v), "r"(~0u));',
        lambda v: np.repeat([6, 0], 32),
    ),
    "bar.red.popc.u32": (
        'asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }" : "=r"(r) : "r"(v & 1));',
        lambda v: np.full(THREADS, (v & 1).sum()),
    ),
    "bar.red.and.pred": (
        'asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 3; bar.red.and.pred q, 0, p; selp.u32 %0, 1, 0, q; }" : "=r"(r) : "r"(t));',
        lambda v: np.zeros(THREADS),
    ),
    "bar.red.or.pred": (
        'asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %1, 3; bar.red.or.pred q, 0, p; selp.u32 %0, 1, 0, q; }" : "=r"(r) : "r"(t));',
        lambda v: np.ones(THREADS),
    ),
    "atom.cas.b16": (
        'own[0] = v; unsigned short was; asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(was) : "l"(own), "h"((unsigned short)(v - t % 2)),'
        ' "h"((unsigned short)7)); r = own[0] + was;',
        lambda v: np.where(
            np.arange(THREADS) % 2 == 0,
            (v & np.uint32(0xFFFF0000)) + np.uint32(7) + (v & np.uint32(0xFFFF)),
            v + (v & np.uint32(0xFFFF)),
        ),
    ),
    **{
        f"{one}.noftz.{kind}": (
            f'own[0] = {twos}; {reads} asm volatile("{one}.noftz.{kind} {form}" : {out} : "l"(own), "r"({ones})); r ^= own[0];',
            lambda v, sums=sums, was=was: np.full(THREADS, sums ^ was),
        )
        for kind, twos, ones, sums in (
            ("f16x2", "0x40003c00u", "0x40003c00u", 0x44004000),
            ("bf16x2", "0x40003f80u", "0x40003f80u", 0x40804000),
        )
        for one, reads, form, out, was in (
            ("atom.add", "", "%0, [%1], %2;", '"=r"(r)', int(twos[:-1], 16)),
            ("red.add", "r = 0;", "[%0], %1;", "", 0),
        )
    },
    "atom.global.v2.f32.add": (
        "auto o = (float *)own; o[0] = 1.5f; o[1] = float(t); float a, b; "
        'asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %4};" : "=f"(a), "=f"(b) : "l"(o), "f"(2.0f), "f"(0.5f));'
        " r = unsigned((a + b + o[0] + o[1]) * 2.0f);",
        lambda v: 11 + 4 * np.arange(THREADS),
    ),
    "red.global.add.v4.f32": (
        "auto o = (float *)own; for (int i = 0; i < 4; ++i) o[i] = float(t + i); "
        'asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" :: "l"(o), "f"(1.0f), "f"(2.0f), "f"(3.0f), "f"(4.0f) : "memory");'
        " r = unsigned(o[0] + 10.0f * o[1] + 100.0f * o[2] + 1000.0f * o[3]);",
        lambda v: 1111 * np.arange(THREADS) + 1 + 30 + 500 + 7000,
    ),
    "cvta.shared.u64": (
        'unsigned long long w; asm("cvta.shared.u64 %0, %1;" : "=l"(w) : "l"((unsigned long long)at)); s[t ^ 1] = v; __syncthreads();'
        " r = *(unsigned *)w;",
        _left,
    ),
    "mbarrier.init.shared.b64": (
        "__shared__ unsigned long long bar; unsigned const b = static_cast<unsigned>(__cvta_generic_to_shared(&bar)); "
        'if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(64u) : "memory"); __syncthreads(); unsigned done = 0;'
        " for (int round = 0; round < 3; ++round) { s[t ^ 1] = v + round; unsigned long long state;"
        ' asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory"); done = 0;'
        ' while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"'
        ' : "=r"(done) : "r"(b), "l"(state) : "memory"); r += s[t]; __syncthreads(); }',
        lambda v: 3 * _left(v) + np.uint32(3),
    ),
    "mbarrier.try_wait.parity.shared.b64": (
        "__shared__ unsigned long long bar2; unsigned const b = static_cast<unsigned>(__cvta_generic_to_shared(&bar2)); "
        'if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(64u) : "memory"); __syncthreads();'
        ' s[t ^ 1] = v; unsigned long long state; asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");'
        ' unsigned done = 0; while (!done) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"'
        ' : "=r"(done) : "r"(b), "r"(0u) : "memory"); unsigned left; r = s[t];'
        ' asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(left) : "l"(state)); if (left < 1 || left > 64) r = 0;'
        ' asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(b) : "memory");',
        _left,
    ),
    "activemask.b32": ('asm volatile("activemask.b32 %0;" : "=r"(r));', lambda v: np.full(THREADS, 0xFFFFFFFF)),
    "redux.sync.add.s32": (
        'asm volatile("redux.sync.add.s32 %0, %1, %2;" : "=r"(r) : "r"(v & 0xffff), "r"(~0u));',
        _of_warp(lambda v: (v & 0xFFFF).sum()),
    ),
    "elect.sync": (
        'asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(~0u));',
        lambda v: (LANE == 0).astype(np.uint32),
    ),
    "mov.u32": (
        'unsigned w, m; asm("mov.u32 %0, %%laneid;" : "=r"(r)); asm("mov.u32 %0, %%warpid;" : "=r"(w));'
        ' asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); r = r + w * 100 + m * 1000;',
        lambda v: (LANE + WARP * 100 + ((1 << LANE) - 1) * 1000) & 0xFFFFFFFF,
    ),
    "mov.b64": (
        'unsigned long long w; unsigned lo, hi; asm("mov.b64 %0, {%1, %2};" : "=l"(w) : "r"(v), "r"(t));'
        ' asm("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(w)); r = lo ^ hi;',
        lambda v: v ^ np.arange(THREADS, dtype=np.uint32),
    ),
    "mov.b64 of four": (
        "unsigned short a, b, c, d; unsigned long long w = (unsigned long long)v << 32 | v * 3u;"
        ' asm("mov.b64 { %0,  %1, %2, %3 }, %4; " : "=h"(a), "=h"(b), "=h"(c), "=h"(d) : "l"(w));'
        ' asm("mov.b64 %0, {%1, %2, %3 , %4}; " : "=l"(w) : "h"(d), "h"(a), "h"(b), "h"(c)); r = unsigned(w) ^ unsigned(w >> 32);',
        lambda v: (
            ((v >> np.uint32(16)) | (v * np.uint32(3) & np.uint32(0xFFFF)) << np.uint32(16))
            ^ ((v * np.uint32(3)) >> np.uint32(16) | (v & np.uint32(0xFFFF)) << np.uint32(16))
        ),
    ),
    "mov.b32": (
        'unsigned short lo = v, hi = v >> 16; asm("mov.b32 %0, {%1, %2};" : "=r"(r) : "h"(lo), "h"(hi));',
        _same,
    ),
    "add.f16x2": ('asm("add.f16x2 %0, %1, %2;" : "=r"(r) : "r"(h), "r"(g));', _halves(lambda a, b: a + b)),
    "mul.f16x2": ('asm("mul.f16x2 %0, %1, %2;" : "=r"(r) : "r"(h), "r"(g));', _halves(lambda a, b: a * b)),
    "min.f16x2": ('asm("min.f16x2 %0, %1, %2;" : "=r"(r) : "r"(h), "r"(g));', _halves(np.minimum)),
    "neg.f16x2": ('asm("neg.f16x2 %0, %1;" : "=r"(r) : "r"(h));', _halves(lambda a, b: -a)),
    "fma.rn.f16x2": (
        'asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(h), "r"(g), "r"(h));',
        _halves(lambda a, b: (a.astype(np.float64) * b.astype(np.float64) + a.astype(np.float64)).astype(np.float16)),
    ),
    "abs.bf16x2": ('asm("abs.bf16x2 %0, %1;" : "=r"(r) : "r"(v));', lambda v: v & np.uint32(0x7FFF7FFF)),
    "nanosleep.u32": ('r = v; asm volatile("nanosleep.u32 %0;" :: "r"(20u));', _same),
}


def kernel(names: list[str]) -> str:
    """A kernel that runs some of them, one after the other, each with a row of the output."""
    rows = "\n".join(
        f"  {{ unsigned r = 0; __syncthreads(); {STATEMENTS[name][0]} out[{row * THREADS} + t] = r; }}"
        for row, name in enumerate(names)
    )
    return f"""__constant__ unsigned fixed[4] = {{3, 5, 7, 11}};
__global__ void k(unsigned *out, const unsigned *in, unsigned *scratch) {{
  __shared__ __align__(16) unsigned s[{THREADS}];
  unsigned const t = threadIdx.x, v = in[t];
  unsigned const at = static_cast<unsigned>(__cvta_generic_to_shared(s + t));
  unsigned *const own = scratch + t * 4;
  unsigned *const room = scratch + {THREADS * 4};
  unsigned const h = (v & 0x3fff3fffu) | 0x04000400u, g = (v >> 3 & 0x37ff37ffu) | 0x20002000u;
  (void)at; (void)room; (void)h; (void)g;
{rows}
}}
"""

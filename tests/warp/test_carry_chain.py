"""Carries that go from statement to statement (P103): long numbers on the virtual gfx942 against Python's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran

from porter.engine.file import port
from porter.model import Effort
from porter.source import SourceFile
from tests.warp.execution import context, module

MACROS = r"""
#define ADDO(c, a, b) asm volatile("add.cc.u64 %0, %1, %2;" : "=l"(c) : "l"(a), "l"(b) : "memory")
#define ADDC(c, a, b) asm volatile("addc.cc.u64 %0, %1, %2;" : "=l"(c) : "l"(a), "l"(b) : "memory")
#define ADD(c, a, b) asm volatile("addc.u64 %0, %1, %2;" : "=l"(c) : "l"(a), "l"(b))
#define SUBO(c, a, b) asm volatile("sub.cc.u64 %0, %1, %2;" : "=l"(c) : "l"(a), "l"(b) : "memory")
#define SUBC(c, a, b) asm volatile("subc.cc.u64 %0, %1, %2;" : "=l"(c) : "l"(a), "l"(b) : "memory")
#define SUB(c, a, b) asm volatile("subc.u64 %0, %1, %2;" : "=l"(c) : "l"(a), "l"(b))
#define LO(c, a, b) asm volatile("mul.lo.u64 %0, %1, %2;" : "=l"(c) : "l"(a), "l"(b))
#define MADO(c, a, b, d) asm volatile("mad.hi.cc.u64 %0, %1, %2, %3;" : "=l"(c) : "l"(a), "l"(b), "l"(d) : "memory")
#define MADC(c, a, b, d) asm volatile("madc.hi.cc.u64 %0, %1, %2, %3;" : "=l"(c) : "l"(a), "l"(b), "l"(d) : "memory")
#define MAD(c, a, b, d) asm volatile("madc.hi.s64 %0, %1, %2, %3;" : "=l"(c) : "l"(a), "l"(b), "l"(d))
#define SUM(r, a, b) ADDO(r[0], a[0], b[0]); ADDC(r[1], a[1], b[1]); ADD(r[2], a[2], b[2])
__device__ void difference(unsigned long long *r, const unsigned long long *a, const unsigned long long *b) {
  SUBO(r[0], a[0], b[0]);
  SUBC(r[1], a[1], b[1]);
  SUB(r[2], a[2], b[2]);
}
__global__ void k(unsigned long long *out, const unsigned long long *in) {
  const unsigned long long *a = in + threadIdx.x * 6, *b = a + 3;
  unsigned long long *r = out + threadIdx.x * 9;
  SUM(r, a, b);
  difference(r + 3, a, b);
  unsigned long long low1, low2;
  LO(r[6], a[0], b[0]);
  LO(low1, a[1], b[0]);
  LO(low2, 0ull, b[0]);
  MADO(r[7], a[0], b[0], low1);
  MADC(r[8], a[1], b[0], low2);
  MAD(low1, 0ull, 0ull, 0ull);
}
"""
THREADS = 96


def _words(number: int, count: int = 3) -> list[int]:
    return [number >> 64 * i & (1 << 64) - 1 for i in range(count)]


@pytest.mark.slow
def test_long_numbers() -> None:
    ported = port(SourceFile("a.cu", MACROS.encode()), context("preserve"), "a.cu")
    assert [finding.code for finding in ported.findings if finding.effort is Effort.MANUAL] == []
    loaded = module(ported.data.decode())
    numbers = random.Random(7)
    edges = [0, 1, (1 << 64) - 1, 1 << 64, (1 << 128) - 1, (1 << 192) - 1]
    pairs = [tuple(numbers.choice((numbers.getrandbits(192), *edges)) for _ in "ab") for _ in range(THREADS)]
    given = np.array([word for pair in pairs for number in pair for word in _words(number)], np.uint64)
    done = loaded.launch(
        loaded.kernels[0], (1,), (THREADS,), [np.zeros(THREADS * 9, np.uint64), given], 0, Options(uninitialised=False)
    )
    if isinstance(done, NotRun):
        pytest.skip(done.reason)
    assert isinstance(done, Ran), str(done)
    wanted = [
        word
        for a, b in pairs
        for word in (*_words(a + b), *_words(a - b), *_words((a & (1 << 128) - 1) * (b & (1 << 64) - 1)))
    ]
    assert done.outputs[0] is not None
    np.testing.assert_array_equal(done.outputs[0].reshape(-1), np.array(wanted, np.uint64))


def test_a_carry_that_leaves_its_function_is_left_by_hand() -> None:
    text = (
        '__device__ unsigned add(unsigned b, unsigned c) { unsigned a; asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(a) '
        ': "r"(b), "r"(c)); return a; }\n'
    )
    ported = port(SourceFile("a.cu", text.encode()), context("preserve"), "a.cu")
    assert {f.code for f in ported.findings if f.effort is Effort.MANUAL} == {"P102", "P103"}
    assert b"add.cc" in ported.data

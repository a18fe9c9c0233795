"""Lanes of a warp that go different ways: reconvergence, independent progress, meeting points."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Fault, FaultKind, Ran
from porter.validation.devices.ptx import Module

from tests.ptx.conftest import CompileCuda, LoadPtx

FULL = 0xFFFFFFFF
CODE = r"""
#define K extern "C" __global__ void
K collatz(int* out, unsigned* met) {
  int i = threadIdx.x, n = i + 1, steps = 0;
  while (n != 1) {
    if (n & 1) n = 3 * n + 1; else n /= 2;
    if (++steps > 90) break;
    if (n % 5 == 0) continue;
    steps += 0;
  }
  met[i] = __activemask();
  out[i] = steps;
}
K spin(int* lock, int* count) {  // every lane in turn
  for (int round = 0; round < 3; round++) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *(volatile int*)count = *(volatile int*)count + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
K ticket(volatile int* turn, int* order) {  // lane i waits for lane i + 1
  int i = threadIdx.x;
  while (*turn != 31 - i) {}
  order[31 - i] = i;
  __threadfence();
  *turn = 32 - i;
}
K across_warps(volatile int* flag, int* out) {
  if (threadIdx.x == 0) { while (*flag == 0) {} out[0] = *flag; }
  if (threadIdx.x == 40) *flag = 17;
}
K arms(int* out) {  // the two arms exchange with each other
  int i = threadIdx.x, v;
  if (i & 1) v = __shfl_xor_sync(0xffffffffu, i * 10, 1); else v = __shfl_xor_sync(0xffffffffu, i * 1000, 1);
  out[i] = v;
}
K tiles(int* out) {  // halves of a warp with their own masks and trip counts
  int i = threadIdx.x, half = i >> 4, v = i;
  unsigned mask = half ? 0xffff0000u : 0xffffu;
  for (int r = 0; r < 2 + 3 * half; r++) v += __shfl_xor_sync(mask, v, 1 << r % 4);
  out[i] = v;
}
K ballots(unsigned* out, int limit) {
  int i = threadIdx.x;
  if (i >= limit) return;
  out[i] = __ballot_sync(__activemask(), i % 3 == 0);
  out[32 + i] = __match_any_sync(__activemask(), i / 4);
}
K without_mask(int* out, int limit) {  // as before sm_70: of the lanes that are there
  int i = threadIdx.x;
  if (i >= limit) return;
  unsigned ballot, any, all, uni, got, valid;
  asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %4, 0; vote.ballot.b32 %0, p;"
               " vote.any.pred q, p; selp.u32 %1, 1, 0, q; vote.all.pred q, p; selp.u32 %2, 1, 0, q;"
               " vote.uni.pred q, !p; selp.u32 %3, 1, 0, q; }"
               : "=r"(ballot), "=r"(any), "=r"(all), "=r"(uni) : "r"(i % 3));
  asm volatile("{ .reg .pred p; shfl.down.b32 %0|p, %2, 2, 0x1f; selp.u32 %1, 1, 0, p; }"
               : "=r"(got), "=r"(valid) : "r"(i * 10));
  out[i] = ballot;
  out[32 + i] = any | all << 1 | uni << 2;
  if (i + 2 < limit || i > 29) out[64 + i] = got;  // a lane that is not there has nothing to read
  out[96 + i] = valid;
}
K producer(int* out) {  // lane 31 publishes, the others wait at the warp's barrier
  __shared__ int box;
  int i = threadIdx.x;
  if (i == 31) { box = 42; __syncwarp(); } else { __syncwarp(); out[i] = box; }
}
K early(int* out, int n) {  // lanes have ended before the warp meets
  int i = threadIdx.x;
  if (i >= n) return;
  out[i] = __reduce_add_sync(0xffffffffu, i);
}
K missing(int* out, volatile int* never) {  // lane 5 is named and goes elsewhere
  int i = threadIdx.x;
  if (i == 5) __syncthreads(); else out[i] = __shfl_sync(0xffffffffu, i, 0);
  if (*never) out[i] = 1;
}
K not_named(int* out) { out[threadIdx.x] = __shfl_sync(0x0000ffffu, threadIdx.x, 0); }
K half_barrier(int* out) {
  if (threadIdx.x < 16) { __syncthreads(); out[0] = 1; } else { __syncthreads(); out[1] = 2; }
}
K reductions(int* out) {
  int i = threadIdx.x;
  out[i] = __syncthreads_count(i % 3 == 0);
  out[128 + i] = __syncthreads_and(i < 100);
  out[256 + i] = __syncthreads_or(i == 99);
  out[384 + i] = __syncthreads_count(i % 5 == 0);
}
K from_ended(int* out) {  // reads a lane that is not there
  int i = threadIdx.x;
  if (i >= 20) return;
  out[i] = __shfl_down_sync(0xffffffffu, i, 4);
}
"""


@pytest.fixture(scope="module")
def module(compile_cuda: CompileCuda) -> Module:
    return compile_cuda(CODE)


def ran(module: Module, name: str, args: list[object], threads: int = 32, options: Options | None = None) -> Ran:
    done = module.launch(name, 1, threads, args, options=options)
    assert isinstance(done, Ran), str(done)
    return done


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n & 1 else n // 2
        steps += 1
        if steps > 90:
            break
    return steps


def test_lanes_meet_after_a_loop_with_several_ways_out(module: Module) -> None:
    done = ran(module, "collatz", [np.zeros(32, np.int32), np.zeros(32, np.uint32)])
    np.testing.assert_array_equal(done.output(0), [collatz(i + 1) for i in range(32)])
    assert set(done.output(1)) == {FULL}


@pytest.mark.parametrize("schedule", [None, 1, 2])
@pytest.mark.parametrize("threads", [32, 96])
def test_a_spin_lock_between_lanes(module: Module, threads: int, schedule: int | None) -> None:
    zero = np.zeros(1, np.int32)
    done = ran(module, "spin", [zero, zero.copy()], threads, Options(schedule=schedule))
    assert done.output(1)[0] == 3 * threads


def test_lanes_wait_for_each_other(module: Module) -> None:
    done = ran(module, "ticket", [np.zeros(1, np.int32), np.zeros(32, np.int32)])
    np.testing.assert_array_equal(done.output(1), np.arange(31, -1, -1))


def test_a_warp_waits_for_another(module: Module) -> None:
    done = ran(module, "across_warps", [np.zeros(1, np.int32), np.zeros(1, np.int32)], 64)
    assert done.output(1)[0] == 17


def test_both_arms_of_a_branch_meet_in_one_shuffle(module: Module) -> None:
    i = np.arange(32)
    done = ran(module, "arms", [np.zeros(32, np.int32)])
    np.testing.assert_array_equal(done.output(0), np.where(i & 1, (i ^ 1) * 1000, (i ^ 1) * 10))


def test_groups_with_their_own_masks(module: Module) -> None:
    v = np.arange(32)
    for r in range(5):
        other = v[np.arange(32) ^ (1 << r % 4)]
        v = np.where((np.arange(32) >= 16) | (r < 2), v + other, v)
    done = ran(module, "tiles", [np.zeros(32, np.int32)])
    np.testing.assert_array_equal(done.output(0), v)


@pytest.mark.parametrize("limit", [1, 7, 32])
def test_votes_and_matches_of_some_lanes(module: Module, limit: int) -> None:
    done = ran(module, "ballots", [np.zeros(64, np.uint32), limit])
    ballot = sum(1 << i for i in range(limit) if i % 3 == 0)
    match = [sum(1 << k for k in range(limit) if k // 4 == i // 4) for i in range(limit)]
    np.testing.assert_array_equal(done.output(0)[:limit], [ballot] * limit)
    np.testing.assert_array_equal(done.output(0)[32 : 32 + limit], match)


@pytest.mark.parametrize("limit", [1, 3, 32])
def test_votes_and_shuffles_without_a_mask(module: Module, limit: int) -> None:
    """PTX ISA: without `.sync` they are of the active threads; out of range a lane reads its own value."""
    done = ran(module, "without_mask", [np.zeros(128, np.uint32), limit])
    third = [i % 3 == 0 for i in range(limit)]
    out = done.output(0).reshape(4, 32)[:, :limit]
    np.testing.assert_array_equal(out[0], [sum(1 << i for i in range(limit) if third[i])] * limit)
    np.testing.assert_array_equal(out[1], [any(third) | all(third) << 1 | (len(set(third)) == 1) << 2] * limit)
    there = [i for i in range(limit) if i + 2 < limit or i > 29]
    np.testing.assert_array_equal(out[2][there], [(i + 2 if i < 30 else i) * 10 for i in there])
    np.testing.assert_array_equal(out[3], [i < 30 for i in range(limit)])


def test_syncwarp_in_both_arms(module: Module) -> None:
    done = ran(module, "producer", [np.zeros(32, np.int32)])
    np.testing.assert_array_equal(done.output(0)[:31], [42] * 31)


def test_lanes_that_have_ended_are_not_waited_for(module: Module) -> None:
    done = ran(module, "early", [np.zeros(32, np.int32), 20])
    np.testing.assert_array_equal(done.output(0)[:20], [190] * 20)


def fault(module: Module, name: str, args: list[object], threads: int = 32) -> Fault:
    done = module.launch(name, 1, threads, args)
    assert isinstance(done, Fault), str(done)
    return done


def test_a_named_lane_that_never_arrives(module: Module) -> None:
    done = fault(module, "missing", [np.zeros(32, np.int32), np.zeros(1, np.int32)])
    assert done.kind == FaultKind.SYNC_MISSED
    assert done.place.site is not None
    assert "__shfl_sync" in CODE.splitlines()[done.place.site.line - 1]
    assert done.other is not None


def test_a_mask_that_does_not_name_the_caller(module: Module) -> None:
    done = fault(module, "not_named", [np.zeros(32, np.int32)])
    assert (done.kind, done.place.lane) == (FaultKind.SYNC_MASK, 16)


def test_two_barriers_in_the_arms_of_a_branch(module: Module) -> None:
    assert fault(module, "half_barrier", [np.zeros(2, np.int32)]).kind == FaultKind.DIVERGENT_BARRIER


def test_the_value_of_a_lane_that_has_ended(module: Module) -> None:
    done = fault(module, "from_ended", [np.zeros(32, np.int32)])
    assert (done.kind, done.place.lane) == (FaultKind.UNINITIALISED, 16)


@pytest.mark.parametrize("schedule", [None, 5])
def test_barriers_that_reduce(module: Module, schedule: int | None) -> None:
    done = ran(module, "reductions", [np.zeros(512, np.int32)], 128, Options(schedule=schedule))
    want = [43] * 128 + [0] * 128 + [1] * 128 + [26] * 128
    np.testing.assert_array_equal(done.output(0), want)


NAMED = """.version 8.5
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 count) {
.reg .b32 %t, %a, %v, %n; .reg .b64 %o; .reg .pred %p; .shared .align 4 .b8 box[128];
mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; ld.param.u32 %n, [count]; mul.lo.u32 %a, %t, 4;
setp.ge.u32 %p, %t, 32;
@%p bra CONSUMER;
add.u32 %v, %t, 100; mov.u32 %n, box; add.u32 %a, %a, %n; st.shared.u32 [%a], %v; bar.arrive 3, 64; ret;
CONSUMER:
setp.ge.u32 %p, %t, 64;
@%p bra OTHERS;
bar.sync 3, %n;
mov.u32 %v, box; add.u32 %a, %a, %v; ld.shared.u32 %v, [%a+-128]; mad.wide.u32 %o, %t, 4, %o; st.global.u32 [%o], %v;
OTHERS:
ret; }"""


@pytest.mark.parametrize("schedule", [None, 1, 2, 3])
def test_a_named_barrier_of_two_warps(load_ptx: LoadPtx, schedule: int | None) -> None:
    module = load_ptx(NAMED)
    done = module.launch("k", 1, 128, [np.zeros(64, np.int32), 64], options=Options(schedule=schedule))
    assert isinstance(done, Ran), str(done)
    np.testing.assert_array_equal(done.output(0)[32:], 100 + np.arange(32))


def test_a_named_barrier_that_waits_for_too_many(load_ptx: LoadPtx) -> None:
    done = load_ptx(NAMED).launch("k", 1, 64, [np.zeros(64, np.int32), 128])
    assert isinstance(done, Fault)
    assert done.kind == FaultKind.DEADLOCK

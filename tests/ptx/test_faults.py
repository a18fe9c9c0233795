"""Planted bugs, each reported with the lane and the source line; and near-misses that must pass."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Fault, FaultKind, NotRun, Ran
from porter.validation.devices.ptx import Device, Module

from tests.ptx.conftest import CompileCuda, LoadPtx
from tests.ptx.opcodes import kernel

CODE = r"""
#define K extern "C" __global__ void
__device__ __forceinline__ void put(int* p, int i, int v) { p[i] = v; }  // inlined store
K bounds(int* out, int n) { put(out, threadIdx.x + n, 1); }
K freed(int* p, int* out) { out[0] = p[0]; }
K misaligned(char* p) { *(long long*)(p + 4 * threadIdx.x) = 1; }
K shared_bounds(int* out, int n) { extern __shared__ int s[]; s[threadIdx.x + n] = 1; out[0] = s[0]; }
K local_bounds(int* out, int n) { int a[8]; for (int i = 0; i < 8; i++) a[i] = i; out[0] = a[n]; }
K uninitialised(int* out) { __shared__ int s[64]; if (threadIdx.x < 63) s[threadIdx.x] = 1; __syncthreads();
  int v = s[threadIdx.x];
  out[threadIdx.x] = v + 1; }
K padded(int* out) {  // reads what nobody wrote, and uses none of it
  __shared__ int s[64]; if (threadIdx.x < 40) s[threadIdx.x] = threadIdx.x; __syncthreads();
  int v = s[threadIdx.x]; v = threadIdx.x < 40 ? v : -1;
  out[threadIdx.x] = v; }
K shuffled(int* out, int by) {  // asks lanes that take no part; only what they hold is undefined
  if (threadIdx.x < 16) {
    int v; unsigned in_range;
    asm volatile("{.reg .pred p; shfl.sync.down.b32 %0|p, %2, %3, 31, 0xffff; selp.u32 %1, 1, 0, p;}"
                 : "=r"(v), "=r"(in_range) : "r"(threadIdx.x), "r"(by));
    out[threadIdx.x] = in_range ? 5 : 6;
    if (by < 0) out[threadIdx.x] = v;
  } }
K shuffled_by(int* out) {
  __shared__ int s[32];
  int v; unsigned in_range;
  asm volatile("{.reg .pred p; shfl.sync.down.b32 %0|p, %2, %3, 31, -1; selp.u32 %1, 1, 0, p;}"
               : "=r"(v), "=r"(in_range) : "r"(threadIdx.x), "r"(s[threadIdx.x]));
  out[threadIdx.x] = in_range; }
K as_address(int* out) { __shared__ int s[32]; out[s[threadIdx.x]] = 1; }
K as_branch(int* out) { __shared__ int s[32]; if (s[threadIdx.x] > 3) out[0] = 1; }
K race(int* out) { __shared__ int s[64]; s[threadIdx.x] = 1;
  out[threadIdx.x] = s[63 - threadIdx.x]; }
K no_race(int* out) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x]; }
K endless(volatile int* p) { while (*p == 0) {} p[1] = 1; }
K missed(int* out) { if (threadIdx.x < 32) return;
  __syncthreads(); out[0] = 1; }
K half_gone(int* out) { if (threadIdx.x < 16) return; __syncthreads(); out[threadIdx.x] = 1; }
K stop(int* out) { if (threadIdx.x == 7) __trap(); out[threadIdx.x] = 1; }
K fine(int* out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = i; }
"""
LINES = CODE.splitlines()
RACE = next(i for i, line in enumerate(LINES) if line.startswith("K race"))


@pytest.fixture(scope="module")
def module(compile_cuda: CompileCuda) -> Module:
    return compile_cuda(CODE)


def ints(count: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.zeros(count, np.int32)


def fault(module: Module, name: str, args: list[object], threads: int = 32, **options: object) -> Fault:
    shared = int(str(options.pop("shared", 0)))
    done = module.launch(name, 1, threads, args, shared, Options(**options))  # type: ignore[arg-type]
    assert isinstance(done, Fault), str(done)
    return done


def line_of(done: Fault) -> str:
    assert done.place.site is not None
    assert done.place.site.file is not None
    return LINES[done.place.site.line - 1]


@pytest.mark.parametrize("off", [-1, 1, 1000])
def test_outside_an_allocation(module: Module, off: int) -> None:
    done = fault(module, "bounds", [ints(32), off])
    assert done.kind == FaultKind.OUT_OF_BOUNDS
    assert done.place.lane == {-1: 0, 1: 31, 1000: 0}[off]
    assert "inlined store" in line_of(done)
    assert done.near is not None
    assert "argument 0" in done.near


def test_freed_memory(module: Module) -> None:
    buffer = module.device.buffer(ints(4))
    buffer.free()
    done = fault(module, "freed", [buffer, ints(1)])
    assert (done.kind, "K freed" in line_of(done)) == (FaultKind.FREED, True)


def test_alignment_as_cuda_wants_it(module: Module) -> None:
    done = fault(module, "misaligned", [ints(64)])
    assert (done.kind, done.place.lane) == (FaultKind.MISALIGNED, 1)
    passed = module.launch("misaligned", 1, 32, [ints(64)], options=Options(alignment="none"))
    assert isinstance(passed, Ran)


def test_constants_are_constant(load_ptx: LoadPtx) -> None:
    text = HEAD.replace(".visible", ".const .b32 fixed = 7;\n.visible")
    module = load_ptx(text + ".reg .b64 a; mov.u64 a, fixed; st.global.u32 [a], 3; ret; }")
    assert fault(module, "k", []).kind == FaultKind.READ_ONLY


def test_shared_memory_bounds(module: Module) -> None:
    done = fault(module, "shared_bounds", [ints(1), 3], shared=128)
    assert (done.kind, done.place.lane) == (FaultKind.SHARED_OUT_OF_BOUNDS, 29)
    assert isinstance(module.launch("shared_bounds", 1, 32, [ints(1), 0], 128), Ran)


def test_local_memory_bounds(module: Module) -> None:
    assert isinstance(module.launch("local_bounds", 1, 32, [ints(1), 7]), Ran)
    done = fault(module, "local_bounds", [ints(1), 8000])
    assert (done.kind, "K local_bounds" in line_of(done)) == (FaultKind.PRIVATE_OUT_OF_BOUNDS, True)


@pytest.mark.parametrize(
    ("name", "text"),
    [("uninitialised", "out[threadIdx.x] = v + 1"), ("as_address", "K as_address"), ("as_branch", "K as_branch")],
)
def test_what_nobody_wrote(module: Module, name: str, text: str) -> None:
    threads = 64 if name == "uninitialised" else 32
    done = fault(module, name, [ints(64)], threads)
    assert done.kind == FaultKind.UNINITIALISED
    assert text in line_of(done)
    if name == "uninitialised":
        assert (done.place.wave, done.place.lane) == (1, 31)
        assert isinstance(module.launch(name, 1, threads, [ints(64)], options=Options(uninitialised=False)), Ran)


def test_what_nobody_wrote_may_be_read(module: Module) -> None:
    done = module.launch("padded", 1, 64, [ints(64)])
    assert isinstance(done, Ran), str(done)
    np.testing.assert_array_equal(done.output(0), [i if i < 40 else -1 for i in range(64)])


def test_the_range_of_a_shuffle_is_known(module: Module) -> None:
    done = module.launch("shuffled", 1, 32, [ints(32), 18])
    assert isinstance(done, Ran), str(done)
    assert list(done.output(0)[:16]) == [5] * 14 + [6] * 2
    assert fault(module, "shuffled_by", [ints(32)]).kind == FaultKind.UNINITIALISED


def test_races(module: Module) -> None:
    done = fault(module, "race", [ints(64)], 64, races=True, uninitialised=False)
    assert done.kind == FaultKind.RACE
    assert done.other is not None
    assert done.other.site is not None
    both = {line_of(done).strip(), LINES[done.other.site.line - 1].strip()}
    assert both == {LINES[RACE].strip(), LINES[RACE + 1].strip()}
    assert isinstance(module.launch("no_race", 1, 64, [ints(64)], options=Options(races=True)), Ran)


def test_an_endless_loop(module: Module) -> None:
    done = fault(module, "endless", [ints(2)], budget=100_000)
    assert (done.kind, "K endless" in line_of(done)) == (FaultKind.BUDGET, True)


def test_a_barrier_that_a_warp_misses(module: Module) -> None:
    assert fault(module, "missed", [ints(1)], 64).kind == FaultKind.BARRIER_MISSED
    done = module.launch("half_gone", 1, 32, [ints(32)])
    assert isinstance(done, Ran)
    assert "barrier" in done.notes[0]


def test_a_trap(module: Module) -> None:
    done = fault(module, "stop", [ints(32)])
    assert (done.kind, done.place.lane) == (FaultKind.TRAP, 7)


@pytest.mark.parametrize("schedule", [None, 1])
@pytest.mark.parametrize("threads", [1, 31, 33, 256])
def test_blocks_of_any_size(module: Module, threads: int, schedule: int | None) -> None:
    done = module.launch("fine", 4, threads, [np.full(1100, -1, np.int32), 900], options=Options(schedule=schedule))
    assert isinstance(done, Ran)
    count = min(4 * threads, 900)
    np.testing.assert_array_equal(done.output(0), [*range(count), *[-1] * (1100 - count)])


def test_counters(module: Module) -> None:
    done = module.launch("fine", 1, 64, [ints(64), 40], options=Options(count_memory=True))
    assert isinstance(done, Ran)
    (store,) = done.counters.memory
    assert (store.lanes, store.bytes, store.requests, store.space) == (40, 160, 2, "global")
    assert done.counters.divergent_branches == 1
    assert done.counters.lanes == 32


def test_uncertain_results_are_named(load_ptx: LoadPtx) -> None:
    """Approximate ones by the instruction; what is exact is not named."""
    module = load_ptx(kernel([("ex2.approx.f32 %d, %a;", ["b32"], "b32"), ("add.f32 %d, %a, %a;", ["b32"], "b32")]))
    done = module.launch("k", 1, 32, [ints(32), ints(32), ints(32), ints(32)])
    assert isinstance(done, Ran), done
    assert done.counters.uncertain == {"approximate: ex2.approx.f32": 1}


HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"


@pytest.mark.parametrize(
    "instruction",
    [
        "vadd.u32.u32.u32 a, a, a;",
        "add.frob.u32 a, a, a;",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {a,a,a,a}, {a,a}, {a}, {a,a,a,a};",
        "mov.u32 a, %pm0;",
        "ld.shared.q.u32 a, [a];",
        "suld.p.2d.b32.trap a, [w, {a, a}];",
        "sured.b.add.2d.u32.trap [w, {a, a}], a;",
        "tex.cube.v4.f32.f32 {a, a, a, a}, [w, {a, a, a, a}];",
        "cvt.rs.f16x2.f32 a, a, a, a;",
    ],
)
def test_what_is_not_translated_is_said(load_ptx: LoadPtx, instruction: str) -> None:
    module = load_ptx(f"{HEAD}.reg .b32 a; .reg .b64 w;\n\n{instruction}\nret; }}")
    done = module.launch("k", 1, 32, [])
    assert isinstance(done, NotRun), str(done)
    assert done.mnemonic == instruction.split()[0]
    assert done.assembly_line == 7


def test_not_run_for_other_reasons(device: Device, module: Module) -> None:
    refused = device.compile("hello")
    assert isinstance(refused, NotRun)
    assert refused.assembly_line == 1
    assert isinstance(module.launch("nobody", 1, 1, []), NotRun)
    assert isinstance(module.launch("fine", 1, 2000, [ints(1), 1]), NotRun)
    assert isinstance(module.launch("fine", 1, 32, [ints(1), 1], 1 << 20), NotRun)

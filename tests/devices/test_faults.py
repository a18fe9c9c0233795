"""Kernels with a bug planted under -DBUG: reported with kind and line; without it they run clean."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from conftest import Compile
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Fault, FaultKind, Ran
from porter.validation.devices.gfx942 import Device, Module


@dataclass(frozen=True)
class Planted:
    """One bug: a kernel of `(int* a, int* o, int n)`, what is reported; `HERE` marks the line."""

    name: str
    kind: FaultKind
    body: str
    block: int = 256
    grid: int = 1
    shared: int = 0
    options: Options = field(default_factory=lambda: Options(races=True, uninitialised=True))


STRICT = Options(alignment="natural")
SMALL_BUDGET = Options(budget=200_000, quantum=10_000)

PLANTED = [
    Planted("off by one global read", FaultKind.OUT_OF_BOUNDS, """
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
  if (i <= n)
#else
  if (i < n)
#endif
    o[i & 255] = a[i]; // HERE
""", grid=2),
    Planted("off by one global write", FaultKind.OUT_OF_BOUNDS, """
#ifdef BUG
  o[threadIdx.x + 1] = a[threadIdx.x]; // HERE
#else
  o[threadIdx.x] = a[threadIdx.x];
#endif
"""),
    Planted("negative index", FaultKind.OUT_OF_BOUNDS, """
  int i = threadIdx.x;
#ifdef BUG
  o[i] = a[i] - a[i - 1]; // HERE
#else
  o[i] = a[i] - (i ? a[i - 1] : 0);
#endif
"""),
    Planted("null pointer", FaultKind.OUT_OF_BOUNDS, """
#ifdef BUG
  int* p = n > 0 ? nullptr : a;
#else
  int* p = n > 0 ? a : nullptr;
#endif
  o[threadIdx.x] = p[threadIdx.x]; // HERE
"""),
    Planted("row pitch too large", FaultKind.OUT_OF_BOUNDS, """
  int x = threadIdx.x & 15, y = threadIdx.x >> 4;
#ifdef BUG
  o[y * 17 + x] = a[threadIdx.x]; // HERE
#else
  o[y * 16 + x] = a[threadIdx.x];
#endif
"""),
    Planted("LDS index past the end", FaultKind.SHARED_OUT_OF_BOUNDS, """
  __shared__ int s[256];
#ifdef BUG
  s[threadIdx.x + n - 255] = a[threadIdx.x]; // HERE
#else
  s[threadIdx.x] = a[threadIdx.x];
#endif
  __syncthreads();
  o[threadIdx.x] = s[255 - threadIdx.x];
"""),
    Planted("dynamic LDS smaller than used", FaultKind.SHARED_OUT_OF_BOUNDS, """
  extern __shared__ int d[];
#ifdef BUG
  d[threadIdx.x * 2] = a[threadIdx.x]; // HERE
  __syncthreads();
  o[threadIdx.x] = d[threadIdx.x * 2];
#else
  d[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = d[255 - threadIdx.x];
#endif
""", shared=1024),
    Planted("missing barrier: race", FaultKind.RACE, """
  __shared__ int s[256];
  s[threadIdx.x] = a[threadIdx.x];
#ifndef BUG
  __syncthreads();
#endif
  o[threadIdx.x] = s[threadIdx.x ^ 64]; // HERE
""", options=Options(races=True, uninitialised=False)),
    Planted("missing barrier: uninitialised LDS", FaultKind.UNINITIALISED, """
  __shared__ int s[256];
  s[threadIdx.x] = a[threadIdx.x];
#ifndef BUG
  __syncthreads();
#endif
  o[threadIdx.x] = s[255 - threadIdx.x]; // HERE
""", options=Options(uninitialised=True)),
    Planted("race in a reduction", FaultKind.RACE, """
  __shared__ int s[256];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w]; // HERE
#ifndef BUG
    __syncthreads();
#endif
  }
  if (threadIdx.x == 0) o[0] = s[0];
""", options=Options(races=True)),
    Planted("race: write after read", FaultKind.RACE, """
  __shared__ int s[256];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  int v = s[(threadIdx.x + 64) & 255];
#ifndef BUG
  __syncthreads();
#endif
  s[threadIdx.x] = v; // HERE
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x];
""", options=Options(races=True)),
    Planted("race on a histogram without atomics", FaultKind.RACE, """
  __shared__ int h[16];
  if (threadIdx.x < 16) h[threadIdx.x] = 0;
  __syncthreads();
#ifdef BUG
  h[a[threadIdx.x] & 15] += 1; // HERE
#else
  atomicAdd(&h[a[threadIdx.x] & 15], 1);
#endif
  __syncthreads();
  if (threadIdx.x < 16) o[threadIdx.x] = h[threadIdx.x];
""", options=Options(races=True)),
    Planted("uninitialised LDS summed", FaultKind.UNINITIALISED, """
  __shared__ int s[256];
#ifdef BUG
  if (threadIdx.x < 200)
#endif
    s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  int v = s[threadIdx.x] + s[threadIdx.x ^ 1];
  o[threadIdx.x] = v; // HERE
"""),
    Planted("uninitialised LDS decides a branch", FaultKind.UNINITIALISED, """
  __shared__ int s[256];
#ifdef BUG
  if (n != 256)
#endif
    s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  if (s[threadIdx.x] > 3) // HERE
    atomicAdd(o, 1);
"""),
    Planted("uninitialised LDS as an index", FaultKind.UNINITIALISED, """
  __shared__ int s[256];
#ifdef BUG
  if (threadIdx.x & 1)
#endif
    s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  o[threadIdx.x] = a[s[255 - threadIdx.x] & 255]; // HERE
"""),
    Planted("a mask that lets an uninitialised value through", FaultKind.UNINITIALISED, """
  __shared__ int s[256];
  if (n != 256) s[threadIdx.x] = 1;
  int mask = threadIdx.x == 77 && a[threadIdx.x] >= 0 ? 0xff : 0, kept;
#ifndef BUG
  mask &= 0xff00;
#endif
  asm("v_and_b32_e32 %0, %1, %2" : "=v"(kept) : "v"(mask), "v"(s[threadIdx.x]));
  o[threadIdx.x] = kept; // HERE
"""),
    Planted("barrier that other waves skip", FaultKind.BARRIER_MISSED, """
  __shared__ int s[256];
  s[threadIdx.x] = a[threadIdx.x];
#ifdef BUG
  if (threadIdx.x < 64)
#endif
    __syncthreads(); // HERE
  o[threadIdx.x] = s[threadIdx.x];
"""),
    Planted("barrier inside a divergent branch", FaultKind.DIVERGENT_BARRIER, """
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
#ifdef BUG
  if (a[threadIdx.x] & 1) {
    atomicAdd(o + 1, 1);
    __syncthreads(); // HERE
    atomicAdd(o + 2, 1);
  }
#else
  if (a[threadIdx.x] & 1) atomicAdd(o + 1, 1);
  __syncthreads();
#endif
  o[64 + threadIdx.x] = s[63 - threadIdx.x];
""", block=64, options=Options()),
    Planted("waves at different barriers", FaultKind.BARRIER_MISMATCH, """
  __shared__ int s[256];
  s[threadIdx.x] = a[threadIdx.x];
#ifdef BUG
  if (threadIdx.x < 64) {
    __syncthreads();
    o[0] = s[200];
  } else {
    __syncthreads(); // HERE
    o[threadIdx.x] = s[3];
  }
#else
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x < 64 ? 200 : 3];
#endif
"""),
    Planted("spin on a lane of the own wave", FaultKind.BUDGET, """
  __shared__ int lock;
  if (threadIdx.x == 0) lock = 0;
  __syncthreads();
#ifdef BUG
  while (atomicCAS(&lock, 0, 1) != 0) {} // HERE
  o[0] += 1;
  atomicExch(&lock, 0);
#else
  atomicAdd(o, 1);
#endif
""", block=64, options=SMALL_BUDGET),
    Planted("endless loop", FaultKind.BUDGET, """
#ifdef BUG
  volatile int* v = a;
  while (v[threadIdx.x] >= 0) {} // HERE
#endif
  o[threadIdx.x] = a[threadIdx.x];
""", options=SMALL_BUDGET),
    Planted("misaligned vector load", FaultKind.MISALIGNED, """
#ifdef BUG
  const int4* p = (const int4*)(a + 1);
#else
  const int4* p = (const int4*)a;
#endif
  int4 v = p[threadIdx.x]; // HERE
  o[threadIdx.x] = v.x + v.y + v.z + v.w;
""", block=32, options=STRICT),
    Planted("odd address of an int", FaultKind.MISALIGNED, """
#ifdef BUG
  const int* p = (const int*)((const char*)a + 1);
#else
  const int* p = a;
#endif
  o[threadIdx.x] = p[threadIdx.x]; // HERE
""", block=64, options=STRICT),
    Planted("trap", FaultKind.TRAP, """
#ifdef BUG
  if (a[threadIdx.x] == 77) __builtin_trap(); // HERE
#endif
  o[threadIdx.x] = a[threadIdx.x];
"""),
    Planted("failed assertion", FaultKind.ASSERT, """
#ifdef BUG
  assert(a[threadIdx.x] < n - 1); // HERE
#else
  assert(a[threadIdx.x] < n);
#endif
  o[threadIdx.x] = a[threadIdx.x];
"""),
    Planted("one past a block from malloc", FaultKind.OUT_OF_BOUNDS, """
  int* p = (int*)malloc(4 * sizeof(int));
  p[0] = a[threadIdx.x];
#ifdef BUG
  p[4] = 1; // HERE
#endif
  o[threadIdx.x] = p[0];
  free(p);
"""),
    Planted("use after free on the device heap", FaultKind.FREED, """
  volatile int* p = (int*)malloc(4 * sizeof(int));
  p[0] = a[threadIdx.x];
#ifdef BUG
  free((int*)p);
  o[threadIdx.x] = p[0]; // HERE
#else
  o[threadIdx.x] = p[0];
  free((int*)p);
#endif
"""),
    Planted("double free", FaultKind.BAD_FREE, """
  int* p = (int*)malloc(64);
  if (!p) return;
  p[threadIdx.x & 15] = 1;
  o[threadIdx.x] = p[threadIdx.x & 15];
  free(p);
#ifdef BUG
  free(p); // HERE
#endif
"""),
    Planted("private array overrun", FaultKind.PRIVATE_OUT_OF_BOUNDS, """
  volatile int local[8];
  for (int i = 0; i < 8; i++) local[i] = a[i];
#ifdef BUG
  local[n * 1000] = 1; // HERE
#endif
  o[threadIdx.x] = local[n & 7];
"""),
]  # fmt: skip


def kernel(case: Planted) -> str:
    """One of the kernels that are compiled together."""
    return f'extern "C" __global__ void {name(case)}(int* a, int* o, int n) {{{case.body}}}\n'


def name(case: Planted) -> str:
    return f"k{PLANTED.index(case)}"


SOURCE = "#include <cassert>\n" + "".join(map(kernel, PLANTED))
"""The whole file; line numbers count."""


def places(case: Planted) -> list[int]:
    """Lines where the bug is."""
    before, text = SOURCE.partition(kernel(case))[0], kernel(case)
    return [n for n, line in enumerate(text.splitlines(), before.count("\n") + 1) if "HERE" in line]


@pytest.fixture(scope="session")
def planted(compile_hip: Compile) -> Callable[[str], Module]:
    """All kernels, by the option that they are compiled with."""
    return functools.cache(lambda option: compile_hip(SOURCE, option))


def run(module: Module, case: Planted) -> object:
    a = np.arange(256, dtype=np.int32)
    return module.launch(
        name(case), case.grid, case.block, [a, np.zeros(256, np.int32), 256], case.shared, case.options
    )


@pytest.mark.parametrize("case", PLANTED, ids=lambda case: case.name.replace(" ", "-"))
def test_bug_is_reported_where_it_is(planted: Callable[[str], Module], case: Planted) -> None:
    found = run(planted("-DBUG"), case)
    assert isinstance(found, Fault), found
    assert found.kind is case.kind, str(found)
    assert found.place.site is not None
    assert found.place.site.file is not None and found.place.site.file.endswith("kernel.hip"), str(found)
    assert found.place.site.line in places(case), str(found)


@pytest.mark.parametrize("level", ["-O3", "-O0"])
@pytest.mark.parametrize("case", PLANTED, ids=lambda case: case.name.replace(" ", "-"))
def test_without_the_bug_it_runs(planted: Callable[[str], Module], case: Planted, level: str) -> None:
    found = run(planted(level), case)
    assert isinstance(found, Ran), str(found)
    assert not found.notes, found.notes


def test_use_after_free(device: Device, compile_hip: Compile) -> None:
    module = compile_hip('extern "C" __global__ void k(int* a, int* o) { o[threadIdx.x] = a[threadIdx.x]; }')
    buffer = device.buffer(np.arange(64, dtype=np.int32), "victim")
    assert isinstance(module.launch("k", 1, 64, [buffer, np.zeros(64, np.int32)]), Ran)
    buffer.free()
    found = module.launch("k", 1, 64, [buffer, np.zeros(64, np.int32)])
    assert isinstance(found, Fault) and found.kind is FaultKind.FREED
    assert "victim" in str(found)


def test_write_to_constant_memory(compile_hip: Compile) -> None:
    module = compile_hip("""
      static const __device__ int table[4] = {1, 2, 3, 4};
      extern "C" __global__ void k(int* o, int* q) { o[threadIdx.x & 3] = q[0] + table[threadIdx.x & 3]; }""")
    table = next(address for name, address in module.symbols.items() if "table" in name)
    found = module.launch("k", 1, 64, [table, np.zeros(4, np.int32)])
    assert isinstance(found, Fault) and found.kind is FaultKind.READ_ONLY, found
    assert "table" in str(found)


def test_results_that_depend_on_the_schedule(compile_hip: Compile) -> None:
    module = compile_hip("""
      extern "C" __global__ void k(int* last, int* count) {
        atomicAdd(count, 1);
        *last = blockIdx.x * 4 + threadIdx.x / 64;
      }""")
    seen = set()
    for seed in range(8):
        one, two = (
            module.launch("k", 8, 256, [np.zeros(1, np.int32), np.zeros(1, np.int32)], options=Options(schedule=seed))
            for _ in range(2)
        )
        assert isinstance(one, Ran) and isinstance(two, Ran)
        assert one.output(1)[0] == 8 * 256
        assert one.output(0)[0] == two.output(0)[0]
        seen.add(int(one.output(0)[0]))
    assert len(seen) > 1


def test_exited_waves_may_be_allowed(compile_hip: Compile) -> None:
    module = compile_hip("""
      extern "C" __global__ void k(int* o) {
        if (threadIdx.x >= 128) return;
        o[threadIdx.x] = 1;
        __syncthreads();
        o[threadIdx.x ^ 64] += 1;
      }""")
    strict = module.launch("k", 1, 256, [np.zeros(256, np.int32)])
    assert isinstance(strict, Fault) and strict.kind is FaultKind.BARRIER_MISSED
    lenient = module.launch("k", 1, 256, [np.zeros(256, np.int32)], options=Options(allow_exited=True))
    assert isinstance(lenient, Ran)
    assert np.array_equal(lenient.output(0), [2] * 128 + [0] * 128)


def test_unknown_instructions_are_refused_with_their_line(device: Device) -> None:
    from test_matrix import kernel_around

    for text in (
        "v_frobnicate_b32 v0, v1",
        "v_add_f32_e64 v0, v1, v2 magic:3",
        "v_add_u32_e64 v0, |v1|, v2",
        "global_load_dword v0, v1, s[0:1] lds",
        "v_mov_b32_dpp v0, v1 row_xyz:1",
    ):
        mnemonic = text.split()[0].removesuffix("_e64").removesuffix("_dpp")
        module = device.compile(kernel_around([text], 1))
        reason = module.launch("k", 1, 64, [np.zeros(1, np.int32)]) if isinstance(module, Module) else module
        assert not isinstance(reason, Ran | Fault)
        assert mnemonic in reason.reason, reason
        assert reason.mnemonic in (mnemonic, None)


def test_a_dword_at_an_odd_address_is_noted(compile_hip: Compile) -> None:
    """gfx942 does it, and compilers put bytes together for it; a kernel's own implicit arguments are no matter."""
    module = compile_hip(
        'extern "C" __global__ void k(const char* a, int* o, unsigned* n) {\n'
        "  o[threadIdx.x] = *(const int*)(a + 1 + 4 * threadIdx.x);\n"
        "  n[threadIdx.x] = blockDim.y | blockDim.z << 16;\n}"
    )
    a = np.arange(0, 120, dtype=np.int8)
    done = module.launch("k", 1, 16, [a, np.zeros(16, np.int32), np.zeros(16, np.uint32)])
    assert isinstance(done, Ran), done
    assert np.array_equal(done.output(1), np.frombuffer(a[1:65].tobytes(), np.int32))
    assert len(done.notes) == 1
    assert "misaligned" in done.notes[0]
    assert "kernel.hip:2" in done.notes[0]
    calm = module.launch("k", 1, 16, [np.append(a[:0], a), *done.outputs[1:]], options=Options(alignment="none"))
    assert isinstance(calm, Ran)
    assert not calm.notes

"""Calls: recursion, function pointers, structures by value, printf, assert, malloc and free."""

from __future__ import annotations

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Fault, FaultKind, Ran
from porter.validation.devices.ptx import Module

from tests.ptx.conftest import CompileCuda

CODE = r"""
#include <cstdio>
#include <cassert>
struct S { int a; float b[3]; double c; };
__device__ __noinline__ S make(S s, int k) { s.a += k; s.b[k & 1] *= 2; s.c -= k; return s; }
extern "C" __global__ void structures(S s, int* a, float* b, double* c) {
  int i = threadIdx.x;
  S t = make(s, i);
  a[i] = t.a; b[i] = t.b[0] + 10 * t.b[1] + 100 * t.b[2]; c[i] = t.c;
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = fib(threadIdx.x % 13); }
__device__ __noinline__ int deep(int n, int* p) {
  int local[4] = {n, n + 1, n + 2, n + 3};
  if (n > 0) local[n & 3] += deep(n - 1, p);
  return local[0] + local[1] * 3 + local[p[n & 3] & 3];
}
extern "C" __global__ void frames(int* out, int* p) { out[threadIdx.x] = deep(threadIdx.x % 7, p); }
typedef int (*F)(int);
__device__ __noinline__ int triple(int x) { return x * 3; }
__device__ __noinline__ int hundred(int x) { return x + 100; }
__device__ __noinline__ int minus(int x) { return -x; }
__device__ F table[3] = {triple, hundred, minus};
extern "C" __global__ void pointers(int* out) { int i = threadIdx.x; out[i] = table[i % 3](i); }
extern "C" __global__ void bad_pointer(int* out) {
  F f = (F)(out[0] == 7 ? (unsigned long long)triple : 12345ull); out[1] = f(3);
}
extern "C" __global__ void speak(int n) {
  int i = threadIdx.x;
  if (i % 2 == 0) printf("%d|%5.2f|%s|%c|%lld|%%|%x\n", i, i * 0.5, "text", 'a' + i, (long long)i << 40, 255);
  else if (i == 1) printf("plain\n");
  assert(n < 1000);
}
extern "C" __global__ void texts(char* p, const char* nothing) {
  __shared__ char common[8];
  char own[12] = "lane x", open[4] = {'o', 'p', 'e', 'n'};
  int i = threadIdx.x;
  if (i == 0) { common[0] = 'l'; common[1] = 'd'; common[2] = 's'; common[3] = 0; }
  __syncthreads();
  own[5] = 'a' + i;
  printf("%d %s %s %s|%6.2s|%.*s|%s\n", i, p, own, common, own, 4, open, nothing);
  if (i == 0) p[0]++;
  own[0] = '!';
}
extern "C" __global__ void no_end(const char* p) { printf("%s", p); }
extern "C" __global__ void heap(long long* out) {
  int i = threadIdx.x;
  int* p = (int*)malloc(4 * (i + 1));
  for (int k = 0; k <= i; k++) p[k] = k * i;
  long long s = 0;
  for (int k = 0; k <= i; k++) s += p[k];
  out[i] = s;
  free(p);
  if (i == out[32]) s = p[0], out[33] = s;
  if (i == out[34]) p = (int*)malloc(8), p[2] = 1;
  if (i == out[35]) free(out);
}
"""


@pytest.fixture(scope="module")
def module(compile_cuda: CompileCuda) -> Module:
    return compile_cuda(CODE)


def ran(module: Module, name: str, args: list[object], threads: int = 64, options: Options | None = None) -> Ran:
    done = module.launch(name, 1, threads, args, options=options)
    assert isinstance(done, Ran), str(done)
    return done


def test_structures_are_passed_and_returned(module: Module) -> None:
    s = np.array([(5, (1, 2, 3), 4.5)], np.dtype([("a", "<i4"), ("b", "<f4", 3), ("c", "<f8")], align=True))
    a, b, c = np.zeros(64, np.int32), np.zeros(64, np.float32), np.zeros(64)
    done = ran(module, "structures", [s.tobytes(), a, b, c])
    i = np.arange(64)
    np.testing.assert_array_equal(done.output(1), 5 + i)
    np.testing.assert_array_equal(done.output(2), np.where(i % 2, 1 + 40 + 300, 2 + 20 + 300))
    np.testing.assert_array_equal(done.output(3), 4.5 - i)


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@pytest.mark.parametrize("schedule", [None, 3])
def test_recursion_under_divergence(module: Module, schedule: int | None) -> None:
    done = ran(module, "recursion", [np.zeros(64, np.int32)], options=Options(schedule=schedule))
    np.testing.assert_array_equal(done.output(0), [fib(i % 13) for i in range(64)])


def test_every_call_has_its_own_local_memory(module: Module) -> None:
    p = np.array([2, 0, 3, 1], np.int32)

    def deep(n: int) -> int:
        local = [n, n + 1, n + 2, n + 3]
        if n > 0:
            local[n & 3] += deep(n - 1)
        return local[0] + local[1] * 3 + local[p[n & 3] & 3]

    done = ran(module, "frames", [np.zeros(64, np.int32), p])
    np.testing.assert_array_equal(done.output(0), [deep(i % 7) for i in range(64)])


def test_function_pointers_that_differ_by_lane(module: Module) -> None:
    done = ran(module, "pointers", [np.zeros(64, np.int32)])
    np.testing.assert_array_equal(done.output(0), [(i * 3, i + 100, -i)[i % 3] for i in range(64)])


def test_a_pointer_to_no_function(module: Module) -> None:
    good = ran(module, "bad_pointer", [np.array([7, 0], np.int32)], 1)
    assert good.output(0)[1] == 9
    done = module.launch("bad_pointer", 1, 1, [np.array([8, 0], np.int32)])
    assert isinstance(done, Fault)
    assert done.kind == FaultKind.BAD_JUMP


def test_strings_are_printed_as_they_are_when_it_is_called(module: Module) -> None:
    """In all memories; those without an end by their precision."""
    text = np.frombuffer(b"abc\0", np.uint8).copy()
    done = ran(module, "texts", [text, 0], 2)
    assert done.printed == "0 abc lane a lds|    la|open|(null)\n1 abc lane b lds|    la|open|(null)\n"
    assert done.output(0)[0] == ord("b")


def test_a_string_without_an_end(module: Module) -> None:
    done = module.launch("no_end", 1, 1, [np.full(16, ord("x"), np.uint8)])
    assert isinstance(done, Fault) and done.kind == FaultKind.OUT_OF_BOUNDS, str(done)


def test_printf(module: Module) -> None:
    done = ran(module, "speak", [1], 4)
    lines = [f"{i}|{i * 0.5:5.2f}|text|{chr(97 + i)}|{i << 40}|%|ff" for i in (0, 2)]
    assert sorted(done.printed.splitlines()) == sorted([*lines, "plain"])


def test_assert(module: Module) -> None:
    done = module.launch("speak", 1, 4, [1000])
    assert isinstance(done, Fault)
    assert done.kind == FaultKind.ASSERT
    assert "n < 1000" in str(done)
    assert done.place.site is not None
    assert done.place.site.line == 1 + CODE.splitlines().index("  assert(n < 1000);")
    assert "plain" in done.printed


def test_heap(module: Module) -> None:
    out = np.full(64, -1, np.int64)
    done = ran(module, "heap", [out], 32)
    np.testing.assert_array_equal(done.output(0)[:32], [i * i * (i + 1) // 2 for i in range(32)])


@pytest.mark.parametrize(
    ("slot", "kind"), [(32, FaultKind.FREED), (34, FaultKind.OUT_OF_BOUNDS), (35, FaultKind.BAD_FREE)]
)
def test_heap_misuse(module: Module, slot: int, kind: FaultKind) -> None:
    out = np.full(64, -1, np.int64)
    out[slot] = 3
    done = module.launch("heap", 1, 32, [out])
    assert isinstance(done, Fault), str(done)
    assert done.kind == kind
    assert done.place.lane == 3


def test_many_parameters(compile_cuda: CompileCuda) -> None:
    names = [f"p{i}" for i in range(70)]
    code = f"""extern "C" __global__ void many(float* o, {", ".join(f"float {n}" for n in names)}) {{
      o[threadIdx.x] = {" + ".join(f"{n} * (threadIdx.x + {i}.0f)" for i, n in enumerate(names))}; }}"""
    module = compile_cuda(code)
    done = ran(module, "many", [np.zeros(32, np.float32), *(float(i % 3) for i in range(70))], 32)
    want = [sum((i % 3) * (t + i) for i in range(70)) for t in range(32)]
    np.testing.assert_array_equal(done.output(0), np.array(want, np.float32))

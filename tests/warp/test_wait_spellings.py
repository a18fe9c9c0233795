"""Waits for another thread, written in the ways that C++ has: none may be missed for its spelling."""

from __future__ import annotations

import pytest

from porter.engine.context import build_context
from porter.engine.file import port
from porter.model import Effort
from porter.settings import Choices
from porter.source import SourceFile

CONTEXT = build_context(Choices(), ["a.cu"], {})
MACROS = """
#include <cuda/atomic>
#define UNROLL _Pragma("unroll")
#define CAS atomicCAS
#define FREE 0
#define TAKEN 1
#define TRY(m) (atomicCAS(m, 0, 1) == 0)
#define LOCK(m) while (atomicCAS(m, 0, 1) != 0)
#define LOCKED(m) do { } while (atomicCAS(m, 0, 1))
#define BLOCKED(m) { while (atomicExch(m, 1)) { } }
#define FOREVER for (;;)
#define SPIN_WHILE(c) while (c) { }
#define VOLATILE volatile
#define LOADED(p) (*(volatile int *)(p))
enum { kFree, kTaken };
constexpr int kOpen = 0;
__device__ bool try_lock(int *m) { return atomicCAS(m, 0, 1) == 0; }
__device__ bool taken(int *m) { int old = atomicExch(m, 1); return old != 0; }
__device__ bool tried(int *m) { if (atomicCAS(m, 0, 1) == 0) return true; return false; }
__device__ void attempt(int *m, bool *won) { *won = atomicCAS(m, 0, 1) == 0; }
__device__ void attempt_of(int *m, bool &won) { won = atomicCAS(m, 0, 1) == 0; }
__device__ int cas(int *p, int a, int b) { return atomicCAS(p, a, b); }
__device__ int asm_cas(int *p, int a, int b) {
  int r;
  asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "l"(p), "r"(a), "r"(b) : "memory");
  return r;
}
__device__ int fresh(const int *p) { return *(const volatile int *)p; }
__device__ int acquired(const int *p) {
  int r;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(r) : "l"(p));
  return r;
}
__device__ void unlock(int *m) { __threadfence(); atomicExch(m, 0); }
__device__ int mutex;
__device__ int locks[64];
__device__ volatile int signal;
struct Mutex {
  int *m;
  __device__ bool try_lock() { return atomicCAS(m, 0, 1) == 0; }
  __device__ int peek() const { return *(volatile int *)m; }
  __device__ void unlock() { atomicExch(m, 0); }
};
struct Spot { int lock; volatile int full; int key; };
"""
ARGUMENTS = "int *lock, volatile int *flag, int *plain, float *sum, float v, int n, Mutex mx, Spot *spots"
USED = "*sum += v; __threadfence();"
SHORT = {
    "@": f"{USED} atomicExch(lock, 0);",
    "%": USED,
    "LOOP": "bool done = false; while (!done)",
    "$": "atomicCAS(lock, 0, 1)",
}


def missed(text: str) -> object:
    """A spelling that is not understood yet."""
    return pytest.param(text, marks=pytest.mark.xfail(strict=True))


def _codes(text: str) -> set[str]:
    ported = port(SourceFile("a.cu", (MACROS + text).encode()), CONTEXT, "a.hip")
    return {finding.code for finding in ported.findings}


def _found(text: str, before: str = "") -> set[str]:
    start = "int t = threadIdx.x, lane = t & 31, i = blockIdx.x * blockDim.x + t;"
    return _codes(f"{before}\n__global__ void k({ARGUMENTS}) {{ {start}\n{text}\n sum[i] = v; }}")


TAKEN = [
    "while (atomicCAS(lock, 0, 1) != 0);",
    "while (atomicCAS(lock, 0, 1) != 0) { }",
    "while (atomicCAS(lock, 0, 1)) ;",
    "while (!(atomicCAS(lock, 0, 1) == 0));",
    "while (not (atomicCAS(lock, 0, 1) == 0));",
    "while (0 != atomicCAS(lock, 0, 1));",
    "while (atomicCAS(lock, FREE, TAKEN) != FREE);",
    "while (atomicCAS(lock, kFree, kTaken) != kFree);",
    "while (atomicCAS(lock, kOpen, t + 1) != kOpen);",
    "while (atomicCAS(lock, -1, i) != -1);",
    "while (atomicCAS(lock, 0u, 1u) == 1u);",
    "while (atomicCAS(&mutex, 0, 1) != 0);",
    "while (atomicCAS(&locks[n], 0, 1) != 0);",
    "while (atomicCAS(locks + n, 0, 1) != 0);",
    "while (atomicCAS(&locks[t % 7], 0, 1) != 0);",
    "while (atomicCAS(&spots[n].lock, 0, 1) != 0);",
    "while (atomicCAS(&spots->lock, 0, 1) != 0);",
    "while (atomicCAS(mx.m, 0, 1) != 0);",
    "while (atomicCAS((int *)lock, 0, 1) != 0);",
    "while (atomicCAS(reinterpret_cast<unsigned *>(lock), 0u, 1u) != 0u);",
    "while (::atomicCAS(lock, 0, 1) != 0);",
    "while (CAS(lock, 0, 1) != 0);",
    "while (atomicExch(lock, 1) != 0);",
    "while (atomicExch(lock, 1));",
    "while (atomicExch_block(lock, 1));",
    "while (atomicCAS_system(lock, 0, 1) != 0);",
    "while (atomicCAS_block(lock, 0, 1) != 0);",
    "while (atomicOr(lock, 1) & 1);",
    "while (atomicOr(lock, 1) != 0);",
    "while (atomicMax(lock, 1) != 0);",
    "while (atomicInc((unsigned *)lock, 1) != 0);",
    "while (asm_cas(lock, 0, 1) != 0);",
    "while (cas(lock, 0, 1) != 0);",
    "while (!try_lock(lock));",
    "while (try_lock(lock) == false);",
    "while (false == try_lock(lock)) {}",
    "while (!try_lock(&mutex)) __nanosleep(20);",
    "while (!tried(lock));",
    "while (taken(lock));",
    "while (!mx.try_lock());",
    "while (!mx.try_lock()) { __nanosleep(100); }",
    "Mutex own{lock}; while (!own.try_lock());",
    "Mutex *own = &mx; while (!own->try_lock());",
    "Mutex &own = mx; while (!own.try_lock());",
    "while (!TRY(lock));",
    "while (TRY(lock) == 0) { }",
    "LOCK(lock);",
    "LOCK(lock) ;",
    "LOCK(lock) __nanosleep(10);",
    "LOCK(lock) { }",
    "LOCKED(lock);",
    "BLOCKED(lock);",
    "SPIN_WHILE(atomicCAS(lock, 0, 1) != 0)",
    "SPIN_WHILE(!try_lock(lock));",
    "if (n > 0) LOCK(lock);",
    "do { } while (atomicCAS(lock, 0, 1) != 0);",
    "do ; while (atomicCAS(lock, 0, 1));",
    "do { __nanosleep(8); } while (atomicCAS(lock, 0, 1) != 0);",
    "for (; atomicCAS(lock, 0, 1) != 0; );",
    "for (; atomicCAS(lock, 0, 1) != 0; ) { __nanosleep(32); }",
    "for (; atomicCAS(lock, 0, 1) != 0; __nanosleep(32));",
    "for (int old = 1; old != 0; old = atomicCAS(lock, 0, 1));",
    "for (int old = 1; old != 0; ) { old = atomicCAS(lock, 0, 1); }",
    "for (;;) { if (atomicCAS(lock, 0, 1) == 0) break; }",
    "for (;;) if (atomicCAS(lock, 0, 1) == 0) break;",
    "FOREVER { if (atomicCAS(lock, 0, 1) == 0) break; }",
    "while (true) { if (atomicCAS(lock, 0, 1) == 0) break; }",
    "while (1) { if (!atomicCAS(lock, 0, 1)) { break; } }",
    "while (true) { if (atomicCAS(lock, 0, 1) != 0) continue; break; }",
    "while (true) { if (atomicCAS(lock, 0, 1) != 0) { __nanosleep(9); } else { break; } }",
    "while (true) { if (atomicCAS(lock, 0, 1) != 0) __nanosleep(9); else break; }",
    "while (true) { int old = atomicCAS(lock, 0, 1); if (old == 0) break; }",
    "while (true) { const auto old = atomicCAS(lock, 0, 1); if (!old) break; __nanosleep(4); }",
    "while (true) { bool won = atomicCAS(lock, 0, 1) == 0; if (won) break; }",
    "while (true) { if (int old = atomicCAS(lock, 0, 1); old == 0) break; }",
    "while (true) { if (try_lock(lock)) break; }",
    "while (true) { if (TRY(lock)) break; }",
    "while (true) { switch (atomicCAS(lock, 0, 1)) { case 0: goto won; default: break; } } won: ;",
    "while (int old = atomicCAS(lock, 0, 1)) { }",
    "while (int old = atomicCAS(lock, 0, 1)) __nanosleep(old);",
    "int old; while ((old = atomicCAS(lock, 0, 1)) != 0);",
    "int old; do { old = atomicCAS(lock, 0, 1); } while (old != 0);",
    "int old = 1; while (old) old = atomicCAS(lock, 0, 1);",
    "int old = 1; while (old != 0) { old = atomicCAS(lock, 0, 1); }",
    "bool won = false; while (!won) { won = atomicCAS(lock, 0, 1) == 0; }",
    "bool won = false; while (!won) won = try_lock(lock);",
    "bool won = false; while (not won) { won = !taken(lock); }",
    "bool won; do { won = (0 == atomicCAS(lock, 0, 1)); } while (!won);",
    "bool won; do { attempt(lock, &won); } while (!won);",
    "bool won; do { attempt_of(lock, won); } while (!won);",
    "bool won = false; do { if (atomicCAS(lock, 0, 1) == 0) won = true; } while (!won);",
    "bool won = false; while (!won) { if (atomicCAS(lock, 0, 1) == 0) { won = true; } }",
    "int won = 0; while (!won) { if (try_lock(lock)) won = 1; }",
    "again: if (atomicCAS(lock, 0, 1) != 0) goto again;",
    "again: if (atomicCAS(lock, 0, 1) != 0) { goto again; }",
    "again: if (atomicCAS(lock, 0, 1) != 0) { __nanosleep(9); goto again; }",
    "again: { int old = atomicCAS(lock, 0, 1); if (old != 0) goto again; }",
    "again: int old = atomicCAS(lock, 0, 1); if (old) goto again;",
    "again: if (!try_lock(lock)) goto again;",
    "again: if (atomicCAS(lock, 0, 1) == 0) goto won; goto again; won: ;",
    "UNROLL while (atomicCAS(lock, 0, 1) != 0);",
    "while (atomicCAS(lock, 0, 1) != 0) [[unlikely]] { }",
    "[[maybe_unused]] int old; while ((old = atomicCAS(lock, 0, 1)) != 0);",
    "while (__nanosleep(4), atomicCAS(lock, 0, 1) != 0);",
    "while (atomicCAS(lock, 0, 1) != 0) { __threadfence(); }",
    'while (atomicCAS(lock, 0, 1) != 0) { asm volatile(""); }',
    'while (atomicCAS(lock, 0, 1) != 0) { asm volatile("nanosleep.u32 20;"); }',
    "while (atomicCAS(lock, 0, 1) != 0) { /* wait */ }",
    "unsigned ns = 8; while (atomicCAS(lock, 0, 1) != 0) { __nanosleep(ns); if (ns < 256) ns *= 2; }",
    "unsigned ns = 8; while (atomicCAS(lock, 0, 1) == 1) { __nanosleep(ns); ns = min(ns * 2, 256u); }",
    "int tries = 0; while (atomicCAS(lock, 0, 1) != 0) ++tries;",
    "int tries = 0; while (atomicCAS(lock, 0, 1) != 0) { tries += 1; }",
    "while (atomicCAS(lock, 0, 1) != 0) { while (*flag); }",
    "while (atomicCAS(lock, 0, 1) != 0) { while (LOADED(lock)) __nanosleep(8); }",
    "while (*flag || atomicCAS(lock, 0, 1) != 0);",
    "while (__builtin_expect(atomicCAS(lock, 0, 1) != 0, 0));",
    "while (__builtin_expect(!!atomicCAS(lock, 0, 1), 1)) { }",
    "int *own = lock; while (atomicCAS(own, 0, 1) != 0);",
    "int *own = &locks[lane]; while (atomicCAS(own, 0, 1) != 0);",
    "int &own = *lock; while (atomicCAS(&own, 0, 1) != 0);",
    "auto own = lock + n; while (atomicCAS(own, 0, 1) != 0);",
    "auto take = [&] { while (atomicCAS(lock, 0, 1) != 0); }; take();",
    "auto take = [&]() -> bool { return atomicCAS(lock, 0, 1) == 0; }; while (!take());",
    "auto take = [](int *m) { return atomicCAS(m, 0, 1); }; while (take(lock) != 0);",
    "[&] { while (atomicCAS(lock, 0, 1) != 0); }();",
    "cuda::atomic_ref<int> a(*lock); while (a.exchange(1) != 0);",
    "cuda::atomic_ref<int, cuda::thread_scope_device> a{*lock}; while (a.exchange(1, cuda::memory_order_acquire));",
    "cuda::atomic_ref<int> a(*lock); int e = 0; while (!a.compare_exchange_strong(e, 1)) e = 0;",
    "cuda::atomic_ref<int> a(*lock); int e = 0; while (!a.compare_exchange_weak(e, 1)) { e = 0; }",
    "cuda::atomic_ref<int> a(*lock); int e; do { e = 0; } while (!a.compare_exchange_weak(e, 1));",
    "cuda::atomic_ref<int> a(*lock); for (int e = 0; !a.compare_exchange_weak(e, 1); e = 0);",
    "auto *a = (cuda::atomic<int> *)lock; while (a->exchange(1)) { }",
    "auto *a = (cuda::std::atomic_flag *)lock; while (a->test_and_set());",
    "auto *a = (cuda::std::atomic_flag *)lock; while (a->test_and_set()) { while (a->test()); }",
    "auto *a = (cuda::atomic<int> *)lock; while (cuda::std::atomic_exchange(a, 1));",
    "while (cuda::atomic_ref<int>(*lock).exchange(1));",
    "while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE));",
    "int e = 0; while (!__atomic_compare_exchange_n(lock, &e, 1, false, 0, 0)) e = 0;",
    "while (__sync_lock_test_and_set(lock, 1));",
    "while (!__sync_bool_compare_and_swap(lock, 0, 1));",
    "while (__iAtomicCAS(lock, 0, 1) != 0);",
    'int old; do { asm volatile("atom.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(lock)); } while (old != 0);',
    'int old = 1; while (old) { asm volatile("atom.acquire.gpu.exch.b32 %0, [%1], 1;" : "=r"(old) : "l"(lock)); }',
    'int old = 1; while (old) asm("atom.exch.b32 %0, [%1], 1;" : "=r"(old) : "l"(lock));',
    "if (lane == 0) { while (atomicCAS(lock, 0, 1) != 0); } __syncwarp();",
    "if (lane == 0) while (atomicCAS(lock, 0, 1) != 0);",
    "if (t % 32 == 0) { while (atomicCAS(lock, 0, 1) != 0); }",
    "if (lane == 0) { LOCK(lock); }",
    "for (int j = 0; j < 32; ++j) if (j == lane) { while (atomicExch(lock, 1)); *sum += v; atomicExch(lock, 0); }",
    "for (int j = 0; j < 32; ++j) { if (lane == j) { LOCK(lock); *sum += v; unlock(lock); } }",
    "for (int j = 0; j < n; ++j) { while (atomicCAS(lock, 0, 1) != 0); sum[j] += v; atomicExch(lock, 0); }",
    "switch (n) { case 1: while (atomicCAS(lock, 0, 1) != 0); break; }",
    "try_me: while (atomicCAS(lock, 0, 1) != 0);",
    "{ while (atomicCAS(lock, 0, 1) != 0); }",
    "if (n) { while (atomicCAS(lock, 0, 1) != 0); } else { while (*flag); }",
    "if (n) ; else while (atomicCAS(lock, 0, 1) != 0);",
]
HELD = [
    "while (true) { if ($ == 0) { @ break; } }",
    "while (true) { if (try_lock(lock)) { % unlock(lock); break; } }",
    "while (true) { if (mx.try_lock()) { % mx.unlock(); break; } }",
    "while (true) { if (TRY(lock)) { % unlock(lock); return; } }",
    "for (;;) if (!atomicExch(lock, 1)) { % *lock = 0; break; }",
    "LOOP { if (TRY(lock)) { @ done = true; } }",
    "LOOP { if (try_lock(lock)) { % unlock(lock); done = true; } }",
    "LOOP if (mx.try_lock()) { % mx.unlock(); done = true; }",
    "bool done = false; do { if (done = TRY(lock)) { @ } } while (!done);",
    "bool done = false; do { done = try_lock(lock); if (done) { % unlock(lock); } } while (!done);",
    "LOOP { done = $ == 0; if (done) { % *flag = 0; *lock = 0; } }",
    "bool go = true; while (go) { if (!$) { @ go = false; } }",
    "bool go = true; for (; go;) { if (!$) { @ go = false; } }",
    "for (bool go = true; go;) { if (!$) { @ go = false; } }",
    "for (int j = 0; j < 1;) { if (!$) { @ ++j; } }",
    "int j = 0; while (j < 1) { if ($ == 0) { @ j++; } }",
    "int j = 0; while (j < n) { if ($ == 0) { @ j += 1; } }",
    "LOOP { int old = $; if (old == 0) { @ done = true; } }",
    "LOOP { if (int old = $; !old) { @ done = true; } }",
    "LOOP { bool won = false; attempt_of(lock, won); if (won) { % unlock(lock); done = true; } }",
    "LOOP { if ($ != 0) continue; @ done = true; }",
    "LOOP { if (!try_lock(lock)) continue; % unlock(lock); done = true; }",
    "LOOP { if ($ != 0) { __nanosleep(9); continue; } @ done = true; }",
    "LOOP { if ($ == 0) { @ done = true; } else { __nanosleep(9); } }",
    "LOOP { if ($ != 0) { __nanosleep(9); } else { @ done = true; } }",
    "LOOP { if (t == n || $ == 0) { @ done = true; } }",
    "again: if ($ == 0) { @ } else goto again;",
    "again: if ($ != 0) goto again; @",
    "cuda::atomic_ref<int> a(*lock); LOOP { if (a.exchange(1) == 0) { % a.store(0); done = true; } }",
    "LOOP { if (asm_cas(lock, 0, 1) == 0) { @ done = true; } }",
    "LOOP { if (atomicCAS(&spots[n].lock, 0, 1) == 0) { % spots[n].lock = 0; done = true; } }",
    "int *own = &spots[n].lock; LOOP { if (atomicCAS(own, 0, 1) == 0) { % atomicExch(own, 0); done = true; } }",
    "LOOP { if ($ == 0) { % atomicSub(lock, 1); done = true; } }",
    "LOOP { if ($ == 0) { % atomicAnd(lock, 0); done = true; } }",
    "LOOP { if ($ == 0) { % ((volatile int *)lock)[0] = 0; done = true; } }",
]
FLAGS = [
    "while (*flag == 0);",
    "while (!*flag);",
    "while (flag[n] == 0) { }",
    "while (flag[i + 1] == 0);",
    "while (flag[t ^ 1] != 1) ;",
    "do { } while (*flag == 0);",
    "for (; *flag == 0; );",
    "while (*flag < n) __nanosleep(20);",
    "while (n > *flag);",
    "while (n != *flag) { __threadfence(); }",
    "while (true) { if (*flag) break; }",
    "for (;;) { if (*flag != 0) break; }",
    "for (;;) { int seen = *flag; if (seen != 0) break; }",
    "int seen; do { seen = *flag; } while (seen == 0);",
    "int seen = 0; while (seen == 0) seen = flag[n];",
    "again: if (*flag == 0) goto again;",
    "while (*(volatile int *)plain == 0);",
    "while (((volatile int *)plain)[n] == 0);",
    "while (*reinterpret_cast<volatile int *>(plain) == 0);",
    "while (*static_cast<volatile int *>(plain) == 0);",
    "while (*const_cast<volatile int *>(plain) == 0);",
    "volatile int *f = plain; while (*f == 0);",
    "VOLATILE int *f = plain; while (*f == 0);",
    "auto f = (volatile int *)plain; while (*f == 0);",
    "auto *f = reinterpret_cast<volatile int *>(plain); while (f[n] == 0);",
    "volatile int &f = *plain; while (f == 0);",
    "auto f = flag; while (*f == 0);",
    "auto f = flag + n; while (*f == 0);",
    "auto &f = flag[n]; while (f == 0);",
    "while (signal == 0);",
    "while (!signal) { }",
    "while (spots->full == 0);",
    "while (!spots[n].full) __nanosleep(9);",
    "while (LOADED(plain) == 0);",
    "while (fresh(plain) == 0);",
    "while (!fresh(plain));",
    "while (acquired(plain) != n);",
    "while (mx.peek() == 0);",
    "while (fresh(&plain[n]) == 0);",
    "int seen; while ((seen = fresh(plain)) == 0);",
    "while (__ldcg(plain) == 0);",
    "while (__ldcv(plain) == 0);",
    "while (__ldvolatile(plain) == 0);",
    "while (atomicAdd(plain, 0) == 0);",
    "while (atomicAdd(plain, 0) < n);",
    "while (!atomicAdd(plain, 0));",
    "while (atomicOr(plain, 0) == 0);",
    "while (atomicMax(plain, 0) != n);",
    "while (atomicCAS(plain, 1, 1) != 1);",
    "while (atomicCAS(plain, n, n) != n);",
    "while (atomicExch(plain, 0) == 0);",
    "cuda::atomic_ref<int> a(*plain); while (a.load() == 0);",
    "cuda::atomic_ref<int> a(*plain); while (!a.load(cuda::memory_order_acquire)) { }",
    "cuda::atomic_ref<int> a(*plain); while (a == 0);",
    "auto *a = (cuda::atomic<int> *)plain; while (a->load() == 0) __nanosleep(9);",
    "auto *a = (cuda::atomic<int> *)plain; while (*a == 0);",
    "auto *a = (cuda::atomic<int> *)plain; a->wait(0);",
    "cuda::atomic_ref<int> a(*plain); a.wait(0, cuda::memory_order_acquire);",
    "while (__atomic_load_n(plain, __ATOMIC_ACQUIRE) == 0);",
    'int seen; do { asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(seen) : "l"(plain)); } while (seen == 0);',
    'int seen; do { asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(seen) : "l"(plain)); } while (seen == 0);',
    'int seen = 0; while (!seen) asm volatile("ld.global.cv.u32 %0, [%1];" : "=r"(seen) : "l"(plain));',
    'int seen = 0; while (!seen) asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(plain));',
    "__shared__ volatile int s; while (s == 0);",
    "__shared__ volatile int s[32]; while (s[lane] == 0);",
    "__shared__ int s[32]; volatile int *p = s; while (p[lane ^ 1] == 0);",
    "__shared__ int s; while (atomicAdd(&s, 0) == 0);",
    "if (lane == 0) while (*flag == 0); __syncwarp();",
    "if (lane == 0) { while (fresh(plain) == 0) { } } __syncwarp();",
    "auto wait = [&] { while (*flag == 0); }; wait();",
    "auto ready = [&] { return *flag != 0; }; while (!ready());",
    "UNROLL while (*flag == 0);",
    "while (*flag == 0) [[unlikely]];",
    'while (*flag == 0) { asm volatile("nanosleep.u32 20;"); }',
    "SPIN_WHILE(*flag == 0)",
    "SPIN_WHILE(fresh(plain) != n)",
    "int tries = 0; while (*flag == 0) { if (++tries > 1000000) __trap(); }",
    "while (*flag == 0 || flag[1] == 0);",
    "while (!(*flag & (1 << lane)));",
    "while ((*flag >> 16) == 0);",
    "while (*flag % 2 == 0);",
    "if (t == 0) { while (*flag == 0); } __syncthreads();",
    "if (threadIdx.x == 0) { while (fresh(plain) != n); } __syncthreads();",
    "if (t == 0) { while (acquired(plain) != gridDim.x); } __syncthreads();",
    "if (!t) { while (atomicAdd(plain, 0) < gridDim.x); } __syncthreads();",
    "if (threadIdx.x + threadIdx.y == 0) { while (*flag == 0); } __syncthreads();",
    "if (t == 0) { auto *a = (cuda::atomic<int> *)plain; a->wait(0); }",
]
RIGHT = [
    "if (t == 0) { while (atomicCAS(lock, 0, 1) != 0); } __syncthreads();",
    "if (t == 0) while (atomicCAS(lock, 0, 1) != 0);",
    "if (threadIdx.x == 0) { LOCK(lock); } __syncthreads();",
    "if (threadIdx.x == 0) { LOCKED(lock); } __syncthreads();",
    "if (threadIdx.x == 0) { while (!try_lock(lock)); } __syncthreads();",
    "if (threadIdx.x == 0) { while (!mx.try_lock()) __nanosleep(9); } __syncthreads();",
    "if (0 == threadIdx.x) { while (!TRY(lock)); }",
    "if (!threadIdx.x) { BLOCKED(lock); }",
    "if (threadIdx.x == 0) { auto take = [&] { while (atomicCAS(lock, 0, 1) != 0); }; take(); }",
    "if (threadIdx.x == 0 && threadIdx.y == 0) { while (atomicCAS(lock, 0, 1) != 0); }",
    "if (threadIdx.x == 0 && n > 0) { while (atomicExch(lock, 1)); }",
    "if (threadIdx.x < 1) { while (atomicExch(lock, 1)); }",
    "if (not threadIdx.x) { while (atomicExch(lock, 1)); }",
    "if (threadIdx.x != 0) { } else { while (atomicExch(lock, 1)); }",
    "if (threadIdx.x != 0) return; while (atomicExch(lock, 1));",
    "if (threadIdx.x) return; while (atomicCAS(lock, 0, 1) != 0); *sum += v; atomicExch(lock, 0);",
    "const bool leader = threadIdx.x == 0; if (leader) { while (atomicCAS(lock, 0, 1) != 0); }",
    "if (bool leader = threadIdx.x == 0; leader) { while (atomicCAS(lock, 0, 1) != 0); }",
    "if (cg::this_thread_block().thread_rank() == 0) { while (atomicCAS(lock, 0, 1) != 0); }",
    "if (threadIdx.x == 0) { cuda::atomic_ref<int> a(*lock); while (a.exchange(1)); }",
    "if (threadIdx.x == 0) { again: if (atomicCAS(lock, 0, 1) != 0) goto again; }",
    "if (threadIdx.x == 0) { bool won = false; while (!won) won = try_lock(lock); }",
    f"if (t == 0) {{ while (true) {{ if (atomicCAS(lock, 0, 1) == 0) {{ {USED} atomicExch(lock, 0); break; }} }} }}",
    "bool done = false; while (__any_sync(~0u, !done)) { if (!done && TRY(lock)) { unlock(lock); done = true; } }",
    "for (bool done = false; !__all_sync(~0u, done);) { if (!done && try_lock(lock)) { unlock(lock); done = true; } }",
    "for (int tries = 0; tries < 100; ++tries) { if (atomicCAS(lock, 0, 1) == 0) break; }",
    "for (int j = 0; j < 10; ++j) { if (try_lock(lock)) { *sum += v; unlock(lock); break; } }",
    "if (atomicCAS(lock, 0, 1) == 0) { *sum += v; }",
    "if (try_lock(lock)) { *sum += v; unlock(lock); }",
    "bool won = try_lock(lock); if (won) *sum += v;",
    "for (int j = 0; j < n; ++j) { if (TRY(lock + j)) sum[j] += v; }",
    "for (int j = 0; j < n; ++j) if (atomicExch(&lock[j], 1) == 0) { sum[j] = v; break; }",
    "int j = 0; while (atomicCAS(&lock[j], 0, 1) != 0) ++j;",
    "int j = t; while (!try_lock(&locks[j])) j = (j + 1) % 64;",
    "int j = t; while (!try_lock(locks + j)) { ++j; }",
    "int j = t; while (true) { if (try_lock(&locks[j % 64])) break; j++; }",
    "int j = t; while (atomicCAS(&spots[j].key, 0, i) != 0) j = (j + 1) % n;",
    "int j = t; do { j = j * 5 % 64; } while (cas(&locks[j], 0, i) != 0);",
    "int old = *plain, seen; do { seen = old; old = atomicCAS(plain, seen, seen + 1); } while (old != seen);",
    "int old = *plain, seen; do { seen = old; old = cas(plain, seen, seen + t); } while (seen != old);",
    "int old = *plain, seen; do { seen = old; old = asm_cas(plain, seen, seen + t); } while (seen != old);",
    "int seen = *plain; while (true) { int old = CAS(plain, seen, seen * 2); if (old == seen) break; seen = old; }",
    "cuda::atomic_ref<int> a(*plain); int e = a.load(); while (!a.compare_exchange_weak(e, e + 1));",
    "cuda::atomic_ref<int> a(*plain); int e = a; while (!a.compare_exchange_strong(e, max(e, t))) { }",
    "int e = __atomic_load_n(plain, 0); while (!__atomic_compare_exchange_n(plain, &e, e + 1, false, 0, 0));",
    "for (int j = 0; j < n; ++j) v += plain[j];",
    "int j = 0; while (plain[j] != 0) ++j;",
    "int j = 0; while (flag[j] != 0) j++;",
    "int j = 0; while (j < *flag) ++j;",
    "for (int j = 0; j < *flag; ++j) v += j;",
    "for (int j = *flag; j > 0; --j) v += j;",
    "int seen = fresh(plain); while (seen > 0) { v += seen; --seen; }",
    "while (n > 0) { n = n >> 1; v += 1; }",
    "__shared__ int more; do { __syncthreads(); if (t == 0) more = plain[0]; __syncthreads(); } while (more);",
    "int next; while ((next = atomicAdd(plain, 1)) < n) { sum[next] = v; }",
    "for (int next = atomicAdd(plain, 1); next < n; next = atomicAdd(plain, 1)) sum[next] = v;",
    "while (true) { int next = atomicAdd(plain, 1); if (next >= n) break; sum[next] = v; }",
    "Mutex own{lock}; if (own.try_lock()) { *sum += v; own.unlock(); }",
    "auto take = [&] { return atomicCAS(lock, 0, 1) == 0; }; if (take()) *sum += v;",
    "BUSY(lock);",
    "int tries = 0; while (*flag == 0 && tries < 1000000000) ++tries;",
    "for (int j = 0; j < 1000 && *flag == 0; ++j) __nanosleep(9);",
    "int j = 0; while (!try_lock(lock)) { if (++j > 1000) break; }",
]
RIGHT_ELSEWHERE = [
    ("__device__ void take(int *m) { while (atomicCAS(m, 0, 1) != 0); }", "if (threadIdx.x == 0) take(lock);"),
    ("__device__ void take(int *m) { LOCK(m); }", "if (threadIdx.x == 0) { take(lock); }"),
    (
        "struct Held { int *m; __device__ void lock() { while (atomicExch(m, 1)); } };",
        "if (threadIdx.x == 0) { Held h{lock}; h.lock(); }",
    ),
    (
        "__device__ void take(int *m) { while (atomicCAS(m, 0, 1) != 0); } __device__ void twice(int *m) { take(m); }",
        "if (threadIdx.x == 0) { twice(lock); }",
    ),
    (
        "__device__ void take(int *m, int t) { if (t == 0) while (atomicCAS(m, 0, 1) != 0); }",
        "take(lock, threadIdx.x);",
    ),
    (
        "__device__ bool put(int *p, int v) { int old = *p; return atomicCAS(p, old, old + v) == old; }",
        "while (!put(plain, 3));",
    ),
    (
        "__device__ bool claim(int *p, int &seen, int v) { int old = atomicCAS(p, seen, v); bool won = old == seen;"
        " seen = old; return won; }",
        "int seen = 0; while (!claim(plain, seen, seen + 1));",
    ),
]
ELSEWHERE = [
    ("__device__ void take(int *m) { while (atomicCAS(m, 0, 1) != 0); }", "take(lock);"),
    ("__device__ void take(int *m) { LOCK(m); }", "take(lock);"),
    ("__device__ void take(int *m) { while (!try_lock(m)) { } }", "take(lock);"),
    ("template <class T> __device__ void take(T *m) { while (atomicCAS(m, T(0), T(1)) != T(0)); }", "take(lock);"),
    ("template <class M> __device__ void take(M &m) { while (!m.try_lock()); }", "take(mx);"),
    ("struct Held { int *m; __device__ void lock() { while (atomicExch(m, 1)); } };", "Held h{lock}; h.lock();"),
    ("struct Held { int *m; __device__ Held(int *p) : m(p) { while (atomicExch(m, 1)); } };", "Held h(lock);"),
    ("struct Held { int m; __device__ void lock() { while (atomicExch(&m, 1)); } };", "((Held *)lock)->lock();"),
    ("struct Held { int m; __device__ void lock() { while (atomicExch(&this->m, 1)); } };", "((Held *)lock)->lock();"),
    (
        "struct Held { int m; __device__ bool got() { return atomicExch(&m, 1) == 0; }\n"
        "__device__ void lock() { while (!got()) __nanosleep(9); } };",
        "((Held *)lock)->lock();",
    ),
    (
        "struct Held { cuda::atomic<int> m; __device__ void lock() { while (m.exchange(1)); } };",
        "((Held *)lock)->lock();",
    ),
    (
        "struct Held { int m; __device__ void lock(); }; __device__ void Held::lock() { while (atomicExch(&m, 1)); }",
        "((Held *)lock)->lock();",
    ),
    ("__device__ void until(volatile int *p, int v) { while (*p != v); }", "until(flag, n);"),
    ("__device__ void until(const volatile int *p, int v) { while (*p != v) { } }", "until(flag, n);"),
    ("__device__ void until(int volatile *p, int v) { while (*p != v) { } }", "until(flag, n);"),
    ("__device__ void until(volatile int &p, int v) { while (p != v) { } }", "until(*flag, n);"),
    ("__device__ void until(int *p, int v) { while (fresh(p) != v) { } }", "until(plain, n);"),
    ("__device__ bool done(int *p) { return fresh(p) != 0; }", "while (!done(plain));"),
    ("__device__ bool done(int *p) { return acquired(p) != 0; }", "while (!done(plain)) __nanosleep(9);"),
    ("__device__ int look(int *p) { return atomicAdd(p, 0); }", "while (look(plain) == 0);"),
    (
        "__device__ void look(int *p, int *out) { *out = *(volatile int *)p; }",
        "int s; do { look(plain, &s); } while (!s);",
    ),
    ("__device__ void look(int *p, int &out) { out = atomicAdd(p, 0); }", "int s; do { look(plain, s); } while (!s);"),
    (
        "__device__ bool look(int *p, int &out) { out = atomicAdd(p, 0); return out != 0; }",
        "int s; while (!look(plain, s));",
    ),
    (
        '__device__ int look(int *p) { int v; asm volatile("ld.global.cg.b32 %0, [%1];" : "=r"(v) : "l"(p));'
        " return v; }",
        "while (look(plain) == 0);",
    ),
    ("#define WAIT(p, v) while (*(p) != (v))", "WAIT(flag, n);"),
    ("#define WAIT(p, v) do { __threadfence(); } while (*(volatile int *)(p) != (v))", "WAIT(plain, n);"),
    ("#define WAIT(p) \\\n  while (true) { \\\n    if (fresh(p)) break; \\\n  }", "WAIT(plain)"),
    ("#define ACQUIRE(m) int got; do { got = atomicCAS(m, 0, 1); } while (got)", "ACQUIRE(lock);"),
    ("#define ACQUIRE while (atomicCAS(lock, 0, 1));", "ACQUIRE"),
    ("#define ACQUIRE() while (atomicCAS(lock, 0, 1))", "ACQUIRE();"),
    ("#define TAKE(m) LOCK(m)", "TAKE(lock);"),
    ("#define LOCKED_DO(m, what) do { LOCK(m); what; unlock(m); } while (0)", "LOCKED_DO(lock, *sum += v);"),
    (
        "#define LOCKED_DO(m, what) { bool won = false; while (!won) { if (TRY(m)) { what; unlock(m); won = true; } }}",
        "LOCKED_DO(lock, *sum += v);",
    ),
    ("__device__ void wait_turn(volatile int *p) { if (threadIdx.x % 32 == 0) while (*p == 0); }", "wait_turn(flag);"),
]

TOGETHER = [
    "int seen = 0; while (__syncthreads_and(seen != n)) { seen = t == 0 ? fresh(plain) : n; }",
    "int seen = 0; while (!__syncthreads_or(seen)) { if (t < 5) seen = fresh(plain + t); }",
]


@pytest.mark.parametrize(
    "text",
    [
        'int s; do { asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(s) : "l"(plain + t)); } while (s == 0);',
        "while (far(plain + t) != n);",
        "int s; do { far_into(s, plain + t); } while (s != n);",
        "int s; do { far_of_any(s, plain + t); } while (s != n);",
    ],
)
def test_flags_of_other_devices_are_set_by_no_lane_of_the_wavefront(text: str) -> None:
    """Loads of the system's scope: exchanges between GPUs have one lane for each of them."""
    far = 'asm volatile("ld.global.acquire.sys.b32 %0, [%1];" : "=r"(v) : "l"(p));'
    before = (
        f"__device__ int far(int *p) {{ int v; {far} return v; }} __device__ void far_into(int &v, int *p) {{ {far} }}"
    )
    before += (
        f"\n__device__ void far_of_any(int &v, int *p) {{\n#ifdef AMD\nv = atomicAdd(p, 0);\n#else\n{far}\n#endif\n}}"
    )
    kernel = f"{before}\n__global__ void k({ARGUMENTS}) {{ int t = threadIdx.x; {text} sum[0] = v; }}"
    ported = port(SourceFile("a.cu", (MACROS + kernel).encode()), CONTEXT, "a.hip")
    assert [finding.effort for finding in ported.findings if finding.code == "S102"] == [Effort.REVIEW]


@pytest.mark.parametrize("text", TOGETHER)
def test_threads_that_go_on_together_wait_for_other_blocks_alone(text: str) -> None:
    """Nobody of the wavefront is left behind, so there is nothing that it could hold back."""
    kernel = f"__global__ void k({ARGUMENTS}) {{ int t = threadIdx.x, lane = t & 31; {text} sum[0] = v; }}"
    ported = port(SourceFile("a.cu", (MACROS + kernel).encode()), CONTEXT, "a.hip")
    assert [finding.effort for finding in ported.findings if finding.code == "S102"] == [Effort.REVIEW]


@pytest.mark.parametrize("text", TAKEN)
def test_locks_that_lanes_wait_for(text: str) -> None:
    assert "S102" in _found(text)


@pytest.mark.parametrize("text", HELD)
def test_locks_that_are_taken_used_and_released_in_a_loop(text: str) -> None:
    for short, long in SHORT.items():
        text = text.replace(short, long)
    assert "S102" in _found(text)


@pytest.mark.parametrize("text", FLAGS)
def test_flags_that_another_thread_sets(text: str) -> None:
    assert "S102" in _found(text)


@pytest.mark.parametrize(("before", "text"), ELSEWHERE)
def test_waits_in_helpers_and_macros(before: str, text: str) -> None:
    assert "S102" in _found(text, before)


@pytest.mark.parametrize("text", RIGHT)
def test_loops_that_are_right_on_a_wavefront(text: str) -> None:
    assert "S102" not in _found(text)


@pytest.mark.parametrize(("before", "text"), RIGHT_ELSEWHERE)
def test_helpers_that_are_right_on_a_wavefront(before: str, text: str) -> None:
    assert "S102" not in _found(text, before)

"""The same hazards, written in the other ways that C++ has: none may be missed for its spelling."""

from __future__ import annotations

import pytest

from porter.engine.context import build_context
from porter.engine.file import port
from porter.settings import Choices
from porter.source import SourceFile

CONTEXT = build_context(Choices(), ["a.cu"], {})
SHUFFLE = "__shfl_xor_sync(0xffffffff, v, 1)"
MACROS = """
#define RETURN_IF(c) if (c) return
#define UNROLL _Pragma("unroll")
#define MACRO
#define STEP(o) s[t] += s[t + o]
#define STEPS STEP(16); STEP(8)
#define FIRST s[t] += s[t + 16]
#define SECOND s[t] += s[t + 8]
#define AT(i) s[i]
#define ADD(p, i, o) p[i] += p[(i) + (o)]
#define ADD_OF(p, i, o) do { p[i] += p[(i) + (o)]; } while (0)
#define SHARED __shared__
#define BARRIER __syncthreads()
#define BARRIER_F() __syncthreads()
__device__ void count_in(float *p, int i) { atomicAdd(p + i, 1.f); }
__device__ void count_twice(float *p, int i) { count_in(p, i); atomicAdd(&p[i + 1], 1.f); }
__device__ void read_out(float *p, int i) { atomicAdd(&p[i], p[i + 1]); }
__device__ float2 meet(float *p) { __syncthreads(); return make_float2(p[0], p[1]); }
"""
REDUCE = "if (t < 16) { s[t] += s[t + 16]; s[t] += s[t + 8]; s[t] += s[t + 4]; out[t] = s[t]; }"


def missed(text: str) -> object:
    """A spelling that is not understood yet."""
    return pytest.param(text, marks=pytest.mark.xfail(strict=True))


def _codes(text: str) -> set[str]:
    ported = port(SourceFile("a.cu", (MACROS + text).encode()), CONTEXT, "a.hip")
    return {finding.code for finding in ported.findings}


EARLY = [
    "if (i >= n) return;",
    "if (i >= n) { return; }",
    "if (!(i < n)) return;",
    "if (i < n) {} else return;",
    "if (i >= n) { out[i] = 0; return; }",
    "if (i >= n) [[unlikely]] { return; }",
    "if (__builtin_expect(i >= n, 0)) return;",
    "if (const int j = i; j >= n) return;",
    "if (int j = i) return;",
    "do { if (i >= n) return; } while (0);",
    "switch (i >= n) { case 1: return; default: break; }",
    "switch (i) { case 3: return; }",
    "RETURN_IF(i >= n);",
    "if (n > i) ; else { return; }",
    "for (int k = 0; k < 1; ++k) { if (i >= n) return; }",
    "while (true) { if (i >= n) return; break; }",
    "if (bool out_of = i >= n; out_of) return;",
    "bool inside = i < n; if (!inside) return;",
    "auto const inside = i < n; if (not inside) return;",
    "const auto [q, w] = make(i, n); if (q >= w) return;",
    'if (i >= n) asm("exit;");',
    'if (i >= n) { asm volatile("exit;"); }',
    "UNROLL for (int k = 0; k < 4; ++k) if (i + k >= n) return;",
    "#pragma unroll\n for (int k = 0; k < 4; ++k) if (i + k >= n) return;",
    "if (i >= n) { return void(); }",
    "unsigned j{threadIdx.x}; if (j >= n) return;",
    "auto j = int(threadIdx.x); if (j >= n) return;",
    "int j = (int)threadIdx.x, m = n; if (j >= m) return;",
    "int j(threadIdx.x); if (j >= n) return;",
    "uint3 t = threadIdx; if (t.x >= n) return;",
    "auto t = threadIdx; if (t.x >= n) return;",
    "const auto &t = threadIdx; if (t.x >= n) return;",
    "int j; j = threadIdx.x; if (j >= n) return;",
    "int a[1] = {int(threadIdx.x)}; if (a[0] >= n) return;",
    "struct { int x; } s; s.x = threadIdx.x; if (s.x >= n) return;",
    "if (i >= n) { } else { v = 1; } if (i >= n) return;",
    "if (i < n && v > 0) ; else return;",
    "i >= n ? (void)0 : (void)1; if (i>=n) return;",
    "try_me: if (i >= n) return;",
]
DIVERGENT = [
    "if (i % 3 == 0) { v += @; }",
    "if (i % 3 == 0) v += @;",
    "v = i % 3 ? @ : v;",
    "if (i % 3 && @ > 0) v = 1;",
    "for (int k = 0; k < i; ++k) v += @;",
    "while (v < i) v += @;",
    "do { v += @; } while (v < i);",
    "for (float q : {v, v}) if (i % 3) v += @;",
    "switch (i % 3) { case 0: v += @; }",
    "if (i % 3) { } else { v += @; }",
    "if (i % 3 == 0) { auto f = [&] { return @; }; v = f(); }",
    "if (i % 3 == 0) [[likely]] { v += @; }",
    "if constexpr (true) { if (i % 3) v += @; }",
    "if (i % 3) { UNROLL for (int k = 0; k < 4; ++k) v += @; }",
    "UNROLL\n for (int k = i; k < n; ++k) { v += @; }",
    "if (i % 3) { float w[2] = {@, v}; v = w[0]; }",
    "if (i % 3) { float w{@}; v = w; }",
    "if (i % 3) { return (void)(out[i] = @); }",
    "if (i % 3) out[int(@)] = 1;",
    "if (i % 3) { auto [a, b] = make(@, 1); v = a; }",
    "if (i % 3) { const float w = -(@), z = w; v = z; }",
    "if (i % 3) { v = f<3>(@); }",
    "if (i % 3) { (void)@; }",
    "if (i % 3) { static_cast<void>(@); }",
    "if (i % 3) { T t(@); v = t.x; }",
    "if (i % 3) { new (p) float(@); }",
    "if (i % 3) { v = sizeof(@) + @; }",
    "if (i % 3) { g([=] { return @; }); }",
    "if (i % 3) { std::array<float, 2> a{{@, 1}}; v = a[0]; }",
    "if (i % 3) { v = float2{@, v}.x; }",
    "if (i % 3) { auto w = Foo<4>{@}; v = w.x; }",
    "if (i % 3) { v = a.template g<2>(@); }",
    "if (i % 3) { v = (*fp)(@); }",
    "if (i % 3) { if (float w = @; w > 0) v = w; }",
    "if (i % 3) { while (float w = @) { v = w; break; } }",
    "if (i % 3) { for (auto w = @; w < 1; ) v = w; }",
    "if (i % 3) { union { float f; int i; } u; u.f = @; v = u.f; }",
    missed("if (i % 3) { union { float f; int i; } u = {@}; v = u.f; }"),
    "if (i % 3) { using F = float; F w = @; v = w; }",
    "if (i % 3) { static const float w = @; v = w; }",
    "if (i % 3) { v = i ?: @; }",
    "if (i % 3) { v += ({ float q = @; q; }); }",
    "if (i % 3) { decltype(v) w = @; v = w; }",
    "if (i % 3) { typename Q<float>::type w = @; v = w; }",
    "if (i % 3) { __restrict__ float *p = &v; *p = @; }",
    "if (i % 3) { alignas(16) float w[4] = {@}; v = w[0]; }",
    "if (i % 3) { float (&r)[2] = q; r[0] = @; }",
    "if (i % 3) { unsigned long long w = @; v = w; }",
    "if (i % 3) { long double w = @; v = w; }",
    "if (i % 3) { CHECK(@); }",
    missed("if (i % 3) MACRO v += @;"),
    "if (i % 3) { MACRO(3) v += @; }",
    "if (i % 3) { LABEL: v += @; }",
    "if (i % 3) { __builtin_assume(@ > 0); }",
    'if (i % 3) { assert(@ > 0 && "a"); }',
    'if (i % 3) { printf("%f\\n", @); }',
    "if (i % 3) { out[i] = @, v = 1; }",
    "if (i % 3) { v = !@; v = ~int(@); v = -@; }",
    "if (i % 3) { T *t = new T(@); }",
    "if (i % 3) { v = operator_(@)(1); }",
    "if (i % 3) { volatile auto w = @; }",
    missed("if (i % 3) { struct L { float f; } l{@}; v = l.f; }"),
    "if (i % 3) { enum { A = 1 }; v = @; }",
    "if (i % 3) { extern float g; v = @; }",
    "if (i % 3) { v = a->b.c[@]; }",
    "if (i % 3) { v = ::f(@); }",
    "if (i % 3) { v = ns::f<T, (3 > 2)>(@); }",
    "if (i % 3) { v = x < y > (@); }",
    "if (i % 3) { if (i > 2) return; else v = @; }",
]
SHARED = [
    "__shared__ float s[32];",
    "extern __shared__ float s[];",
    "__shared__ __align__(16) float s[32];",
    "__shared__ alignas(16) float s[32];",
    "__align__(16) __shared__ float s[32];",
    "static __shared__ float s[32];",
    "__shared__ float a[4], s[32];",
    "__shared__ volatile float s[32];",
    "volatile __shared__ float s[32];",
    missed("__shared__ struct { float a[32]; } q; auto &s = q.a;"),
    "extern __shared__ char raw[]; float *s = (float *)raw;",
    "extern __shared__ char raw[]; float *s = reinterpret_cast<float *>(raw);",
    "extern __shared__ char raw[]; auto s = reinterpret_cast<float *>(raw);",
    "extern __shared__ char raw[]; auto *s = reinterpret_cast<float *>(&raw[0]);",
    "__shared__ float b[64]; float *s = b + 32;",
    "__shared__ float b[64]; float *s; s = b;",
    "__shared__ float b[64]; float *__restrict__ s = &b[32];",
    "__shared__ float b[64]; float *const s = b;",
    "__shared__ std::array<float, 32> s;",
    "__shared__ T s[32];",
    "__shared__ typename Q<T>::type s[32];",
    "__shared__ float s[32] __attribute__((aligned(16)));",
    "__shared__ __attribute__((aligned(16))) float s[32];",
    "__attribute__((shared)) float s[32];",
    "__shared__ unsigned int s[32];",
    "__shared__ float s[(32)];",
    "SHARED float s[32];",
    "__shared__ float b[64]; float (&s)[64] = b;",
    "__shared__ float b[64]; auto &s = b;",
    "__shared__ float b[64]; auto s = b;",
    "__shared__ float b[2][32]; float *s = b[1];",
    "__shared__ float b[2][32]; auto s = &b[1][0];",
]
STEPS = [
    "s[t] += s[t + 16]; s[t] += s[t + 8];",
    "s[t] = s[t] + s[t + 16]; s[t] = s[t] + s[t + 8];",
    "*(s + t) += *(s + t + 16); *(s + t) += *(s + t + 8);",
    "for (int o = 16; o > 0; o >>= 1) s[t] += s[t + o];",
    "for (int o = 16; o; o /= 2) { s[t] += s[t + o]; }",
    "UNROLL for (int o = 16; o > 0; o >>= 1) s[t] += s[t + o];",
    "int o = 16; while (o) { s[t] += s[t + o]; o >>= 1; }",
    "for (int o = 16; o > 0; o >>= 1) if (t < o) s[t] += s[t + o];",
    "s[t] = fmaxf(s[t], s[t + 16]); s[t] = fmaxf(s[t], s[t + 8]);",
    "float v = s[t]; v += s[t + 16]; s[t] = v; v += s[t + 8]; s[t] = v;",
    "auto v = s[t + 16]; s[t] += v; v = s[t + 8]; s[t] += v;",
    "s[t] += s[t ^ 16]; s[t] += s[t ^ 8];",
    "s[t] += (&s[16])[t]; s[t] += (&s[8])[t];",
    "float *p = s + t; p[0] += p[16]; p[0] += p[8];",
    "float *p = &s[t]; *p += p[16]; *p += p[8];",
    "auto &x = s[t]; x += s[t + 16]; x += s[t + 8];",
    "s[t] += s[t + 16], s[t] += s[t + 8];",
    "if (true) { s[t] += s[t + 16]; } if (true) { s[t] += s[t + 8]; }",
    "do { s[t] += s[t + 16]; s[t] += s[t + 8]; } while (0);",
    "{ s[t] += s[t + 16]; } { s[t] += s[t + 8]; }",
    "STEP(16); STEP(8);",
    "switch (n) { case 1: s[t] += s[t + 16]; case 0: s[t] += s[t + 8]; }",
    "if constexpr (N >= 32) s[t] += s[t + 16]; if constexpr (N >= 16) s[t] += s[t + 8];",
    "if (N >= 32) { s[t] += s[t + 16]; } if (N >= 16) { s[t] += s[t + 8]; }",
    "if (t < 16) STEP(16); if (t < 8) STEP(8);",
    "STEPS;",
    "s[t] = 1; read_out(s, t);",
    "count_in(s, t); out[t] = s[t + 1]; s[t] = 0;",
    "FIRST; SECOND;",
    "AT(t) += AT(t + 16); AT(t) += AT(t + 8);",
    "ADD(s, t, 16); ADD(s, t, 8);",
    "ADD_OF(s, t, 16); ADD_OF(s, t, 8);",
    "switch (n) { case 2: s[t] += s[t + 16]; [[fallthrough]]; case 1: s[t] += s[t + 8]; default: break; }",
    "switch (n) { case 1: { s[t] += s[t + 16]; s[t] += s[t + 8]; break; } case 0: break; }",
    "s[t] = 1; switch (n) { case 1: out[t] = s[t + 16]; }",
    "switch (n) { case 1: s[t] = 1; break; } out[t] = s[t + 16];",
    "[&] { s[t] += s[t + 16]; s[t] += s[t + 8]; }();",
    "auto step = [&](int o) { s[t] += s[t + o]; }; step(16); step(8);",
    "s[t] = op(s[t], s[t + 16]); s[t] = op(s[t], s[t + 8]);",
    "s[threadIdx.x] += s[threadIdx.x + 16]; s[threadIdx.x] += s[threadIdx.x + 8];",
    "s[t] += t + 16 < 32 ? s[t + 16] : 0; s[t] += s[t + 8];",
    "unsigned u = t; s[u] += s[u + 16]; s[u] += s[u + 8];",
    "s[31 - t] += s[15 - t]; s[31 - t] += s[23 - t];",
    "reinterpret_cast<volatile float *>(s)[t] += s[t + 16]; s[t] += s[t + 8];",
    "((float *)s)[t] += ((float *)s)[t + 16]; ((float *)s)[t] += ((float *)s)[t + 8];",
    "s[t + 0] += s[0x10 + t]; s[t] += s[010 + t];",
    "out[t] = s[t]; s[t] = 0; out[t] += s[t + 1];",
    "s[t] = 1; out[t] = s[31 - t];",
    "s[t] = 1; out[t] = s[(t + 1) % 32];",
    "s[t] = 1; out[t] = s[(t + 1) & 31];",
    "s[t] = 1; float v = s[t ^ 1]; out[t] = v;",
    "if (t == 0) s[0] = 1; out[t] = s[0];",
    "if (t == 0) { s[0] = out[3]; } out[t] = s[0];",
    "s[t] = 1; out[t] = __ldg(&s[t + 1]);",
    "s[t] = 1; out[t] = atomicAdd(&s[t + 1], 1.f);",
    "memcpy(&s[t], &out[t], 4); out[t] = s[t + 1];",
    "s[t] = 1; for (int j = 0; j < 32; ++j) out[t] += s[j];",
    "s[t] = 1; for (float q : s) out[t] += q;",
    "s[t] = 1; float2 q = *(float2 *)&s[t & ~1]; out[t] = q.x;",
    "s[t] = 1; float4 q = reinterpret_cast<float4 *>(s)[t / 4]; out[t] = q.x;",
]
BARRIERS = [
    "if (i % 3) __syncthreads();",
    "if (i % 3) { UNROLL for (int k=0;k<2;++k) __syncthreads(); }",
    "UNROLL for (int k = i; k < n; ++k) __syncthreads();",
    "if (i % 3) [[likely]] __syncthreads();",
    "for (int k = i; k < n; ++k) { [[maybe_unused]] int q = k; __syncthreads(); }",
    "if (i % 3) { auto [a, b] = meet(out); }",
    "if (i % 3) cg::this_thread_block().sync();",
    "if (i % 3) { auto b = cg::this_thread_block(); b.sync(); }",
    "if (i % 3) BARRIER;",
    "if (i % 3) BARRIER_F();",
    'if (i % 3) asm volatile("bar.sync 0;");',
    "if (i % 3) __syncthreads_or(1);",
    "if (i % 3) { int c = __syncthreads_count(i); }",
    "while (i < n) { ++i; __syncthreads(); }",
    "do { __syncthreads(); } while (++i < n);",
    "for (auto q : {i}) if (q % 3) __syncthreads();",
    "switch (i % 3) { case 0: __syncthreads(); break; }",
    "if (i % 3) return; __syncthreads();",
    "for (int k = i; k < n; ++k) { __syncthreads(); }",
    "for (int k = 0; k < i; ++k) { __syncthreads(); }",
    "for (int k = threadIdx.x; k < n; k += 32) { __syncthreads(); }",
    "if (i % 3) { cg::sync(block); }",
    "if (i % 3) block.sync();",
]
HEADS = [
    "__global__ void k(float *out, int n) ",
    "__global__ void __launch_bounds__(256) k(float *out, int n) ",
    "__launch_bounds__(256) __global__ void k(float *out, int n) ",
    'extern "C" __global__ void k(float *out, int n) ',
    "template <class T> __global__ static void k(T *out, int n) ",
    "static __global__ void k(float *out, int n) ",
    "__global__ auto k(float *out, int n) -> void ",
    "[[gnu::noinline]] __global__ void k(float *out, int n) ",
    "__global__ __attribute__((noinline)) void k(float *out, int n) ",
    "void __global__ k(float *out, int n) ",
    "__global__ void\nk(float *out,\n int n)\n",
    "namespace a::b { __global__ void k(float *out, int n) ",
    "struct S { __device__ void k(float *out, int n) const ",
    "struct S { __device__ auto operator()(float *out, int n) const -> void ",
    "struct S { __host__ __device__ inline void k(float *out, int n) noexcept ",
    "template <> __device__ void k<3>(float *out, int n) ",
    "__device__ __forceinline__ void k(float *__restrict__ out, const int n) ",
    "__device__ [[nodiscard]] void k(float *out, int n) ",
    "__noinline__ __device__ void S::k(float *out, int n) ",
    "template <class T, std::enable_if_t<(sizeof(T) > 4), int> = 0> __device__ void k(T *out, int n) ",
    "template <class T> requires (sizeof(T) > 4) __device__ void k(T *out, int n) ",
    "__device__ void k(float (&out)[32], int n) ",
    "__device__ void k(float *out, int n = f<3, (2 > 1)>()) ",
    "__device__ constexpr void k(float *out, int n) ",
    "__global__ void __cluster_dims__(2, 1, 1) k(float *out, int n) ",
    "__global__ void __maxnreg__(64) k(float *out, int n) ",
    "KERNEL_MACRO __global__ void k(float *out, int n) ",
    "__device__ friend void k(float *out, int n) ",
    "#define D __device__\nD void k(float *out, int n) ",
    "#define D __device__ __forceinline__\nD void k(float *out, int n) ",
    "#define KERNEL __global__ void\nKERNEL k(float *out, int n) ",
    "auto f = [=] __device__ (float *out, int n) ",
    "void g() { auto f = [=] __device__ (float *out, int n) ",
    "CUTLASS_DEVICE void k(float *out, int n) ",
    "CUTLASS_HOST_DEVICE void k(float *out, int n) ",
    "CUTE_DEVICE void k(float *out, int n) ",
    "__inline__ __device__ void k(float *out, int n) ",
    "inline void __device__ k(float *out, int n) ",
    "__device__ void k(float *out, int n) __attribute__((always_inline)) ",
    "static inline __device__ __host__ void k(float *out, int n) ",
]
SAME_FOR_ALL = [
    "for (int k = 0; k < n; ++k) { __syncthreads(); }",
    "for (int k = blockIdx.x; k < n; k += gridDim.x) { __syncthreads(); }",
    "for (int k = 0; k < n; ++k) { block.sync(); }",
    "UNROLL for (int k = 0; k < 4; ++k) __syncthreads();",
    "if (n > 3) [[likely]] __syncthreads();",
    "if (n > 3) BARRIER;",
    "if (i % 3) { tile.sync(); }",
]


@pytest.mark.parametrize("text", EARLY)
def test_lanes_that_leave_before_an_exchange(text: str) -> None:
    kernel = f"{text}\n v += {SHUFFLE}; out[i] = v;"
    assert "W101" in _codes(
        f"__global__ void k(float *out, int n) {{ int i = threadIdx.x; float v = out[0];\n{kernel} }}"
    )


@pytest.mark.parametrize("text", HEADS)
def test_functions_for_the_device(text: str) -> None:
    body = f"{{ int i = threadIdx.x; float v = out[0]; if (i >= n) return; v += {SHUFFLE}; out[i] = v; }}"
    end = "};" if text.startswith("struct") else "}" if text.startswith(("namespace", "void g")) else ";"
    assert "W101" in _codes(f"{text}{body}{end}")


@pytest.mark.parametrize("text", DIVERGENT)
def test_exchanges_of_some_lanes(text: str) -> None:
    kernel = f"{text.replace('@', SHUFFLE)}\n out[i] = v;"
    found = _codes(f"__global__ void k(float *out, int n) {{ int i = threadIdx.x; float v = out[0];\n{kernel} }}")
    assert found & {"W101", "W102"}


@pytest.mark.parametrize("text", SHARED)
def test_shared_memory_that_a_warp_hands_on(text: str) -> None:
    kernel = f"{text} int t = threadIdx.x; s[t] = out[t]; {REDUCE}"
    assert "S101" in _codes(f"__global__ void k(float *out) {{ {kernel} }}")


@pytest.mark.parametrize("text", STEPS)
def test_steps_of_a_warp_in_shared_memory(text: str) -> None:
    kernel = f"__shared__ float s[64]; int t = threadIdx.x; s[t] = out[t]; if (t < 32) {{ {text} out[t] = s[t]; }}"
    assert "S101" in _codes(f"template <int N> __global__ void k(float *out, int n) {{ {kernel} }}")


@pytest.mark.parametrize(
    "text",
    [
        "s[t] = 1; out[t] = s[t];",
        "*(s + t) = 1; out[t] = *(s + t);",
        "float *p = s + t; *p = 1; out[t] = *p; p[0] = out[t + 1] * (p[0] + 1);",
        "float *p = &s[t]; p[0] += 1; s[t] += 1;",
        "s[t] = 1; __syncwarp(); out[t] = *(s + t + 1);",
        "float *p = s + t; *p = 1; BARRIER; out[t] = p[16];",
        "AT(t) = 1; out[t] = AT(t);",
        "count_in(s, t); count_in(s, t + 1); count_twice(s, t);",
        "STEP(16); BARRIER; STEP(8);",
        "switch (n) { case 1: s[t] = 1; break; case 0: out[t] = s[t + 16]; break; }",
        "s[t] = 1; __syncwarp(); for (float q : s) out[t] += q;",
        "float sum = 0; for (float q : s) sum += q; out[t] = sum;",
    ],
)
def test_lanes_that_keep_to_their_own(text: str) -> None:
    kernel = f"__shared__ float s[64]; int t = threadIdx.x; if (t < 32) {{ {text} }}"
    assert "S101" not in _codes(f"__global__ void k(float *out, int n) {{ {kernel} }}")


def _with_barrier(text: str) -> set[str]:
    groups = "auto block = cg::this_thread_block(); auto tile = cg::tiled_partition<32>(block);"
    return _codes(f"__global__ void k(float *out, int n) {{ {groups} int i = threadIdx.x; {text}\n out[i] = 1; }}")


MEETING = [
    ("__device__ void join(cg::thread_block b) { b.sync(); }", "join(block)"),
    ("__device__ void join(cg::thread_block &b) { b.sync(); }", "join(block)"),
    ("__device__ void join(const cg::thread_block &b) { cg::sync(b); }", "join(block)"),
    ("__device__ void join() { cg::this_thread_block().sync(); }", "join()"),
    ("__device__ void join() { auto b = cg::this_thread_block(); b.sync(); }", "join()"),
    ("__device__ void join() { cg::thread_block b = cg::this_thread_block(); cg::sync(b); }", "join()"),
    ("__device__ void join(cg::grid_group g) { g.sync(); }", "join(cg::this_grid())"),
    ("template <class G> __device__ void join(G g) { g.sync(); }", "join(block)"),
    ("template <typename G> __device__ void join(G const &g) { cg::sync(g); }", "join(cg::this_thread_block())"),
    ('__device__ void join() { asm volatile("bar.sync 0;"); }', "join()"),
    ('__device__ void join() { __asm__ __volatile__("barrier.sync 0;" ::: "memory"); }', "join()"),
    ("__device__ void join() { BARRIER; }", "join()"),
    ("__device__ void join() { BARRIER_F(); }", "join()"),
    ("struct Team { __device__ void join() { __syncthreads(); } };", "Team().join()"),
    ("struct Team { cg::thread_block b; __device__ void join() { cg::this_thread_block().sync(); } };", "team.join()"),
    ("__device__ void meet_all() { cg::this_thread_block().sync(); } __device__ void join() { meet_all(); }", "join()"),
    pytest.param("#define JOIN() block.sync()", "JOIN()", marks=pytest.mark.xfail(strict=True)),
    ("#define JOIN(b) b.sync()", "JOIN(block)"),
    pytest.param("#define JOIN block.sync()", "JOIN", marks=pytest.mark.xfail(strict=True)),
]
MEETING_OTHERS = [
    ("__device__ void join(cg::thread_block_tile<32> b) { b.sync(); }", "join(tile)"),
    ("template <class G> __device__ void join(G g) { g.sync(); }", "join(tile)"),
    ("__device__ void join(Stream &s) { s.sync(); }", "join(stream)"),
    ('__device__ void join() { asm volatile("bar.warp.sync 0xffffffff;"); }', "join()"),
    ("#define JOIN(b) b.sync()", "JOIN(tile)"),
]


@pytest.mark.parametrize(("helper", "call"), MEETING)
def test_barriers_in_helpers_that_some_threads_call(helper: str, call: str) -> None:
    kernel = f"auto block = cg::this_thread_block(); int i = threadIdx.x; if (i % 3) {{ {call}; }} out[i] = 1;"
    assert "S103" in _codes(f"{helper}\n__global__ void k(float *out, int n) {{ {kernel} }}")
    kernel = f"auto block = cg::this_thread_block(); int i = threadIdx.x; if (n % 3) {{ {call}; }} out[i] = 1;"
    assert "S103" not in _codes(f"{helper}\n__global__ void k(float *out, int n) {{ {kernel} }}")


@pytest.mark.parametrize(("helper", "call"), MEETING_OTHERS)
def test_helpers_that_wait_for_others_than_the_block(helper: str, call: str) -> None:
    groups = "auto block = cg::this_thread_block(); auto tile = cg::tiled_partition<32>(block);"
    kernel = f"{groups} int i = threadIdx.x; if (i % 3) {{ {call}; }} out[i] = 1;"
    assert "S103" not in _codes(f"{helper}\n__global__ void k(float *out, int n) {{ {kernel} }}")


@pytest.mark.parametrize("text", BARRIERS)
def test_barriers_that_some_threads_reach(text: str) -> None:
    assert "S103" in _with_barrier(text)


@pytest.mark.parametrize("text", SAME_FOR_ALL)
def test_barriers_that_all_threads_reach(text: str) -> None:
    assert "S103" not in _with_barrier(text)

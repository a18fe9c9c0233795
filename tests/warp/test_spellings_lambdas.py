"""W101, W102, S103: operations of the warp or block in lambdas, in many spellings."""

from __future__ import annotations

import pytest

from tests.warp.spelled import DIVERGENT, UNIFORM, bare, missed, parting

LAMBDAS_W102 = [
    "auto f = [&](float a) { RETURNED }; if (@) v = f(v);",
    "auto f = [&](float a) { if (@) a += __shfl_xor_sync(0xffffffff, a, 1); return a; }; v = f(v);",
    "auto f = [&] { if (@) { $ } }; f();",
    "auto f = [=]() mutable -> float { if (@) { $ } return v; }; v = f();",
    "auto f = [=]() noexcept(true) -> float { return EXCHANGE; }; if (@) v = f();",
    "auto f = [=]() -> A<int, float> { return EXCHANGE; }; if (@) v = f();",
    "auto f = [&]<typename T>(T a) { RETURNED }; if (@) v = f(v);",
    "auto f = [&]<int N>(float a) { if (@) { $ } }; f.template operator()<2>(v);",
    "auto f = [&]<typename T>(T a) requires (sizeof(T) == 4) { RETURNED }; if (@) v = f(v);",
    "auto f = [](auto a, auto... b) { RETURNED }; if (@) v = f(v);",
    "auto f = [=] __device__ (float a) { RETURNED }; if (@) v = f(v);",
    "auto f = [=] __device__ (float a) constexpr { RETURNED }; if (@) v = f(v);",
    "auto f = [=] __host__ __device__ (float a) mutable { RETURNED }; if (@) v = f(v);",
    "auto f = [&](float a) __attribute__((always_inline)) { RETURNED }; if (@) v = f(v);",
    "auto f = [&] [[nodiscard]] (float a) { RETURNED }; if (@) v = f(v);",
    "auto f = [](float a) static { RETURNED }; if (@) v = f(v);",
    ("auto f = [a = n, &v, this](float b) { return b + __shfl_xor_sync(0xffffffff, b, 1); }; if (@) v = f(v);"),
    "if (@) { auto f = [a = EXCHANGE] { return a; }; v = f(); }",
    "auto f = [b = @, &v] { if (b) { $ } }; f();",
    "auto f = [](float a, float b = 2) { RETURNED }; if (@) v = f(v);",
    "v = [&] { return (@) ? EXCHANGE : 0; }();",
    "if (@) v = [&] { return EXCHANGE; }();",
    "if (@) v = [](float a) { return __shfl_xor_sync(0xffffffff, a, 1); }(v);",
    "const float w = [&]() -> float { if (@) return EXCHANGE; return 0; }();",
    ("auto f = [&] { auto g = [&](float a) { return __shfl_xor_sync(0xffffffff, a, 1); }; if (@) v = g(v); }; f();"),
    ("auto f = [&] { auto g = [&](float a) { return __shfl_xor_sync(0xffffffff, a, 1); }; v = g(v); }; if (@) f();"),
    "if (@) each(n, [&](int i) { $ });",
    "each(n, [&](int i) { if (@) { $ } });",
    "each<4>(n, [&]<int I>(A<I>) { if (@) { $ } });",
    "static_for<0, 4>{}([&](auto i) { if (@) { $ } });",
    "if (@) static_for<0, 4>{}([&](auto i) { $ });",
    "return [&] { if (@) { $ } }();",
    "auto f = [&](this auto self, float a) { return __shfl_xor_sync(0xffffffff, a, 1); }; if (@) v = f(v);",
    "std::function<void()> f = [&] { $ }; if (@) f();",
    "static constexpr auto f = [](float a) { return __shfl_xor_sync(0xffffffff, a, 1); }; if (@) v = f(v);",
    "auto f{[](float a) { return __shfl_xor_sync(0xffffffff, a, 1); }}; if (@) v = f(v);",
    "auto f([](float a) { return __shfl_xor_sync(0xffffffff, a, 1); }); if (@) v = f(v);",
    "S s{[&] { if (@) { $ } }}; s.f();",
    ("auto f = [=](float (&a)[3], int i[2]) { return __shfl_xor_sync(0xffffffff, a[0], 1); }; if (@) v = f(q, r);"),
]
LAMBDAS_W101 = [
    "[&] { if (@) return; $ }();",
    "auto f = [&] { if (@) return; $ }; f();",
]
LAMBDAS_S103 = [
    "if (@) [&] { __syncthreads(); }();",
    "[&] { if (@) __syncthreads(); }();",
]
LAMBDAS_ALONE_W102 = [
    "auto f = [] __device__ (float v) { return v + EXCHANGE; };\nKERNEL { if (@) v = f(v);}",
    (
        "void h(float *p, int n) { launch([=] __device__ (int i) { float v = p[threadIdx.x]; if (@) { $ } "
        "p[i] = v; }, n); }"
    ),
    (
        "void h(float *p, int n) { launch([=] __device__ (int i) constexpr -> void { float v = "
        "p[threadIdx.x]; if (@) { $ } p[i] = v; }, n); }"
    ),
    (
        "void h(float *p, int n) { launch([=] __device__ (int i) mutable noexcept { float v = "
        "p[threadIdx.x]; if (@) { $ } p[i] = v; }, n); }"
    ),
    ("void h(float *p, int n) { launch([=] __device__ { float v = p[threadIdx.x]; if (@) { $ } p[0] = v; }, n); }"),
    (
        "void h(float *p, int n) { launch([=] <typename T> __device__ (T i) { float v = p[threadIdx.x]; if "
        "(@) { $ } p[i] = v; }, n); }"
    ),
    (
        "void h(float *p, int n) { launch([=] __device__ <typename T>(T i) { float v = p[threadIdx.x]; if "
        "(@) { $ } p[i] = v; }, n); }"
    ),
    (
        "#define GPU __device__\nvoid h(float *p, int n) { launch([=] GPU (int i) { float v = "
        "p[threadIdx.x]; if (@) { $ } p[i] = v; }, n); }"
    ),
    (
        "void h(float *p, int n) { launch([=] KOKKOS_DEVICE (int i) { float v = p[threadIdx.x]; if (@) { $ } "
        "p[i] = v; }, n); }"
    ),
    (
        "void h(float *p, int n) { launch([=] __host__ __device__ (int i) { float v = p[threadIdx.x]; if (@) "
        "{ $ } p[i] = v; }, n); }"
    ),
    missed(
        "#define RUN(b) launch([=] __device__ (int i) { b })\nvoid h(float *p, int n) { RUN(float v = "
        "p[threadIdx.x]; if (@) { $ } p[i] = v;); }"
    ),
    (
        "void h(float *p, int n) { launch([=] __device__ __attribute__((noinline)) (int i) { float v = "
        "p[threadIdx.x]; if (@) { $ } p[i] = v; }, n); }"
    ),
    (
        "void h(float *p, int n) { launch([=] __device__ __forceinline__ (int i) { float v = p[threadIdx.x]; "
        "if (@) { $ } p[i] = v; }, n); }"
    ),
]


@pytest.mark.parametrize("text", LAMBDAS_W102)
def test_exchange_in_a_lambda(text: str) -> None:
    assert "W102" in parting(f"KERNEL {{ {text} }}", DIVERGENT)


@pytest.mark.parametrize("text", bare(LAMBDAS_W102))
def test_exchange_in_a_lambda_where_all_threads_agree(text: str) -> None:
    assert not parting(f"KERNEL {{ {text} }}", UNIFORM)


@pytest.mark.parametrize("text", LAMBDAS_W101)
def test_lambda_that_leaves(text: str) -> None:
    assert "W101" in parting(f"KERNEL {{ {text} }}", DIVERGENT)


@pytest.mark.parametrize("text", bare(LAMBDAS_W101))
def test_lambda_that_leaves_where_all_threads_agree(text: str) -> None:
    assert not parting(f"KERNEL {{ {text} }}", UNIFORM)


@pytest.mark.parametrize("text", LAMBDAS_S103)
def test_barrier_in_a_lambda(text: str) -> None:
    assert "S103" in parting(f"KERNEL {{ {text} }}", DIVERGENT)


@pytest.mark.parametrize("text", bare(LAMBDAS_S103))
def test_barrier_in_a_lambda_where_all_threads_agree(text: str) -> None:
    assert not parting(f"KERNEL {{ {text} }}", UNIFORM)


@pytest.mark.parametrize("text", LAMBDAS_ALONE_W102)
def test_lambda_outside_of_kernels(text: str) -> None:
    assert "W102" in parting(text, DIVERGENT)


@pytest.mark.parametrize("text", bare(LAMBDAS_ALONE_W102))
def test_lambda_outside_of_kernels_where_all_threads_agree(text: str) -> None:
    assert not parting(text, UNIFORM)

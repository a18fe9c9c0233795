"""W102, S103: operations of the warp or block in helpers, members, operators and constructors, in many spellings."""

from __future__ import annotations

import pytest

from tests.warp.spelled import DIVERGENT, UNIFORM, bare, missed, parting

HELPERS_W102 = [
    "__device__ float h(float a) { RETURNED }\nKERNEL { if (@) v = h(v);}",
    "__device__ auto h(float a) -> float { RETURNED }\nKERNEL { if (@) v = h(v);}",
    "__host__ __device__ constexpr float h(float a) noexcept { RETURNED }\nKERNEL { if (@) v = h(v);}",
    "[[nodiscard]] __device__ static inline float h(float a) { RETURNED }\nKERNEL { if (@) v = h(v);}",
    ("template <class T> requires (sizeof(T) > 2) __device__ T h(T a) { RETURNED }\nKERNEL { if (@) v = h(v);}"),
    "template <class T> __device__ T h(T a) requires Float<T> { RETURNED }\nKERNEL { if (@) v = h(v);}",
    "__device__ auto h(auto a) { RETURNED }\nKERNEL { if (@) v = h(v);}",
    ("__device__ float h(float a) { if consteval { return a; } else { RETURNED } }\nKERNEL { if (@) v = h(v);}"),
    (
        "__device__ const float &h(float &a) { a += __shfl_xor_sync(0xffffffff, a, 1); return a; }\nKERNEL { "
        "if (@) v = h(v);}"
    ),
    "template <int N> __device__ float h(float a) { RETURNED }\nKERNEL { if (@) v = h<2>(v);}",
    "template <bool B> __device__ float h(float a) { RETURNED }\nKERNEL { if (@) v = h<(3 > 2)>(v);}",
    "template <class T> __device__ float h(float a) { RETURNED }\nKERNEL { if (@) v = h<A<B<int>>>(v);}",
    "namespace a { __device__ float h(float a) { RETURNED } }\nKERNEL { if (@) v = ::a::h(v);}",
    "namespace a::inline b { __device__ float h(float a) { RETURNED } }\nKERNEL { if (@) v = a::h(v);}",
    "namespace a { __device__ float h(float a) { RETURNED } }\nKERNEL { using a::h; if (@) v = h(v);}",
    (
        "template <class T> __device__ T h(T a); template <> __device__ float h<float>(float a) { RETURNED "
        "}\nKERNEL { if (@) v = h(v);}"
    ),
    "__device__ float h(float a) try { RETURNED } catch (...) { return 0; }\nKERNEL { if (@) v = h(v);}",
    "__device__ float h(float a) MY_ATTR { RETURNED }\nKERNEL { if (@) v = h(v);}",
    "__device__ float h(float a) __attribute__((pure)) { RETURNED }\nKERNEL { if (@) v = h(v);}",
    "#define FN(name) __device__ float name(float a)\nFN(h) { RETURNED }\nKERNEL { if (@) v = h(v);}",
    "#define FN(name) __device__ float name\nFN(h)(float a) { RETURNED }\nKERNEL { if (@) v = h(v);}",
    "#define FN(name) __device__ float name(float a) { RETURNED }\nFN(h)\nKERNEL { if (@) v = h(v);}",
    "#define FN(T) __device__ T h_##T(T a) { RETURNED }\nFN(float)\nKERNEL { if (@) v = h_float(v);}",
    "#define DEV __device__ __forceinline__\nDEV float h(float a) { RETURNED }\nKERNEL { if (@) v = h(v);}",
    "#define DEVF static __device__ float\nDEVF h(float a) { RETURNED }\nKERNEL { if (@) v = h(v);}",
    "#define DEV(t) __device__ t\nDEV(float) h(float a) { RETURNED }\nKERNEL { if (@) v = h(v);}",
    (
        "struct S { __device__ float h(float a) { RETURNED } __device__ void g(float *p, float v, int n) { "
        "if (@) v = this->h(v); } };\nKERNEL { S s; s.g(p, v, n);}"
    ),
    (
        "struct Q { __device__ float h(float a) { RETURNED } }; struct S : Q { __device__ void g(float *p, "
        "float v, int n) { if (@) v = Q::h(v); } };\nKERNEL { S s; s.g(p, v, n);}"
    ),
]
MEMBERS_W102 = [
    "struct S { __device__ float h(float a) const { RETURNED } };\nKERNEL { S s; if (@) v = s.h(v);}",
    (
        "struct S { __device__ float h(float a); }; __device__ float S::h(float a) { RETURNED }\nKERNEL { S "
        "s; if (@) v = s.h(v);}"
    ),
    (
        "template <class T> struct S { __device__ float h(float a); }; template <class T> __device__ float "
        "S<T>::h(float a) { RETURNED }\nKERNEL { S<int> s; if (@) v = s.h(v);}"
    ),
    missed(
        "struct S { __device__ float h(float a); }; float S::h(float a) { RETURNED }\nKERNEL { S s; if (@) v = s.h(v);}"
    ),
    "struct S { static __device__ float h(float a) { RETURNED } };\nKERNEL { if (@) v = S::h(v);}",
    (
        "struct S { template <int N> __device__ float h(float a) { RETURNED } };\nKERNEL { S s; if (@) v = "
        "s.template h<2>(v);}"
    ),
    ("struct S { __device__ float h(float a) const & noexcept { RETURNED } };\nKERNEL { S s; if (@) v = s.h(v);}"),
    "struct S { __device__ float h(float a) && { RETURNED } };\nKERNEL { if (@) v = S{}.h(v);}",
    ("struct S { __device__ float h(this const S &self, float a) { RETURNED } };\nKERNEL { S s; if (@) v = s.h(v);}"),
    "struct S { virtual __device__ float h(float a) { RETURNED } };\nKERNEL { S *s; if (@) v = s->h(v);}",
    ("struct S : Q { __device__ float h(float a) override final { RETURNED } };\nKERNEL { S *s; if (@) v = s->h(v);}"),
    "struct S { friend __device__ float h(float a) { RETURNED } };\nKERNEL { if (@) v = h(v);}",
    ("struct S { __device__ float operator()(float a) const { RETURNED } };\nKERNEL { S s; if (@) v = s(v);}"),
    "struct S { __device__ float operator()(float a) const { RETURNED } };\nKERNEL { if (@) v = S{}(v);}",
    "struct S { __device__ float operator()(float a) const { RETURNED } };\nKERNEL { if (@) v = S()(v);}",
    missed(
        "struct S { float a; __device__ float operator+(float b) const { RETURNED } };\nKERNEL { S s; if (@) "
        "v = s + v;}"
    ),
    missed("__device__ float operator+(S s, float a) { RETURNED }\nKERNEL { S s; if (@) v = s + v;}"),
    missed(
        "struct S { float a; __device__ float operator[](int i) const { RETURNED } };\nKERNEL { S s; if (@) v = s[2];}"
    ),
    missed(
        "struct S { float a; __device__ S &operator+=(float b) { a += __shfl_xor_sync(0xffffffff, a, 1); "
        "return *this; } };\nKERNEL { S s; if (@) s += v;}"
    ),
    missed("struct S { float a; __device__ float operator*() const { RETURNED } };\nKERNEL { S s; if (@) v = *s;}"),
    missed(
        "struct S { float a; __device__ S *operator->() { a += __shfl_xor_sync(0xffffffff, a, 1); return "
        "this; } };\nKERNEL { S s; if (@) v = s->a;}"
    ),
    missed(
        "struct S { float a; __device__ S &operator++() { a += __shfl_xor_sync(0xffffffff, a, 1); return "
        "*this; } };\nKERNEL { S s; if (@) ++s;}"
    ),
    missed(
        "struct S { float a; __device__ operator float() const { RETURNED } };\nKERNEL { S s; if (@) v = float(s);}"
    ),
    missed(
        "struct S { float a; explicit __device__ operator float() const { RETURNED } };\nKERNEL { S s; if "
        "(@) v = static_cast<float>(s);}"
    ),
    missed("struct S { float a; __device__ operator float() const { RETURNED } };\nKERNEL { S s; if (@) v = s;}"),
    (
        "struct S { float b; __device__ S(float a) { b = __shfl_xor_sync(0xffffffff, a, 1); } };\nKERNEL { "
        "if (@) { S s(v); v = s.b; }}"
    ),
    (
        "struct S { float b; __device__ S(float a) { b = __shfl_xor_sync(0xffffffff, a, 1); } };\nKERNEL { "
        "if (@) { S s{v}; v = s.b; }}"
    ),
    (
        "struct S { float b; __device__ S(float a) { b = __shfl_xor_sync(0xffffffff, a, 1); } };\nKERNEL { "
        "if (@) { v = S(v).b; }}"
    ),
    (
        "struct S { float b; __device__ S(float a) { b = __shfl_xor_sync(0xffffffff, a, 1); } };\nKERNEL { "
        "if (@) { auto s = S(v); v = s.b; }}"
    ),
    (
        "struct S { float b; __device__ S(float a) { b = __shfl_xor_sync(0xffffffff, a, 1); } };\nKERNEL { "
        "if (@) { S s = v; v = s.b; }}"
    ),
    (
        "struct S { float b; __device__ S() { b = __shfl_xor_sync(0xffffffff, threadIdx.x, 1); } };\nKERNEL "
        "{ if (@) { S s; v = s.b; }}"
    ),
    (
        "struct S { float b; __device__ S(float a) : b(__shfl_xor_sync(0xffffffff, a, 1)) { } };\nKERNEL { "
        "if (@) { S s(v); v = s.b; }}"
    ),
    (
        "struct S { float b, c; __device__ S(float a) : b{__shfl_xor_sync(0xffffffff, a, 1)}, c{2} { } "
        "};\nKERNEL { if (@) { S s{v}; v = s.b; }}"
    ),
    (
        "struct S { float b; __device__ S(float *p, float v, int n) : b((@) ? EXCHANGE : 0) { } };\nKERNEL { "
        "S s(p, v, n); v = s.b;}"
    ),
    (
        "struct S { float b; __device__ S(float *p, float v, int n) : b(1) { if (@) { $ } b = v; } "
        "};\nKERNEL { S s(p, v, n); v = s.b;}"
    ),
    (
        "struct S { float b; __device__ S(float *p, float v, int n) try : b(1) { if (@) { $ } b = v; } catch "
        "(...) { } };\nKERNEL { S s(p, v, n); v = s.b;}"
    ),
    (
        "template <class T> struct S { T b; __device__ S(float a) : b(1) { b = __shfl_xor_sync(0xffffffff, "
        "a, 1); } };\nKERNEL { if (@) { S<float> s(v); v = s.b; }}"
    ),
    (
        "struct S { float b; __device__ S(float a); }; __device__ S::S(float a) : "
        "b(__shfl_xor_sync(0xffffffff, a, 1)) { }\nKERNEL { if (@) { S s(v); v = s.b; }}"
    ),
    (
        "struct S { float b; __device__ S(float a) { b = __shfl_xor_sync(0xffffffff, a, 1); } };\nKERNEL { "
        "if (@) { S *s = new S(v); v = s->b; }}"
    ),
    (
        "struct Q { float b; __device__ Q(float a) { b = __shfl_xor_sync(0xffffffff, a, 1); } }; struct S : "
        "Q { __device__ S(float a) : Q(a) { } };\nKERNEL { if (@) { S s(v); v = s.b; }}"
    ),
    (
        "struct S { float b; __device__ S(float a, int) { b = __shfl_xor_sync(0xffffffff, a, 1); } "
        "__device__ S(float a) : S(a, 1) { } };\nKERNEL { if (@) { S s(v); v = s.b; }}"
    ),
    (
        "struct S { float a; __device__ ~S() { a += __shfl_xor_sync(0xffffffff, a, 1); } };\nKERNEL { if (@) "
        "{ S s{v}; v += 1; }}"
    ),
    "struct S { float *p, v; int n; __device__ ~S() { if (@) { $ } } };\nKERNEL { S s{p, v, n};}",
    missed(
        "struct S { float a, b = __shfl_xor_sync(0xffffffff, threadIdx.x, 1); };\nKERNEL { if (@) { S s{v}; "
        "v += s.b; }}"
    ),
    missed(
        "__device__ float h(float a, float b = __shfl_xor_sync(0xffffffff, threadIdx.x, 1)) { return a + b; "
        "}\nKERNEL { if (@) v = h(v);}"
    ),
    (
        "template <class F> __device__ float h(float a, F f) { return f(a); }\nKERNEL { if (@) v = h(v, "
        "[](float a) { RETURNED });}"
    ),
    missed("__device__ float h(float a) { RETURNED }\nKERNEL { float (*f)(float) = &h; if (@) v = f(v);}"),
]
MEMBERS_S103 = [
    (
        "struct S { float b; __device__ S(float a) : b((__syncthreads(), a)) { } };\nKERNEL { if (@) { S "
        "s(v); v = s.b; }}"
    ),
    "struct S { __device__ ~S() { __syncthreads(); } };\nKERNEL { if (@) { S s; v += 1; }}",
    missed("__device__ float h(float a, int b = (__syncthreads(), 1)) { return a + b; }\nKERNEL { if (@) v = h(v);}"),
    "struct S { __device__ S() { __syncthreads(); } };\nKERNEL { if (@) { S s; v += 1; }}",
]


@pytest.mark.parametrize("text", HELPERS_W102)
def test_exchange_in_a_helper(text: str) -> None:
    assert "W102" in parting(text, DIVERGENT)


@pytest.mark.parametrize("text", bare(HELPERS_W102))
def test_exchange_in_a_helper_where_all_threads_agree(text: str) -> None:
    assert not parting(text, UNIFORM)


@pytest.mark.parametrize("text", MEMBERS_W102)
def test_exchange_in_a_member(text: str) -> None:
    assert "W102" in parting(text, DIVERGENT)


@pytest.mark.parametrize("text", bare(MEMBERS_W102))
def test_exchange_in_a_member_where_all_threads_agree(text: str) -> None:
    assert not parting(text, UNIFORM)


@pytest.mark.parametrize("text", MEMBERS_S103)
def test_barrier_in_a_member(text: str) -> None:
    assert "S103" in parting(text, DIVERGENT)


@pytest.mark.parametrize("text", bare(MEMBERS_S103))
def test_barrier_in_a_member_where_all_threads_agree(text: str) -> None:
    assert not parting(text, UNIFORM)

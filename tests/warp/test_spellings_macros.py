"""W101, W102: operations of the warp in and below macros, in many spellings."""

from __future__ import annotations

import pytest

from tests.warp.spelled import DIVERGENT, UNIFORM, bare, missed, parting

MACROS_W102 = [
    '#define UNROLL(n) _Pragma("unroll")\nKERNEL { UNROLL(4) for (int i = 0; i < 4; i++) { if (@) { $ } }}',
    "#define LIKELY(x) __builtin_expect(!!(x), 1)\nKERNEL { if (LIKELY(@)) { $ }}",
    "#define UNLIKELY(x) (__builtin_expect(!!(x), 0))\nKERNEL { if UNLIKELY(@) { $ }}",
    "#define IF(c) if (c)\nKERNEL { IF(@) { $ }}",
]
TEXTS_W102 = [
    missed("__global__ void k(float *p, int n) <% float v = p[threadIdx.x]; if (@) { $ } p[threadIdx.x] = v; %>\n"),
    missed("__global__ void k(float *p, int n) <% float v = p<:threadIdx.x:>; if (@) { $ } p<:threadIdx.x:> = v; %>\n"),
    missed(
        "#define BEGIN_KERNEL(name) __global__ void name(float *p, int n) {\n#define END_KERNEL "
        "}\nBEGIN_KERNEL(k) float v = p[threadIdx.x]; if (@) { $ } p[threadIdx.x] = v; END_KERNEL\n"
    ),
    missed(
        "#define BEGIN {\n#define END }\n__global__ void k(float *p, int n) BEGIN float v = p[threadIdx.x]; "
        "if (@) { $ } p[threadIdx.x] = v; END\n"
    ),
    missed("#define BEGIN {\n#define END }\nKERNEL { if (@) BEGIN $ END}"),
    missed("#define IF_BEGIN(c) if (c) {\n#define IF_END }\nKERNEL { IF_BEGIN(@) $ IF_END}"),
    (
        "#define FOR_BEGIN(i, n) for (int i = 0; i < n; i++) {\n#define FOR_END }\nKERNEL { FOR_BEGIN(i, 4) "
        "if (@) { $ } FOR_END}"
    ),
    "#define DO do {\n#define WHILE(c) } while (c);\nKERNEL { DO if (@) { $ } WHILE(n--)}",
    "KERNEL { MY_BEGIN(3) if (@) { $ } MY_END}",
    ("#define K(name, T) __global__ void name(T *p, int n) { T v = p[threadIdx.x]; if (@) { $ }}K(k, float)\n"),
    missed(
        "#define K(name, body) __global__ void name(float *p, int n) { body }\nK(k, float v = "
        "p[threadIdx.x]; if (@) { $ } p[threadIdx.x] = v;)\n"
    ),
    missed(
        "#define K(name, body) __global__ void name(float *p, int n) body\nK(k, { float v = p[threadIdx.x]; "
        "if (@) { $ } p[threadIdx.x] = v; })\n"
    ),
    (
        "#define LIST(X) X(float) X(double)\n#define K(T) __global__ void k_##T(T *p, int n) { T v = "
        "p[threadIdx.x]; if (@) { $ }}LIST(K)\n"
    ),
    missed("#define LIST(X) X(0) X(1)\nKERNEL { \n#define CASE(i) if (@) { $ }\nLIST(CASE)\n#undef CASE\n}"),
    missed(
        "#define LIST(X) X(0) X(1)\nKERNEL { switch (int(@)) {\n#define CASE(i) case i: $ "
        "break;\nLIST(CASE)\n#undef CASE\n}}"
    ),
    "#define XCHG(v) v += EXCHANGE\nKERNEL { if (@) XCHG(v);}",
    "#define XCHG(v) do { $ } while (0)\nKERNEL { if (@) XCHG(v);}",
    "#define XCHG(c) if (c) { $ }\nKERNEL { XCHG(@)}",
    "#define XCHG(c) \\\n if (c) { \\\n $ \\\n }\nKERNEL { XCHG(@)}",
    "#define RUN(...) __VA_ARGS__\nKERNEL { if (@) { RUN($) }}",
    "#define RUN(...) __VA_ARGS__\nKERNEL { RUN(if (@) { $ })}",
    "KERNEL { DISPATCH(n, if (@) { $ });}",
    "KERNEL { DISPATCH(n, { if (@) { $ } });}",
    "KERNEL { DISPATCH(n, T, { float w = v; if (@) { $ } });}",
    "#define RUN(a, ...) f(a __VA_OPT__(,) __VA_ARGS__)\nKERNEL { if (@) RUN(n, EXCHANGE);}",
    "#define COND (@)\nKERNEL { if (COND) { $ }}",
    "#define COND(x) (@)\nKERNEL { if (COND(1)) { $ }}",
    missed("#define ELSE else\nKERNEL { if (!(@)) n = 1; ELSE { $ }}"),
    "#define T threadIdx.x\nKERNEL { bool b = @; if (b) { $ }}",
]
TEXTS_W101 = [
    "#define BAIL(c) if (c) return\nKERNEL { BAIL(@); $}",
    "#define BAIL(c) do { if (c) { return; } } while (0)\nKERNEL { BAIL(@); $}",
    "#define CHECK(c) if (!(c)) return;\nKERNEL { CHECK(@) $}",
]


@pytest.mark.parametrize("text", MACROS_W102)
def test_exchange_below_a_macro(text: str) -> None:
    assert "W102" in parting(text, DIVERGENT)


@pytest.mark.parametrize("text", bare(MACROS_W102))
def test_exchange_below_a_macro_where_all_threads_agree(text: str) -> None:
    assert not parting(text, UNIFORM)


@pytest.mark.parametrize("text", TEXTS_W102)
def test_exchange_in_a_macro(text: str) -> None:
    assert "W102" in parting(text, DIVERGENT)


@pytest.mark.parametrize("text", bare(TEXTS_W102))
def test_exchange_in_a_macro_where_all_threads_agree(text: str) -> None:
    assert not parting(text, UNIFORM)


@pytest.mark.parametrize("text", TEXTS_W101)
def test_macro_that_leaves(text: str) -> None:
    assert "W101" in parting(text, DIVERGENT)


@pytest.mark.parametrize("text", bare(TEXTS_W101))
def test_macro_that_leaves_where_all_threads_agree(text: str) -> None:
    assert not parting(text, UNIFORM)

"""Launches in the places and spellings that C++ has: each is found, and what rules write in it is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.cpp.launches import base_name, find_launches
from porter.cpp.lex import lex
from porter.source import SourceFile
from tests.include import hip
from tests.warp.spelled import ported

KERNELS = "__global__ void k(float *p) {}\n__global__ void j(float *p) {}\n"
IN_FUNCTIONS = [
    "k@(p);",
    "if (n) k@(p); else j<<<1, 2>>>(p);",
    "if (n) j<<<1, 2>>>(p); else k@(p);",
    "n ? k@(p) : j<<<1, 2>>>(p);",
    "n ? j<<<1, 2>>>(p) : k@(p);",
    "n = 1, k@(p);",
    "k@(p), n = 1;",
    "for (int i = 0; i < n; i++) k@(p);",
    "for (; n < 3; k@(p), n++) ;",
    "do k@(p); while (n--);",
    "while (n--) k@(p);",
    "switch (n) { case 1: k@(p); break; default: j<<<1, 2>>>(p); }",
    "auto f = [&] { k@(p); }; f();",
    "[=](int a) { k@(p); }(1);",
    "each(n, [&](auto i) { k<i>@(p); });",
    "auto f = [&]<int N>() { k<N>@(p); };",
    "k<float>@(p);",
    "k<float, (N > 2)>@(p);",
    "k<A<B<float>>>@(p);",
    "k<(N >> 2)>@(p);",
    "k<sizeof(T) == 4>@(p);",
    "k<N == 1 || N == 2>@(p);",
    "k<true, 'a', \"b\">@(p);",
    "k<f(1, 2)>@(p);",
    "k<S{1, 2}>@(p);",
    "k<T...>@(p);",
    "k<decltype(n)>@(p);",
    "ns::k@(p);",
    "::ns::k@(p);",
    "ns::k<float>@(p);",
    "A<T>::k@(p);",
    "A<T>::template k<2>@(p);",
    "this->k@(p);",
    "this->template k<2>@(p);",
    "s.k@(p);",
    "(*k)@(p);",
    "(k)@(p);",
    "(k<float, 2>)@(p);",
    "t[n]@(p);",
    "get(n)@(p);",
    "(n ? k : j)@(p);",
    "{ { k@(p); } }",
    "here: k@(p);",
    "[[likely]] k@(p);",
    "if (n) [[unlikely]] k@(p);",
    "if (int a = n; a > 2) k@(p);",
    "if constexpr (N > 2) k@(p); else j<<<1, 2>>>(p);",
    "try { k@(p); } catch (...) { }",
    "\n#if A\nk@(p);\n#else\nj<<<1, 2>>>(p);\n#endif\n",
    "\n#if A\nj<<<1, 2>>>(p);\n#else\nk@(p);\n#endif\n",
    "\n#pragma omp parallel\nk@(p);",
    '_Pragma("omp parallel") k@(p);',
    "RUN(k@(p));",
    "CHECK((k@(p), cudaGetLastError()));",
    "return k@(p);",
    "(void)(k@(p), 0);",
    "(k@(p), ...);",
    "(k<N>@(p), ...);",
    "({ k@(p); });",
    "k@({1, 2}, p);",
    "k@([=] __device__(int i) { return i; });",
    "k@(p ? p : q, f<2>(n));",
    "n < 3 && (k@(p), true);",
    "if (n < 3 && m > 2) k@(p);",
    "int a = n < 3; k@(p);",
    "a = b < c; d = e > f; k@(p);",
    "cudaStream_t s; k@(p); cudaStreamSynchronize(s);",
    "k /* a */ @ /* b */ (p);",
    "k\n @\n (p);",
    "k // <<<\n@(p);",
]
ELSEWHERE = [
    "#define RUN(x) k@(x)\nvoid h() { RUN(p); }",
    "#define RUN(name, ...) name@(__VA_ARGS__)\nvoid h() { RUN(k, p); }",
    "#define RUN(T) \\\n  do { \\\n    k<T>@(p); \\\n  } while (0)\nvoid h() { RUN(int); }",
    "#define RUN(T) case T: k_##T@(p); break\nvoid h() { switch (n) { RUN(a); } }",
    "#define CFG @\nvoid h() { k CFG (p); }",
    "template <class T> void h() { k<T>@(p); }",
    "struct S { void h() { k@(p); } };",
    "struct S { S() : a((k@(p), 1)) { } };",
    "void h(int a = (k@(p), 1));",
    "int a = (k@(p), 1);",
    "auto f = [] { k@(p); };",
    "namespace { void h() { k@(p); } }",
    'extern "C" { void h() { k@(p); } }',
    "auto h() -> void { k@(p); }",
    "void h() try { k@(p); } catch (...) { }",
    "operator int() { k@(p); }",
]
TEXTS = [*(f"void h(float *p, int n) {{ {text} }}" for text in IN_FUNCTIONS), *ELSEWHERE]
WRITTEN = [
    ("<<<g, {32, 8, 1}>>>", "<<<g, dim3(32, 8, 1)>>>"),
    ("<<<{g, 1}, dim3(32), 0, s>>>", "<<<dim3(g, 1), dim3(32), 0, s>>>"),
    ("<<<g, 32, 0, s>> >", "<<<g, 32, 0, s>>>"),
    ("<< <g, (32 > 1) ? 32 : 64>>>", "<<<g, (32 > 1) ? 32 : 64>>>"),
]
KERNEL_NAMES = {"k", "k_##T", "name", "CFG", "t", "get", "n ? k : j"}
"""What the kernel of a form is called, a macro or an expression where that names it."""


@pytest.mark.parametrize("text", TEXTS)
def test_found(text: str) -> None:
    text = KERNELS + text.replace("@", "<<<g, 32, 8, s>>>")
    (launch,) = (one for one in find_launches(lex(text), "a.cu", SourceFile("a.cu", text.encode())) if one.grid == "g")
    assert (launch.block, launch.shared, launch.stream) == ("32", "8", "s")
    assert base_name(launch.kernel.partition("[")[0].partition("(n)")[0]) in KERNEL_NAMES


@pytest.mark.parametrize(("written", "meant"), WRITTEN)
@pytest.mark.parametrize("text", TEXTS)
def test_brackets_are_written_so_that_clang_takes_them(text: str, written: str, meant: str) -> None:
    done = ported(KERNELS + text.replace("@", written))
    assert text.replace("@", meant).replace("cuda", "hip") in done.data.decode()


COMPILED = """
template <class T> struct A {};
template <class T> __global__ void t(float *p) {}
template <bool B> __global__ void b(float *p) {}
#define RUN(name, ...) name << <g, {32, 1}>> >(__VA_ARGS__)
struct S {
  float *p;
  template <int N> void h(dim3 g) { if constexpr (N > 2) k<<<g, {N, 1}>> >(p); else j<<<g, {1, N}>>>(p); }
  template <int N> void both(dim3 g) { this->template h<N>(g); }
};
template <int... N> void each(float *p, dim3 g) { (b<(N > 2)><<<g, {N, 1}>> >(p), ...); }
void h(float *p, int n, dim3 g) {
  if (int a = n; a > 2) k<<<g, {32, 8, 1}>>>(p); else j << <g, 2>>>(p);
  n ? k<<<g, {1, 2}>>>(p) : j<<<g, {2, 1}>> >(p);
  n = 1, k<<<g, {32, 1}>> >(p);
  for (; n < 3; k<<<g, {1}>>>(p), n++) ;
  auto f = [&] { t<A<A<float>>> << <g, {32, 2}>> >(p); };
  f();
  b<(1 > 2)><<<g, {32, 2}, 0, 0>>>(p);
  ::k << <g, 32>> > (p);
  (n ? k : j) << <g, {4, 4}>> >(p);
  (*k)<<<g, {4}>> >(p);
  RUN(k, p);
#if 1
  k<<<g, {1, 1}>>>(p);
#else
  j<<<g, {1, 1}>> >(p);
#endif
  each<1, 2, 3>(p, g);
  S{p}.both<4>(g);
}
"""


@pytest.mark.slow
def test_a_selection_compiles(tmp_path: Path) -> None:
    port = ported("#include <cuda_runtime.h>\n" + KERNELS + COMPILED).data.decode()
    flags = ("-std=c++20", "-Wno-unused-parameter", "-Wno-unused-value", "-Wno-unused-variable")
    done = hip.compiled(port, tmp_path, host=True, flags=flags)
    assert done.returncode == 0, done.stderr

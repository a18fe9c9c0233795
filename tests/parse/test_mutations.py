"""Whatever happens to the bytes of a source, the token readers answer with spans inside it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from porter.cpp.kernels import find_device_functions, find_kernels, find_launches
from porter.cpp.lex import lex
from porter.source import SourceFile

SEED = rb"""#include <cuda_runtime.h>
#define DEF(name, T) __global__ void name##_k(T *x) { x[0] = 1; }
namespace a::b { namespace { struct S { __device__ S(int a) : x(a), y{3} { q<T>(a); } }; } }
template <typename T, int N = (3 > 2)> __launch_bounds__(256, 2) __global__ void
k(const float* __restrict__ in, T (*f)(int), int a[3] = {}, std::map<int, T<U>> v) {
  extern __shared__ __align__(16) unsigned char raw[]; __shared__ float s[32][33], *p;
#if __CUDA_ARCH__ >= 700
  if (threadIdx.x < 32 && a > b) foo<T, 3>(s); /* comment */
#else
  R"x(raw " string)x"; 'c'; // line \
  continued
#endif
}
int main() { k<T, 3><<<dim3(1, 2), n >> 2, 0, s>>>(x); cudaLaunchKernel((void*)k<T>, g, b, a, 0, s); }
"""
PIECES = [
    b"<",
    b">",
    b">>>",
    b"<<<",
    b"(",
    b")",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b";",
    b"=",
    b"::",
    b"##",
    b"\\\n",
]
PIECES += [
    b"#if X\n",
    b"#define ",
    b'"',
    b"/*",
    b"*/",
    b"__global__ ",
    b"__device__ ",
    b"__shared__ ",
    b"template <",
]
PIECES += [
    b"operator",
    b"namespace ",
    b"struct ",
    b"\0",
    b"\xff",
    b"\r",
    b"",
    b"extern ",
    b"__launch_bounds__(",
]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = SEED
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        length = draw(st.integers(0, 40))
        data = data[:start] + draw(st.sampled_from(PIECES)) + data[start + length :]
    return data


@given(st.one_of(mutated(), st.lists(st.sampled_from(PIECES), max_size=40).map(b" ".join)))
@settings(max_examples=400, deadline=None)
def test_never_crashes_and_spans_lie_in_the_file(data: bytes) -> None:
    source = SourceFile("m.cu", data)
    tokens = lex(source.text)
    found = [
        *find_kernels(tokens, "m.cu", source),
        *find_device_functions(tokens, source),
        *find_launches(tokens, "m.cu", source),
    ]
    for item in found:
        assert 0 <= item.span.start < item.span.end <= len(data)

"""Sources that once hung or crashed a rule, or were not the same when ported twice."""

from __future__ import annotations

import time

import pytest

from tests.fuzz.__main__ import failure
from tests.fuzz.targets import BY_NAME

_LONG = "9" * 5000
SOURCES = {
    "a version of 5,000 digits": f"#if __CUDA_ARCH__ >= {_LONG}\n__global__ void k() {{ }}\n#endif",
    "a macro of 5,000 digits": f"#define X {_LONG}\n#if X * X\nint a;\n#endif\n__global__ void k() {{ }}",
    "a superscript where digits go": "#define X \u00b2\n#if __CUDA_ARCH__ >= \u00b2 && X\nint a;\n#endif",
    "constants of 5,000 digits": f"constexpr int N = {_LONG}; __global__ void k(int x) {{ __shfl_sync(~0u, x, N); }}",
    "operands of 5,000 digits": f'__global__ void k(int x) {{ asm("add.u32 %{_LONG}, %0, 1;" : "=r"(x)); }}',
    "a matrix of 5,000 rows": f'__global__ void k(int x) {{ asm("mma.sync.aligned.m{_LONG}n8k16.row.col.f32.f16.f16.f32'
    ' {%0}, {%0}, {%0}, {%0};" : "+r"(x)); }',
    "products that double": "#define C0 (1 << 60)\n"
    + "".join(f"#define C{i + 1} C{i} * C{i}\n" for i in range(60))
    + "#if C60\nint a;\n#endif\n__global__ void k(int x) { __shfl_sync(~0u, x, C60); }",
    "a template behind __global__": "__global__ template <int N> void k(int *d) {}",
    "2,000 launches within each other": "void f() {" + "k<<<1,1>>>(" * 2000 + ")" * 2000 + ";}",
    "2,000 launches that are open": "void f() {" + "k<<<1,1>>>(" * 2000,
    "a<a<a<": "int x = " + "a<" * 10_000 + "1;",
    "parentheses": "__global__ void k(int x) { if (" + "(" * 300 + "threadIdx.x < x" + ")" * 300 + ") {"
    " __syncthreads(); __shfl_down_sync(~0u, x, 1); } }",
    "an empty argument": "__global__ void k() { wmma::fragment<wmma::matrix_a,16,16,16,,row_major> f; }",
    "an array in its own initial value": "__global__ f(){float o[]=o[;__shfl_down_sync(",
    "a shuffle without arguments": "f(int a){a __shfl_down_sync,16;__shfl_down_sync(",
    "calls in a row": "__global__ void r(){__syncthreads cudaMalloc()cudaMalloc",
    "namespaces": "namespace a {" * 10_000 + "__global__ void k() { cudaMalloc(); }" + "}" * 10_000,
    "conditionals": "#if 1\n" * 10_000 + "int x;\n" + "#endif\n" * 10_000,
    "raw strings": 'R"(' * 100_000 + "cudaFree(0)",
    "a raw string with another end": 'R"a()b" cudaFree(0);',
    "splices": "\\\n" * 100_000 + "cudaFree(0);",
    "pasting": "#define X a" + "##a" * 50_000 + "\nX cudaFree",
}


BUILDS = {
    "an architecture of 500 digits": ("cmake", f"project(x CUDA)\nset(CMAKE_CUDA_ARCHITECTURES {_LONG[:500]}x)\n"),
    "a version of CMake": ("cmake", f"cmake_minimum_required(VERSION {_LONG}.{_LONG})\nproject(x LANGUAGES CUDA)\n"),
    "a long word": ("setup", "from torch.utils.cpp_extension import CUDAExtension\nx = '" + "x" * 50_000 + "'\n"),
    "stars": ("cmake", "project(x CUDA)\nfile(GLOB s " + "*a" * 5000 + "b.cu)\n"),
    "a ROCm of 5,000 digits": ("settings", f'rocm = "6.{_LONG}"\n'),
    "a ROCm with a superscript": ("settings", 'rocm = "6.\u00b2"\n'),
    "a draft that shifts far": (
        "draft",
        "__global__ void k(int *a, int n) { a[threadIdx.x] = n; }\n"
        f"void f(int *a) {{ k<<<1 << 99999999999, {_LONG}>>>(a, 1 << 99999999999); }}\n",
    ),
}


@pytest.mark.parametrize("name", BUILDS)
def test_documents_that_were_too_much(name: str) -> None:
    target, text = BUILDS[name]
    began = time.process_time()
    assert failure(BY_NAME[target], text.encode()) is None
    assert time.process_time() - began < 20


@pytest.mark.parametrize("target", ["source", "native"])
@pytest.mark.parametrize("name", SOURCES)
def test_sources_that_were_too_much(name: str, target: str) -> None:
    began = time.process_time()
    assert failure(BY_NAME[target], SOURCES[name].encode("latin-1")) is None
    assert time.process_time() - began < 20

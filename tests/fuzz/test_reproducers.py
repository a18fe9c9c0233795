"""Sources that once hung or crashed a rule, or were not the same when ported twice."""

from __future__ import annotations

import time

import pytest

from tests.fuzz.__main__ import failure
from tests.fuzz.targets import BY_NAME

SOURCES = {
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


@pytest.mark.parametrize("target", ["source", "native"])
@pytest.mark.parametrize("name", SOURCES)
def test_sources_that_were_too_much(name: str, target: str) -> None:
    began = time.process_time()
    assert failure(BY_NAME[target], SOURCES[name].encode()) is None
    assert time.process_time() - began < 20

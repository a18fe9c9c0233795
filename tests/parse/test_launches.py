"""Launch sites read from tokens."""

from __future__ import annotations

import pytest

from porter.cpp.kernels import find_kernels, find_launches
from porter.cpp.lex import lex
from porter.model import Launch
from porter.source import SourceFile


def launches(text: str) -> tuple[Launch, ...]:
    source = SourceFile("k.cu", text.encode("latin-1"))
    return find_launches(lex(source.text), source.path, source)


@pytest.mark.parametrize(
    ("text", "kernel", "configuration"),
    [
        ("k<<<1, 2>>>(x);", "k", ("1", "2", "0", "0")),
        ("k<T, 3><<<g, b, n * sizeof(int), s>>>(x);", "k<T, 3>", ("g", "b", "n * sizeof(int)", "s")),
        (
            "(a::k<T, 3>)<<<dim3(1,2), up<4, 5>(n)>>>(x);",
            "a::k<T, 3>",
            ("dim3(1,2)", "up<4, 5>(n)", "0", "0"),
        ),
        (
            "k<V<V<int>>><<<n >> 2, n < 3 ? 1 : 2>>>(x);",
            "k<V<V<int>>>",
            ("n >> 2", "n < 3 ? 1 : 2", "0", "0"),
        ),
        ("#define RUN(k) k <<< g, \\\n b >>> (x)\n", "k", ("g", "b", "0", "0")),
        ("#define RUN(n) n##_kernel<<<g, b>>>(x)\n", "n##_kernel", ("g", "b", "0", "0")),
        ("cudaLaunchKernel((const void*)k<float>, g, b, args, 16, s);", "k<float>", ("g", "b", "16", "s")),
        ("cudaLaunchKernel(reinterpret_cast<void*>(&k), g, b, args);", "k", ("g", "b", "0", "0")),
        ("cudaLaunchCooperativeKernel((void*)k, g, b, args, 0, 0);", "k", ("g", "b", "0", "0")),
        (
            "cudaLaunchKernelEx(&cfg, k<float>, x);",
            "k<float>",
            ("cfg.gridDim", "cfg.blockDim", "cfg.dynamicSmemBytes", "cfg.stream"),
        ),
        (
            "porter::launch_kernel_ex_c(config, (void *)k, args);",
            "k",
            ("config->gridDim", "config->blockDim", "config->dynamicSmemBytes", "config->stream"),
        ),
        ("hipLaunchKernelGGL(HIP_KERNEL_NAME(k<int, 2>), g, b, 0, s, x);", "k<int, 2>", ("g", "b", "0", "s")),
        ("hipLaunchKernelGGL((k<int, 2>), dim3(g), b, 0, s, x);", "k<int, 2>", ("dim3(g)", "b", "0", "s")),
        ("cuLaunchKernel(f, 1, 2, 3, 4, 5, 6, sh, st, p, 0);", "f", ("1, 2, 3", "4, 5, 6", "sh", "st")),
        ("handles[i]<<<1, 2>>>(x);", "handles[i]", ("1", "2", "0", "0")),
    ],
)
def test_forms(text: str, kernel: str, configuration: tuple[str, str, str, str]) -> None:
    found = launches(text)
    assert len(found) == 1
    assert found[0].kernel == kernel
    assert (found[0].grid, found[0].block, found[0].shared, found[0].stream) == configuration


def test_span_covers_kernel_and_arguments() -> None:
    text = "  if (a) ns::k<int><<<1, 2>>>(f(x), y);"
    (found,) = launches(text)
    assert text[found.span.start : found.span.end] == "ns::k<int><<<1, 2>>>(f(x), y)"


@pytest.mark.parametrize(
    "text", ["a << b;", "<<<", "k<<<1, 2;", "<<<1, 2>>>(x)", "// k<<<1, 2>>>(x)", '"k<<<1,2>>>(x)"']
)
def test_what_is_no_launch(text: str) -> None:
    assert launches(text) == ()


def test_kernels_know_their_launches_also_through_a_variable() -> None:
    text = (
        "__global__ void a(int x) {}\n__global__ void b(int x) {}\n__global__ void c(int x) {}\n"
        "void f() { auto v = flag ? &a : b; v<<<1, 2>>>(3); a<<<4, 5>>>(6); }\n"
    )
    source = SourceFile("k.cu", text.encode())
    found = {k.name: [launch.grid for launch in k.launches] for k in find_kernels(lex(source.text), "k.cu", source)}
    assert found == {"a": ["1", "4"], "b": ["1"], "c": []}

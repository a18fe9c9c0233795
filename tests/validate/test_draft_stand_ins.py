"""What a draft takes a name to be that nothing defines, and what it leaves to a person."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.devices.device import CUT_OUT
from porter.validation.draft.init import draft
from porter.validation.draft.missing import completed, unknown_names
from porter.validation.draft.repairing import repair
from porter.validation.draft.stand_ins import stand_in, stand_ins
from porter.validation.draft.trying import try_sizes

TYPES = [
    ("Real", "__global__ void k(const Real* x, Real* y) { y[0] = x[0] * 2; }", "typedef float Real;"),
    ("Rows", "__global__ void k(const Rows* r, float* y) { y[r[threadIdx.x]] = 1; }", "typedef int Rows;"),
    ("Word", "__device__ int f(Word w) { return w & 15; }", "typedef int Word;"),
    ("PxU32", "__device__ float f(PxU32 n) { return n; }", "typedef unsigned int PxU32;"),
    ("PxF32", "__device__ float f(PxF32 n) { return n; }", "typedef float PxF32;"),
    ("Int64", "__device__ float f(Int64 n) { return n; }", "typedef long long Int64;"),
    ("u8", "__device__ float f(const u8 *n) { return n[0]; }", "typedef unsigned char u8;"),
    ("Double", "__device__ float f(Double n) { return n; }", "typedef double Double;"),
    ("ns::Real", "__device__ float f(ns::Real n) { return n; }", "namespace ns { typedef float Real; }"),
    ("Vec", "__device__ float f(Vec v) { return v.x + v.y; }", "typedef float2 Vec;"),
    ("Cell", "__device__ int f(Cell c) { return c.x + c.y + c.z; }", "typedef int3 Cell;"),
    ("P", "__device__ float f(P p, int i) { return p.count > i ? p.data[i] * p.scale : 0; }",
     "struct P { int count; float *data; float scale; };"),
    ("Mode", "__device__ int f(Mode m) { return m == Mode::A ? 1 : m == Mode::B; }", "enum class Mode : int { A, B };"),
    ("acc", "__device__ float f() { typename acc<T>::type s = 0; }",
     "template <typename T> struct acc { typedef T type; };"),
    ("acc", "__device__ float f() { typename acc<T, true>::type s = 0; }",
     "template <typename T, auto> struct acc { typedef T type; };"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "line"), TYPES)
def test_types(name: str, text: str, line: str) -> None:
    made = stand_in(name, text)
    assert made is not None and made.line == line
    assert made.note.startswith(f"nothing defines {name}: taken to be ")


def test_a_vector_that_is_computed_with(tmp_path: Path) -> None:
    made = stand_in("Vec3", "__device__ float f(Vec3 a, Vec3 b) { Vec3 c = a + b * 2.0f; return c.x + c.y + c.z; }")
    assert made is not None and made.line.startswith("struct Vec3 { float x, y, z; Vec3() = default;")
    assert "operator+(const Vec3 &o) const { return Vec3(x + o.x, y + o.y, z + o.z); }" in made.line


VALUES = [
    ("WARPS", "y[0] = n * WARPS;", "static constexpr int WARPS = 4;"),
    ("WARP_SIZE", "y[0] = n * WARP_SIZE;", "static constexpr int WARP_SIZE = 32;"),
    ("BLOCK", "__shared__ float s[BLOCK];", "static constexpr int BLOCK = 128;"),
    ("TILE", "__shared__ float s[TILE];", "static constexpr int TILE = 16;"),
    ("kEps", "y[0] = 1 / (n + kEps);", "static constexpr float kEps = 1e-6f;"),
    ("kScale", "y[0] = n * kScale;", "static constexpr float kScale = 0.5f;"),
    ("kScale", "y[kScale * n] = 1;", "static constexpr int kScale = 4;"),
    ("CHECK", "{ CHECK(n > 0); y[0] = n; }", "#define CHECK(...) ((void)0)"),
    ("MY_ASSERT", "if (n) MY_ASSERT(0);", "#define MY_ASSERT(...) ((void)0)"),
    ("DIVUP", "y[0] = DIVUP(n, 4);", "#define DIVUP(a, b) (((a) + (b) - 1) / (b))"),
    ("UNLIKELY", "if (UNLIKELY(n == 0)) return;", "#define UNLIKELY(a) (a)"),
    ("UNROLL", "{ UNROLL\n for (;;) {} }", "#define UNROLL"),
    ("API_EXPORT", "API_EXPORT __device__ int f();\n", "#define API_EXPORT"),
    ("HOST_DEV", "HOST_DEV int f();\n", "#define HOST_DEV __host__ __device__"),
    ("my_restrict", "__global__ void k(float * my_restrict x) {}", "#define my_restrict __restrict__"),
    ("tools", "using namespace tools;\n", "namespace tools {}"),
]


@pytest.mark.parametrize(("name", "text", "line"), VALUES)
def test_values_and_macros(name: str, text: str, line: str) -> None:
    made = stand_in(name, text)
    assert made is not None and made.line == line


def test_the_loop_over_a_grid() -> None:
    two = stand_in("CUDA_KERNEL_LOOP", "CUDA_KERNEL_LOOP(i, n) { y[i] = 0; }")
    three = stand_in("CUDA_KERNEL_LOOP_TYPE", "CUDA_KERNEL_LOOP_TYPE(i, n, long) { y[i] = 0; }")
    assert two is not None and two.line.startswith(
        "#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x"
    )
    assert three is not None and "(i, n, kind) for (kind i" in three.line


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("distance", "y[0] = distance(a, b);"),  # a function does what only its author knows
        ("Tensor", "__device__ float f(Tensor t) { return t.get(0); }"),  # so does a member
        ("Tensor", "__device__ float f(Tensor t) { return t.data().x; }"),
        ("Tensor", "__device__ float f(Tensor<float> t) { return 0; }"),
        ("Big", "__device__ Big f(Big a, Big b) { a.first = b.second; return a + b; }"),
        ("CHECK", "y[0] = CHECK(n);"),  # its value is wanted
        ("DIVUP", "y[0] = DIVUP(n);"),
        ("table", "y[0] = table[n];"),
        ("Grid", "y[0] = Grid::size();"),
        ("cudaFoo_t", "cudaFoo_t t;"),
        ("cuFooBar", "y[0] = cuFooBar;"),
        ("__nv_thing", "y[0] = __nv_thing;"),
        ("std::span", "std::span s;"),
        ("thrust::thing", "thrust::thing s;"),
        ("ns::CHECK", "ns::CHECK(n);"),
        ("float*", "float* x;"),
    ],
)
def test_what_is_not_made_up(name: str, text: str) -> None:
    assert stand_in(name, text) is None


def test_each_name_once() -> None:
    assert [one.name for one in stand_ins(["A", "go", "A"], "y[0] = A * go();")] == ["A"]


SAID = f"""k.cu(1): error: identifier "whole_file" is undefined

{CUT_OUT}
k.cu(3): error: identifier "Real" is undefined
k.cu(4): error: namespace "ns" has no member "Index"
k.cu(5): error: name followed by "::" must be a class or namespace name
    y[0] = Mode::Fast;
           ^

k.cu(6): error: this declaration has no storage class or type specifier
  API int f();
  ^
k.cu(7): error: identifier "Real" is undefined
"""


def test_what_a_compiler_misses() -> None:
    assert unknown_names(SAID) == ("Real", "ns::Index", "Mode", "API")
    assert unknown_names('k.cu(1): error: identifier "whole_file" is undefined') == ("whole_file",)


SOURCE = """#include "not/there.h"
__global__ void k(const real_t* x, real_t* y, int n) {
  LIB_KERNEL_LOOP(i, n) {
    LIB_CHECK(i >= 0);
    y[i] = x[i] * kWeight;
  }
}
void host() { some::library::call(); }
"""


def test_a_draft_with_stand_ins(tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(SOURCE)
    (part,) = draft(source, assuming=True).parts
    assert "assumed = ['typedef float real_t;']" in part.after and '"in x: float32[TODO]",' in map(
        str.strip, part.after
    )
    assert "nothing defines real_t: taken to be float" in part.notes
    (plain,) = draft(source).parts
    assert not any(line.startswith("assumed") for line in plain.after)
    said = (
        'k.cu(3): error: identifier "LIB_KERNEL_LOOP" is undefined\nk.cu(5): error: identifier "kWeight" is undefined\n'
    )
    made = completed(part, said)
    assert made is not None and made == repair(part, said)
    (line,) = (line for line in made.after if line.startswith("assumed"))
    assert "'typedef float real_t;', '#define LIB_KERNEL_LOOP(i, n) for (int i" in line
    other = (
        "k.cu(3): error: this declaration has no storage class or type specifier\n    y[i] = kWeight;\n           ^\n"
    )
    assert unknown_names(other) == ("kWeight",) and completed(part, other) is None  # no attribute
    assert completed(made, said) is None and completed(replace(part, text_alone=None), said) is None


@pytest.mark.slow
def test_it_runs_and_the_port_agrees(tmp_path: Path) -> None:
    from porter.validation.run.plan import Request, validate
    from porter.validation.verdict.outcome import Status

    source = tmp_path / "k.cu"
    source.write_text(SOURCE)
    made = draft(source, assuming=True)
    (tried,) = try_sizes(made)
    assert tried.chosen, tried.reason
    path = tmp_path / "k.case.toml"
    path.write_text(made.head() + tried.text)
    outcome = validate(Request((path,), ("ptx", "gfx942"), ("preserve",), jobs=1))
    (case,) = outcome.report.cases
    assert case.status is Status.PASSED
    for side in case.sides:
        assert any("typedef float real_t;" in note for note in side.notes)

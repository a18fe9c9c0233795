"""Kernels read from tokens: signatures, shared memory, callees, odd surroundings."""

from __future__ import annotations

import pytest

from porter.cpp.kernels import DeviceFunction, find_device_functions, find_kernels
from porter.cpp.lex import lex
from porter.model import Kernel
from porter.source import SourceFile


def kernels(text: str) -> tuple[Kernel, ...]:
    source = SourceFile("k.cu", text.encode("latin-1"))
    return find_kernels(lex(source.text), source.path, source)


def kernel(text: str) -> Kernel:
    found = kernels(text)
    assert len(found) == 1, found
    return found[0]


def functions(text: str) -> tuple[DeviceFunction, ...]:
    source = SourceFile("k.cu", text.encode("latin-1"))
    return find_device_functions(lex(source.text), source)


def test_signature_is_read_as_written() -> None:
    found = kernel(
        "namespace a { namespace {\n"
        "template <typename T, int B = (3 > 2) ? 1 : 0, class = std::enable_if_t<sizeof(T) == 4>>\n"
        "static __global__ void __launch_bounds__(256, 2)\n"
        "reduce(const float* __restrict__ in, T *out, int n = f(1), float (*op)(int), int a[3], const dim3,\n"
        "       unsigned, V<P<int, T>> v) { }\n"
        "}}\n"
    )
    assert found.name == "reduce"
    assert found.qualified == "a::(anonymous namespace)::reduce"
    assert found.line == 4
    assert found.typed is False
    assert found.template_parameters == (
        "typename T",
        "int B = (3 > 2) ? 1 : 0",
        "class = std::enable_if_t<sizeof(T) == 4>",
    )
    assert found.attributes == ("static", "__launch_bounds__(256, 2)")
    assert found.launch_bounds == ("256", "2")
    assert [(p.name, p.type) for p in found.parameters] == [
        ("in", "const float* __restrict__"),
        ("out", "T *"),
        ("n", "int"),
        ("op", "float (* )(int)"),
        ("a", "int [3]"),
        ("", "const dim3"),
        ("", "unsigned"),
        ("v", "V<P<int, T>>"),
    ]


def test_span_goes_from_template_to_closing_brace() -> None:
    text = "int x;\ntemplate <int N>\n__global__ void k(int *p)\n{ if (p) { *p = N; } }\nint y;\n"
    span = kernel(text).span
    assert text[span.start : span.end] == text[7 : text.index("\nint y")]


def test_shared_memory() -> None:
    found = kernel(
        "extern __shared__ double outside[];\nextern __shared__ int unused[];\n"
        "template <class T> __global__ void k() {\n"
        "  __shared__ float tile[32][33], row[16];\n"
        "  extern __shared__ __align__(sizeof(T)) unsigned char raw[];\n"
        "  __shared__ typename cub::BlockReduce<T, 128>::TempStorage temp;\n"
        "  volatile __shared__ int *p;\n"
        "  outside[0] = 1;\n}\n"
    )
    assert [(s.name, s.type, s.dynamic, s.line) for s in found.shared] == [
        ("tile", "float[32][33]", False, 4),
        ("row", "float[16]", False, 4),
        ("raw", "unsigned char[]", True, 5),
        ("temp", "cub::BlockReduce<T, 128>::TempStorage", False, 6),
        ("p", "volatile int*", False, 7),
        ("outside", "double[]", True, 1),
    ]


def test_callees_leave_out_declarations_members_and_keywords() -> None:
    found = kernel(
        "__global__ void k(float *s) { int z(3); dim3 d(1); if (z) ::bar(); x.m(1); p->q(2);\n"
        "  for (int i(0); i < n; ++i) s[i] = foo<float, 3>(i) + ns::inner::g(z); return baz(sizeof(z)); }"
    )
    assert found.callees == ("bar", "foo", "ns::inner::g", "baz")


def test_declaration_yields_to_definition_but_stays_alone() -> None:
    both = kernels("__global__ void k(int *x);\n__global__ void k(int *x) { }\n__global__ void other(float);")
    assert [(k.name, k.line) for k in both] == [("k", 2), ("other", 3)]


def test_overloads_stay_apart() -> None:
    assert len(kernels("__global__ void k(int *x) {}\n__global__ void k(int *x, int n) {}")) == 2


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "#define DEF(name, T) __global__ void name##_kernel(T *x) { }\nDEF(a, int)",
            ["name##_kernel"],
        ),
        ("#define KERNEL __global__\nKERNEL void k(int *q) {}", ["k"]),
        ("#define API(x) x\n__global__ void API(k)(int *q) {}", ["API(k)"]),
        ("__global__ void MY_BOUNDS(256) k(int *q) {}", ["k"]),
        ("__global__ __launch_bounds__(64) void k(int *q) {}", ["k"]),
        ('extern "C" __global__ void k(int);', ["k"]),
        ("struct S { static __global__ void k(int x) {} };", ["k"]),
        ("template <> __global__ void k<float>(float *y) {}", ["k"]),
        (
            "#if A\n__global__ void k(int a) {\n#else\n__global__ void k(float a) {\n#endif\n f(); }",
            ["k", "k"],
        ),
        ("#if 0\n__global__ void k(int a) {}\n#endif", ["k"]),
        ("__global__ void k(int a\n#ifdef B\n, int b\n#endif\n) {}", ["k"]),
        ("__global__ void [[maybe_unused]] k(int a) {}", ["k"]),
        ("__global__ void k(int a) { never closed", ["k"]),
    ],
)
def test_odd_kernels_are_seen(text: str, names: list[str]) -> None:
    assert [k.name for k in kernels(text)] == names


@pytest.mark.parametrize(
    "text",
    [
        "template __global__ void k<float>(float *);",
        "// __global__ void k(int);",
        'const char *s = "__global__ void k(int *x) {}";',
        "typedef void (*fn)(int); __global__ fn;",
        "#define KERNEL __global__ void\n",
        "__global__",
        "__global__ void k(",
    ],
)
def test_what_is_no_kernel(text: str) -> None:
    assert kernels(text) == ()


def test_device_functions() -> None:
    found = functions(
        "__device__ float table[3];\n__device__ int f(int a) { return g(a); }\n"
        "__device__ int declared(int);\n"
        "__host__ __device__ inline float operator+(float2 a, float2 b) { return a.x; }\n"
        "struct V { __device__ V(int a) : x(a), y{3} { q(); } "
        "__device__ float operator()(int) const { return 1; } };\n"
        "auto l = [] __device__ (int i) { return i; };"
    )
    assert [(f.qualified, [p.type for p in f.parameters]) for f in found] == [
        ("f", ["int"]),
        ("operator+", ["float2", "float2"]),
        ("V::V", ["int"]),
        ("V::operator()", ["int"]),
    ]


def test_a_template_goes_on_across_a_condition() -> None:
    """`#if` between `template <...>` and `__global__`; what stands before a condition and ended is not part of it."""
    found = kernel(
        "template <int N>\n#if __CUDA_ARCH__ >= 700\n__launch_bounds__(128, 2)\n#endif\n__global__ void k() {}"
    )
    assert found.template_parameters == ("int N",)
    for before in ("template <int N> void f();\n", "#define A template <int N>\n"):
        assert (
            kernel(f"{before}#if A\n__launch_bounds__(64)\n#endif\n__global__ void k() {{}}").template_parameters == ()
        )


@pytest.mark.parametrize(
    "text",
    [
        "template <> void op<double, DEVICE_GPU>::run(int n) { f(n); }",
        "template <> void op<std::complex<double>, base_device::DEVICE_CPU>::operator()(int n) { f(n); }",
        "template <class T> void run(const DEVICE_GPU *d, T n) { f(n); }",
        "void run(DEVICE_GPU d) { f(n); }",
        "int f(Kind kind) { switch (kind) { case ON_DEVICE: run(1); return 2; } }",
        "auto kind = ON_DEVICE;\nvoid run(int n) { f(n); }",
    ],
)
def test_a_type_or_value_is_no_qualifier(text: str) -> None:
    """A word in capitals says `__device__` only where that could stand."""
    assert functions(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "MY_DEVICE int run(int n) { return n; }",
        "template <class T> MY_HOST_DEVICE T run(T n) { return n; }",
        "static inline MY_DEVICE ::std::size_t run(int n) { return n; }",
        "struct A { public: MY_DEVICE int run(int n) { return n; } };",
        "void MY_DEVICE run(int n) { f(n); }",
    ],
)
def test_a_macro_of_another_header_is_a_qualifier(text: str) -> None:
    """`CUTLASS_DEVICE` and the like begin device functions."""
    assert [function.name for function in functions(text)] == ["run"]

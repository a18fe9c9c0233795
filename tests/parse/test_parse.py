"""Clang's view of a file: types, declarations, inactive code, what does not parse."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.cpp.clang.view import Parsed, ParseFailed, ParseRequest, parse

REDUCE = """
#include <cuda_runtime.h>
#include <not/on/this/machine.h>
namespace app {
template <typename T>
__global__ void __launch_bounds__(256) reduce(const T *__restrict__ in, T *out, size_t n, dim3 shape) {
  __shared__ T part[32];
  unsigned lane = threadIdx.x & 31;
  T sum = in[threadIdx.x];
  sum += __shfl_down_sync(0xffffffff, sum, 16);
  part[lane] = sum;
}
}  // namespace app
"""


def parsed(text: str, path: str = "/nowhere/k.cu", **request: object) -> Parsed:
    result = parse(ParseRequest(path, text.encode("latin-1"), **request))  # type: ignore[arg-type]
    assert isinstance(result, Parsed), result
    return result


def at(text: str, needle: str, occurrence: int = 0) -> int:
    position = -1
    for _ in range(occurrence + 1):
        position = text.index(needle, position + 1)
    return position


def test_kernel_is_typed_and_qualified() -> None:
    (kernel,) = parsed(REDUCE).kernels
    assert kernel.typed
    assert kernel.qualified == "app::reduce"
    assert [(p.name, p.type) for p in kernel.parameters] == [
        ("in", "const T *__restrict"),
        ("out", "T *"),
        ("n", "unsigned long"),
        ("shape", "dim3"),
    ]
    assert kernel.template_parameters == ("typename T",)
    assert kernel.launch_bounds == ("256",)
    assert [s.name for s in kernel.shared] == ["part"]


def test_missing_headers_are_no_errors() -> None:
    assert parsed(REDUCE).body_diagnostics == ()


def test_unknown_parameter_type_leaves_the_kernel_untyped_with_its_text() -> None:
    result = parsed("__global__ void k(mystery_t *x, int n) {}")
    assert [(k.typed, k.parameters[0].type, k.parameters[1].type) for k in result.kernels] == [
        (False, "mystery_t *", "int")
    ]
    assert [d.message for d in result.diagnostics] == ["unknown type name 'mystery_t'"]


def test_kernels_made_by_a_macro_get_types_and_the_body_of_the_macro() -> None:
    text = (
        "#define MAKE(name, T) __global__ void name##_kernel(T *x) { __shared__ T s[4]; use(s); }\n"
        "MAKE(copy, float)\nvoid f(float *p) { copy_kernel<<<1, 2>>>(p); }\n"
    )
    kernels = {k.name: k for k in parsed(text).kernels}
    assert set(kernels) == {"name##_kernel", "copy_kernel"}
    made = kernels["copy_kernel"]
    assert made.typed
    assert made.parameters[0].type == "float *"
    assert made.line == 2
    assert [s.name for s in made.shared] == ["s"]
    assert [launch.grid for launch in made.launches] == ["1"]


def test_kernel_marked_by_a_macro_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "macros.h").write_text("#define KERNEL __global__\n")
    text = '#include "macros.h"\nKERNEL void k(double *x) {}\n'
    (kernel,) = parsed(text, str(tmp_path / "k.cu")).kernels
    assert (kernel.name, kernel.typed, kernel.parameters[0].type) == ("k", True, "double *")


def test_member_kernels_and_kernels_defined_out_of_their_class() -> None:
    text = "struct A { static __global__ void k(int *x); };\n__global__ void A::k(int *x) {}\n"
    found = parsed(text).kernels
    assert {(k.qualified, k.typed) for k in found} == {("A::k", True)}


def test_callees_are_qualified_by_the_functions_of_the_file() -> None:
    text = "namespace a { __device__ int f(int x) { return x; } __global__ void k(int *x) { x[0] = f(1); } }"
    assert parsed(text).kernels[0].callees == ("a::f",)


def test_device_functions_are_typed() -> None:
    (function,) = parsed("typedef unsigned int u;\n__device__ u f(u x, half h) { return x; }").device_functions
    assert [p.type for p in function.parameters] == ["unsigned int", "__half"]


@pytest.mark.parametrize(
    ("needle", "origin", "kind", "name"),
    [
        ("cudaMalloc", "cuda", "function", "cudaMalloc"),
        ("threadIdx", "cuda", "variable", "threadIdx"),
        ("cudaStream_t", "cuda", "type", "cudaStream_t"),
        ("cudaSuccess", "cuda", "enumerator", "cudaSuccess"),
        ("CUDART_INF_F", "cuda", "macro", "CUDART_INF_F"),
        ("cudaMine", "project", "function", "own::cudaMine"),
        ("cudaErrorMine", "project", "enumerator", "own::cudaErrorMine"),
        ("__popc", "project", "function", "__popc"),
        ("printf", "std", "function", "printf"),
        ("cudaNobodyKnows", "unknown", "unknown", "cudaNobodyKnows"),
    ],
)
def test_declaration_at(needle: str, origin: str, kind: str, name: str) -> None:
    text = (
        "namespace own { void cudaMine(int); enum E { cudaErrorMine }; }\n"
        "__device__ int __popc(unsigned x) { return 3; }\n"
        "__global__ void k(float *x) { x[threadIdx.x] = CUDART_INF_F + __popc(3u); }\n"
        "using namespace own;\n"
        "void f(float *p, cudaStream_t s) { if (cudaMalloc(&p, 4) == cudaSuccess) cudaMine(cudaErrorMine);\n"
        '  printf("%d", cudaNobodyKnows); }\n'
    )
    declaration = parsed(text).declaration_at(text.rindex(needle))
    assert declaration is not None
    assert (declaration.origin, declaration.kind, declaration.name) == (origin, kind, name)


def test_a_project_function_that_redeclares_cudas_is_the_projects() -> None:
    text = "__device__ double atomicAdd(double *p, double v) { return v; }\n"
    text += "__global__ void k(double *x) { atomicAdd(x, 1.0); }"
    declaration = parsed(text).declaration_at(text.rindex("atomicAdd"))
    assert declaration is not None
    assert declaration.origin == "project"


def test_questions_inside_macro_arguments_and_template_bodies() -> None:
    text = (
        "#define CHECK(x) do { if ((x) != cudaSuccess) exit(1); } while (0)\n"
        "template <class T> __global__ void k(T *x) { unsigned b = __ballot_sync(~0u, x[0] > 0); T t = x[0]; }\n"
        "void f(float *p) { CHECK(cudaMalloc(&p, sizeof(float) * 4)); }\n"
    )
    result = parsed(text)
    declaration = result.declaration_at(at(text, "cudaMalloc"))
    assert declaration is not None
    assert declaration.origin == "cuda"
    assert result.call_argument_types(at(text, "cudaMalloc")) == ("float **", "unsigned long")
    assert result.type_at(at(text, "__ballot_sync")) == "unsigned int"
    assert result.type_at(at(text, "t = x")) == "T"


def test_argument_types_are_those_before_conversion() -> None:
    text = (
        "__global__ void k(float *x, unsigned short s, const half h) {\n"
        "  __shfl_xor_sync(0xffffffff, s, 1, 16); atomicAdd(x, 3); __half2float(h); __shfl_sync(1, x[0] * 2, s);\n}\n"
    )
    result = parsed(text)
    assert result.call_argument_types(at(text, "__shfl_xor")) == ("unsigned int", "unsigned short", "int", "int")
    assert result.call_argument_types(at(text, "atomicAdd")) == ("float *", "int")
    assert result.call_argument_types(at(text, "__half2float")) == ("__half",)
    assert result.call_argument_types(at(text, "__shfl_sync")) == ("int", "float", "unsigned short")
    assert result.call_argument_types(at(text, "s, 1")) is None


def test_arguments_of_a_call_that_does_not_resolve() -> None:
    text = "__global__ void k(const float *x, float v) { atomicAdd(&x[1], v); nobody(v + 1, 2u); }"
    result = parsed(text)
    assert result.call_argument_types(at(text, "atomicAdd")) == ("const float *", "float")
    assert result.call_argument_types(at(text, "nobody")) == ("float", "unsigned int")


def test_types_that_clang_made_up_are_not_told() -> None:
    text = "__global__ void k(mystery_t *x) { x[0]; }"
    result = parsed(text)
    assert result.type_at(at(text, "x)")) is None
    assert result.type_at(at(text, "x[")) is None


def test_both_passes_are_seen_and_the_rest_is_inactive() -> None:
    text = (
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700\n"
        "__device__ float device_only(float x) { return __expf(x); }\n"
        "#else\n"
        "int host_only;\n"
        "#endif\n"
        "#ifdef NEVER\n"
        "int nobody;\n"
        "#endif\n"
    )
    result = parsed(text)
    assert [text[s.start : s.end].count("nobody") for s in result.inactive] == [1]
    assert {"device_only", "host_only"} <= result.declared
    assert result.type_at(at(text, "__expf")) == "float"
    assert result.declaration_at(at(text, "nobody")) is None


def test_declared_names_are_those_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#define OWN_MACRO 1\nstruct OwnType { int member; };\n")
    text = (
        '#include "own.h"\nenum { OWN_ENUMERATOR };\ntypedef float own_t;\n'
        "namespace n { extern int own_variable; void own_function(); }\n"
        "void user() { cudaDeviceSynchronize(); }\n"
    )
    declared = parsed(text, str(tmp_path / "k.cu")).declared
    assert {"OWN_MACRO", "OwnType", "member", "OWN_ENUMERATOR", "own_t", "own_variable", "own_function"} <= declared
    assert not {"cudaDeviceSynchronize", "__global__", "dim3", "printf"} & declared


def test_bodies_of_large_headers_are_left_out(tmp_path: Path) -> None:
    functions = "".join(f"__device__ int f{i}(int x) {{ return nobody{i}(x) + 1234567890; }}\n" for i in range(8000))
    (tmp_path / "large.h").write_text("#pragma once\n" + functions)
    text = '#include "large.h"\n__global__ void k(float *x) { x[f7(1)] = __expf(x[0]); nobody(); }\n'
    (tmp_path / "k.cu").write_text(text)
    result = parsed(text, str(tmp_path / "k.cu"))
    assert result.type_at(at(text, "f7")) == "int"
    assert result.type_at(at(text, "__expf")) == "float"
    assert [d.message for d in result.body_diagnostics] == ["use of undeclared identifier 'nobody'"]


def test_defines_and_include_folders(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "real.h").write_text("typedef REAL real;\n")
    text = "#include <real.h>\n__global__ void k(real *x) {}\n"
    result = parsed(text, str(tmp_path / "k.cu"), include_dirs=(str(tmp_path / "include"),), defines=("REAL=double",))
    assert result.kernels[0].parameters[0].type == "double *"


def test_a_fragment_is_parsed_through_what_includes_it(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text('typedef float real;\n#include "middle.cuh"\nint main() {}\n')
    (tmp_path / "middle.cuh").write_text('#include "kernel.cu"\n')
    text = "__global__ void k(real *x) { x[0] = __expf(x[1]); }\n"
    (tmp_path / "kernel.cu").write_text(text)
    result = parsed(text, str(tmp_path / "kernel.cu"), root=str(tmp_path))
    (kernel,) = result.kernels
    assert (kernel.typed, kernel.parameters[0].type, kernel.span.start) == (True, "float *", 0)
    assert result.type_at(at(text, "__expf")) == "float"
    assert result.diagnostics == ()


def test_the_text_given_counts_not_the_one_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void old(int *x) {}\n")
    assert [k.name for k in parsed("__global__ void fresh(int *x) {}\n", str(path)).kernels] == ["fresh"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\0\0",
        "\xef\xbb\xbf__global__ void k(int *x) {}",
        "#if 1\n__global__ void k(int *x) {}\n",
        "#endif\n#else\n#elif\n__global__ void k(int *x) {}",
        "__global__ void k(int *x) { /* \xe4\xf6\xfc latin-1 */ x[0] = 1; }",
        "__global__ void k(int *x) {\0 x[0] = 1; }",
        "__global__ void k(int *x) { " + "(" * 1000 + " }",
        "__global__ void k(int *x) { " + "{" * 3000 + "}" * 3000 + " }",
        "template <class T> struct A { " * 200,
        '#include "/dev/zero"\n#include "k.cu"\n#include "k.cu"\nint x;',
    ],
)
def test_bad_input_is_answered(text: str) -> None:
    result = parsed(text)
    names = {k.name for k in result.kernels}
    assert names <= {"k"}
    for offset in range(0, len(text), max(1, len(text) // 20)):
        result.declaration_at(offset)
        result.type_at(offset)
        result.call_argument_types(offset)
    assert all(0 <= s.start <= s.end <= len(text) for s in result.inactive)


@pytest.mark.parametrize(
    "text",
    ["int a = " + "+ " * 20000 + "1;", "int a = " + "(int)" * 9000 + "1;", "A<" * 9000 + "int" + "> " * 9000 + "a;"],
)
def test_nesting_that_would_overflow_clangs_stack_is_not_given_to_it(text: str) -> None:
    assert isinstance(parse(ParseRequest("/nowhere/k.cu", text.encode())), ParseFailed)


def test_long_tables_and_strings_are_not_nesting() -> None:
    text = "const char *s = " + '"a"\n' * 9000 + ";\nint t[] = {" + "1," * 9000 + "};\n" + "#define A b\n" * 9000
    assert parsed(text).diagnostics == ()


def test_long_header() -> None:
    text = "".join(f"__device__ inline int f{i}(int x) {{ return x + {i}; }}\n" for i in range(50_000))
    result = parsed(text, "/nowhere/long.cuh")
    assert len(result.device_functions) == 50_000
    assert result.diagnostics == ()


def test_hip_sources_use_hips_names() -> None:
    text = (
        "#include <hip/hip_runtime.h>\n"
        "__global__ void k(float *x, hipStream_t s) { auto b = __ballot(x[0] > 0); x[1] = __shfl_xor(x[0], 1); }\n"
        "int main() { float *x; if (hipMalloc(&x, 4) != hipSuccess) return 1;\n"
        "  hipLaunchKernelGGL(k, dim3(1), dim3(2), 0, 0, x, nullptr); k<<<1, 2>>>(x, nullptr); }\n"
    )
    result = parsed(text, "/nowhere/k.hip")
    assert result.body_diagnostics == ()
    assert result.type_at(at(text, "__ballot")) == "unsigned long long"
    assert len(result.kernels[0].launches) == 2


def test_a_source_for_both_is_cuda_when_it_uses_more_of_cuda() -> None:
    text = (
        "#ifdef __HIP__\n#include <hip/hip_runtime.h>\n#else\n#include <cuda_runtime.h>\n#endif\n"
        "__global__ void k(cudaStream_t s, __nv_bfloat16 x) {}\nvoid f() { cudaFree(0); }\n"
    )
    result = parsed(text)
    assert result.body_diagnostics == ()
    assert result.kernels[0].typed


def test_an_answer_about_no_token_is_none() -> None:
    text = "int  x;"
    result = parsed(text)
    assert result.declaration_at(4) is None
    assert result.declaration_at(len(text) + 10) is None
    assert result.call_argument_types(len(text) + 10) is None

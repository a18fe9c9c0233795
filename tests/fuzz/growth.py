"""Sources and build files made of one thing again and again: what they cost may grow with their length, no faster.

`python -m tests.fuzz.growth --times 1000` measures processor time at so many and at four times as many.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from porter.buildfiles.files import port_build
from porter.engine.file import port
from porter.source import SourceFile
from tests.fuzz.targets import context_of_fuzzing

Make = Callable[[int], str]
_BEFORE = (
    "#include <cuda_runtime.h>\n__global__ void k(int *a, int x) { x = __shfl_down_sync(~0u, x, 1); }\n"
    "__device__ int d(int x);\n"
)
_KERNEL = "__global__ void u(int *a, int x) {\n"
_HOST = "void u(int *p, int x) {\n"
_EXCHANGE = "x = __shfl_sync(~0u, x, 1); "


def _again(unit: str, before: str = "", after: str = "") -> Make:
    """A unit so often, `%d` in it its number."""
    return lambda n: _BEFORE + before + "".join(unit.replace("%d", str(i)) for i in range(n)) + after


def _in_kernel(unit: str) -> Make:
    return _again(unit, _KERNEL, "\n}\n")


def _in_host(unit: str) -> Make:
    return _again(unit, _HOST, "\n}\n")


def _nested(opening: str, inner: str, closing: str, before: str = _KERNEL + "x = ", after: str = ";\n}\n") -> Make:
    return lambda n: _BEFORE + before + opening * n + inner + closing * n + after


def _listed(unit: str, before: str, after: str, separator: str = ", ") -> Make:
    return lambda n: _BEFORE + before + separator.join(unit.replace("%d", str(i)) for i in range(n)) + after


def _chain(first: str, link: Callable[[int], str], last: Callable[[int], str]) -> Make:
    return lambda n: _BEFORE + first + "".join(link(i) for i in range(n)) + last(n)


SOURCES: Mapping[str, Make] = {
    "calls of a helper within each other": _nested(
        "h(",
        "x",
        ")",
        "__device__ int h(int a) { atomicAdd(&a, 1); return atomicCAS(&a, a, a) ? a : 1; }\n" + _KERNEL + "while (",
        ");\n}\n",
    ),
    "functions": _again("int f%d(int a) { return a + %d; }\n"),
    "device functions": _again("__device__ int f%d(int a) { return __shfl_sync(~0u, a, %d); }\n"),
    "device functions of one name": _again(
        "struct S%d { int a; __device__ int f() { return __any_sync(~0u, a); } };\n"
    ),
    "kernels": _again(
        "__global__ void k%d(int *a) { __shared__ int s[64]; s[threadIdx.x] = a[0]; __syncthreads(); a[0] = s[1]; }\n"
    ),
    "kernels of one name": _again("__global__ void k(int *a) { a[0] = __ballot_sync(~0u, a[1]); }\n"),
    "functions that call each other": _chain(
        "__device__ int f0(int x) { return __shfl_sync(~0u, x, 1); }\n",
        lambda i: f"__device__ int f{i + 1}(int x) {{ return f{i}(x) + f{i}(x); }}\n",
        lambda n: f"__global__ void u(int x) {{ if (threadIdx.x < 3) x = f{n}(x); }}",
    ),
    "launches": _in_host("k<<<1, 32>>>(p, %d);\n"),
    "launches in functions": _again("void f%d(int *p) { k<<<1, 32>>>(p, %d); }\n"),
    "launches within launches": _nested("k<<<1, 1>>>(", "", ")", _HOST),
    "launches that stay open": _in_host("k<<<1, "),
    "calls": _in_host("cudaMalloc(&p, %d);\n"),
    "checked calls": _in_host("if (cudaGetLastError() != cudaSuccess) return;\n"),
    "names that are not known": _in_host("cudaFoo%d(0); CUDA_BAR%d;\n"),
    "macros": _again("#define M%d(x) ((x) + %d)\n"),
    "macros that are used": _again("#define M%d(x) M%d_(x)\nint v%d = M%d(3);\n"),
    "macros of one name": _again("#undef A\n#define A %d\n"),
    "macros of macros": _chain(
        "#define C0 1\n",
        lambda i: f"#define C{i + 1} C{i} + C{i}\n",
        lambda n: f"{_KERNEL}x = __shfl_sync(~0u, x, C{n}); }}",
    ),
    "macros that grow": _chain(
        "#define C0 (1 << 60)\n",
        lambda i: f"#define C{i + 1} C{i} * C{i}\n#if C{i + 1}\nint c{i};\n#endif\n",
        lambda n: "int c;\n",
    ),
    "parameters of a macro": _listed("p%d", "#define M(", ") (p0)\n__global__ void q(int *a) { M(1); }"),
    "parameters of a function": _listed("int p%d", "__global__ void q(", ") { __shfl_sync(~0u, p0, 1); }"),
    "arguments": _listed("p%d", _HOST + "cudaFree(", ");\n}\n"),
    "parameters of a template": _listed("int N%d", "template <", "> __global__ void t(int *a) { __syncwarp(); }"),
    "arguments of a template": _listed("B<%d>", "using X = A<", ">;\n"),
    "templates": _again("template <int N> __global__ void t%d(int *a) { a[N] = __shfl_xor_sync(~0u, a[0], N); }\n"),
    "strings": _again('"abc%d"\n'),
    "a string in parts": _listed('"abc%d"', "const char *s = ", ";", " "),
    "kernels in strings": _in_host(
        'nvrtcCreateProgram(&p, "__global__ void k%d(int *a) { cudaMalloc(a); }", 0, 0, 0, 0);\n'
    ),
    "raw strings": _again('const char *r%d = R"(__global__ void k%d(int *a) { __shfl_sync(1, 2, 3); })";\n'),
    "raw strings that stay open": _again('R"d%d('),
    "quotes": _again("'"),
    "double quotes": _again('"'),
    "comments": _again("/* __shfl %d */ "),
    "comments in lines": _again("// cuda %d\n"),
    "comments that stay open": _again("/*"),
    "conditionals": _again("#if A%d\nint a%d;\n#endif\n"),
    "conditionals with a macro of CUDA's": _again(
        "#if __CUDA_ARCH__ >= 800\nint a%d = __shfl_sync(~0u, 1, 2);\n#endif\n"
    ),
    "conditionals within conditionals": _nested("#if A\n", "int x;\n", "#endif\n", "", ""),
    "conditionals that stay open": _again("#if A%d\n"),
    "branches of a conditional": _again("#elif A%d\nint a;\n", "#if 1\n", "#endif\n"),
    "conditionals in a body": _in_kernel("#if V > %d\nx = __shfl_sync(~0u, x, 1);\n#else\nx = 1;\n#endif\n"),
    "includes": _again('#include "h%d.cuh"\n'),
    "includes of the system": _again("#include <h%d.h>\n"),
    "includes of CUDA": _again("#include <cuda_runtime.h>\n"),
    "includes in namespaces": _again('namespace n%d {\n#include "x%d.cuh"\n}\n'),
    "a long name of an include": lambda n: _BEFORE + '#include "' + "x" * 100 * n + '"\n',
    "a long path of an include": lambda n: _BEFORE + "#include <" + "x/" * 50 * n + ">\n",
    "an include that stays open": lambda n: _BEFORE + '#include "' + "x" * 100 * n + "\n",
    "blanks in a directive": lambda n: _BEFORE + "#" + " " * 100 * n + "include" + " " * 100 * n + '"a.h"\n',
    "directives without a name": _again("#\n"),
    "pragmas": _in_kernel("#pragma unroll %d\n"),
    "labels": _in_host("l%d: x = %d; goto l%d;\n"),
    "jumps": _in_kernel("if (x) goto l%d; x = __shfl_sync(~0u, x, 1); l%d: ;\n"),
    "cases of a switch": _again("case %d: x = __shfl_sync(~0u, x, %d); break;\n", _KERNEL + "switch (x) {\n", "}}\n"),
    "assembly": _in_kernel('asm("add.u32 %0, %1, %2;" : "=r"(x) : "r"(x), "r"(%d));\n'),
    "one long assembly": _listed(
        '".reg .u32 t%d;\\n add.u32 t%d, %0, 1;\\n"\n', _KERNEL + 'asm volatile("{\\n"\n', '"}" : "+r"(x)); }', ""
    ),
    "labels of assembly": _listed('"L%d: @p bra L%d;\\n"\n', _KERNEL + "asm volatile(", ' : "+r"(x)); }', ""),
    "operands of assembly": _listed('"+r"(x)', _KERNEL + 'asm volatile("add.u32 %0, %0, 1;" : ', "); }"),
    "languages": _nested('extern "C" {\n', "__global__ void q(int *a) { cudaFree(a); }", "}\n", "", ""),
    "namespaces": _again("namespace n%d { __device__ int f%d() { return warpSize; } }\n"),
    "namespaces within each other": _nested("namespace n {\n", "__global__ void q(int *a) { }", "}\n", "", ""),
    "members of a class": _again(
        "int m%d; __device__ int f%d() { return __any_sync(~0u, m%d); }\n", "struct S {\n", "};\n"
    ),
    "parentheses": _nested("(", "x", ")"),
    "brackets": _nested("a[", "0", "]"),
    "braces": _nested("{", "", "}", _KERNEL, "}\n"),
    "parentheses that stay open": _in_kernel("("),
    "braces that stay open": _in_kernel("{"),
    "parentheses that close": _in_kernel(")"),
    "mixed brackets that stay open": _in_kernel("([{"),
    "chevrons": _in_host("<<<"),
    "comparisons": _in_kernel("x <"),
    "templates that stay open": _in_kernel("a<"),
    "sums": _listed("x", _KERNEL + "x = ", ";\n}\n", " + "),
    "conditions": _listed("x", _KERNEL + "if (", ") " + _EXCHANGE + "}\n", " && "),
    "choices": _again("x ? __shfl_sync(~0u, x, 1) : ", _KERNEL + "x = ", "1; }"),
    "statements": _in_kernel("x = x + %d;\n"),
    "exchanges": _in_kernel("x += __shfl_xor_sync(~0u, x, %d);\n"),
    "declarations": _in_kernel("int v%d = threadIdx.x + %d;\n"),
    "declarations of one name": _in_kernel("int x = threadIdx.x; if (x < 3) { int x = %d; __syncthreads(); }\n"),
    "variables of variables": _chain(
        _KERNEL + "int v0 = threadIdx.x;\n",
        lambda i: f"int v{i + 1} = v{i} + 1;\n",
        lambda n: f"if (v{n} < 3) __syncthreads(); {_EXCHANGE}}}",
    ),
    "branches": _in_kernel("if (threadIdx.x < %d) { " + _EXCHANGE + "__syncthreads(); }\n"),
    "returns": _in_kernel("if (threadIdx.x == %d) return;\n" + _EXCHANGE),
    "loops": _in_kernel("for (int i = 0; i < %d; i++) { x += __shfl_down_sync(~0u, x, i); }\n"),
    "locks": _in_kernel("while (atomicCAS(a, 0, 1)) { }\n"),
    "barriers": _in_kernel("__syncthreads(); __syncwarp();\n"),
    "arrays in shared memory": _in_kernel("__shared__ int s%d[32]; s%d[threadIdx.x] = 1; __syncwarp(); x = s%d[1];\n"),
    "accesses to shared memory": _again(
        "s[threadIdx.x] += s[threadIdx.x + %d];\n",
        _KERNEL + "__shared__ volatile int s[99]; if (threadIdx.x < 32) {\n",
        "}}\n",
    ),
    "lambdas": _in_host("auto l%d = [=] __device__ (int a) { return __shfl_sync(~0u, a, %d); };\n"),
    "types": _again("typedef cudaStream_t S%d; S%d s%d; using U%d = cudaError_t;\n"),
    "enumerators": _listed("A%d", "enum E {", "};\n" + _KERNEL + "x = __shfl_sync(~0u, x, A5); }"),
    "constants": _chain(
        "constexpr int C0 = 1;\n",
        lambda i: f"constexpr int C{i + 1} = C{i} + C{i};\n",
        lambda n: f"{_KERNEL}x = __shfl_sync(~0u, x, C{n}); }}",
    ),
    "digits": lambda n: (
        f"{_BEFORE}#define N {'9' * 400 * n}\n#if N\n{_KERNEL}x = __shfl_sync(~0u, x, N * N); }}\n#endif\n"
    ),
    "references to textures": _again(
        "texture<float, 1> t%d; __device__ float g%d(int i) { return tex1Dfetch(t%d, i); }\n"
    ),
    "variables in constant memory": _again("__constant__ int c%d[4]; void w%d() { cudaMemcpyToSymbol(c%d, 0, 4); }\n"),
    "masks": _in_kernel("unsigned m%d = __ballot_sync(~0u, x == %d); int c%d = __popc(m%d);\n"),
    "fragments": _in_kernel(
        "wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f%d; wmma::mma_sync(c, f%d, b, c);\n"
    ),
    "tiles": _in_kernel("auto t%d = cg::tiled_partition<32>(b); x += t%d.shfl(x, 0);\n"),
    "halves": _in_host("__half h%d = __float2half(1.0f); h%d = h%d + h%d;\n"),
    "attributes": _again("__launch_bounds__(%d) "),
    "operators": _again("operator<< "),
    "scopes": _again("::"),
    "splices": _again("\\\n" * 10, "", "cudaFree(0);\n"),
    "splices of a directive": _again("b \\\n", "#define X a\\\n", "\n"),
    "splices of a comment": _again("a \\\n", "// ", "\n"),
    "trigraphs": _again("??=define X%d ??/\n"),
    "words": _again("id%d "),
    "one long word": lambda n: _BEFORE + "cuda" + "x" * 100 * n,
    "bytes beyond ASCII": _again("\u00e9%d "),
}
_CMAKE = "enable_language(CUDA)\nproject(x LANGUAGES CUDA)\nfind_package(CUDA)\n"
_PYTHON = "from torch.utils.cpp_extension import CUDAExtension\n"


def _file(unit: str, before: str = "", after: str = "") -> Make:
    return lambda n: before + "".join(unit.replace("%d", str(i)) for i in range(n)) + after


BUILDS: Mapping[tuple[str, str], Make] = {
    ("CMakeLists.txt", "targets"): _file("cuda_add_library(a%d b%d.cu)\n", _CMAKE),
    ("CMakeLists.txt", "sources"): _file("f%d.cu ", _CMAKE + "add_library(a ", ")\n"),
    ("CMakeLists.txt", "flags"): _file("-gencode arch=compute_80 ", _CMAKE + "set(CUDA_NVCC_FLAGS ", ")\n"),
    ("CMakeLists.txt", "conditions"): _file("if(CUDA)\n  find_package(CUDA)\nendif()\n", _CMAKE),
    ("CMakeLists.txt", "open conditions"): _file("if(CUDA)\n", _CMAKE),
    ("CMakeLists.txt", "open parentheses"): _file("(", _CMAKE),
    ("CMakeLists.txt", "open variables"): _file("${", _CMAKE + "set(a "),
    ("CMakeLists.txt", "expressions"): _file("$<$<COMPILE_LANGUAGE:CUDA>:-a>\n", _CMAKE + "add_compile_options(", ")"),
    ("CMakeLists.txt", "a word"): _file("xxxxxxxxxx", _CMAKE + "add_library(a ", ")\n"),
    ("CMakeLists.txt", "variables in a name"): _file("${A}", _CMAKE + "add_library(a ", "x.cu)\n"),
    ("CMakeLists.txt", "stars"): _file("*a", _CMAKE + "file(GLOB s ", "b.cu)\n"),
    ("CMakeLists.txt", "architectures"): _file("1", _CMAKE + "set(CMAKE_CUDA_ARCHITECTURES ", "x)\n"),
    ("Makefile", "rules"): _file("a%d.o: a%d.cu\n\t$(NVCC) -arch=sm_80 -c $< -o $@\n", "NVCC = nvcc\n"),
    ("Makefile", "flags"): _file("NVCCFLAGS += -gencode arch=compute_%d,code=sm_%d\n", "NVCC = nvcc\n"),
    ("Makefile", "libraries"): _file("LDLIBS += -lcudart -L/usr/local/cuda%d/lib64\n", "NVCC = nvcc\n"),
    ("Makefile", "a word"): _file("xxxxxxxxxx", "all:\n\tnvcc ", "\n"),
    ("Makefile", "open variables"): _file("$(", "all:\n\tnvcc ", "\n"),
    ("Makefile", "variables of variables"): lambda n: (
        "V0 = nvcc\n" + "".join(f"V{i + 1} = $(V{i}) $(V{i})\n" for i in range(n))
    ),
    ("setup.py", "extensions"): _file(
        'CUDAExtension("a%d", ["b%d.cu"], extra_compile_args={"nvcc": ["-O3"]})\n', _PYTHON
    ),
    ("setup.py", "a word"): _file("xxxxxxxxxx", _PYTHON + 'CUDAExtension("a", ["', '"])\n'),
    ("setup.py", "variables of variables"): lambda n: (
        f"{_PYTHON}f0 = []\n"
        + "".join(f"f{i + 1} = f{i} + f{i}\n" for i in range(n))
        + f'CUDAExtension("a", [], extra_compile_args={{"nvcc": f{n}}})\n'
    ),
    ("setup.py", "fields"): _file("{a}", _PYTHON + 's = f"', 'x.cu"\n'),
    ("build.sh", "commands"): _file("nvcc -arch=sm_80 a%d.cu -o a%d\n"),
    ("compile_commands.json", "rows"): _file(
        '{"file": "a%d.cu", "command": "nvcc -arch=sm_80 -c a%d.cu"},\n', "[", "{}]"
    ),
}


def work(does: Callable[[], object]) -> int:
    """How many lines of Python run meanwhile: the same on every machine."""
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: line)
    try:
        does()
    finally:
        sys.settrace(before)
    return count


def port_source(data: bytes) -> None:
    """Without types: those are clang's affair."""
    done = port(SourceFile("a.cu", data), context_of_fuzzing(), "a.hip")
    assert not done.crashes, done.crashes


def port_file(name: str, data: bytes) -> None:
    """A build file under its name."""
    done = port_build(SourceFile(name, data), context_of_fuzzing())
    assert not done.crashes, done.crashes


def _measure(name: str, make: Make, port: Callable[[bytes], object], times: int) -> None:
    seconds = []
    for count in (times, 4 * times):
        data = make(count).encode()
        began = time.process_time()
        port(data)
        seconds.append(time.process_time() - began)
    mark = "  <--" if seconds[1] > 0.2 and seconds[1] > 6 * seconds[0] else ""
    print(f"{seconds[0]:7.2f} s {seconds[1]:7.2f} s  {name}{mark}", flush=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.growth", description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("name", nargs="*", help="only these")
    asked = parser.parse_args()
    for name, make in SOURCES.items():
        if not asked.name or name in asked.name:
            _measure(name, make, port_source, asked.times)
    for (file, name), make in BUILDS.items():
        if not asked.name or name in asked.name:
            _measure(f"{file}: {name}", make, lambda data, file=file: port_file(file, data), asked.times)  # type: ignore[misc]


if __name__ == "__main__":
    main()

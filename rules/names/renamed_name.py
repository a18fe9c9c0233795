"""A001: names that HIP has under another name."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.renames import replacement
from porter.engine.rule import Dialect, Effort, Finding, Rule, Unit, clean, fixes


class RenamedName(Rule):
    """CUDA name that HIP has under another name

    HIP's runtime and its libraries follow CUDA's naming: `cudaMalloc` is `hipMalloc`, `cublasSgemm` is
    `hipblasSgemm`, `cub::BlockReduce` is `hipcub::BlockReduce`. The tables below `rules/api/` hold every public name
    of CUDA's headers, derived from both vendors' headers. Names that the project declares itself, members,
    strings and comments are left alone.
    """

    code = "A001"
    dialect = Dialect.BOTH
    by_names = True
    examples = (
        fixes("void f(int **p) { cudaMalloc(p, 4); }", "void f(int **p) { hipMalloc(p, 4); }"),
        fixes(
            "#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) die(); } while (0)",
            "#define CHECK(x) do { hipError_t e = (x); if (e != hipSuccess) die(); } while (0)",
        ),
        fixes(
            "struct Api { int (*cudaFree)(void *p); };\nint f(Api &a, void *p) { return a.cudaFree(p); }",
            "struct Api { int (*hipFree)(void *p); };\nint f(Api &a, void *p) { return a.hipFree(p); }",
        ),
        clean("struct Api { int cudaMalloc; };\nint f(Api &a) { return a.cudaMalloc; }"),
        fixes("using Sum = cub::BlockReduce<int, 128>;", "using Sum = hipcub::BlockReduce<int, 128>;"),
        fixes("namespace my_cub = cub;", "namespace my_cub = hipcub;"),
        clean(
            "#ifndef CubDebug\n#define CubDebug(e) mine::Debug((e), __FILE__)\n#endif\n"
            "bool f(int e) { return CubDebug(e); }"
        ),
        fixes("bool f(int e) { return CubDebug(e); }", "bool f(int e) { return HipcubDebug(e); }"),
        fixes(
            "#include <thrust/sort.h>\nnamespace thrust { struct mine; }\nvoid f(thrust::cuda::tag, thrust::mine);",
            "#include <thrust/sort.h>\nnamespace thrust { struct mine; }\nvoid f(thrust::hip::tag, thrust::mine);",
        ),
        fixes(
            "#include <thrust/sort.h>\nusing namespace thrust;\nvoid f(int *a) { sort(cuda::par.on(0), a, a + 3); }",
            "#include <thrust/sort.h>\nusing namespace thrust;\n"
            "void f(int *a) { sort(thrust::hip::par.on(0), a, a + 3); }",
        ),
        clean("#include <thrust/sort.h>\nnamespace a { namespace thrust { int cuda; } }\nint b = a::thrust::cuda;"),
        fixes(
            "#include <thrust/sort.h>\nvoid f(int *a) { a::thrust::sort(a::thrust::cuda::par.on(0), a, a + 3); }",
            "#include <thrust/sort.h>\nvoid f(int *a) { a::thrust::sort(a::thrust::hip::par.on(0), a, a + 3); }",
        ),
        clean(
            "#include <thrust/sort.h>\nnamespace a { namespace thrust { namespace cuda { int par; } } }\n"
            "int b = a::thrust::cuda::par;"
        ),
        clean("int b = a::thrust::cuda::par;"),
        clean("struct Pool { void *cudaMalloc(int); }; void f(Pool &p) { p.cudaMalloc(4); }"),
        fixes("void f(cudaStream_t s);", "void f(hipStream_t s);", path="a.hip"),
        fixes("auto name_of = &cuGetErrorName;", "auto name_of = &hipDrvGetErrorName;"),
        fixes("decltype(&nvrtcCreateProgram) create;", "decltype(&hiprtcCreateProgram) create;"),
        fixes(
            "using namespace cub;\nhipError_t Debug(hipError_t e);",
            "using namespace hipcub;\nhipError_t Debug(hipError_t e);",
            path="a.hip",
        ),
        clean('const char *s = "cudaMalloc failed"; // cudaMalloc'),
        clean("namespace mine { void cudaFree(int); } void f() { mine::cudaFree(1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        for use in unit.uses:
            row = use.row
            if use.support is not None or row is None or row.hip is None or row.hip == use.name:
                continue
            if use.first == use.last and "::" in use.name and unit.dialects.is_hip(unit.tokens.starts[use.first]):
                continue  # brought in by `using namespace`: in HIP code the namespace is HIP's
            edits = replacement(unit.tokens, use, row.hip)
            if edits:
                span = unit.span(use.first, use.last)
                yield self.finding(unit, span, f"{use.name} is {row.hip} in HIP", Effort.NONE, edits)

"""Which names count as the project's own."""

from __future__ import annotations

import pytest

from porter.cpp.declared import defines_fallback
from porter.cpp.lex import lex
from porter.cpp.prescan import scan
from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import load_support
from porter.engine.unit import Unit
from porter.model import Settings
from porter.names.table import load_names
from porter.source import SourceFile


@pytest.mark.parametrize(
    ("line", "declared"),
    [
        ("cudaError_t cudaFree(void *p);", set()),  # a stand-in for builds without CUDA: renamed with its uses
        ('extern "C" {\ncudaError_t cudaFree(void *p);\n}', set()),
        ("namespace mine {\ncudaError_t cudaFree(void *p);\n}", {"cudaFree"}),
        ("struct Pool {\n  cudaError_t cudaFree(void *p);\n};", {"cudaFree"}),
        ("#define cudaFree hipFree", {"cudaFree"}),
        ("#define cudaFree free", set()),
        ("struct cudaArray;", set()),
        ("std::map<int, int> warpSize;", {"warpSize"}),
        ("static int *const cudaFree = f;", set()),
        ("  __FILE__, __LINE__, cudaGetErrorString(error));", set()),
        ("  CUSPARSE_INDEX_32I,   CUSPARSE_INDEX_64I,", set()),
        ("return cudaFree(p);", set()),
        ("  operator cudaStream_t() const noexcept { return s; }", set()),
        ("  explicit operator cudaEvent_t() const;", set()),
        ("typedef struct CUstream_st *cudaStream_t;", set()),
        ("using cudaStream_t = CUstream_st *;", set()),
        ("using cudaStream_t = void *;", set()),
        ("typedef void *cudaStream_t;", set()),
        ("typedef cudaError_t (CUDART_CB *cudaLaunch_f)(int);", set()),
    ],
)
def test_prescan(line: str, declared: set[str]) -> None:
    found = scan(line.encode(), lambda name: name.startswith(("cuda", "CUSPARSE", "warp")))
    assert set(found.declared) - {"cudaError_t"} == declared


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("int cudaFree(void *);", False),
        ("struct Pool { int cudaFree(void *); };", True),
        ("#define cudaFree(p) hipFree(p)", True),
        ("void f() {\n#ifdef GPU\n  cudaFree(p);\n#endif\n}", False),
        ("void f() {\n#pragma unroll\n  cudaFree(p);\n}", False),
        ("#define cudaFree free", False),
        ("#define FREE cudaFree(p)", False),
        ("void f() { g(); CUERR\n  cudaFree(p); CUERR }", False),
        ("struct Pool { BOOL cudaFree(void *); };", True),
        ("#ifdef __JETBRAINS_IDE__\nint cudaFree(void *);\n#endif", False),
        ("#define FREE_BOTH \\\n  cudaFree(p); \\\n  cudaFree(q)", False),
        ("#define DECLARE int cudaFree(void *);", False),
    ],
)
def test_own_names_of_a_file(text: str, own: bool) -> None:
    unit = Unit(SourceFile("a.cu", text.encode()), Settings(), load_names(None, {}), load_support(None))
    assert ("cudaFree" in unit.own) == own


@pytest.mark.parametrize(
    ("path", "headers", "expected"),
    [
        ("a/main.cu", {"a/cuda.h"}, True),
        ("a/src/main.cu", {"a/include/cuda.h"}, True),
        ("a/main.cu", {"cuda.h"}, True),
        ("a/main.cu", {"b/util/cuda.h"}, False),
        ("a/main.cu", {"a/util/cuda/cuda.h"}, False),
        ("main.cu", set(), False),
    ],
)
def test_header_of_the_project(path: str, headers: set[str], expected: bool) -> None:
    unit = Unit(SourceFile(path, b""), Settings(), load_names(None, {}), load_support(None), headers=frozenset(headers))
    assert unit.is_project_header("cuda.h") == expected


@pytest.mark.parametrize(
    ("includes", "wanted"),
    [("#include <thrust/sort.h>\n", "hip"), ('#include "thrust/own.h"\n', "cuda"), ("", "cuda")],
)
def test_a_project_that_adds_to_a_librarys_namespace(includes: str, wanted: str) -> None:
    """What Thrust has in there is Thrust's where its headers are included; a project that is Thrust has its own."""
    mine = "namespace thrust { struct mine; }\n"
    text = f"{includes}{mine}void f(thrust::cuda::tag, thrust::mine, a::thrust::cuda::b);\n"
    own = (frozenset({"thrust"}), frozenset({"thrust/own.h"}))
    context = Context(Settings(), load_names(None, {}), load_support(None), all_rules(), *own)
    done = port(SourceFile("a.cu", text.encode()), context, "a.hip").data.decode()
    assert f"f(thrust::{wanted}::tag, thrust::mine, a::thrust::cuda::b)" in done
    assert mine in done


@pytest.mark.parametrize(
    ("text", "is_fallback"),
    [
        ("#ifndef M\n#define M(a) (a)\n#endif", True),
        ("#if !defined(M)\n#  define M(a) (a)\n#endif", True),
        ("#if !defined M\n#define M(a) (a)\n#endif", True),
        ("#ifdef M\n#define M(a) (a)\n#endif", False),
        ("#if defined(M)\n#define M(a) (a)\n#endif", False),
        ("#define M(a) (a)", False),
        ("#define M(a) (a)\n#ifndef M\n#endif", False),
        ("#ifndef M\n#define M (a)\n#endif", False),
        ("#ifndef M\n#define N(M) M(M)\n#endif", False),
    ],
)
def test_fallbacks_are_macros_with_parameters_where_nothing_else_defines_them(text: str, is_fallback: bool) -> None:
    assert defines_fallback(lex(text), "M") is is_fallback

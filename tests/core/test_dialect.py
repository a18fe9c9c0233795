"""Whose meaning a line has, and what the engine does and says about it."""

from __future__ import annotations

import pytest

from porter.cpp.lex import lex
from porter.engine.dialect import Dialect, Meaning, evidence, own_dialect, read_dialects
from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import load_support
from porter.model import Effort, PortedFile, Settings
from porter.names.table import load_names
from porter.source import SourceFile

HERE = "int here;"


def meaning(text: str, path: str = "a.cu", dialect: Dialect | None = None) -> Meaning:
    """What is known of the line `int here;`."""
    return read_dialects(path, lex(text), dialect).at(text.index(HERE))


def ported(text: str, path: str = "a.cu") -> PortedFile:
    """A file through the engine with all rules."""
    context = Context(Settings(), load_names(None, {}), load_support(None), all_rules())
    return port(SourceFile(path, text.encode()), context, path)


AMD = (
    "#ifdef USE_ROCM",
    "#if defined(USE_ROCM)",
    "#if USE_ROCM",
    "#ifdef __HIP_PLATFORM_AMD__",
    "#if defined(__HIPCC__) && defined(FAST)",
    "#if defined(__CUDACC__)\nint a;\n#elif defined(__HIP_PLATFORM_AMD__)",
    "#ifndef USE_ROCM\nint a;\n#else",
    "#if !defined(__HIP__)\nint a;\n#else",
    "#if HIP_VERSION >= 60000000",
    "#if defined(__gfx942__) || defined(__gfx90a__)",
    "#ifdef __AMDGCN__",
    "#if (defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__)) && !defined(NO_FAST)",
    "#ifdef GGML_USE_HIP",
    "#if defined(KOKKOS_ENABLE_HIP)",
    "#ifdef USE_ROCM\n#define ON_AMD\n#endif\n#ifdef ON_AMD",
    "#if defined(__HIPCC__) && defined(__gfx942__)\n#define __HIP__MI300__\n#endif\n#if defined(__HIP__MI300__)",
)


@pytest.mark.parametrize("condition", AMD)
def test_amds_branches(condition: str) -> None:
    found = meaning(f"{condition}\n{HERE}\n#endif\n")
    assert found.dialect is Dialect.HIP
    assert 64 in found.lanes


@pytest.mark.parametrize(
    "condition",
    [
        "#ifndef USE_ROCM",
        "#ifdef USE_ROCM\nint a;\n#else",
        "#ifdef __CUDACC__",
        "#ifdef __CUDACC__\nint a;\n#else",
        "#if defined(__CUDACC__) || defined(__HIPCC__)",
        "#ifndef MY_HIP_H\n#define MY_HIP_H",
        "#ifndef NO_HIP",
        "#if defined(USE_CUDA)",
        "#if __CUDA_ARCH__ >= 700",
        "#if HIP_VERSION >= 60000000\nint a;\n#else",
        "#if 1",
        "#if (((((broken",
    ],
)
def test_others(condition: str) -> None:
    assert meaning(f"{condition}\n{HERE}\n#endif\n").dialect is Dialect.CUDA
    assert meaning(f"{condition}\n{HERE}\n#endif\n", "a.h").dialect is not Dialect.HIP


@pytest.mark.parametrize(
    ("condition", "lanes"),
    [
        ("#if defined(__gfx1100__)", {32}),
        ("#if defined(__GFX11__) || defined(__GFX12__)", {32}),
        ("#ifdef __GFX9__", {64}),
        ("#if __AMDGCN_WAVEFRONT_SIZE == 64", {64}),
        ("#if __AMDGCN_WAVEFRONT_SIZE == 64\nint a;\n#else", {32}),
        ("#ifdef USE_ROCM", {32, 64}),
    ],
)
def test_lanes(condition: str, lanes: set[int]) -> None:
    assert meaning(f"{condition}\n{HERE}\n#endif\n", "a.hip").lanes == lanes


@pytest.mark.parametrize(
    ("condition", "compiled"),
    [
        ("#ifndef USE_ROCM", False),
        ("#ifdef USE_ROCM\nint a;\n#else", False),
        ("#if __CUDA_ARCH__ < 300 && defined(__CUDA_ARCH__)", False),
        ("#if __CUDA_ARCH__ >= 900", False),
        ("#if __CUDA_ARCH__ >= 800", True),
        ("#if 0", False),
        ("#ifdef __CUDACC__", True),
        ("#ifdef __CUDACC__\nint a;\n#else", True),
        ("#ifndef GGML_USE_HIP", True),
    ],
)
def test_what_the_port_compiles(condition: str, compiled: bool) -> None:
    assert meaning(f"{condition}\n{HERE}\n#endif\n").compiled is compiled


@pytest.mark.parametrize(
    ("path", "text", "dialect"),
    [
        ("a.hip", "", Dialect.HIP),
        ("a.cu", "", Dialect.CUDA),
        ("a.h", "", Dialect.BOTH),
        ("a.h", "#include <hip/hip_runtime.h>", Dialect.HIP),
        ("a.cu", "#include <hip/hip_bf16.h>", Dialect.HIP),
        (
            "a.h",
            "#ifdef USE_ROCM\n#include <hip/hip_runtime.h>\n#else\n#include <cuda_runtime.h>\n#endif",
            Dialect.BOTH,
        ),
        ("a.h", "#include <cuda_fp16.h>", Dialect.CUDA),
        ("a.h", "inline int f() { return __builtin_amdgcn_readfirstlane(1); }", Dialect.HIP),
        ("a.h", "#ifdef USE_ROCM\ninline int f() { return __builtin_amdgcn_readfirstlane(1); }\n#endif", Dialect.BOTH),
    ],
)
def test_files(path: str, text: str, dialect: Dialect) -> None:
    assert own_dialect(path, evidence(path, lex(text))) is dialect


MIXED = """\
#include <cuda_runtime.h>
#if defined(__HIPCC__) && (defined(__gfx90a__) || defined(__gfx942__))
#define __HIP__MI300_MI250__
#endif
#if defined(__HIP__MI300_MI250__)
__device__ float qk(float v) {
  for (int mask = 32; mask > 0; mask /= 2) v += __shfl_xor(v, mask);
  return v;
}
#else
__device__ float qk(float v) {
  asm("frobnicate.s32;");
  for (int mask = 16; mask > 0; mask /= 2) v += __shfl_xor_sync(0xffffffff, v, mask);
  return v;
}
#endif
__global__ void k(float *x) { x[threadIdx.x] = __shfl_xor_sync(0xffffffff, qk(x[threadIdx.x]), 1); }
"""


def test_amds_lines_stay_and_cudas_are_ported() -> None:
    result = ported(MIXED)
    text = result.data.decode()
    first, last = MIXED.index("#if defined(__HIPCC__)"), MIXED.index("#else")
    assert MIXED[first:last] in text
    assert text.count("porter::shfl_xor_sync") == 2
    left = [(f.code, f.effort) for f in result.findings if f.code.startswith(("P", "E"))]
    assert left == [("E008", Effort.NONE)], "assembly that no port compiles is one note"


def test_a_hip_file_stays() -> None:
    """The ballot kernel that was once narrowed to 32 lanes."""
    text = (
        "#include <hip/hip_runtime.h>\n__global__ void k(const int *x, unsigned long long *y) {\n"
        "  unsigned long long m = __ballot(x[threadIdx.x] > 0);\n"
        "  if (threadIdx.x % 64 == 0) y[threadIdx.x / 64] = __popcll(m);\n}\n"
    )
    result = ported(text, "a.hip")
    assert result.data.decode() == text
    assert not result.findings


def test_amds_own_assembly_is_not_ptx() -> None:
    text = '#ifdef USE_ROCM\n__device__ float f(int, int) __asm("llvm.amdgcn.raw.buffer.load.f32");\n#endif\n'
    assert not ported(text, "a.h").findings


def test_a_rule_does_not_reach_into_amds_branch() -> None:
    own = "#ifdef USE_ROCM\n  return __shfl(v, 0, 64);\n#else\n"
    text = f"__device__ int f(int v) {{\n{own}  return __shfl_sync(~0u, v, 0);\n#endif\n}}\n"
    assert own in ported(text).data.decode()

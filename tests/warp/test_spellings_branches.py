"""W107: widths and constants that branches of the preprocessor choose, in many spellings, and near misses."""

from __future__ import annotations

import pytest

from tests.warp.spelled import codes, missed

FOUND = [
    "#ifdef __HIP_PLATFORM_AMD__\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif",
    *(
        f"#ifdef __HIP_PLATFORM_AMD__\nconstexpr int {name} = 64;\n#else\nconstexpr int {name} = 32;\n#endif"
        for name in ("kWarp", "WARP", "kWave", "WAVE_WIDTH", "warp_threads", "WS")
    ),
    *(
        f"#ifdef USE_ROCM\n#define G 64\n#else\n#define G 32\n#endif\n__device__ int f(int v) {{ return {call}; }}"
        for call in ("__shfl_down_sync(~0u, v, 1, G)", "__shfl_xor(v, (1, 2), G)", "__shfl_up_sync(m(a, b), v, 1, G)")
    ),
    "#if defined(__HIP_PLATFORM_AMD__)\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif",
    "#if defined(USE_ROCM)\nconstexpr int kWarpSize = 64;\n#else\nconstexpr int kWarpSize = 32;\n#endif",
    "#if !defined(USE_ROCM)\nconstexpr int kWarpSize = 32;\n#else\nconstexpr int kWarpSize = 64;\n#endif",
    "#if USE_ROCM\nstatic constexpr int kWarpSize = 64;\n#else\nstatic constexpr int kWarpSize = 32;\n#endif",
    "#if defined(__HIPCC__)\ninline constexpr int kWarpSize = 64;\n#else\ninline constexpr int kWarpSize = 32;\n#endif",
    "#if defined(__HIP__)\nconst int kWarpSize = 64;\n#else\nconst int kWarpSize = 32;\n#endif",
    "#if defined(USE_ROCM) && !defined(__GFX10__)\nconst int kWarpSize{64};\n#else\nconst int kWarpSize{32};\n#endif",
    "#if defined(__CUDACC__)\n#define WARP_SIZE 32\n#elif defined(__HIPCC__)\n#define WARP_SIZE 64\n#endif",
    "#ifdef __CUDA_ARCH__\n#define WARP_SIZE 32\n#else\n#define WARP_SIZE 64\n#endif",
    "#define WARP_SIZE 32\n#ifdef USE_ROCM\n#undef WARP_SIZE\n#define WARP_SIZE 64\n#endif",
    "#ifdef USE_ROCM\n#define WARP_SIZE 64\n#endif\n#ifndef WARP_SIZE\n#define WARP_SIZE 32\n#endif",
    "#ifdef USE_ROCM\n#define WARP_SIZE 64\n#endif\n#ifndef USE_ROCM\n#define WARP_SIZE 32\n#endif",
    "#ifdef USE_ROCM\nenum { WARP_SIZE = 64 };\n#else\nenum { WARP_SIZE = 32 };\n#endif",
    (
        "#ifdef USE_ROCM\nstruct T { static constexpr int kWarpSize = 64; };\n#else\nstruct T { static "
        "constexpr int kWarpSize = 32; };\n#endif"
    ),
    (
        "struct T {\n#ifdef USE_ROCM\nstatic constexpr int kWarpSize = 64;\n#else\nstatic constexpr int "
        "kWarpSize = 32;\n#endif\n};"
    ),
    missed(
        "#ifdef USE_ROCM\nusing W = std::integral_constant<int, 64>;\n#else\nusing W = "
        "std::integral_constant<int, 32>;\n#endif"
    ),
    (
        "#ifdef USE_ROCM\ntemplate <> struct Traits<int> { enum { warp_size = 64 }; };\n#else\ntemplate <> "
        "struct Traits<int> { enum { warp_size = 32 }; };\n#endif"
    ),
    "constexpr int kWarpSize =\n#ifdef USE_ROCM\n64\n#else\n32\n#endif\n;",
    "constexpr int warp_size() {\n#ifdef USE_ROCM\nreturn 64;\n#else\nreturn 32;\n#endif\n}",
    "__host__ __device__ constexpr int warp_size() {\n#ifdef USE_ROCM\nreturn 64;\n#else\nreturn 32;\n#endif\n}",
    "__device__ int warp_size() {\n#ifdef USE_ROCM\nreturn 64;\n#else\nreturn 32;\n#endif\n}",
    (
        "#ifdef USE_ROCM\nconstexpr int warp_size() { return 64; }\n#else\nconstexpr int warp_size() { "
        "return 32; }\n#endif"
    ),
    (
        "#ifdef USE_ROCM\nconstexpr bool kIsRocm = true;\n#else\nconstexpr bool kIsRocm = "
        "false;\n#endif\nconstexpr int kWarpSize = kIsRocm ? 64 : 32;"
    ),
    "#ifdef USE_ROCM\n#define IS_ROCM 1\n#else\n#define IS_ROCM 0\n#endif\n#define WARP_SIZE (IS_ROCM ? 64 : 32)",
    (
        "constexpr bool kIsRocm = USE_ROCM;\ntemplate <int D> void f() { constexpr int warp_size = kIsRocm ? "
        "64 : 32; launch(warp_size); }"
    ),
    "#ifdef USE_ROCM\n#define LOG_WARP_SIZE 6\n#else\n#define LOG_WARP_SIZE 5\n#endif",
    "#ifdef USE_ROCM\nconstexpr int kThreadsPerWarp = 64;\n#else\nconstexpr int kThreadsPerWarp = 32;\n#endif",
    "#ifdef USE_ROCM\nconstexpr int kLanes = 64;\n#else\nconstexpr int kLanes = 32;\n#endif",
    "#ifdef USE_ROCM\nconstexpr uint32_t kWarpSize = 64u;\n#else\nconstexpr uint32_t kWarpSize = 32u;\n#endif",
    "#ifdef USE_ROCM\nconstexpr int kWarpSize = 0x40;\n#else\nconstexpr int kWarpSize = 0x20;\n#endif",
    "#ifdef USE_ROCM\nconstexpr int kWarpSize = 1 << 6;\n#else\nconstexpr int kWarpSize = 1 << 5;\n#endif",
    "#ifdef USE_ROCM\nconstexpr int kWarpSize = warpSize;\n#else\nconstexpr int kWarpSize = 32;\n#endif",
    "#ifdef USE_ROCM\n#define WARP_SIZE warpSize\n#else\n#define WARP_SIZE 32\n#endif",
    "#ifdef USE_ROCM\n#define WARP_SIZE __AMDGCN_WAVEFRONT_SIZE\n#else\n#define WARP_SIZE 32\n#endif",
    "#ifdef USE_ROCM\n#define WARP_SIZE rocprim::warp_size()\n#else\n#define WARP_SIZE 32\n#endif",
    '#ifdef USE_ROCM\n#include "rocm.h"\n#define WARP_SIZE 64\n#else\n#include "cuda.h"\n#define WARP_SIZE 32\n#endif',
    "#ifdef TORCH_HIP_VERSION\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif",
    "#if defined(HIP_VERSION) || defined(__HIP__)\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif",
    "#ifdef __HIP_DEVICE_COMPILE__\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif",
    (
        "#if __CUDA_ARCH__ >= 700\nconstexpr int kStages = 4;\n#else\nconstexpr int kStages = "
        "2;\n#endif\nvoid f() { launch(kStages); }"
    ),
    "#if __CUDA_ARCH__ >= 700\n#define STAGES 4\n#else\n#define STAGES 2\n#endif\nvoid f() { k<<<STAGES, 32>>>(); }",
    (
        "#if __CUDA_ARCH__ >= 700\n#define STAGES 4\n#elif __CUDA_ARCH__ >= 600\n#define STAGES "
        "3\n#else\n#define STAGES 2\n#endif\nvoid f() { k<<<STAGES, 32>>>(); }"
    ),
    (
        "#if __CUDA_ARCH__ >= 700\nenum { STAGES = 4 };\n#else\nenum { STAGES = 2 };\n#endif\nvoid f() { "
        "k<<<STAGES, 32>>>(); }"
    ),
    (
        "#if __CUDA_ARCH__ >= 700\nstruct C { static constexpr int S = 4; };\n#else\nstruct C { static "
        "constexpr int S = 2; };\n#endif\nvoid f() { k<<<C::S, 32>>>(); }"
    ),
    (
        "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700\nconstexpr int kS = 4;\n#else\nconstexpr int kS "
        "= 2;\n#endif\nvoid f() { launch(kS); }"
    ),
    "#ifdef __CUDA_ARCH__\nconstexpr int kS = 4;\n#else\nconstexpr int kS = 2;\n#endif\nvoid f() { launch(kS); }",
    "#ifndef __CUDA_ARCH__\nconstexpr int kS = 4;\n#else\nconstexpr int kS = 2;\n#endif\nvoid f() { launch(kS); }",
    (
        "struct C {\n#if __CUDA_ARCH__ >= 700\nstatic constexpr int kS = 4;\n#else\nstatic constexpr int kS "
        "= 2;\n#endif\n};\nvoid f() { launch(C::kS); }"
    ),
    missed(
        "template <int N> struct C { enum {\n#if __CUDA_ARCH__ >= 700\nS = 4\n#else\nS = 2\n#endif\n}; "
        "};\nvoid f() { launch(C<1>::S); }"
    ),
    "__host__ __device__ constexpr int s() {\n#if __CUDA_ARCH__ >= 700\nreturn 4;\n#else\nreturn 2;\n#endif\n}",
    "__host__ __device__ inline int s() {\n#if defined(__CUDA_ARCH__)\n  return 4;\n#endif\n  return 2;\n}",
    missed(
        "__host__ __device__ inline int s() { int r = 2;\n#if defined(__CUDA_ARCH__)\n  r = 4;\n#endif\n  return r;\n}"
    ),
    missed(
        "__host__ __device__ inline int s() {\n#if defined(__CUDA_ARCH__)\n  const int r = 4;\n#else\n  "
        "const int r = 2;\n#endif\n  return r;\n}"
    ),
    missed(
        "#if __CUDA_ARCH__ >= 700\nconstexpr int s() { return 4; }\n#else\nconstexpr int s() { return 2; "
        "}\n#endif\nvoid f() { launch(s()); }"
    ),
    missed(
        "#if __CUDA_ARCH__ >= 700\nusing T = float4;\n#else\nusing T = float2;\n#endif\nvoid f(int n) { "
        "k<<<n / sizeof(T), 32>>>(); }"
    ),
]
NOT = [
    "#ifdef USE_ROCM\ntypedef unsigned long long mask_t;\n#else\ntypedef unsigned mask_t;\n#endif",
    "#ifdef USE_ROCM\n#define FULL_MASK 0xffffffffffffffffull\n#else\n#define FULL_MASK 0xffffffffu\n#endif",
    "#ifdef USE_ROCM\n#define WARP_SIZE 32\n#else\n#define WARP_SIZE 32\n#endif",
    "#ifdef USE_ROCM\n#define TILE 64\n#else\n#define TILE 32\n#endif",
    *(
        f"#ifdef USE_ROCM\n#define {name} 64\n#else\n#define {name} 32\n#endif\n"
        f"__device__ int f(int v) {{ return {call}; }}"
        for name, call in (
            ("T", "g(v, 1, 2, T)"),
            ("T", "__shfl_down_sync(~0u, v, T)"),
            ("T", "__shfl_sync(~0u, v, T % 2, 32)"),
            ("WARPS", "v % WARPS"),
            ("kWarps", "v % kWarps"),
            ("WARP_TILE", "v % WARP_TILE"),
            ("W", "v % W"),
        )
    ),
    "#ifdef USE_ROCM\n#define WARP_SIZE 32\n#endif",
    "int f() {\n#ifdef USE_ROCM\nreturn 64;\n#else\nreturn 32;\n#endif\n}",
    "int warps() { return big ? 64 : 32; }",
    "int f() { int warp_size = is_large ? 64 : 32; return warp_size; }",
    "#ifdef __CUDA_ARCH__\nint x = 1;\n#endif\nconstexpr int kWarpSize = 32;",
    "#ifdef USE_ROCM\nconstexpr int kWarpSize = 32;\nconstexpr int kTile = 64;\n#endif",
    "__device__ int s() {\n#if defined(__CUDA_ARCH__)\n  return 4;\n#endif\n  return 2;\n}",
    "__host__ __device__ int s(int n) {\n#if defined(__CUDA_ARCH__)\n  return n;\n#endif\n  return 2;\n}",
]


@pytest.mark.parametrize("text", FOUND)
def test_constants_that_branches_choose(text: str) -> None:
    assert "W107" in codes(text)


@pytest.mark.parametrize("text", NOT)
def test_branches_that_agree_or_mean_no_width(text: str) -> None:
    assert "W107" not in codes(text)

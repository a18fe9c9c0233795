"""A kernel cut out of a file that cannot be compiled as a whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices import registry
from porter.validation.devices.core.result import Ran
from porter.validation.devices.device import Launch, Program
from porter.validation.devices.virtual import VirtualKernel
from porter.validation.harness.cutout import cut_out, kind_of

from tests.harness.conftest import Compile

COMMON = """#pragma once
#include <framework/tensor.h>
#define SQUARE(x) times((x), (x))
namespace common {
template <typename T> __device__ T times(T a, T b) { return a * b; }
struct Unused { framework::Tensor tensor; };
}
"""
SOURCE = """#include <torch/extension.h>
#include "common.cuh"
#include <missing/header.h>
#include <cstdint>
using namespace common;
namespace app {
using real = float;
typedef std::int32_t count_t;
enum class Mode : int { kPlain = 1, kShifted };
constexpr int kShift = 3;
struct Options { Mode mode; real factor; int shifted() const; };
inline __host__ __device__ int Options::shifted() const { return mode == Mode::kShifted ? kShift : 0; }
framework::Tensor host_only(const framework::Tensor& x) { return x.times(2); }
template <int N> struct Tile { real data[N]; };
template <> struct Tile<0> { real other; };
__device__ real helper(real x) { return SQUARE(x); }
__device__ real helper(count_t x) { return x; }
namespace {
template <typename T, int N>
__global__ void kernel(const T* in, real* out, count_t n, Mode mode) {
  Options options{mode, 2};
  Tile<N> tile;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  tile.data[0] = helper(in[i]) * options.factor + options.shifted();
  out[i] = tile.data[0];
}
}
static_assert(sizeof(framework::Tensor) == 8);
template framework::Tensor framework::apply<float>(framework::Tensor);
#if defined(WITH_EXTRA)
framework::Tensor extra(framework::Tensor t) { return t; }
#endif
framework::Tensor forward(framework::Tensor x) {
#ifdef SOMETHING
  framework::twice();
#endif
  kernel<float, 4><<<1, 2>>>(x.data(), x.data(), 1, Mode::kPlain);
  return x;
}
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &app::forward); }
"""


def _write(folder: Path, source: str = SOURCE) -> Program:
    (folder / "common.cuh").write_text(COMMON)
    (folder / "source.cu").write_text(source)
    return Program(folder / "source.cu", "app::kernel<float, 4>", "cuda")


def test_the_closure_stays_and_nothing_else(tmp_path: Path) -> None:
    text = cut_out(_write(tmp_path))
    assert text is not None
    for kept in ("using real", "count_t;", "enum class Mode", "kShift = 3", "Options::shifted", "Tile<0>", "times(T a"):
        assert kept in text, kept
    for dropped in ("framework::", "torch", "missing/header", "PYBIND11_MODULE", "<<<", "static_assert", "Unused"):
        assert dropped not in text, dropped
    assert "#include <cstdint>" in text and "#if defined(WITH_EXTRA)" in text


def test_lines_stay_where_they_were(tmp_path: Path) -> None:
    text = cut_out(_write(tmp_path))
    assert text is not None
    marker = f'"{tmp_path}/source.cu"'
    line = 0
    for row in text.splitlines():
        if row.startswith("#line"):
            line = int(row.split()[1]) - 1 if marker in row else -10_000
        else:
            line += 1
        if "__global__ void kernel" in row:
            assert SOURCE.splitlines()[line - 1] == row
            return
    pytest.fail("the kernel is gone")


def test_an_unknown_kernel_is_nothing(tmp_path: Path) -> None:
    program = _write(tmp_path)
    assert cut_out(Program(program.source, "app::other", "cuda")) is None


@pytest.mark.parametrize(
    ("kind", "cuda", "hip"),
    [("CUdeviceptr", "cuda.h", "hip/hip_runtime.h"), ("__half", "cuda_fp16.h", "hip/hip_fp16.h"), ("CUSTOM_t", "", "")],
)
def test_headers_for_types_that_a_project_leaves_to_its_users(tmp_path: Path, kind: str, cuda: str, hip: str) -> None:
    path = tmp_path / "k.cu"
    path.write_text(f"#include <made_by_the_build.h>\nstruct B {{ {kind} at; }};\n__global__ void k(B b) {{}}\n")
    for language, header in (("cuda", cuda), ("hip", hip)):
        text = cut_out(Program(path, "k", language))
        assert text is not None
        assert [line for line in text.splitlines() if "#include" in line] == [f"#include <{header}>"] * bool(header)


def test_launchers_are_told_from_kernels(tmp_path: Path) -> None:
    program = _write(tmp_path)
    kinds = {name: kind_of(Program(program.source, name, "cuda")) for name in ("app::kernel<int, 1>", "app::forward")}
    assert kinds == {"app::kernel<int, 1>": "kernel", "app::forward": "launcher"}
    assert kind_of(Program(program.source, "elsewhere", "cuda")) == "kernel"


@pytest.mark.slow
def test_it_compiles_and_runs(compile_fake: Compile, tmp_path: Path) -> None:
    (tmp_path / "common.cuh").write_text(COMMON)
    kernel = compile_fake(SOURCE, "app::kernel<float, 4>", tmp_path)
    assert kernel.harness.unit.code is not None
    given = np.arange(5, dtype=np.float32)
    launch = Launch((1, 1, 1), (8, 1, 1), (given, np.zeros(5, np.float32), 5, 2))
    done = kernel.launch(launch, 30)
    assert isinstance(done, Ran), done
    assert done.output(1).tolist() == [2 * x * x + 3 for x in given.tolist()]


def test_macros_that_make_device_code_are_kept(tmp_path: Path) -> None:
    (tmp_path / "source.cu").write_text(
        "#define HD __device__ inline\n"
        "#define MAKE(name) HD int name(int x) { return x; }\n"
        "#define MAKE_TWO(name) MAKE(name##_a) MAKE(name##_b)\n"
        "#define HOST(name) Tensor name(Tensor x) { return x; }\n"
        "MAKE_TWO(get)\n"
        "HOST(host)\n"
        "template <class T, class = void>\n"
        "struct Primary { static constexpr int value = 1; };\n"
        "std::tuple<Tensor, Tensor> both(Tensor x) { return {x, x}; }\n"
        "template <class T> __global__ void k(T *x) { Primary<T> p; *x = get_a(*x) + p.value; Tensor t; }\n"
    )
    text = cut_out(Program(tmp_path / "source.cu", "k<int>", "cuda"))
    assert text is not None
    for kept in ("MAKE_TWO(get)", "struct Primary {"):
        assert kept in text, kept
    for dropped in ("\nHOST(host)", "both(Tensor"):
        assert dropped not in text, dropped


def test_support_headers_are_included_as_they_are(tmp_path: Path) -> None:
    """What porter wrote is whole: its macros make names that no text has."""
    (tmp_path / "porter").mkdir()
    (tmp_path / "porter" / "math.hpp").write_text("#define MAKE(x) __device__ int to_##x();\nMAKE(int)\n")
    source = tmp_path / "k.hip"
    source.write_text(
        '#include "porter/math.hpp"\n__global__ void k(int* y) { *y = to_int(); }\nmissing::Type unused;\n'
    )
    text = cut_out(Program(source, "k", "hip"))
    assert text is not None and f'#include "{(tmp_path / "porter" / "math.hpp").resolve()}"' in text
    assert "MAKE" not in text and "missing" not in text


def test_types_of_the_language_come_with_what_is_cut_out(tmp_path: Path) -> None:
    path = tmp_path / "k.cuh"
    path.write_text("struct Other { float x; };\n__global__ void k(half* x, uint32_t n) { x[n] = x[0]; }\n")
    cuda, hip = (cut_out(Program(path, "k", language=language)) or "" for language in ("cuda", "hip"))
    assert "#include <cuda_fp16.h>" in cuda and "#include <cstdint>" in cuda and "bf16" not in cuda
    assert "#include <hip/hip_fp16.h>" in hip and "cuda_fp16.h" not in hip
    assert cuda.index("cstdint") < cuda.index("__global__")


@pytest.mark.parametrize(
    ("used", "cuda", "hip"),
    [
        ("curandState *s = nullptr; x[0] = curand_uniform(s);", "curand_kernel.h", "hiprand/hiprand_kernel.h"),
        (
            "auto block = cooperative_groups::this_thread_block();",
            "cooperative_groups.h",
            "hip/hip_cooperative_groups.h",
        ),
        ("thrust::complex<float> z;", "thrust/complex.h", "thrust/complex.h"),
        ("thrust::plus<float> add;", "thrust/functional.h", "thrust/functional.h"),
        ("x[0] = std::numeric_limits<float>::max();", "limits", "limits"),
        ("assert(x);", "cassert", "cassert"),
    ],
)
def test_headers_for_functions_of_the_device(used: str, cuda: str, hip: str, tmp_path: Path) -> None:
    path = tmp_path / "k.cuh"
    path.write_text(f"void host() {{ plus(complex); }}\n__global__ void k(float* x) {{ {used} }}\n")
    for language, header in (("cuda", cuda), ("hip", hip)):
        text = cut_out(Program(path, "k", language)) or ""
        assert text.startswith(f"#if __has_include(<{header}>)\n#include <{header}>\n#endif\n")
        assert text.count("__has_include") == 1


def test_headers_of_cuda_come_before_what_may_stand_open(tmp_path: Path) -> None:
    """`extern "C" {` of a branch whose `}` is another one's is no place for operators."""
    path = tmp_path / "k.cuh"
    path.write_text('extern "C" {\n#include <cuda_fp16.h>\n#include <cub/cub.cuh>\n__global__ void k(float* x) {}\n')
    text = cut_out(Program(path, "k", "cuda")) or ""
    assert text.index("cuda_fp16.h") < text.index('extern "C"') and "__has_include(<cub" not in text


def test_what_a_header_says_to_its_build_is_not_said(tmp_path: Path) -> None:
    path = tmp_path / "k.cuh"
    path.write_text('#ifndef MADE_BY_CMAKE\n#  error "run cmake"\n#endif\n__global__ void k(float* x) {}\n')
    text = cut_out(Program(path, "k", "cuda")) or ""
    assert "error" not in text and text.count("\n") == 5 and "MADE_BY_CMAKE" in text


@pytest.mark.slow
def test_code_of_the_host_that_does_not_compile_is_left_out(tmp_path: Path) -> None:
    """The class is needed, what its functions of the host call is not here."""
    path = tmp_path / "source.cu"
    path.write_text(
        "#include <missing/library.h>\n"
        "struct Scale {\n  float by;\n  library::Tensor apply(library::Tensor t) const { return t * by; }\n"
        "  __host__ __device__ float operator()(float x) const { return x * by; }\n};\n"
        "__global__ void kernel(const float* in, float* out, int n, Scale scale) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = scale(in[i]);\n}\n"
    )
    if (reason := registry.why_not("ptx")) is not None:
        pytest.skip(reason)
    device = registry.device("ptx")
    assert not isinstance(device, str)
    loaded = device.compile(Program(path, "kernel", "cuda"), 60)
    assert isinstance(loaded, VirtualKernel), loaded
    assert "cut out of source.cu" in loaded.notes[0] and "of the host that do not compile" in loaded.notes[1]
    again = device.compile(Program(path, "kernel", "cuda"), 60)
    assert isinstance(again, VirtualKernel) and again.notes == loaded.notes

"""Which files are builds, and where they mention CUDA."""

from __future__ import annotations

import pytest

from porter.buildfiles.mentions import kind_of_build, mention

FOUND = (
    ("configure.ac", "AC_CHECK_LIB(cudart, cudaMalloc)", "E209"),
    ("m4/gpu.m4", "AC_PATH_PROG([NVCC], [nvcc])", "E209"),
    ("xmake.lua", 'add_files("src/*.cu")', "E210"),
    ("xmake/gpu.lua", 'set_toolchains("cuda")', "E210"),
    ("premake5.lua", 'links { "cudart" }', "E210"),
    ("SConstruct", "env.Append(LIBS=['cudart'])", "E211"),
    ("src/SConscript", "env.Object('k.cu')", "E211"),
    ("wscript", "conf.find_program('nvcc')", "E211"),
    ("app.pro", "LIBS += -lcudart", "E212"),
    ("build.rs", "cc::Build::new().cuda(true)", "E213"),
    ("gpu/BUCK", "cuda_library(name = 'k')", "E205"),
    ("lib-config.cmake.in", "find_dependency(CUDAToolkit)", "E201"),
    ("CMakeLists.txt.in", "enable_language(CUDA)", "E201"),
    ("example/CMakeLists_gpu.in", "enable_language(CUDA)", "E201"),
    ("rules.mk.in", "NVCC = @NVCC@ # nvcc", "E202"),
    ("make.inc.example", "NVCC = nvcc", "E202"),
    ("makefile_gpu", "all:\n\tnvcc k.cu", "E202"),
)
QUIET = (
    ("configure.ac", "AC_CHECK_LIB(m, cos)"),
    ("train.lua", "require 'cunn'\nlocal m = nn.Linear(2, 2):cuda()\nlocal n = torch.CudaTensor(4)"),
    ("plot.pro", "pro cuda_like, x\nend"),
    ("build.rs", "fn main() { println!(); }"),
    ("config.h.in", "#define CUDA_VERSION @CUDA_VERSION@"),
    ("setup.py.in", "nvcc"),
    ("lib-config.cmake.in", "find_dependency(Threads)"),
)


@pytest.mark.parametrize(("path", "text", "code"), FOUND)
def test_a_build_that_mentions_cuda(path: str, text: str, code: str) -> None:
    notice = kind_of_build(path)
    assert notice is not None
    use = mention(notice, text.encode())
    assert use is not None and use.code == code


@pytest.mark.parametrize(("path", "text"), QUIET)
def test_what_is_no_build_of_cudas(path: str, text: str) -> None:
    notice = kind_of_build(path)
    assert notice is None or mention(notice, text.encode()) is None

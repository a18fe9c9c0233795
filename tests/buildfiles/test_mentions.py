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
    ("run.sh", "docker run --gpus all image", "E206"),
    ("run.bash", "nvidia-smi -L", "E206"),
    ("gpu.mk", "run:\n\tdocker run --runtime=nvidia image", "E202"),
    ("rules.mk.in", "NVCC = @NVCC@ # nvcc", "E202"),
    ("make.inc.example", "NVCC = nvcc", "E202"),
    ("makefile_gpu", "all:\n\tnvcc k.cu", "E202"),
    ("recipe/meta.yaml", "requirements:\n  build:\n    - {{ compiler('cuda') }}", "E214"),
    ("meta.yaml", "  host:\n    - cudatoolkit {{ version }}", "E214"),
    ("recipe/recipe.yaml", "  build:\n    - cuda-nvcc", "E214"),
    ("recipe/conda_build_config.yaml", "cuda_compiler:\n  - cuda-nvcc", "E214"),
    ("environment.yml", "dependencies:\n  - pytorch-cuda=11.8", "E214"),
    ("conda/environments/all_cuda-128_arch-x86_64.yaml", "- cuda-version=12.8", "E214"),
    ("environment-gpu.yaml", "  - pip:\n    - cupy-cuda12x", "E214"),
    ("pixi.toml", '[dependencies]\ncuda-nvcc = "12.*"', "E214"),
    ("requirements.txt", "torch==2.1.0+cu118", "E214"),
    ("requirements-gpu.txt", "nvidia-cublas-cu12==12.1.3.1", "E214"),
    ("docs/requirements.in", "--extra-index-url https://download.pytorch.org/whl/cu121", "E214"),
    ("pyproject.toml", 'dependencies = ["nvidia-cuda-nvcc", "numpy"]', "E208"),
    ("pyproject.toml", 'dependencies = ["cupy-cuda12x"]', "E208"),
    ("pyproject.toml", '[tool.pixi.dependencies]\ncuda-nvcc = "*"', "E208"),
    ("Dockerfile", "ARG TAG=12.4.1\nFROM nvidia/cuda:${TAG}-devel-ubuntu22.04", "E215"),
    ("docker/gpu.Dockerfile", "FROM nvcr.io/nvidia/pytorch:24.01-py3", "E215"),
    ("Dockerfile.gpu", "RUN apt-get install -y cuda-toolkit-12-4", "E215"),
    ("Containerfile", "ENV PATH=/usr/local/cuda/bin:$PATH", "E215"),
    ("Singularity.gpu", "From: nvidia/cuda:11.8.0-devel", "E215"),
    (".github/workflows/ci.yml", "steps:\n  - uses: Jimver/cuda-toolkit@v0.2.16", "E216"),
    (".github/workflows/wheels.yaml", "container: nvidia/cuda:12.4.1-devel-ubuntu22.04", "E216"),
    (".gitlab-ci.yml", "script:\n  - nvidia-smi", "E216"),
    (".circleci/config.yml", "run: sudo apt-get install cuda-toolkit-12-4", "E216"),
    ("appveyor.yml", "- set PATH=%CUDA_PATH%", "E216"),
    ("docker-compose.yml", "image: nvidia/cuda", "E216"),
    ("docker-compose.gpu.yaml", "services:\n  a:\n    runtime: nvidia", "E216"),
    ("deploy/compose.yaml", "          devices:\n            - driver: nvidia\n              count: 1", "E216"),
    (".devcontainer/devcontainer.json", '"runArgs": ["--gpus", "all"]', "E216"),
    ("ci/Jenkinsfile", "sh 'docker run --gpus all app'", "E216"),
    ("src/gpu.rs", "use cudarc::driver::CudaDevice;", "E221"),
    ("src/kernels.rs", 'const K: &str = "extern \\"C\\" __global__ void f() {}";', "E221"),
    ("src/ffi.rs", 'extern "C" { fn cudaMalloc(p: *mut *mut c_void, n: usize) -> i32; }', "E221"),
    ("cuda/init.go", "// #cgo LDFLAGS: -lcuda\n// #include <cuda.h>", "E222"),
    ("gpu.go", "e := C.cudaMalloc(&p, n)", "E222"),
    ("src/Gpu.jl", "using LinearAlgebra, CUDA\n@cuda threads=32 f(a)", "E223"),
    ("src/solve.cuf", "attributes(global) subroutine f(a)", "E224"),
    ("src/solve.F90", "  USE CUDAFOR\n  call f<<<grid, block>>>(a)", "E224"),
    ("src/cuda_if.f90", "integer function m(p) bind(c, name='cudaMalloc')", "E224"),
    ("MATLAB/Compile.m", "mex('Source/gpuUtils.cu')", "E225"),
    ("lib/runtime.pxd", 'cdef extern from "cuda_runtime_api.h" nogil:', "E226"),
    ("src/Gpu.java", "import jcuda.driver.JCudaDriver;", "E227"),
    ("Gpu.cs", '[DllImport("nvcuda")]', "E227"),
    ("kernels/reduction.mako", "__global__ void f() { x += __shfl_down_sync(m, x, 1); }", "E228"),
)
QUIET = (
    ("configure.ac", "AC_CHECK_LIB(m, cos)"),
    ("train.lua", "require 'cunn'\nlocal m = nn.Linear(2, 2):cuda()\nlocal n = torch.CudaTensor(4)"),
    ("plot.pro", "pro cuda_like, x\nend"),
    ("build.rs", "fn main() { println!(); }"),
    ("run.sh", "srun --gpus-per-node 4 ./a"),
    ("Makefile", "run:\n\tdocker run image"),
    ("config.h.in", "#define CUDA_VERSION @CUDA_VERSION@"),
    ("setup.py.in", "nvcc"),
    ("lib-config.cmake.in", "find_dependency(Threads)"),
    ("meta.yaml", "requirements:\n  run:\n    - numpy\nabout:\n  summary: kernels, with CUDA where there is a GPU"),
    ("recipe.yaml", "device: cuda\nprecision: bf16"),
    ("environment.yml", "dependencies:\n  - pytorch\n  - cudf_like\n  - icu=110"),
    ("requirements.txt", "torch\ntorchvision  # with CUDA\nbarracuda==1.0"),
    ("environment.txt", "cudatoolkit"),
    ("pyproject.toml", 'description = "Runs on NVIDIA GPUs with CUDA"'),
    ("Dockerfile", "FROM ubuntu:22.04\nRUN echo no CUDA here"),
    ("Dockerfile.rocm", "FROM rocm/pytorch:latest"),
    ("dockerfiles.md", "FROM nvidia/cuda"),
    ("docker-compose.yml", "image: postgres:16\ncommand: gpus"),
    ("docker-compose.yml", "image: rocm/pytorch\n# was nvidia/cuda\ndevices: [/dev/kfd]"),
    (".github/workflows/ci.yml", "strategy:\n  matrix:\n    backend: [cpu, opencl]\nrun: cmake -DUSE_CUDA=OFF"),
    (".github/workflows/gpu.yml", "image: nvidia/cuda:12.4.1\n---\nimage: rocm/dev-ubuntu-22.04"),
    ("docs/workflows/ci.yml", "image: nvidia/cuda"),
    (".github/ISSUE_TEMPLATE/bug.yml", "description: paste what nvidia-smi says"),
    ("values.yml", "runtime: nvidia"),
    ("src/customers.rs", "use cust::Customer; // no barracuda::here"),
    ("src/both.rs", "fn cudaMalloc(p: *mut u8); fn hipMalloc(p: *mut u8);"),
    ("main.go", "// faster than CUDA\nfunc cuLess() {}"),
    ("src/Solver.jl", "# using CUDA would be faster\nusing LinearAlgebra"),
    ("ext/BothExt.jl", "using CUDA\nusing AMDGPU"),
    ("src/out.f90", "print *, '<<<<< end >>>>>'\n! cuda"),
    ("src/both.F90", "use cudafor\nuse hipfort"),
    ("plot.m", "% CUDA is in gpu.cuda\nx = cumsum(y);"),
    ("App/main.m", "#import <Foundation/Foundation.h>"),
    ("fast.pyx", "cdef extern from 'math.h': double sqrt(double)"),
    ("Main.java", "class Barracuda {}"),
    ("chart/notes.tmpl", 'cat <<<"{{ .Values.cuda }}"'),
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

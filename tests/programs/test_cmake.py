"""Programs that CMake builds, with its language HIP and no ROCm."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from porter.validation.programs import rocm, wrapper_hipcc
from porter.validation.programs.agreement import Agreement
from porter.validation.programs.compare import compare_project
from porter.validation.programs.launch import Options

from tests.outside import require

LISTS = """cmake_minimum_required(VERSION 3.21)
project(sums LANGUAGES CXX CUDA)
set(CMAKE_CUDA_ARCHITECTURES 80)
find_package(CUDAToolkit REQUIRED)
add_library(kernel STATIC kernel.cu)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE kernel CUDA::cudart)
"""
KERNEL = """#include <cstdio>
__global__ void sum(int *p) {
  int v = p[threadIdx.x];
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) p[threadIdx.x] = v;
}
void run(int *p) { sum<<<1, 64>>>(p); }
"""
MAIN = """#include <cstdio>
#include <cuda_runtime.h>
void run(int *p);
int main() {
  int h[64], *d;
  for (int i = 0; i < 64; i++) h[i] = i * i;
  cudaMalloc((void **)&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  run(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %d\\n", h[0], h[32]);
  return cudaFree(d);
}
"""
TABLE = '[[program]]\nname = "sums"\nbuild = ["cmake -S . -B build", "cmake --build build"]\nrun = "build/main"\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "agreement"), [("", Agreement.AGREE), ("*", Agreement.NOT_BUILT)], ids=["as it is", "does not compile"]
)
def test_a_program_that_cmake_builds(tmp_path: Path, wrong: str, agreement: Agreement) -> None:
    """The original with its language CUDA, the port with HIP; `main.cpp` is compiled by the host's compiler."""
    require("cmake")
    require("nvcc")
    files = {"CMakeLists.txt": LISTS, "kernel.cu": KERNEL, "main.cpp": MAIN, "porter.toml": TABLE}
    for name, text in files.items():
        (tmp_path / name).write_text(text + wrong * (name == "kernel.cu"))
    (found,) = compare_project(tmp_path, (), Options()).programs
    if found.agreement is Agreement.NOT_RUN:
        pytest.skip(found.reason)
    assert found.agreement is agreement, found.reason
    if not wrong:
        assert found.port is not None and found.port.account.sides == ("hip",)


@pytest.mark.slow
def test_libraries_that_there_are(tmp_path: Path) -> None:
    """Stand-ins are built when a project asks for them, and what is not there is not found."""
    cmake = require("cmake")
    headers, library, stand_in = tmp_path / "headers", tmp_path / "runtime", tmp_path / "built"
    (headers / "hipcub").mkdir(parents=True)
    build = ["cmake", "-E", "touch", str(tmp_path / "asked for")]
    tools = tmp_path / "tools"
    (tools).mkdir()
    rocm.lay_out(tools, dict(rocm.texts(headers, True, library, "6.0", {"hipblas": str(stand_in)}, build)))
    asked = 'find_package({0}{1})\nmessage(STATUS "{0}=${{{0}_FOUND}}")\n'
    lists = "".join(asked.format(name, "") for name in ("hip", "hipcub", "rocthrust", "hipsolver"))
    lists += asked.format("hipblas", " 2.0 REQUIRED")
    lists += "".join(
        f"get_target_property(l {name} INTERFACE_LINK_LIBRARIES)\nmessage(STATUS ${{l}})\n"
        for name in ("hip::host", "roc::hipblas")
    )
    (tmp_path / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.21)\nproject(x NONE)\n{lists}")
    more = rocm.environment(tools, {"CMAKE_PREFIX_PATH": "/nowhere"})
    environment = {"PATH": "/usr/bin:/bin", **more}
    command = [cmake, "-S", ".", "-B", "b", "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    said = [line.removeprefix("-- ") for line in done.stdout.splitlines()]
    assert said[:4] == ["hip=1", "hipcub=1", "rocthrust=0", "hipsolver=0"]
    assert said[4:7] == ["hipblas=1", f"{library}/libamdhip64.so", f"{stand_in}/libhipblas.so"]
    assert (tmp_path / "hipblas").exists() or (tmp_path / "b" / "hipblas").exists()


@pytest.mark.parametrize(("words", "asks"), [(["-v", "-print-targets"], True), (["-v", "a.hip", "-o", "a"], False)])
def test_questions_are_not_linked(words: list[str], asks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"compiler": "clang", "options": ["-w"], "libraries": ["-lx"], "stand_ins": {}, "build_stand_ins": []}
    monkeypatch.setattr(wrapper_hipcc, "SETTINGS", settings)
    assert ("-lx" not in wrapper_hipcc.command(words)) is asks

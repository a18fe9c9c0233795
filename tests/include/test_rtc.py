"""rtc.hpp and driver.hpp: NVRTC's options, and programs compiled by the real hiprtc, which needs no GPU for it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from porter.engine.support import closure, contents, header_names
from porter.system.needs import need
from tests import kept
from tests.include import hip
from tests.outside import require

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OPTIONS = """
#include "porter/rtc.hpp"
#include <cstdio>
int main(int count, char** words) {
  for (const std::string& option : porter::rtc::translated(count - 1, words + 1)) std::puts(option.c_str());
}
"""
COMPILER = """
#include "porter/driver.hpp"
#include "porter/rtc.hpp"
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
int main(int count, char** words) {
  std::ifstream file(words[1]);
  std::string const source((std::istreambuf_iterator<char>(file)), {});
  const char *text = nullptr, *mine = "#define MINE 3\\n", *called = "mine.h", *error = nullptr;
  hiprtcProgram program;
  if (porter::hiprtcCreateProgram(nullptr, nullptr, "", 0, nullptr, nullptr) != HIPRTC_ERROR_INVALID_INPUT) return 2;
  if (porter::hiprtcCompileProgram(nullptr, 1, nullptr) != HIPRTC_ERROR_INVALID_INPUT) return 3;
  if (porter::hipDrvGetErrorString(hipErrorInvalidValue, &error) != hipSuccess || std::strlen(error) == 0) return 4;
  if (porter::hipDrvGetErrorName(hipSuccess, &text) != hipSuccess || std::strcmp(text, "hipSuccess")) return 5;
  if (porter::hiprtcCreateProgram(&program, source.c_str(), nullptr, 1, &mine, &called) != HIPRTC_SUCCESS) return 6;
  hiprtcResult const result = porter::hiprtcCompileProgram(program, count - 2, words + 2);
  size_t size = 0;
  hiprtcGetProgramLogSize(program, &size);
  std::string log(size + 1, ' ');
  if (size) hiprtcGetProgramLog(program, &log[0]);
  std::puts(log.c_str());
  return result == HIPRTC_SUCCESS ? 0 : 1;
}
"""
RTC_HEADERS = contents({"porter/rtc.hpp", *header_names()})["porter/rtc_headers.hpp"].decode()
TEXTS = sorted(name for name in header_names() if f'"{name}"' in RTC_HEADERS)


def _built(source: str, folder: Path, *flags: str) -> Path:
    compiler = require("C++ compiler")
    tree = hip.require_tree("hip/hiprtc.h")
    for name, data in contents({"porter/rtc.hpp", "porter/driver.hpp", *header_names()}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "a.cpp").write_text(source, "utf-8")
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations")
    platform = ("-D__HIP_PLATFORM_AMD__", "-I", folder, *(("-I", tree.include) if tree.include else ()))
    command = [compiler, "-std=c++11", *warnings, *map(str, platform), "-Wl,--no-as-needed", *flags]
    done = kept.program(command, folder / "a.cpp", folder / "a")
    if "cannot find -lamdhip64" in done.stderr:
        pytest.skip(f"no HIP runtime to link with ({need('HIP runtime').remedy})")
    assert done.returncode == 0, done.stderr
    return folder / "a"


@pytest.fixture(scope="module")
def translator(module_path: Path) -> Path:
    """Prints what options become."""
    return _built(OPTIONS, module_path / "options", "-lamdhip64")


@pytest.fixture(scope="module")
def compiler(module_path: Path) -> Path:
    """Compiles a file with hiprtc and options of NVRTC."""
    return _built(COMPILER, module_path / "compiler", "-lamdhip64")


def _run(program: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("--gpu-architecture=compute_80", "-std=c++17"),
        ("-arch sm_90 --std=c++20", "-std=c++20"),
        ("--gpu-architecture=gfx942 -std=c++14", "--gpu-architecture=gfx942 -std=c++14"),
        ("-DA=1 -D B=2 --define-macro=C=D=3 '-D E' -UF", "-DA=1 -DB=2 -DC=D=3 -DE -UF -std=c++17"),
        ("-I/a -I /b '-I /c d' --include-path=/e", "-I/a -I/b '-I/c d' -I/e -std=c++17"),
        ("--pre-include=a.h -include=b.h", "-include a.h -include b.h -std=c++17"),
        ("--prec-div=true --prec-sqrt=true --fmad=true --ftz=false -rdc=false", "-std=c++17"),
        ("--maxrregcount=32 -restrict -ewp -G -lineinfo -w", "-g -gline-tables-only -w -std=c++17"),
        ("-default-device", "-include porter/rtc_default_device.hpp -std=c++17"),
        ("--offload-arch=gfx942 -O3 -ffast-math", "--offload-arch=gfx942 -O3 -ffast-math -std=c++17"),
    ],
)
def test_options(translator: Path, words: str, wanted: str) -> None:
    assert _run(translator, *shlex.split(words)).stdout.splitlines() == shlex.split(wanted)


SHARED = ("ftz", "prec-div", "prec-sqrt", "fmad", "relocatable-device-code", "line-info")


@pytest.mark.parametrize("row", SHARED)
def test_options_are_those_of_build_files(translator: Path, row: str) -> None:
    flags = tomllib.loads((hip.HEADERS.parents[1] / "rules/buildfiles/flags.toml").read_text("utf-8"))
    nvcc, ours = flags[row]["example"]
    assert _run(translator, *shlex.split(nvcc)).stdout.splitlines() == [*shlex.split(ours), "-std=c++17"]


def test_headers_for_kernels_are_handed_on() -> None:
    assert {"porter/warp32.hpp", "porter/half.hpp", "porter/mma.hpp", "porter/texture.hpp"} <= set(TEXTS)
    assert "porter/texture_host.hpp" not in TEXTS and "porter/rtc.hpp" not in TEXTS
    assert all(set(closure({name})) <= set(TEXTS) for name in TEXTS)


def test_hiprtc_compiles_every_header_for_kernels(compiler: Path, tmp_path: Path) -> None:
    """All at once: the real hiprtc, for gfx90a, which every version since 5.2 knows."""
    lines = [f'#include "{"../" * (n % 3)}{name}"' for n, name in enumerate(TEXTS)]
    text = '#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n#include "mine.h"\n' + "\n".join(lines)
    text += '\nextern "C" __global__ void k(__half* x, int* y) { y[0] = porter::popc(MINE) + DEGREE; x[0] = x[1]; }\n'
    (tmp_path / "k.cu").write_text(text, "utf-8")
    options = ("--gpu-architecture=compute_80", "--offload-arch=gfx90a", "-DDEGREE=3", "--use_fast_math", "-lineinfo")
    done = _run(compiler, tmp_path / "k.cu", *options)
    assert done.returncode == 0, done.stdout


def test_unmarked_functions_are_for_the_device(compiler: Path, tmp_path: Path) -> None:
    text = 'inline float twice(float x) { return 2 * x; }\nextern "C" __global__ void k(float* x) { *x = twice(*x); }\n'
    (tmp_path / "k.cu").write_text(text, "utf-8")
    assert _run(compiler, tmp_path / "k.cu", "--offload-arch=gfx90a").returncode == 1
    done = _run(compiler, tmp_path / "k.cu", "--offload-arch=gfx90a", "-default-device")
    assert done.returncode == 0, done.stdout


def test_what_nvrtc_declares_by_itself(compiler: Path, tmp_path: Path) -> None:
    text = """#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void k(float* x, clock_t* t) {
  clock_t const start = clock();
  assert(x[0] > 0.0f && "positive");
  t[0] = clock() - start;
}
"""
    (tmp_path / "k.cu").write_text(text, "utf-8")
    done = _run(compiler, tmp_path / "k.cu", "--offload-arch=gfx90a")
    assert done.returncode == 0, done.stdout


def test_a_text_without_includes_gets_the_headers(compiler: Path, tmp_path: Path) -> None:
    text = 'extern "C" __global__ void k(int* x) { *x = porter::popc(*x) + porter::lane_id(); wrong }\n'
    (tmp_path / "k.cu").write_text(text, "utf-8")
    said = _run(compiler, tmp_path / "k.cu", "--offload-arch=gfx90a").stdout
    assert ":1:" in said and "'wrong'" in said and "porter" not in said.replace("porter::", ""), said
    (tmp_path / "k.cu").write_text(text.replace("wrong", ""), "utf-8")
    done = _run(compiler, tmp_path / "k.cu", "--offload-arch=gfx90a")
    assert done.returncode == 0, done.stdout

"""half_host.hpp and host_math.hpp: the host side of functions and operators that HIP has on the device only."""

from __future__ import annotations

import math
import re
import subprocess
from pathlib import Path

import pytest

from tests import kept, outside
from tests.include import hip

HALF = """
#include <hip/hip_runtime.h>
#include "porter/half_host.hpp"
template <class T> T steps(const T *a, T b) {
  T c = a[0] * b;
  c += a[1];
  c -= b;
  c /= b;
  c = c / b - a[0];
  return a[0] < b && a[0] != b && !(a[0] == b) && a[0] <= b && !(a[0] > b) && !(a[0] >= b) ? -c : c;
}
template <class T> __host__ __device__ T both(const T *a, T b) { T c = a[0] * b; c += a[1]; return c; }
"""
HALF_KERNEL = """
__global__ void k(__half *p, __half2 *q) {
  p[0] = both(p, p[1] * p[2]);
  p[1] += -p[0];
  q[0] = q[0] / q[1] - q[2];
  p[2] = q[0] == q[1] || p[0] < p[1] ? p[1] : p[2];
}
"""
HALF_MAIN = """
#include <cstdio>
int main() {
  __half a[2] = {__float2half(1.5f), __float2half(2.25f)};
  __half2 x(a[0], a[1]);
  x = x * x + x;
  x -= __half2(a[1], a[0]);
  std::printf("%g %g %g %g", (float)steps(a, __float2half(4.0f)), (float)both(a, __float2half(4.0f)),
              (float)__low2half(x), (float)__high2half(x));
}
"""
MATH = """
#include <hip/hip_runtime.h>
#include "porter/host_math.hpp"
"""
MATH_KERNEL = """
__global__ void k(double *p, float *q) {
  p[0] = porter::rsqrt(p[0]) + porter::sinpi(p[1]) + porter::norm4d(p[0], p[1], p[2], p[3]) + porter::normcdf(p[3]);
  q[0] = porter::rsqrtf(q[1]) + porter::fdividef(q[0], q[1]) + porter::cospi(q[2]) + porter::rhypotf(q[0], q[1]);
}
"""
CALLS = {
    "rsqrt(0.25)": 2.0,
    "rsqrtf(16)": 0.25,
    "rcbrt(27.0)": 1 / 3,
    "sinpi(0.25)": math.sqrt(0.5),
    "sinpi(2.5)": 1.0,
    "sinpi(-0.75)": -math.sqrt(0.5),
    "sinpi(1e15)": 0.0,
    "cospi(1e15 + 1)": -1.0,
    "cospi(0.5)": 0.0,
    "cospi(100.75)": math.cos(0.75 * math.pi),
    "norm3d(1, 2, 2)": 3.0,
    "rnorm4d(1, 1, 1, 1)": 0.5,
    "rhypot(3.0, 4.0)": 0.2,
    "normcdf(0.0)": 0.5,
    "normcdf(-1.0)": 0.15865525393145707,
    "fdividef(1, 4)": 0.25,
}


@pytest.mark.parametrize("host", [False, True], ids=["device", "host"])
@pytest.mark.parametrize("tree", hip.trees() or [None], ids=lambda tree: tree.version if tree else "none")
def test_both_sides_compile_with_all_headers(tree: hip.HipTree | None, host: bool, tmp_path: Path) -> None:
    tree = tree or hip.require_tree()
    sources = [(HALF + HALF_KERNEL + HALF_MAIN, "hip/hip_fp16.h"), (MATH + MATH_KERNEL, "hip/hip_runtime.h")]
    for source, needs in sources:
        if tree.has(needs):
            done = hip.compiled(source, tmp_path, tree=tree, flags=("-fsyntax-only",), host=host)
            assert done.returncode == 0, done.stderr


def test_half_arithmetic_on_the_host(tmp_path: Path) -> None:
    assert _run(HALF + HALF_MAIN, tmp_path) == "1.23438 8.25 1.5 5.8125"


def test_math_on_the_host(tmp_path: Path) -> None:
    prints = "\n".join(f'std::printf("%.17g\\n", (double)porter::{call});' for call in CALLS)
    lines = _run(f"{MATH}#include <cstdio>\nint main() {{ {prints} }}", tmp_path).split()
    for (call, wanted), found in zip(CALLS.items(), lines, strict=True):
        assert math.isclose(float(found), wanted, rel_tol=1e-15, abs_tol=1e-300), call


def _run(source: str, folder: Path) -> str:
    """Output of a program without device code."""
    tree = hip.require_tree("hip/hip_fp16.h")
    path, program = folder / "program.hip", folder / "program"
    path.write_text(source, "utf-8")
    command = [hip.require_clang(), "-x", "hip", "--cuda-host-only", "-nogpulib", "-nogpuinc", "-std=c++17", "-O1"]
    command += ["-D__HIP_PLATFORM_AMD__", *tree.flags, "-include", "__clang_hip_runtime_wrapper.h"]
    built = kept.program([*command, "-I", str(hip.HEADERS)], path, program)
    assert built.returncode == 0, built.stderr
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("tree", hip.trees() or [None], ids=lambda tree: tree.version if tree else "none")
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_half_arithmetic_of_another_compiler(compiler: str, tree: hip.HipTree | None, tmp_path: Path) -> None:
    """A file that is no HIP has HIP's types as bits; the operators give the same values."""
    tree = tree or hip.require_tree("hip/hip_fp16.h")
    known = hip.require_clang() if compiler == "clang++" else outside.require("g++")
    source, program = tmp_path / "host.cpp", tmp_path / "host"
    text = (HALF + HALF_MAIN).replace("hip/hip_runtime.h", "hip/hip_runtime_api.h")
    source.write_text(re.sub(r"__(low|high)2half\(x\)", lambda half: f"x.{'xy'[half[1] == 'high']}", text), "utf-8")
    command = [known, "-std=c++17", "-D__HIP_PLATFORM_AMD__", *tree.flags, "-I", str(hip.HEADERS)]
    built = kept.program(command, source, program)
    assert built.returncode == 0, built.stderr
    said = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    assert said == "1.23438 8.25 1.5 5.8125"

"""minmax.hpp against nvcc: for every pair of types the same overload, the same type and the same value."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import kept
from tests.include import hip
from tests.outside import nvcc_that_links

TYPES = {
    "bool": ("true",),
    "char": ("'a'", "char(-1)"),
    "unsigned char": ("(unsigned char)255",),
    "short": ("short(-7)",),
    "unsigned short": ("(unsigned short)65535",),
    "int": ("-1", "2147483647"),
    "unsigned": ("2u", "4294967295u"),
    "long": ("-1l", "9007199254740993l"),
    "unsigned long": ("3ul", "18446744073709551615ul"),
    "long long": ("-1ll", "9007199254740993ll"),
    "unsigned long long": ("3ull", "9007199254740993ull"),
    "float": ("0.5f", "-0.25f", "nan()"),
    "double": ("0.75", "-1e300"),
}
PROGRAM = """
#include <cstdio>
#include <type_traits>
@INCLUDE@
using @SCOPE@::max;
using @SCOPE@::min;
static float nan() { return __builtin_nanf(""); }
template <class T> const char *name();
@NAMES@
static int number;
struct Ambiguous {};
template <class A, class B> auto smaller(A a, B b, int) -> decltype(@SCOPE@::min(a, b)) { return @SCOPE@::min(a, b); }
template <class A, class B> Ambiguous smaller(A, B, long) { return {}; }
template <class A, class B> auto larger(A a, B b, int) -> decltype(@SCOPE@::max(a, b)) { return @SCOPE@::max(a, b); }
template <class A, class B> Ambiguous larger(A, B, long) { return {}; }
static void print(Ambiguous) { std::printf("%d ambiguous\\n", number++); }
template <class T> typename std::enable_if<std::is_integral<T>::value>::type print(T value) {
  std::printf("%d %s %lld\\n", number++, name<T>(), static_cast<long long>(value));
}
template <class T> typename std::enable_if<std::is_floating_point<T>::value>::type print(T value) {
  std::printf("%d %s %a\\n", number++, name<T>(), static_cast<double>(value));
}
int main() {
@CALLS@
}
"""


def _program(include: str, scope: str) -> str:
    names = "\n".join(f'template <> const char *name<{t}>() {{ return "{t}"; }}' for t in TYPES)
    values = [value for found in TYPES.values() for value in found]
    pairs = [(a, b) for a in values for b in values]
    calls = "\n".join(f"  print(smaller({a}, {b}, 0)); print(larger({a}, {b}, 0));" for a, b in pairs)
    text = PROGRAM.replace("@INCLUDE@", include).replace("@NAMES@", names).replace("@CALLS@", calls)
    return text.replace("using @SCOPE@::max;\nusing @SCOPE@::min;\n", "").replace("@SCOPE@", scope)


def _output(command: list[str], source: Path, program: Path) -> list[str]:
    built = kept.program(command, source, program)
    assert built.returncode == 0, built.stderr[-3000:]
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()


def test_as_nvcc_resolves_them(tmp_path: Path) -> None:
    nvcc = nvcc_that_links(tmp_path)
    cuda, cuda_program = tmp_path / "cuda.cu", tmp_path / "cuda"
    cuda.write_text(_program("", ""), "utf-8")
    ours, our_program = tmp_path / "ours.hip", tmp_path / "ours"
    ours.write_text(_program('#include "porter/minmax.hpp"', "porter"), "utf-8")
    tree = hip.require_tree()
    clang = [hip.require_clang(), "-x", "hip", "--cuda-host-only", "-nogpulib", "-nogpuinc", "-std=c++17", "-O1"]
    clang += ["-D__HIP_PLATFORM_AMD__", *tree.flags, "-include", "__clang_hip_runtime_wrapper.h"]
    clang += ["-I", str(hip.HEADERS)]
    wanted = _output([nvcc, "-std=c++17", "-w"], cuda, cuda_program)
    assert sum(line.endswith("ambiguous") for line in wanted) > 100
    assert _output(clang, ours, our_program) == wanted


SOURCE = """
#include <hip/hip_runtime.h>
#include "porter/minmax.hpp"
struct Own { int a; };
__device__ Own min(Own a, Own b) { return a.a < b.a ? a : b; }
template <class T> __device__ T least(T a, T b) { return porter::min(a, b); }
template <class T, class R> constexpr bool is = false;
template <class T> constexpr bool is<T, T> = true;
__global__ void k(Own *p, int *q, unsigned *r, signed char *s) {
  p[0] = least(p[0], p[1]);
  q[0] = least(q[0], q[1]);
  static_assert(is<decltype(porter::min(q[0], r[0])), unsigned>, "");
  static_assert(is<decltype(porter::max(s[0], 0)), int>, "");
  r[porter::min(q[0], r[0])] = porter::max(r[1], 3u);
}
"""


@pytest.mark.parametrize("tree", hip.trees() or [None], ids=lambda tree: tree.version if tree else "none")
def test_in_device_code(tree: hip.HipTree | None, tmp_path: Path) -> None:
    tree = tree or hip.require_tree()
    done = hip.compiled(SOURCE, tmp_path, tree=tree, flags=("-fsyntax-only",))
    assert done.returncode == 0, done.stderr


BESIDE_A_HALF = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include "porter/minmax.hpp"
template <class T> __device__ float most(T x, float y) { return porter::max(porter::max(y, x), porter::min(x, 2.f)); }
__global__ void k(__half h, float *p, double *q) {
  static_assert(sizeof(porter::max(h, 1.f)) == 4 && sizeof(porter::min(2.0, h)) == 8, "");
  p[0] = most(h, p[1]) + most(p[2], p[1]);
  q[0] = porter::max(h, q[1]);
}
"""


@pytest.mark.parametrize("tree", hip.trees() or [None], ids=lambda tree: tree.version if tree else "none")
def test_a_half_beside_a_number_is_that_number(tree: hip.HipTree | None, tmp_path: Path) -> None:
    tree = tree or hip.require_tree("hip/hip_fp16.h")
    if not tree.has("hip/hip_fp16.h"):
        pytest.skip("these headers have no halves")
    done = hip.compiled(BESIDE_A_HALF, tmp_path, tree=tree, flags=("-fsyntax-only",))
    assert done.returncode == 0, done.stderr

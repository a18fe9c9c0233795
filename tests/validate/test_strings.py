"""Kernels in strings: the text of the original and that of the port are compiled and compared like files."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.cases.case import CaseError
from porter.validation.cases.file import load_cases
from porter.validation.cases.runtime_text import kernel_file
from porter.validation.devices.registry import why_not
from porter.validation.draft.init import draft
from porter.validation.verdict.outcome import Status

from tests.validate.running import by_name, devices, run, write_case

PLAIN = r"""#include <nvrtc.h>
#define KERNEL "__global__ void totals(const int* x, int* out, int n) {\n" /* written to be read
*/ "  int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? x[i] * FACTOR : 0;\n" \
  "  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);\n\t// \"all\" lanes\n" \
  "  if (i < n) out[i] = v + __popc(__activemask());\n}\n"
void f(nvrtcProgram* p) { nvrtcCreateProgram(p, KERNEL, "totals.cu", 0, nullptr, nullptr); }
"""
CASE = """\
string = "KERNEL"
defines = ["FACTOR=3"]
sweep = { n = [32, 64, 96, 128] }
grid = "ceil_div(n, 64)"
block = 64
arguments = ["in x: int32[n]", "out out: int32[n]", "scalar n: int32 = n"]
reference = "r.py:totals"
"""
REFERENCE = """
import numpy as np
def totals(x, n):
    return np.repeat(3 * x.reshape(-1, 32).sum(axis=1, dtype=np.int32), 32) + 32
"""
RAW = """#include <nvrtc.h>
const char* const one = R"x(
__global__ void k(int* p, int n) {
  p[threadIdx.x] = 1;
  p[n] = 2;
}
)x";
const char* const two = R"(__global__ void m(int* p, int n) { p[threadIdx.x] = n; })";
const char* const three = R"(__global__ void m(int* p, int n) { p[threadIdx.x] = 2 * n; })";
void f(nvrtcProgram* p) {
  nvrtcCreateProgram(p, one, 0, 0, nullptr, nullptr);
  nvrtcCreateProgram(p, two, 0, 0, nullptr, nullptr);
  puts(three);
}
"""
SIZES = """\
grid = 1
block = 32
sweep = { n = [32] }
arguments = ["out p: int32[n]", "scalar n: int32 = n"]
"""


@pytest.mark.slow
def test_a_plain_string_of_pieces(tmp_path: Path) -> None:
    (tmp_path / "r.py").write_text(REFERENCE)
    outcome = run(write_case(tmp_path, "totals", CASE, PLAIN), warps=("preserve", "native"))
    result = by_name(outcome)["totals"]
    assert result.status is Status.PASSED, result.reason
    assert {side.warp for side in result.sides if side.side == "port"} == {"preserve", "native"}


@pytest.mark.slow
def test_a_fault_names_the_line_of_the_file(tmp_path: Path) -> None:
    if "ptx" not in devices():
        pytest.skip(str(why_not("ptx")))
    outcome = run(write_case(tmp_path, "k", "string = true\n" + SIZES, RAW))
    original = by_name(outcome)["k"].sides[0]
    assert original.status is Status.FAULT and "k.cu:5" in original.reason, original.reason


@pytest.mark.parametrize(
    ("kernel", "string", "words"),
    [
        ("k", '"two"', "no string 'two' with kernel 'k'"),
        ("k", '"absent"', "there are: one, three, two"),
        ("m", "true", "2 strings with kernel 'm'"),
        ("absent", "true", "no string with kernel 'absent'"),
    ],
)
def test_strings_that_are_not_there(tmp_path: Path, kernel: str, string: str, words: str) -> None:
    path = write_case(tmp_path, kernel, f"string = {string}\n" + SIZES, RAW)
    (case,) = load_cases(path)
    with pytest.raises(CaseError, match=words) as caught:
        kernel_file(case, case.source)
    assert caught.value.line == 6
    (error,) = run(path, devices=("gfx942",)).report.errors
    assert words in error.message


def test_a_string_among_several(tmp_path: Path) -> None:
    (case,) = load_cases(write_case(tmp_path, "m", 'string = "three"\n' + SIZES, RAW))
    text = kernel_file(case, case.source).read_text()
    assert text.startswith(f'#line 9 "{tmp_path}/k.cu"\n__global__') and "2 * n" in text
    assert kernel_file(case, case.source) == kernel_file(case, case.source)


def test_a_draft(tmp_path: Path) -> None:
    host = """
void g(CUmodule module, int n) {
  CUfunction function;
  cuModuleGetFunction(&function, module, "totals");
  CUdeviceptr x, out;
  void* passed[] = {&x, (void*)&out, &n};
  cuLaunchKernel(function, (n + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr, passed, nullptr);
  const char* options[] = {"-DFACTOR=3", "-DUNUSED"};
}
"""
    (tmp_path / "k.cu").write_text(PLAIN + host)
    text = draft(tmp_path / "k.cu").text
    for line in (
        'string = "KERNEL"',
        'defines = ["FACTOR=3"]',
        'grid = ["(n + 63) // 64", 1, 1]',
        "block = [64, 1, 1]",
    ):
        assert f"\n{line}\n" in text, text

"""Cases that name CUDA in a string of a Python file: what is compiled, which string is meant, what is drafted."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.cases.case import CaseError
from porter.validation.cases.file import load_cases
from porter.validation.cases.python_units import python_units
from porter.validation.cases.runtime_text import kernel_file
from porter.validation.devices.registry import why_not
from porter.validation.draft.init import draft
from porter.validation.draft.triton import is_triton
from porter.validation.verdict.outcome import Status

from porter.errors import Unusable
from tests.validate.running import by_name, devices, run

HEAD = 'schema = "porter-case/1"\nsource = "a.py"\n'
ADD = """\
import cupy as cp
raise SystemExit("nothing here is run")
code = r'''
extern "C" __global__
void add(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}
extern "C" __global__ void past(float* out, int n) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}
'''
module = cp.RawModule(code=code)
squares = cp.ElementwiseKernel("T x, S y, int32 by", "T z", "z = (x - y) * scale", "squares", loop_prep="T scale = by;")
total = cp.ReductionKernel("float32 x", "float32 y", "x * x", "a + b", "y = sqrtf(a)", "0", "total")
"""
CASES = """
[[case]]
kernel = "add"
sweep = { n = [1, 100] }
grid = "ceil_div(n, 64)"
block = 64
arguments = ["in x: float32[n]", "in y: float32[n]", "out out: float32[n]", "scalar n: int32 = n"]
reference = "r.py:add"

[[case]]
kernel = "past"
string = "code"
sweep = { n = [100] }
grid = "ceil_div(n, 64)"
block = 64
arguments = ["out out: float32[n]", "scalar n: int32 = n"]

[[case]]
kernel = "squares<float, double>"
sweep = { n = [1, 100] }
grid = "ceil_div(n, 64)"
block = 64
arguments = ["in x: float32[n]", "in y: float64[n]", "scalar by: int32 = 3", "out z: float32[n]", "scalar n: int64 = n"]
reference = "r.py:squares"

[[case]]
kernel = "total"
string = 15
sweep = { n = [1, 33, 1000] }
grid = 1
block = 256
arguments = ["in x: float32[n]", "out y: float32[1]", "scalar n: int64 = n"]
reference = "r.py:total"
tolerance = { reduction = "n" }
"""
REFERENCE = """
import numpy as np
def add(x, y, n):
    return x + y
def squares(x, y, by, n):
    return (x - y) * 3
def total(x, n):
    return np.sqrt((x.astype(np.float64) ** 2).sum(keepdims=True))
"""


def cases(folder: Path, source: str, text: str) -> Path:
    """A Python file and a case file beside it."""
    (folder / "a.py").write_text(source)
    (folder / "r.py").write_text(REFERENCE)
    path = folder / "a.case.toml"
    path.write_text(HEAD + text)
    return path


@pytest.mark.slow
def test_strings_are_compiled_ported_and_compared(tmp_path: Path) -> None:
    """And what is out of bounds is told at the line of the Python file."""
    if "ptx" not in devices():
        pytest.skip(str(why_not("ptx")))
    found = by_name(run(cases(tmp_path, ADD, CASES)))
    for name in ("add", "squares_float_double", "total"):
        assert found[name].status is Status.PASSED, found[name].reason
    original, port = found["past"].sides
    assert original.status is Status.FAULT and "a.py:10" in original.reason
    assert "a.py:10" in port.reason or port.status is Status.NOT_RUN, port.reason


ONE = 'extern "C" __global__ void k(float *x) { x[threadIdx.x] = 1.0f; }'
TWO = 'extern "C" __global__ void k(float *x) { x[threadIdx.x] = 2.0f; }'
SIZES = 'grid = 1\nblock = 32\narguments = ["out x: float32[32]"]\n'
SEVERAL = f"""import cupy
one = '{ONE}'
two = '''
{TWO}'''
a = cupy.RawKernel(one, 'k')
b = cupy.RawKernel(two, 'k')
c = cupy.RawKernel(f'{{b}} __global__ void m() {{{{}}}}', 'm')
"""


@pytest.mark.parametrize(
    ("string", "kernel", "words"),
    [
        ("", "k", "2 texts with kernel 'k' in .*: give one of the lines 5, 6"),
        ("string = 99\n", "k", "no text '99' with kernel 'k'"),
        ('string = "three"\n', "k", "no text 'three' with kernel 'k' is compiled"),
        ("", "m", "not followed: line 7: the text is made at run time"),
    ],
)
def test_strings_that_are_not_there(tmp_path: Path, string: str, kernel: str, words: str) -> None:
    path = cases(tmp_path, SEVERAL, f'[[case]]\nkernel = "{kernel}"\n{string}{SIZES}')
    (case,) = load_cases(path)
    with pytest.raises(CaseError, match=words):
        kernel_file(case, case.source)
    assert run(path, devices=("gfx942",)).report.errors


@pytest.mark.parametrize(("string", "value"), [("2", "1.0f"), ("5", "1.0f"), ("4", "2.0f"), ('"two"', "2.0f")])
def test_a_string_by_line_or_variable(tmp_path: Path, string: str, value: str) -> None:
    (case,) = load_cases(cases(tmp_path, SEVERAL, f'[[case]]\nkernel = "k"\nstring = {string}\n{SIZES}'))
    assert value in kernel_file(case, case.source).read_text()


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    """In every kind of literal; never within a macro or a comment."""
    text = """k = RawKernel("#define A \\\\\\n  1\\n"
  "/* a\\n b */\\n"
  '__global__ void k() {'
  "}", "k")
"""
    (tmp_path / "a.py").write_text(text)
    (unit,) = python_units(tmp_path / "a.py")
    name = tmp_path / "a.py"
    assert unit.content == (
        f'#line 1 "{name}"\n#define A \\\n  1\n#line 2 "{name}"\n/* a\n b */\n'
        f'#line 3 "{name}"\n__global__ void k() {{}}\n'
    )


def test_what_libraries_put_around_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "from pycuda.compiler import SourceModule\nfrom pycuda.elementwise import ElementwiseKernel\n"
        "SourceModule('__global__ void a() {}')\nSourceModule('__global__ void b() {}', no_extern_c=True)\n"
        "load_inline('m', '', cuda_sources=['void f();', '__global__ void c() {}'])\n"
        "ElementwiseKernel('float *x, float by', 'x[i] *= by', 'd')\n"
        "ElementwiseKernel(given, 'x[i] *= by', 'e')\n"
    )
    a, b, c, d, e = python_units(tmp_path / "a.py")
    assert a.content.startswith('extern "C" {') and "extern" not in b.content
    assert "void f();" in c.content and "void c()" in c.content and "<cuda_runtime.h>" in c.content
    assert "<hip/hip_runtime.h>" in python_units(tmp_path / "a.py", for_hip=True)[2].content
    assert "void d(float *x, float by, long n)" in d.content and "x[i] *= by\n;" in d.content
    assert not e.content and "made at run time" in e.problem


PYCUDA = """
import numpy, pycuda.driver as drv
from pycuda.compiler import SourceModule
mod = SourceModule(\"\"\"
__global__ void multiply(float *dest, float *a, const float *b)
{
  const int i = threadIdx.x;
  dest[i] = a[i] * b[i];
}
\"\"\")
multiply = mod.get_function("multiply")
a = numpy.random.randn(400).astype(numpy.float32)
dest = numpy.zeros_like(a)
multiply(drv.Out(dest), drv.In(a), drv.In(a), block=(400, 1, 1))
"""
CUPY = """
import cupy as cp
from math import ceil
class Model:
    def __init__(self):
        self.scale = cp.RawKernel('''
            extern "C" __global__ void scale(const T* x, float* out, float by, int n) {
              int i = blockIdx.x * blockDim.x + threadIdx.x;
              if (i < n) out[i] = by * x[i];
            }''', "scale", options=("-DT=float", "-DUNUSED=1"))
    def run(self, x):
        rows, cols = x.shape
        out = cp.empty((rows, cols), dtype=cp.float32)
        threads = 128
        self.scale((int(ceil(rows * cols / threads)),), (threads,), (x, out, cp.float32(2), rows * cols))
"""


def lines(folder: Path, source: str) -> list[str]:
    """Of a draft."""
    (folder / "a.py").write_text(source)
    return draft(folder / "a.py").text.splitlines()


def test_a_draft_with_the_launch_of_pycuda(tmp_path: Path) -> None:
    found = lines(tmp_path, PYCUDA)
    for line in ("grid = 1", "block = [400, 1, 1]", '  "out dest: float32[400]",', '  "in b: float32[400]",'):
        assert line in found, found


def test_a_draft_with_the_launch_of_cupy(tmp_path: Path) -> None:
    found = lines(tmp_path, CUPY)
    for line in ('defines = ["T=float"]', 'grid = "(rows * cols + 128 - 1) // 128"', "block = 128",
                 '  "in x: float32[rows * cols]",', '  "out out: float32[rows * cols]",'):  # fmt: skip
        assert line in found, found


def test_equal_names_are_told_apart(tmp_path: Path) -> None:
    found = lines(tmp_path, SEVERAL)
    assert [line for line in found if line.startswith("string")] == ['string = "one"', 'string = "two"']
    assert found[0].startswith("# line 7: RawKernel: no case, because the text is made at run time")


def test_a_draft_of_expressions_says_what_is_assumed(tmp_path: Path) -> None:
    found = lines(tmp_path, ADD)
    assert 'kernel = "squares<float, float>"' in found and '  "scalar by: int32 = by",' in found
    assert '  "out z: float32[n]",' in found and '  "out y: float32[1]",' in found
    assert "# types that the call decides are assumed: T, S" in found


def test_nothing_to_draft_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import cupy\nk = cupy.RawKernel(open('k.cu').read(), 'k')\n")
    with pytest.raises(Unusable, match="line 2: RawKernel: no case, because the text is made at run time"):
        draft(tmp_path / "a.py")


def test_triton_and_cuda_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        f"import triton, cupy\n@triton.jit\ndef t(x):\n    pass\ncupy.RawKernel('{ONE}', 'k')\n"
    )
    assert is_triton(tmp_path / "a.py") and is_triton(tmp_path / "a.py", ("t",))
    assert not is_triton(tmp_path / "a.py", ("k",))
    (tmp_path / "b.py").write_text(f"import cupy\ncupy.RawKernel('{ONE}', 'k')\n")
    assert not is_triton(tmp_path / "b.py")

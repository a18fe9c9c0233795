"""Triton kernels on the virtual devices: launched on CPU tensors, and as cases."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from porter.validation.cases.argument_rows import TODO
from porter.validation.cases.case import CaseError
from porter.validation.cases.file import load_cases
from porter.validation.cases.triton_source import kernels_of
from porter.validation.draft.triton import draft_triton
from porter.validation.triton.arguments import flattened
from porter.validation.triton.compiling import why_no_triton

import porter
from tests.later import later

if TYPE_CHECKING:
    import torch
else:
    torch = later("torch")
needs_triton = pytest.mark.usefixtures("_triton")
OPS = Path(__file__).with_name("triton_ops.py")
REFERENCE = """
import torch
def softmax(x):
    return torch.softmax(x.double(), dim=1)
def twice(x):
    return 2 * x.double()
def scaled(x, by):
    return 2 * x.double() * by
"""
CASES = """
schema = "porter-case/1"
[[case]]
triton = "triton_ops.softmax"
sweep = { rows = [1, 3], cols = [1, 33, 64] }
constants = { BLOCK = "next_power_of_two(cols)" }
warps = 2
grid = "rows"
arguments = ["in x: float32[rows, cols]", "out out: float32[rows, cols]",
             "scalar stride: int32 = cols", "scalar cols: int32 = cols"]
reference = "reference.py:softmax"
tolerance = { reduction = "cols" }
[[case]]
triton = "triton_ops.unmasked"
sweep = { n = [64, 65] }
constants = { BLOCK = 64 }
grid = "ceil_div(n, BLOCK)"
arguments = ["in x: float32[n]", "out out: float32[n]", "scalar n: int32 = n"]
reference = "reference.py:twice"
[[case]]
triton = "triton_ops.scaled"
sweep = { n = [1, 16, 65], BLOCK = [64, 128] }
constants = { BLOCK = "BLOCK", TYPE = "tl.float32", MODE = "'twice'" }
grid = "ceil_div(n, BLOCK)"
arguments = ["in x: bfloat16[n]", "out out: float32[n]", "scalar by: float32 = 1.5", "scalar n: int32 = n"]
reference = "reference.py:scaled"
"""


@pytest.fixture(scope="module")
def _triton() -> None:
    missing = why_no_triton()
    if missing is not None:
        pytest.skip(missing)


@pytest.fixture(scope="module")
def ops(_triton: None) -> Any:
    """The kernels."""
    from tests.validate import triton_ops

    return triton_ops


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gfx942", "ptx"])
class TestLaunches:
    """`kernel[grid](...)` on tensors of the CPU."""

    def test_softmax(self, ops: Any, name: str) -> None:
        x, out = torch.randn(5, 100), torch.empty(5, 100)
        with porter.triton_device(name) as checks:
            ops.softmax[(5,)](x, out, x.stride(0), 100, BLOCK=128)
        assert torch.allclose(out, torch.softmax(x, 1), atol=1e-7)
        assert checks.kernels == {"softmax": 1} and not checks.notes

    def test_autotuned_matmul(self, ops: Any, name: str) -> None:
        """The first configuration that fits is taken; then the choice is kept."""
        a, b = torch.randn(50, 40).half(), torch.randn(40, 60).half()
        c = torch.zeros(50, 60, dtype=torch.float16)
        with porter.triton_device(name) as checks:
            for _ in range(2):
                ops.matmul[lambda meta: (-(-50 // meta["BM"]), -(-60 // meta["BN"]))](a, b, c, 50, 60, 40)
            assert torch.allclose(c.float(), a.float() @ b.float(), atol=2e-2)
            assert checks.launches == 3  # tried, and launched twice
        with porter.triton_device(name, autotune="all") as checks:
            ops.matmul[lambda meta: (-(-50 // meta["BM"]), -(-60 // meta["BN"]))](a, b, c, 50, 60, 40)
            assert checks.launches == 3  # both, and the one chosen
        assert not ops.matmul.cache

    def test_faults_name_the_argument_and_the_line(self, ops: Any, name: str) -> None:
        with (
            porter.triton_device(name),
            pytest.raises(porter.KernelFault, match=r"triton_ops.py:2\d: .*after the end of x \(400 bytes\)"),
        ):
            ops.unmasked[(2,)](torch.zeros(100), torch.zeros(128), 100, BLOCK=64)

    def test_a_half_by_value(self, ops: Any, name: str) -> None:
        """A Python float is a float of 32 bits; integers that are 1 become constants."""
        x, out = torch.ones(64), torch.zeros(64)
        with porter.triton_device(name):
            ops.narrow[(1,)](x, out, 0.5, BLOCK=64)
            assert out.eq(1.5).all()
            ops.narrow[(1,)](x, out, 1, BLOCK=64)
            assert out.eq(2).all()

    def test_tuples(self, ops: Any, name: str) -> None:
        x, out = torch.randn(64), torch.zeros(64)
        with porter.triton_device(name):
            ops.pair[(1,)]((x, out), SIZE=64)
        assert torch.equal(x, out)

    def test_cuda_is_the_cpu(self, ops: Any, name: str) -> None:
        with porter.triton_device(name, cuda=True):
            assert torch.cuda.is_available()
            assert torch.cuda.get_device_capability()[0] == {"gfx942": 9, "ptx": 8}[name]
            x = torch.randn(4, 64, device="cuda")
            out = torch.empty_like(x).to("cuda:0").cuda()
            assert x.is_cuda
            ops.softmax[(4,)](x, out, 64, 64, BLOCK=64)
        assert not torch.cuda.is_available() and not x.is_cuda
        assert torch.allclose(out, torch.softmax(x, 1), atol=1e-7)


def test_arguments() -> None:
    """Constants go, tuples and descriptors are taken apart, 16-bit floats are rounded."""
    kinds = ("*fp32", "constexpr", ("i32", "constexpr", "fp32"), "bf16", "i1")
    values = (7, 128, (3, None, 2), 1.00390625, True)
    got = list(flattened("abcde", kinds, values))
    assert got == [("a", 7), ("c[0]", 3), ("c[2]", 2.0), ("d", b"\x80\x3f"), ("e", 1)]


def test_bad_names() -> None:
    with pytest.raises(porter.Unusable, match="known are gfx942, ptx"), porter.triton_device("gfx1100"):
        pass
    with pytest.raises(porter.Unusable, match="first or all"), porter.triton_device(autotune="best"):
        pass


@pytest.mark.slow
@needs_triton
def test_cases(tmp_path: Path) -> None:
    """Both devices against the reference; a load without a mask is found on both."""
    (tmp_path / "triton_ops.py").write_text(OPS.read_text())
    (tmp_path / "reference.py").write_text(REFERENCE)
    (tmp_path / "ops.case.toml").write_text(CASES)
    done = porter.validate(tmp_path, schedules=2, jobs=1)
    assert done.statuses == {"softmax": "passed", "unmasked": "fault", "scaled": "passed"}, done.text
    sides = {case.name: {side.device: side.status.value for side in case.sides} for case in done.report.cases}
    assert sides["unmasked"] == {"ptx": "fault", "gfx942": "fault"} and sides["softmax"]["ptx"] == "passed"
    reason = next(case.reason for case in done.report.cases if case.name == "unmasked")
    assert "triton_ops.py:2" in reason and "0 bytes after the end of argument 0 (260 bytes)" in reason


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("triton_ops.softmax", "triton_ops.nothing"),
            "no Triton kernel 'nothing' in .*; there are: softmax, unmasked",
        ),
        (("scalar cols: int32 = cols", "scalar col: int32 = cols"), r"softmax\(x, out, stride, cols, BLOCK\): cols is"),
        (("constants = { BLOCK = 64 }", "constants = { SIZE = 64 }"), "BLOCK is not given"),
        (("warps = 2", "warps = 0"), "warps must be a number from 1 to 32"),
        (("warps = 2", "block = 64"), "block does not go with triton"),
        (("triton_ops.softmax", "triton_op.softmax"), "triton_op.py: No such file"),
        (("scalar by: float32 = 1.5", "scalar n: int32 = n"), "two are named 'n'"),
    ],
)
def test_mistakes(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    """Said with the line, without Triton."""
    (tmp_path / "triton_ops.py").write_text(OPS.read_text())
    (tmp_path / "reference.py").write_text(REFERENCE)
    assert change[0] in CASES
    (tmp_path / "ops.case.toml").write_text(CASES.replace(*change, 1))
    with pytest.raises((CaseError), match=message):
        load_cases(tmp_path / "ops.case.toml")


def test_drafts(tmp_path: Path) -> None:
    """Pointers by what is done with them, sizes by masks, a case per configuration, a grid by the launch."""
    path = tmp_path / "ops.py"
    launch = "def run(x, out, n):\n    unmasked[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, out, n, BLOCK=64)\n"
    path.write_text(OPS.read_text() + launch)
    made = draft_triton(path)
    assert made.cases == 7
    matmul = made.text.partition('name = "matmul_2"')[2].partition("[[case]]")[0]
    assert "constants = { BM = 64, BN = 32, BK = 32 }" in matmul and "warps = 4" in matmul
    assert '  "in a: float32[M, K]",\n  "in b: float32[N, K]",\n  "out c: float32[M, N]",' in matmul
    assert f'grid = ["{TODO}", "{TODO}"]' in matmul
    unmasked = draft_triton(path, ("unmasked",)).text
    assert '"in x: float32[TODO]",' in unmasked and '"out out: float32[n]",' in unmasked
    assert 'grid = "ceil_div(n, BLOCK)"' in unmasked and "sweep = { n = [1, 64, 1000] }" in unmasked
    filled = unmasked.replace("float32[TODO]", "float32[n]").replace('BLOCK = "TODO"', "BLOCK = 64")
    path.with_name("ops.case.toml").write_text(re.sub(r"reference = .*", "", filled))
    assert load_cases(path.with_name("ops.case.toml"))[0].triton is not None
    with pytest.raises(porter.Unusable, match="no Triton kernel 'none'; there are: softmax"):
        draft_triton(path, ("none",))


def test_reading_a_file() -> None:
    written = kernels_of(OPS)
    assert written["matmul"].constants == ("BM", "BN", "BK") and written["softmax"].parameters[:2] == ("x", "out")


TESTED = """
import pytest, torch
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
from triton_ops import softmax, unmasked
def test_softmax():
    x = torch.randn(3, 50, device="cuda")
    out = torch.empty_like(x)
    softmax[(3,)](x, out, 50, 50, BLOCK=64)
    torch.testing.assert_close(out, torch.softmax(x, 1))
def test_unmasked():
    unmasked[(1,)](torch.zeros(60, device="cuda"), torch.zeros(64, device="cuda"), 60, BLOCK=64)
"""


@pytest.mark.slow
@needs_triton
def test_a_projects_own_tests(tmp_path: Path) -> None:
    """They name the device "cuda", and are skipped without a GPU."""
    (tmp_path / "triton_ops.py").write_text(OPS.read_text())
    (tmp_path / "test_ops.py").write_text(TESTED)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(tmp_path),
        "--rootdir",
        str(tmp_path),
    ]
    plain = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "2 skipped" in plain.stdout
    done = subprocess.run(
        [*command, "--porter-triton", "gfx942"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "after the end of x (240 bytes)" in done.stdout
    assert "Triton on the virtual gfx942" in done.stdout and "1 launches of 1 kernels" in done.stdout


@pytest.mark.slow
def test_the_fixture(ops: Any, porter_triton: Any) -> None:
    x, out = torch.randn(2, 64, device="cuda"), torch.empty(2, 64, device="cuda")
    ops.softmax[(2,)](x, out, 64, 64, BLOCK=64)
    assert porter_triton.launches == 1


@pytest.mark.slow
class TestTheDeviceCalledCuda:
    """What libraries ask of it."""

    def test_tensors_say_that_they_are_there(self, ops: Any, porter_triton: Any) -> None:
        x = torch.randn(2, 64, device="cuda")
        assert x.is_cuda and x.device == torch.device("cuda", 0) and x.get_device() == 0
        out = torch.empty(2, 64, device=x.device)
        ops.softmax[(2,)](x, out, 64, 64, BLOCK=64)
        assert torch.allclose(out, x.softmax(-1))
        before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        before.record(torch.cuda.current_stream())
        assert before.elapsed_time(after) > 0

    def test_a_library_that_measures_measures_once(self, ops: Any, porter_triton: Any) -> None:
        import triton.testing

        x, out = torch.randn(2, 64), torch.empty(2, 64)
        assert triton.testing.do_bench(lambda: ops.softmax[(2,)](x, out, 64, 64, BLOCK=64), quantiles=[0.5]) == [1.0]
        assert porter_triton.launches == 1

    @pytest.mark.parametrize("name", ["gfx942", "ptx"])
    def test_registers_are_those_of_the_machine_code(self, ops: Any, name: str) -> None:
        with porter.triton_device(name):
            kernel = ops.softmax.warmup(torch.randn(2, 64), torch.empty(2, 64), 64, 64, BLOCK=64, grid=(2,))
            kernel._init_handles()
            assert 4 <= kernel.n_regs <= 64 and kernel.n_spills == 0

    def test_another_kind_of_tensor(self, ops: Any) -> None:
        """Libraries pass views that torch cannot make; what has no size is refused."""

        class View:
            def __init__(self, base: Any) -> None:
                self.base, self.shape, self.dtype = base, base.shape, base.dtype
                self.data_ptr, self.stride, self.element_size = base.data_ptr, base.stride, base.element_size
                self.untyped_storage = base.untyped_storage

        class Address:
            def __init__(self, base: Any) -> None:
                self.dtype, self.data_ptr = base.dtype, base.data_ptr

            def untyped_storage(self) -> Any:
                return self

        x, out = torch.randn(2, 64), torch.empty(2, 64)
        with porter.triton_device("gfx942"):
            ops.softmax[(2,)](View(x), out, 64, 64, BLOCK=64)
            assert torch.allclose(out, x.softmax(-1))
            with pytest.raises(TypeError, match="an address without a size"):
                ops.softmax[(2,)](Address(x), out, 64, 64, BLOCK=64)


@pytest.mark.slow
def test_inductor_in_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_compiled.py").write_text(
        "import torch\n"
        "def test_it():\n"
        "    x = torch.randn(3, 50, device='cuda')\n"
        "    assert torch.allclose(torch.compile(torch.sin)(x), torch.sin(x), atol=1e-6)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path),
               "--porter-triton", "gfx942", "--porter-inductor", "test_compiled.py"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "1 passed" in done.stdout and "1 launches of 1 kernels" in done.stdout, done.stdout + done.stderr

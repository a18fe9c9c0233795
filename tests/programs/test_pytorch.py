"""Test suites of PyTorch extensions: what is kept of each test, how two runs compare, tensors of the device."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.programs.agreement import Agreement, compare_runs
from porter.validation.programs.building import Built, build
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.outcome import Account, Happening, ProgramRun, TestOutcome, Verdict, judge
from porter.validation.programs.output import Tolerance
from porter.validation.programs.pytorch import environment
from porter.validation.programs.pytorch.environment import side_of, variables
from porter.validation.programs.pytorch.results import with_results
from porter.validation.programs.sides import CUDA, HIP, Side, side_by_device
from porter.validation.toolchain.result import Missing

from porter.errors import Unusable
from tests.outside import require

SITE = Path(environment.__file__).with_name("site")
SUITE = """
import pytest

def test_good(): pass

def test_bad(): assert 1 == 2, "numbers differ"

@pytest.mark.skip(reason="no time")
def test_not_now(): pass

@pytest.mark.xfail(reason="known")
def test_known(): assert False

@pytest.fixture
def broken(): raise ValueError("no set-up")

def test_set_up(broken): pass
"""

TENSORS = """
import torch
class Picks(torch.nn.Module):
    def forward(self, x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
        return torch.cat([x[:, indices].detach(), x[:, indices].detach()]).view(2, 2, 2).sum(0)
assert torch.cuda.is_available() and torch.zeros(2, device="cuda").is_cuda
x = torch.arange(6.0, device="cuda").reshape(2, 3).requires_grad_()
row = x.detach()[1]
row.add_(1)                                              # a view writes its base
assert x.tolist() == [[0, 1, 2], [4, 5, 6]], x
(x @ x.t()).sum().backward()
assert x.grad.is_cuda and x.grad.cpu().tolist() == [[8, 12, 16], [8, 12, 16]], x.grad
grown = torch.empty(0, device="cuda")
torch.add(row, row, out=grown)
assert grown.tolist() == [8, 10, 12]
torch.manual_seed(3)
first = torch.randn(4, device="cuda")
torch.cuda.manual_seed(3)
assert torch.equal(first, torch.randn(4, device="cuda"))
for mixed in (lambda: x + torch.ones(2, 3), lambda: torch.mm(x.detach(), torch.ones(3, 3))):
    try:
        mixed()
    except RuntimeError as error:
        assert "same device" in str(error), error
    else:
        raise AssertionError("tensors of two devices were taken")
indices = torch.tensor([2, 0], device="cuda")
assert torch.equal(torch.jit.script(Picks())(x, indices), x.detach()[:, indices] * 2)
with torch.cuda.stream(torch.cuda.Stream()):
    event = torch.cuda.Event(enable_timing=True)
    event.record()
torch.cuda.synchronize()
assert torch.cuda.get_device_properties(0).warp_size == LANES
assert torch.version.DEVICE
"""


def _run(*tests: tuple[str, str], verdict: Verdict = Verdict.PASSED, code: int = 0, launches: int = 1) -> ProgramRun:
    account = Account(launches=launches, tests=tuple(TestOutcome(name, outcome, "why") for name, outcome in tests))
    return ProgramRun(("pytest",), verdict, "", code, account, 0.0, output=f"{len(tests)} in {id(tests)} s".encode())


GOOD = (("a", "passed"), ("b", "skipped"))


@pytest.mark.parametrize(
    ("original", "port", "agreement", "reason"),
    [
        (_run(*GOOD), _run(*GOOD), Agreement.AGREE, ""),
        (_run(*GOOD), _run(("b", "skipped"), ("a", "passed")), Agreement.AGREE, ""),
        (
            _run(*GOOD),
            _run(("a", "passed")),
            Agreement.DIFFER,
            "b: skipped in the original, not there in the port (why)",
        ),
        (
            _run(("a", "passed")),
            _run(*GOOD),
            Agreement.DIFFER,
            "b: not there in the original, skipped in the port (why)",
        ),
        (
            _run(("a", "passed"), ("b", "passed")),
            _run(("a", "failed"), ("b", "error"), verdict=Verdict.FAILED, code=1),
            Agreement.DIFFER,
            "a: passed in the original, failed in the port (why); 1 more of 2 tests",
        ),
        (_run(*GOOD, launches=0), _run(*GOOD, launches=0), Agreement.NO_LAUNCH, "original: no kernel was launched"),
    ],
)
def test_suites_are_compared_by_test(original: ProgramRun, port: ProgramRun, agreement: Agreement, reason: str) -> None:
    found = compare_runs("suite", original, port, Tolerance())
    assert (found.agreement, found.reason) == (agreement, reason)


def test_failures_on_both_sides_agree() -> None:
    run = _run(("a", "failed"), verdict=Verdict.FAILED, code=1)
    assert compare_runs("suite", run, run, Tolerance()).agreement is Agreement.AGREE


def test_a_fault_names_the_test_it_ended() -> None:
    fault = Happening("access outside every allocation", 1, {"kind": "bounds"})
    account = Account(faults=(fault,), tests=(TestOutcome("a", "passed"), TestOutcome("b", "not-ended")))
    assert judge(120, None, account) == (Verdict.FAULT, "access outside every allocation, in b")
    assert judge(-11, None, replace(account, faults=())) == (Verdict.CRASHED, "ended by signal 11, in b")


def test_what_pytest_said(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SUITE)
    (tmp_path / "test_broken.py").write_text("import no_such_module\n")
    folder = tmp_path / "report"
    folder.mkdir()
    environment = {**variables(CUDA), "PORTER_RUN_REPORT": str(folder), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "."]
    subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    tests = {test.name: (test.outcome, test.reason) for test in with_results(Account(), folder).tests}
    assert tests["test_broken.py"][0] == "error"
    assert "no_such_module" in tests["test_broken.py"][1]
    assert tests["test_it.py::test_good"] == ("passed", "")
    assert tests["test_it.py::test_bad"] == ("failed", "AssertionError: numbers differ")
    assert tests["test_it.py::test_not_now"] == ("skipped", "Skipped: no time")
    assert tests["test_it.py::test_known"] == ("xfailed", "known")
    assert tests["test_it.py::test_set_up"] == ("error", "ValueError: no set-up")


def test_results_of_processes_that_ended_in_between(tmp_path: Path) -> None:
    (tmp_path / "1.tests").write_text('["start", "a"]\n["end", "a", "passed", ""]\n["start", "b"]\n["end", "b", "pa')
    (tmp_path / "1.torch").write_text('{"operators": {"aten::add": 2}}')
    (tmp_path / "2.torch").write_text('{"operators": {"aten::add": 1, "aten::mm": 5}, "ending": "no library"}')
    (tmp_path / "3.torch").touch()
    found = with_results(Account(), tmp_path)
    assert found.tests == (TestOutcome("a", "passed"), TestOutcome("b", "not-ended"))
    assert found.operators == (("aten::mm", 5), ("aten::add", 3))
    assert found.endings == ("no library",)


def test_the_side_of_a_folder(tmp_path: Path) -> None:
    below = tmp_path / "port" / "tests"
    below.mkdir(parents=True)
    assert side_of(below) is CUDA
    (tmp_path / "port" / "porter-manifest.json").touch()
    assert side_of(below) is HIP
    assert side_of(tmp_path) is CUDA
    assert side_by_device("gfx942") is HIP
    with pytest.raises(Unusable, match="gfx90a"):
        side_by_device("gfx90a")


@pytest.mark.slow
@pytest.mark.parametrize(("side", "version"), [(CUDA, "cuda"), (HIP, "hip")])
def test_tensors(side: Side, version: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    require("g++")
    (tmp_path / "tensors.py").write_text(TENSORS.replace("DEVICE", version).replace("LANES", str(side.lanes)))
    done = run_program((sys.executable, "tensors.py"), Options(side=side), tmp_path, keep=True)
    if done.verdict is Verdict.NOT_RUN:
        pytest.skip(done.reason)
    assert done.verdict is Verdict.NO_LAUNCH, done.errors.decode()  # the program did all right, and no kernel ran
    assert dict(done.account.operators)["aten::mm.out"] >= 1


ADDER = """
HEADER
__global__ void add(float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += 1.0f;
}
extern "C" void accumulate(float *to, int n) { add<<<(n + 63) / 64, 64>>>(to, n); }
"""

EMPTY = """
import ctypes, sys, torch
library = ctypes.CDLL("./libadder.so")
def add(tensor):
    assert tensor.is_contiguous()
    library.accumulate(ctypes.c_void_p(tensor.data_ptr()), ctypes.c_int(tensor.numel()))
    torch.cuda.synchronize()
    return tensor
def empty(*size): return torch.empty(*size, device="cuda")
if sys.argv[1] == "empty":
    assert add(empty(100)).tolist() == [1.0] * 100
elif sys.argv[1] == "half":
    made = empty(100)
    made[:50] = 0
    add(made)
else:  # each is written, in a way of its own
    x = torch.arange(6.0, device="cuda")
    assert add(torch.zeros(100, device="cuda")).tolist() == [1.0] * 100
    drawn, full = torch.randn(9, device="cuda"), torch.full((7,), 3.0, device="cuda")
    for made in (x.clone(), x * 2, torch.cat([x, x]), torch.ones(9).cuda(), drawn, full):
        add(made)
    made = empty(100); made.copy_(torch.ones(100)); add(made)
    made = empty(100); made[:50] = 1; made[50:].fill_(2); add(made)
    made = empty(4, 6); made[:, :3] = 1; made[:, 3:] = 2; add(made)
    made = empty(6); torch.add(x, x, out=made); add(made)
    made = empty(0); torch.add(x, x, out=made); add(made)
    made = [torch.empty_like(x), torch.empty_like(x)]; torch._foreach_zero_(made); add(made[1])
    made = empty(6); made[torch.arange(6, device="cuda")] = x; add(made)
    made = torch.nn.Linear(6, 6).cuda(); add(made.weight.data)
    made(x).sum().backward(); add(made.weight.grad)
    made = empty(6); made.set_(x.clone()); add(made)
    made = torch.empty(6, pin_memory=True); made.fill_(1); add(made.to("cuda", non_blocking=True))
    made = empty(6); made.untyped_storage().copy_(x.untyped_storage()); add(made)
"""


@pytest.mark.slow
@pytest.mark.parametrize("side", [CUDA, HIP], ids=["cuda", "hip"])
def test_tensors_that_nothing_wrote(side: Side, tmp_path: Path) -> None:
    """`torch.empty` is no zeros, and with --uninitialised who reads it is told; what is written in any way is not."""
    pytest.importorskip("torch")
    require("g++")
    name, tool = ("adder.cu", "nvcc") if side is CUDA else ("adder.hip", "hipcc")
    pic = ("-Xcompiler", "-fPIC") if side is CUDA else ("-fPIC",)
    header = "" if side is CUDA else "#include <hip/hip_runtime.h>"
    (tmp_path / name).write_text(ADDER.replace("HEADER", header))
    (tmp_path / "empty.py").write_text(EMPTY)
    made = build(side, tmp_path, [(tool, "-O2", "-shared", *pic, name, "-o", "libadder.so")], 300)
    if isinstance(made, Missing):
        pytest.skip(made.reason)
    assert made.failed is None, made.said

    def run(mode: str, *, follow: bool = False) -> ProgramRun:
        return run_program(
            (sys.executable, "empty.py", mode), Options(side=side, uninitialised=follow), tmp_path, keep=True
        )

    good = run("written", follow=True)
    if good.verdict is Verdict.NOT_RUN:
        pytest.skip(good.reason)
    assert good.verdict is Verdict.PASSED, good.errors.decode()
    assert run("written").verdict is Verdict.PASSED
    wrong = run("empty")
    assert wrong.verdict is Verdict.FAILED and b"AssertionError" in wrong.errors
    for mode, at in (("empty", 0), ("half", 200)):
        done = run(mode, follow=True)
        assert done.verdict is Verdict.FAULT and done.account.faults[0].details["kind"] == "uninitialised"
        assert f"{at} bytes into device memory 1 (400 bytes)" in done.reason


BUILDER = """
import os, subprocess, sys
from pathlib import Path
import torch.utils.cpp_extension as builder
assert os.environ["CFLAGS"].split() == ["-O1", "-g0"], os.environ["CFLAGS"]
assert Path(builder._get_build_directory("mine", False)).is_relative_to(os.environ["TORCH_EXTENSIONS_DIR"])
assert Path.home() / ".cache" / "torch_extensions" not in Path(os.environ["TORCH_EXTENSIONS_DIR"]).parents
Path("one.cpp").write_text('extern "C" int one() { return 1; }')
builder.load("one", ["one.cpp"], with_cuda=True, is_python_module=False, build_directory=".")
os.environ["PORTER_RUN_PYTHON"] = "/nowhere"             # who asks again fails
code = "import torch.utils.cpp_extension, os; assert os.environ['CFLAGS'] == '-O1 -g0'"
subprocess.run([sys.executable, "-c", code], check=True)
del os.environ["CFLAGS"]
code = "import torch.utils.cpp_extension, os; assert '-DNDEBUG' in os.environ['CFLAGS'].split()"  # Python's stay
subprocess.run([sys.executable, "-c", code], check=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("side", [CUDA, HIP], ids=["cuda", "hip"])
def test_what_extensions_are_built_with(side: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    require("g++")
    monkeypatch.setenv("CFLAGS", "-O1")
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR", raising=False)
    (tmp_path / "builder.py").write_text(BUILDER)
    done = run_program((sys.executable, "builder.py"), Options(side=side), tmp_path, keep=True)
    if done.verdict is Verdict.NOT_RUN:
        pytest.skip(done.reason)
    assert done.verdict is Verdict.NO_LAUNCH, done.errors.decode()


def test_locks_of_builds_that_were_killed(tmp_path: Path) -> None:
    """One that a process has open stays: another build is under way. Processes may end while they are looked at."""
    for name in ("dead", "held", "built"):
        (tmp_path / name).mkdir()
    (tmp_path / "dead" / "lock").touch()
    spec = importlib.util.spec_from_file_location("porter_torch", SITE / "porter_torch.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    processes = tmp_path / "proc"
    for process in ("1", "2", "3"):
        (processes / process).mkdir(parents=True)
    (processes / "2" / "fd").touch()
    (processes / "3" / "fd").mkdir()
    (processes / "3" / "fd" / "0").symlink_to(tmp_path / "dead" / "lock")
    module.drop_dead_locks(tmp_path, processes)
    assert (tmp_path / "dead" / "lock").exists()
    with (tmp_path / "held" / "lock").open("w"):
        module.drop_dead_locks(tmp_path)
        assert [path.parent.name for path in tmp_path.glob("*/lock")] == ["held"]
    module.drop_dead_locks(tmp_path)
    assert not list(tmp_path.glob("*/lock"))


@pytest.mark.slow
def test_a_name_that_is_not_there_is_told(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    require("g++")
    (tmp_path / "graph.py").write_text("import torch\ntry: torch.cuda.CUDAGraph()\nexcept NotImplementedError: pass\n")
    done = run_program((sys.executable, "graph.py"), Options(side=CUDA), tmp_path, keep=True)
    if done.verdict is Verdict.NOT_RUN:
        pytest.skip(done.reason)
    assert done.verdict is Verdict.UNSUPPORTED
    assert "torch.cuda.CUDAGraph" in done.reason


CMAKE = "CMake Error at a.cmake:6 (message):"


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("to avoid build errors in the future.\nk.cu(3): error: no name\n", "k.cu(3): error: no name"),
        ("x.py: UserWarning: error\na.cpp:1:2: fatal error: b.h: gone\n", "a.cpp:1:2: fatal error: b.h: gone"),
        ("LINK : fatal error LNK1181: gone\n", "LINK : fatal error LNK1181: gone"),
        ("ld: undefined reference to `f'\n", "ld: undefined reference to `f'"),
        ("ld: cannot find -lx: gone\ncollect2: error: ld returned 1 exit status\n", "ld: cannot find -lx: gone"),
        ("b.o: in main\ncollect2: error: ld returned 1 exit status\n", "collect2: error: ld returned 1 exit status"),
        ("RuntimeError\n", "RuntimeError"),
        ("make: nothing\n", "make: nothing"),
        (
            "-- x\nCMake Error at a.cmake:6 (message):\n  No ROCm\n  here.\n\nCall Stack\n  b\n",
            f"{CMAKE} No ROCm here.",
        ),
        (
            "CMake Error at a.txt:5 (find_package):\n  No\n\n  package.\n",
            "CMake Error at a.txt:5 (find_package): No package.",
        ),
        ("CMake Error at a.cmake:6 (message):\n  No ROCm\n\n\n-- Configuring incomplete\n", f"{CMAKE} No ROCm"),
    ],
)
def test_the_line_of_a_build_that_tells_most(said: str, line: str) -> None:
    assert Built(("make",), said).first_error == line

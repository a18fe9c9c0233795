"""The Python API: what docs/python.md shows, and what it says of arguments and errors."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from porter.validation.device_api import Module
from porter.validation.devices.core.result import Fault, FaultKind
from porter.validation.toolchain.clang import find_clang
from porter.validation.toolchain.result import Missing

import porter
from tests.later import later
from tests.outside import needs

if TYPE_CHECKING:
    import torch
else:
    torch = later("torch")

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", MANUAL.read_text("utf-8"), re.MULTILINE | re.DOTALL)
AXPY = """
__global__ void axpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void copy8(const unsigned char* from, unsigned char* to) { to[threadIdx.x] = from[threadIdx.x]; }
__device__ int counter = 5;
__global__ void count() { atomicAdd(&counter, 1); }
"""


@pytest.mark.slow
@needs("nvcc")
@pytest.mark.parametrize("example", EXAMPLES, ids=["kernel", "port"])
def test_the_manual(example: str) -> None:
    """Every example runs as it stands."""
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = "porter::ballot_sync" if "porter.port" in example else "scale<float>, block (3, 0, 0), wave 3, lane 40"
    assert shown in done.stdout


def test_importing_is_cheap() -> None:
    """numpy and torch come with the part that needs them."""
    code = "import sys, porter, porter.api; sys.exit(any(name in sys.modules for name in ('numpy', 'torch')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert {name for name in porter.__all__ if not hasattr(porter, name)} == set()
    stub = re.findall(r"import (\w+) as \1$", (MANUAL.parents[1] / "porter" / "__init__.pyi").read_text(), re.MULTILINE)
    assert {*stub, "__version__"} == set(porter.__all__)
    with pytest.raises(AttributeError):
        _ = porter.nothing  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def module() -> Module:
    """A module on the AMD device, compiled from CUDA."""
    clang = find_clang()
    if isinstance(clang, Missing):
        pytest.skip(clang.reason)
    return porter.Device("gfx942").compile(AXPY, language="cuda")


@pytest.mark.slow
class TestLaunch:
    """Arrays, tensors, views, values."""

    def test_numpy_and_torch(self, module: Module) -> None:
        x, y = np.arange(100, dtype=np.float32), torch.ones(100)
        module["axpy"][1, 128](100, 2.0, x, y)
        assert torch.equal(y, torch.from_numpy(2 * x + 1))

    def test_eight_bit_floats(self, module: Module) -> None:
        x = torch.linspace(-4, 4, 64).to(torch.float8_e4m3fn)
        y = torch.zeros_like(x)
        module["copy8"][1, 64](x, y)
        assert torch.equal(x.view(torch.uint8), y.view(torch.uint8))

    def test_a_view_in_the_middle(self, module: Module) -> None:
        whole = torch.zeros(30)
        module["axpy"][1, 64](10, 1.0, torch.ones(10), whole[10:20])
        assert whole.tolist() == [0.0] * 10 + [1.0] * 10 + [0.0] * 10

    def test_outside_of_a_view(self, module: Module) -> None:
        """The memory around it belongs to somebody, and is still not the kernel's; nothing is copied back."""
        whole = torch.zeros(30)
        with pytest.raises(porter.KernelFault, match=r"0 bytes after the end of argument 3 \(40 bytes\)") as raised:
            module["axpy"][1, 64](11, 1.0, torch.ones(11), whole[10:20])
        assert isinstance(raised.value.fault, Fault) and raised.value.fault.kind is FaultKind.OUT_OF_BOUNDS
        assert not whole.any()

    def test_views_that_overlap(self, module: Module) -> None:
        both = np.arange(10, dtype=np.float32)
        module["axpy"][1, 64](9, 1.0, both[1:], both[:9])
        assert both.tolist() == [1, 3, 5, 7, 9, 11, 13, 15, 17, 9]

    def test_negative_strides_begin_at_the_first_element(self, module: Module) -> None:
        array = np.arange(4, dtype=np.float32)
        with pytest.raises(porter.KernelFault, match="outside"):  # the kernel goes up, the view goes down
            module["axpy"][1, 64](2, 1.0, np.ones(4, np.float32), array[::-1])

    def test_read_only(self, module: Module) -> None:
        y = np.ones(4, np.float32)
        y.flags.writeable = False
        module["axpy"][1, 64](4, 1.0, y, np.ones(4, np.float32))
        with pytest.raises(porter.KernelFault, match="write to constant memory"):
            module["axpy"][1, 64](4, 1.0, np.ones(4, np.float32), y)

    def test_what_does_not_fit(self, module: Module) -> None:
        x = np.ones(4, np.float32)
        launch = module["axpy"][1, 64]
        with pytest.raises(TypeError, match="takes 4 arguments, 3 given"):
            launch(4, 1.0, x)
        with pytest.raises(TypeError, match="argument 1: an array where it takes a value of 4 bytes"):
            launch(4, x, x, x)
        with pytest.raises(OverflowError, match="argument 0: 4294967296 does not fit its 4 bytes"):
            launch(1 << 32, 1.0, x, x)
        with pytest.raises(TypeError, match=r"torch.sparse_coo tensor"):
            launch(4, 1.0, torch.ones(4).to_sparse(), x)
        with pytest.raises(ValueError, match="a launch of nothing"):
            module["axpy"][0, 64](4, 1.0, x, x)
        with pytest.raises(KeyError, match="no kernel 'nothing', or more than one; there are: axpy"):
            module["nothing"]

    def test_null(self, module: Module) -> None:
        with pytest.raises(porter.KernelFault, match="4 bytes at 0x0"):
            module["axpy"][1, 1](1, 1.0, None, np.ones(1, np.float32))

    def test_variables(self, module: Module) -> None:
        module["count"][2, 64]()
        assert module.read("counter", np.zeros(1, np.int32)).tolist() == [133]
        module.write("counter", np.zeros(1, np.int32))
        assert module.read("counter", np.zeros(1, np.int32)).tolist() == [0]


@pytest.mark.slow
def test_errors(tmp_path: Path) -> None:
    """Each kind has its own class."""
    with pytest.raises(porter.Unusable, match="no device 'gfx1100'"):
        porter.Device("gfx1100")
    gpu = porter.Device("gfx942")
    with pytest.raises(porter.Unusable, match="no such file"):
        gpu.load(tmp_path / "k.co")
    (tmp_path / "k.co").write_bytes(b"nothing")
    with pytest.raises(porter.NotRunHere):
        gpu.load(tmp_path / "k.co")
    if not isinstance(find_clang(), Missing):
        with pytest.raises(porter.CompileError, match="nosuch"):
            gpu.compile("__global__ void k() { nosuch(); }")


def test_porting_in_memory(tmp_path: Path) -> None:
    """Nothing is written, and what would be is in the result."""
    (tmp_path / "k.cu").write_text("#include <cuda_runtime.h>\nint f() { return cudaDeviceSynchronize(); }\n")
    ported = porter.port(tmp_path)
    assert ported.left == "none" and b"hipDeviceSynchronize" in ported.files["k.hip"]
    assert [path.name for path in tmp_path.iterdir()] == ["k.cu"]
    assert porter.scan(tmp_path / "k.cu").report.counts == ported.report.counts
    assert ported.as_json()["command"] == "port" and "renamed-name" in porter.port(tmp_path).text
    with pytest.raises(porter.Unusable, match="not both"):
        porter.port(tmp_path, tmp_path / "out", in_place=True)
    with pytest.raises(porter.Unusable, match="warp"):
        porter.scan(tmp_path, warp="wide")


@pytest.mark.slow
@needs("nvcc")
def test_validating() -> None:
    """The result says what each case came to."""
    samples = MANUAL.parents[1] / "samples"
    done = porter.validate(samples / "elementwise", schedules=2)
    assert done.passed and set(done.statuses.values()) == {"passed"} and done.as_json()["totals"]["passed"]
    with pytest.raises(porter.Unusable, match="known are"):
        porter.validate(samples, devices=["gfx1"])

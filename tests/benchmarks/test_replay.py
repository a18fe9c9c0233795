"""Launches are recorded as they are made, and replayed through the driver's calls; the GPU here is the virtual one."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.memory import DeviceBuffer
from porter.validation.devices.core.result import Ran
from porter.validation.devices.ptx import Device
from porter.validation.toolchain import nvcc
from porter.validation.toolchain.result import Assembled, Missing

from benchmarks.replay import run
from benchmarks.replay.random_kernels import problem
from benchmarks.replay.run import Refused, compared, replay
from tests.ptx.conftest import device as device
from tests.random_warps.kernels import kernel, text_of

ROOT = Path(__file__).parents[2]
PTX = """
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 seen = 5;
.visible .entry add(.param .u64 a, .param .u32 n) {
  .reg .u64 %p; .reg .u32 %n, %t, %x, %s;
  ld.param.u64 %p, [a]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x;
  mad.wide.u32 %p, %t, 4, %p; ld.global.u32 %x, [%p]; ld.global.u32 %s, [seen];
  add.u32 %x, %x, %n; add.u32 %x, %x, %s; st.global.u32 [%p], %x;
  add.u32 %s, %n, 0; st.global.u32 [seen], %s;
  ret;
}
"""
LAUNCH = """
import numpy as np, sys
from porter.validation.devices.ptx import open_device
module = open_device().compile(open(sys.argv[1]).read())
module.launch("add", 1, 32, [np.arange(32, dtype=np.uint32), np.uint32(7)])
module.launch("add", 1, 32, [np.arange(32, dtype=np.uint32), np.uint32(7)])
module.launch("add", 1, 64, [np.arange(32, dtype=np.uint32), np.uint32(7)])
"""


class Virtual:
    """The driver's calls as `run.Driver` has them, on the virtual device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.held: dict[int, DeviceBuffer] = {}
        self.numbers = itertools.count(1)

    def module(self, path: Path) -> Any:
        return self.device.compile(path.read_text())

    def variable(self, module: Any, name: str) -> tuple[Any, int]:
        return (module, name), module.program.variables[name].size

    def place(self, data: Any) -> Any:
        address = ctypes.c_uint64(next(self.numbers))
        self.held[address.value] = self.device.buffer(data)
        return address

    def write(self, address: Any, data: Any) -> None:
        module, name = address
        module.write_symbol(name, data)

    def read(self, address: Any, like: Any) -> Any:
        if isinstance(address, tuple):
            return address[0].read_symbol(address[1], like)
        return self.held[address.value].read()

    def release(self, address: Any) -> None:
        del self.held[address.value]

    def launch(self, module: Any, head: dict[str, Any], values: list[Any]) -> None:
        args = [self.held[v.value] if isinstance(v, ctypes.c_uint64) else v.tobytes() for v in values]
        options = Options(uninitialised=False)
        done = module.launch(head["kernel"], tuple(head["grid"]), tuple(head["block"]), args, head["shared"], options)
        if not isinstance(done, Ran):
            raise Refused(str(done))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, device: Device) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "add.txt").write_text(PTX)
    record = [sys.executable, "-m", "benchmarks.replay.record", str(folder / "out"), "--"]
    command = [*record, sys.executable, "-c", LAUNCH, str(folder / "add.txt")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 launches of 1 programs" in done.stderr
    assert "not recorded: 1 with Fault" in done.stderr
    return folder / "out"


def test_launches_that_are_not_the_same_are_kept_once_and_replay(recorded: Path, device: Device) -> None:
    files = sorted(recorded.glob("*.npz"))
    again = [replay(Virtual(device), file) for file in files]  # type: ignore[arg-type]
    assert [(one.kernel, one.parts, one.problem) for one in again] == [("add", [], "")] * 2
    kept = [dict(np.load(file)) for file in files]  # the second finds what the first left in the variable
    assert sorted(int(parts["var:seen"].view(np.uint32)[0]) for parts in kept) == [5, 7]
    assert sorted(int(parts["out0"][0]) for parts in kept) == [12, 14]


def test_what_a_gpu_makes_otherwise_is_told(recorded: Path, device: Device, tmp_path: Path) -> None:
    for program in recorded.glob("*.ptx"):
        (tmp_path / program.name).write_text(
            program.read_text().replace("mad.wide.u32 %p, %t, 4", "mad.wide.u32 %p, 0, 4")
        )
    file = sorted(recorded.glob("*.npz"))[0]
    (tmp_path / file.name).write_bytes(file.read_bytes())
    told = replay(Virtual(device), tmp_path / file.name)  # type: ignore[arg-type]
    assert [(part.name, part.count, part.different) for part in told.parts] == [("out0", 32, 31)]


def test_the_launch_that_faults_is_not_recorded_but_counted(recorded: Path) -> None:
    assert (recorded / "left-out.txt").read_text() == "Fault\n"


@pytest.mark.parametrize(
    ("gpu", "virtual", "worst"),
    [
        (np.float32([1, np.nan]), np.float32([1, -np.nan]), "same"),
        (np.float32([0.0]), np.float32([-0.0]), 0),
        (np.float32([1, 2]), np.float32([1, np.nextafter(np.float32(2), np.float32(3))]), 1),
        (np.float64([-0.0]), np.float64([np.nextafter(0.0, 1.0)]), 1),
        (np.float32([np.inf]), np.float32([1]), None),
        (np.uint8([1, 2]), np.uint8([1, 3]), None),
    ],
)
def test_compared(gpu: Any, virtual: Any, worst: object) -> None:
    part = compared("x", gpu, virtual)
    assert ("same" if part is None else part.worst) == worst


def test_random_kernels_as_the_driver_runs_them(device: Device, tmp_path: Path) -> None:
    kernels = [kernel(seed) for seed in range(3)]
    source = tmp_path / "kernels.cu"
    source.write_text(text_of(kernels))
    made = nvcc.ptx(source, "sm_80", ("-fmad=false", "-w"))
    if isinstance(made, Missing):
        pytest.skip(made.reason)
    assert isinstance(made, Assembled)
    ptx = tmp_path / "kernels.ptx"
    ptx.write_text(made.text)
    assert [problem(Virtual(device), ptx, one) for one in kernels] == [""] * 3  # type: ignore[arg-type]


def test_a_kernel_that_leaves_something_else_is_told(device: Device, tmp_path: Path) -> None:
    ptx = tmp_path / "kernels.ptx"
    one = kernel(1)
    arguments = ", ".join(f".param .u64 p{place}" for place in range(3))
    ptx.write_text(
        f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry {one.name}({arguments}) {{ ret; }}\n"
    )
    assert problem(Virtual(device), ptx, one).startswith(f"{one.name}: ")  # type: ignore[arg-type]


def test_nothing_to_replay_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    """No launches, and no driver: said once, and another exit code than where all is the same."""
    monkeypatch.setattr(run, "DRIVER", "libcuda-that-is-not-here.so")
    monkeypatch.setattr(sys, "argv", ["run.py", str(tmp_path)])
    assert run.main() == 2
    assert "no launches were recorded" in capsys.readouterr().err
    (tmp_path / "a.npz").write_bytes(b"")
    assert run.main() == 2
    assert capsys.readouterr().err.startswith("no NVIDIA driver: libcuda-that-is-not-here.so")

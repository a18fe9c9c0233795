"""One program with many modes, built once for each side; the port is `porter port`'s."""

from __future__ import annotations

import functools
import shutil
import tempfile
from pathlib import Path

import pytest
from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.programs.building import build
from porter.validation.programs.compare import port_tree
from porter.validation.programs.compilers import folder
from porter.validation.programs.sides import CUDA, HIP, Side
from porter.validation.toolchain.result import Missing

HERE = Path(__file__).parent


@functools.cache
def _made(side: Side, name: str, at: str) -> Path | str:
    """The program, or why there is none."""
    compiler = find_host_compiler()
    if isinstance(compiler, Missing):
        return compiler.reason
    tools = folder(side, compiler)
    if isinstance(tools, Missing):
        return tools.reason
    work = Path(at) / f"{side.name}-{name}"
    original, port = work / "original", work / "port"
    original.mkdir(parents=True)
    shutil.copy(HERE / f"{name}.cu", original)
    if side is HIP:
        port_tree(original, port)
        step, where = ("hipcc", "-O2", f"{name}.hip", "-o", name), port
    else:
        step, where = ("nvcc", "-O2", f"{name}.cu", "-o", name), original
    done = build(side, where, [step], 300)
    if isinstance(done, Missing):
        return done.reason
    assert done.failed is None, done.said
    return where / name


@pytest.fixture(scope="session")
def work() -> str:
    """Where this session's programs are built."""
    return tempfile.mkdtemp(prefix="porter-test-programs-")


def _program(side: Side, name: str, work: str) -> Path:
    made = _made(side, name, work)
    if isinstance(made, str):
        pytest.skip(made)
    return made


@pytest.fixture
def cuda(work: str) -> Path:
    """modes.cu by nvcc."""
    return _program(CUDA, "modes", work)


@pytest.fixture
def hip(work: str) -> Path:
    """Its port by clang."""
    return _program(HIP, "modes", work)


@pytest.fixture
def absent(work: str) -> Path:
    """A program that calls what is not implemented."""
    return _program(CUDA, "absent", work)


@pytest.fixture(params=["cuda", "hip"])
def program(request: pytest.FixtureRequest) -> Path:
    """Either side."""
    found: Path = request.getfixturevalue(request.param)
    return found

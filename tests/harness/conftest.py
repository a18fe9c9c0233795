"""An nvcc that is the host compiler, with a CUDA runtime that is the host: harnesses run without a GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from porter.validation.devices import cuda
from porter.validation.devices.core.result import NotRun
from porter.validation.devices.device import BuildFailed, Loaded, Program
from porter.validation.devices.real import RealKernel
from porter.validation.harness.build import why_not

from porter.system.cache import kept_text
from tests.outside import require

FAKE = Path(__file__).parent / "fake"
WRAPPER = """#!{python}
import os, sys
if "--version" in sys.argv:
    print("Cuda compilation tools, release 99.9, V99.9.1")
    sys.exit()
words, given = [], iter(sys.argv[1:])
for word in given:
    if word in ("-Xcompiler", "-cudart"):
        value = next(given)
        words += [value] if word == "-Xcompiler" else []
    elif word == "-x":
        next(given)
        words += ["-x", "c++", "-I{fake}", "-include", "cuda_runtime.h"]
    elif not word.startswith(("-arch", "-lineinfo")):
        words.append(word)
os.execv("{gxx}", ["g++", "-O0", *words])
"""

Compile = Callable[..., RealKernel]


@pytest.fixture(scope="session")
def fake_nvcc() -> Path:
    """The wrapper; one for all runs, so that each source is compiled once."""
    gxx = require("g++")
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    text = WRAPPER.format(python=sys.executable, fake=FAKE, gxx=gxx)
    wrapper = kept_text("assembly", text.encode(), "nvcc")
    wrapper.chmod(0o700)
    return wrapper


@pytest.fixture
def compile_fake(fake_nvcc: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compile]:
    """Compiles a kernel with the fake nvcc and gives it back in its harness."""
    monkeypatch.setenv("PORTER_NVCC", str(fake_nvcc))
    made: list[RealKernel] = []

    def compile_it(source: str, kernel: str, folder: Path | None = None) -> RealKernel:
        path = kept_text("assembly", source.encode(), "kernel.cu") if folder is None else folder / "kernel.cu"
        if folder is not None:
            path.write_text(source)
        loaded: Loaded | BuildFailed | NotRun = cuda.open_device().compile(Program(path, kernel, "cuda"), 120)
        assert isinstance(loaded, RealKernel), loaded
        made.append(loaded)
        return loaded

    yield compile_it
    for one in made:
        one.close()

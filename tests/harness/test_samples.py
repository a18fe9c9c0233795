"""The module of each sample with the real nvcc and hipcc: compiled, imported, refused by the runtime without a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from porter.validation.cases.case import Case
from porter.validation.cases.file import load_cases
from porter.validation.cases.runtime_text import kernel_file
from porter.validation.devices import cuda, hip, presence
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.device import BuildFailed, Launch, Program
from porter.validation.devices.real import RealKernel
from porter.validation.harness.build import why_not
from porter.validation.toolchain.hipcc import find_hipcc, supports
from porter.validation.toolchain.nvcc import find_nvcc
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.rocm_headers import fetched

from porter.project.port import Request, port_to
from porter.settings import load_choices
from porter.system.cache import cache_folder

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[2] / "samples"
CASES: dict[str, Case] = {
    path.parent.name: cases[-1] for path in sorted(SAMPLES.glob("*/*.case.toml")) if (cases := load_cases(path))
}
NEEDS_HEADERS = {
    ("cuda", "torch_extension"): "C10_WARP_SIZE",
    ("hip", "torch_extension"): "C10_WARP_SIZE",
    **({("hip", "cub_sort_reduce"): "hipcub"} if fetched() is None else {}),
}
"""Kernels that are written in terms of a library which is not installed here: the compiler names it."""


@pytest.fixture(scope="module")
def ported() -> Path:
    """The ports of all samples, in a place that stays: the modules are kept between runs."""
    folder = cache_folder() / "tests" / "harness-samples"
    port_to(Request(SAMPLES, load_choices(SAMPLES, None), 1, force=True), folder, None)
    return folder


def _reason(why: str | None) -> None:
    if why is not None:
        pytest.skip(why)


def _check(device: cuda.Cuda | hip.Hip, sample: str, source: Path, folders: tuple[Path, ...]) -> None:
    case = CASES[sample]
    program = Program(kernel_file(case, source), case.kernel, device.language, folders, case.defines)
    kernel = device.compile(program, 300)
    wanted = NEEDS_HEADERS.get((device.name, sample))
    if wanted is not None and isinstance(kernel, BuildFailed):
        assert wanted in kernel.output
        pytest.skip(f"needs a library that is not installed: {wanted}")
    assert isinstance(kernel, RealKernel), kernel
    try:
        parameters = len(case.arguments)
        done = kernel.launch(Launch((1, 1, 1), (64, 1, 1), tuple(np.zeros(4) for _ in range(parameters))), 60)
        reason = presence.find_gpu(device.name)[0]
        if reason is None:
            assert not isinstance(done, NotRun) or "bytes" in done.reason or "pointer" in done.reason, done
        else:
            assert isinstance(done, NotRun), done
            assert "Error" in done.reason and "(" in done.reason and not isinstance(done, Ran)
    finally:
        kernel.close()


@pytest.mark.parametrize("sample", CASES)
def test_the_originals_module(sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_nvcc()
    _reason(found.reason if isinstance(found, Missing) else why_not())
    case = CASES[sample]
    _check(cuda.open_device(), sample, case.source, case.include_dirs)


@pytest.mark.parametrize("sample", CASES)
def test_the_ports_module(sample: str, ported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_hipcc()
    _reason(found.reason if isinstance(found, Missing) else supports(found, "gfx90a") or why_not())
    monkeypatch.setenv("PORTER_HIP_ARCH", "gfx90a")
    case = CASES[sample]
    source = (ported / case.source.relative_to(SAMPLES)).with_suffix(".hip")
    folders = (*(ported / folder.relative_to(SAMPLES) for folder in case.include_dirs), ported)
    _check(hip.open_device(), sample, source, folders)


def test_availability_names_the_runtimes_reason() -> None:
    for device in (cuda.open_device(), hip.open_device()):
        reason = device.available()
        assert reason is None or "GPU" in reason or "driver" in reason or "no " in reason

"""nvcc is found where it can be, and its refusals are values."""

from __future__ import annotations

import site
import sys
from pathlib import Path

import pytest
from porter.validation.toolchain.nvcc import Nvcc, find_nvcc, ptx, targets
from porter.validation.toolchain.result import Assembled, CompileFailed, Missing

from tests.outside import require

FAKE = """#!/bin/sh
case "$1" in
--version) echo 'Cuda compilation tools, release 12.4, V12.4.131' ;;
--list-gpu-code) printf 'sm_80\\nsm_90a\\n' ;;
*) exit 1 ;;
esac
"""
GXX = "#!/bin/sh\necho 'g++ 12.2.0'\n"


def _install(path: Path, text: str = FAKE) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORTER_NVCC", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)


def test_cuda_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = _install(tmp_path / "cuda/bin/nvcc")
    other = _install(tmp_path / "bin/nvcc")
    monkeypatch.setenv("PATH", str(other.parent), prepend=":")
    assert find_nvcc() == Nvcc(str(other), "12.4.131")
    monkeypatch.setenv("CUDA_HOME", str(home.parents[1]))
    found = find_nvcc()
    assert found == Nvcc(str(home), "12.4.131")
    assert isinstance(found, Nvcc) and targets(found) == ("sm_80", "sm_90a")


def test_a_broken_one_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = _install(tmp_path / "nvcc-dir/nvcc", "#!/bin/sh\necho 'license expired'; exit 2\n")
    monkeypatch.setenv("PORTER_NVCC", str(broken))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(_install(tmp_path / "bin/g++", GXX).parent))
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(site, "getsitepackages", list)
    found = find_nvcc()
    if isinstance(found, Missing):
        assert "license expired" in found.reason and str(tmp_path / "none") in found.reason
    else:
        assert found.path == "/usr/local/cuda/bin/nvcc"


@pytest.mark.parametrize("layout", ["cu13/bin/nvcc", "cuda_nvcc/bin/nvcc"])
def test_installed_by_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    found = _install(tmp_path / "site/nvidia" / layout)
    include = tmp_path / "site/nvidia/cuda_runtime/include"
    include.mkdir(parents=True)
    _install(tmp_path / "bin/g++", GXX)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    monkeypatch.setattr(site, "getsitepackages", list)
    nvcc = find_nvcc()
    assert isinstance(nvcc, Nvcc) and nvcc.path == str(found) and include in nvcc.include_dirs


@pytest.mark.slow
def test_ptx_of_a_kernel_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("nvcc")
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(float* out) { out[threadIdx.x] = VALUE; }\n")
    first = ptx(source, defines=("VALUE=2.0f",))
    assert isinstance(first, Assembled) and ".target sm_80" in first.text and ".loc" in first.text
    assert ptx(source, defines=("VALUE=2.0f",)) == first
    failed = ptx(source)
    assert isinstance(failed, CompileFailed) and "VALUE" in failed.output


@pytest.mark.slow
def test_a_missing_header_is_remembered_until_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    require("nvcc")
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "k.cu"
    source.write_text('#include "lost.h"\n__global__ void k(int* out) { *out = VALUE; }\n')
    assert isinstance(ptx(source, include_dirs=(tmp_path / "late",)), CompileFailed)
    (record,) = (tmp_path / "cache/builds").glob("*/*/porter-build*.json")
    assert isinstance(ptx(source, include_dirs=(tmp_path / "late",)), CompileFailed)
    assert list((tmp_path / "cache/builds").glob("*/*/porter-build*.json")) == [record]
    (tmp_path / "late").mkdir()
    (tmp_path / "late/lost.h").write_text("#define VALUE 1\n")
    assert isinstance(ptx(source, include_dirs=(tmp_path / "late",)), Assembled)

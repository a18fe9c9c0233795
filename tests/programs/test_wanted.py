"""Which runtime a program asks for, by itself or through a library of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from porter.validation.devices.core.hostcc import HostCompiler, find_host_compiler
from porter.validation.programs import wanted as module
from porter.validation.programs.sides import CUDA
from porter.validation.programs.wanted import wanted


@pytest.fixture
def compiler() -> HostCompiler:
    found = find_host_compiler()
    if not isinstance(found, HostCompiler):
        pytest.skip(found.reason)
    return found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Programs that the dynamic linker was asked about."""
    programs: list[Path] = []
    real = module._loaded

    def counted(program: Path) -> str:
        programs.append(program)
        return real(program)

    monkeypatch.setattr(module, "_loaded", counted)
    return programs


def library(compiler: HostCompiler, folder: Path, soname: str, *linked: str) -> Path:
    path, source = folder / soname, folder / "library.c"
    source.write_text(f"int {soname.split('.')[0]}_call(void) {{ return 0; }}\n")
    where = [f"-L{folder}", f"-Wl,-rpath,{folder}", "-Wl,--no-as-needed"]
    subprocess.run(
        [compiler.path, "-shared", "-fPIC", f"-Wl,-soname,{soname}", *where, str(source), *linked, "-o", str(path)],
        check=True,
    )
    return path


def program(compiler: HostCompiler, folder: Path, *linked: Path) -> Path:
    path, source = folder / "main", folder / "main.c"
    source.write_text("int main(void) { return 0; }\n")
    where = [f"-Wl,-rpath,{folder}", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined"]
    subprocess.run([compiler.path, str(source), *where, *map(str, linked), "-o", str(path)], check=True)
    return path


def test_one_that_names_its_runtime_starts_no_dynamic_linker(
    compiler: HostCompiler, tmp_path: Path, asked: list[Path]
) -> None:
    found = wanted(program(compiler, tmp_path, library(compiler, tmp_path, "libcudart.so.12")))
    assert (found.libraries, found.stand_ins, asked) == (((CUDA, "12"),), (), [])


def test_a_library_of_its_own_may_ask_for_more(compiler: HostCompiler, tmp_path: Path, asked: list[Path]) -> None:
    """Also where the program names its runtime: its library is linked to one that has a stand-in."""
    runtime = library(compiler, tmp_path, "libcudart.so.12")
    blas = library(compiler, tmp_path, "libcublas.so.12")
    own = library(compiler, tmp_path, "libown.so", str(blas))
    found = wanted(program(compiler, tmp_path, runtime, own))
    assert [row.name for row, _ in found.stand_ins] == ["cublas"] and len(asked) == 1


def test_a_runtime_behind_a_library_of_its_own(compiler: HostCompiler, tmp_path: Path) -> None:
    own = library(compiler, tmp_path, "libown.so", str(library(compiler, tmp_path, "libcudart.so.13")))
    assert wanted(program(compiler, tmp_path, own)).libraries == ((CUDA, "13"),)

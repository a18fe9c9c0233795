"""Every program of the table: not there, too old, broken, and the better one of two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.devices.gfx942.bundle import NoCodeObject, code_objects
from porter.validation.devices.gfx942.objects import Unreadable, read_object
from porter.validation.toolchain.clang import find_compiler
from porter.validation.toolchain.hipcc import find_hipcc
from porter.validation.toolchain.nvcc import find_nvcc
from porter.validation.toolchain.programs import Program, find
from porter.validation.toolchain.result import Missing

from porter.system.needs import BY_NAME, NEEDS, Need

PROGRAMS = [row for row in NEEDS if row.programs]
SAYS = {
    "nvcc": "release {0}, V{0}",
    "hipcc": "HIP version: {0}-0\nclang version 17.0.0",
    "clang++": "clang version {0}",
}
Put = Callable[[str, str], Path]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """A machine without any of the programs; the fixture puts a script there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for row in PROGRAMS:
        for variable in (*row.variables, *row.homes):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setitem(BY_NAME, row.name, replace(row, folders=(), wheels=()))

    def put_it(name: str, said: str) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\necho '{said}'\n")
        path.chmod(0o755)
        return path

    return put_it


def _said(row: Need, version: str) -> str:
    return SAYS.get(row.name, "it is version {0}").format(version)


@pytest.mark.parametrize("row", PROGRAMS, ids=lambda row: row.name)
def test_one_that_is_not_there(put: Put, row: Need) -> None:
    found = find(row.name)
    assert isinstance(found, Missing)
    assert found.reason.startswith(f"no {row.title}: not in PATH") and row.remedy in found.reason


@pytest.mark.parametrize("row", [row for row in PROGRAMS if row.least], ids=lambda row: row.name)
def test_one_that_is_too_old(put: Put, row: Need) -> None:
    old = f"{row.least[0] - 1}.9.1"
    path = put(row.programs[-1], _said(row, old))
    found = find(row.name)
    assert isinstance(found, Missing)
    assert f"{path}: it is {old}" in found.reason and row.remedy in found.reason
    put(row.programs[-1], "hello")
    found = find(row.name)
    assert isinstance(found, Missing) and "it tells no version: hello" in found.reason


@pytest.mark.parametrize("row", PROGRAMS, ids=lambda row: row.name)
def test_one_that_is_just_new_enough(put: Put, row: Need) -> None:
    version = ".".join(map(str, row.least or (1, 2)))
    path = put(row.programs[-1], _said(row, f"{version}.0"))
    found = find(row.name)
    assert isinstance(found, Program)
    assert (found.path, found.version) == (str(path), f"{version}.0")


def test_one_that_is_broken(put: Put) -> None:
    path = put("cmake", "no licence")
    path.write_text("#!/bin/sh\necho 'no licence' >&2; exit 3\n")
    found = find("cmake")
    assert isinstance(found, Missing) and f"{path} --version: no licence" in found.reason


def test_an_old_one_does_not_hide_a_new_one(put: Put) -> None:
    put("llvm-objdump", "Debian LLVM version 14.0.6")
    new = put("llvm-objdump-18", "LLVM version 18.1.8")
    found = find("llvm-objdump")
    assert isinstance(found, Program) and found.path == str(new)


def test_a_variable_that_names_nothing_is_told(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_CLANG", "clang-of-mine")
    found = find_compiler()
    assert isinstance(found, Missing) and "PORTER_CLANG: no clang-of-mine" in found.reason


def test_a_clang_without_the_backend_says_so(put: Put) -> None:
    path = put("clang++", "clang version 19.1.7")
    found = find_compiler()
    assert isinstance(found, Missing) and f"{path}: no AMDGPU backend" in found.reason


def test_a_hipcc_without_a_clang_says_so(put: Put) -> None:
    put("hipcc", "HIP version: 6.0.1")
    found = find_hipcc()
    assert isinstance(found, Missing) and "it names no clang: HIP version: 6.0.1" in found.reason


def test_nvcc_needs_a_host_compiler(put: Put) -> None:
    put("nvcc", "release 12.4, V12.4.131")
    found = find_nvcc()
    assert isinstance(found, Missing) and "needs a host compiler: no g++" in found.reason
    put("g++", "g++ 12.2.0")
    assert not isinstance(find_nvcc(), Missing)


def test_code_objects_name_the_tool(put: Put, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.write_bytes(b"CCOB" + bytes(64))
    with pytest.raises(NoCodeObject, match="a compressed offload bundle of version 0"):  # opened without a tool
        code_objects(packed)
    put("llvm-objdump", "Debian LLVM version 14.0.6")
    with pytest.raises(Unreadable, match=r"it is 14\.0\.6 \(apt install llvm-19"):
        read_object(b"\x7fELF")

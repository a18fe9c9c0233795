"""The command lines of the hipcc for virtual devices, and the runtime that programs are linked to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.programs import compilers, wrapper_hipcc
from porter.validation.programs.sides import HIP
from porter.validation.toolchain.invoke import invoke
from porter.validation.toolchain.result import Missing


@pytest.mark.parametrize(
    ("words", "level"),
    [
        (["a.hip"], ["-O3"]),
        (["-c", "a.hip", "-o", "-Odd.o"], ["-Odd.o", "-O3"]),
        (["-O", "a.hip"], ["-O"]),
        (["-O0", "-g", "a.hip"], ["-O0"]),
        (["-Ofast", "a.cpp"], ["-Ofast"]),
        (["-fgpu-rdc", "--hip-link", "a.o", "-o", "a"], ["-O3"]),
        (["a.o", "-o", "a"], []),
    ],
)
def test_as_optimised_as_by_hipcc(words: list[str], level: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"compiler": "clang", "options": ["-w"], "libraries": [], "stand_ins": {}, "build_stand_ins": []}
    monkeypatch.setattr(wrapper_hipcc, "SETTINGS", settings)
    assert sorted(word for word in wrapper_hipcc.command(words) if word.startswith("-O")) == sorted(level)


@pytest.mark.parametrize(("number", "version"), [("5", "5"), ("6", "6"), ("7", "7"), ("8", "7"), ("", "7")])
def test_linked_to_the_runtime_of_the_headers(
    number: str, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hip").mkdir()
    text = f"#define HIP_VERSION_MAJOR {number}\n#define HIP_VERSION_MINOR 2\n" if number else ""
    (tmp_path / "hip" / "hip_version.h").write_text(text)
    monkeypatch.setattr(compilers, "find_headers", lambda: tmp_path)
    assert compilers.runtime_version(HIP) == version


def test_a_rocm_that_is_set_for_others_is_not_clangs(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[dict[str, str]] = []
    monkeypatch.setattr(wrapper_hipcc, "command", lambda words: ["clang", *words])
    monkeypatch.setattr(sys, "argv", ["hipcc", "a.hip"])
    monkeypatch.setenv("PATH", "/bin")
    for name in ("ROCM_PATH", "HIP_PATH", "HIP_DEVICE_LIB_PATH"):
        monkeypatch.setenv(name, "/opt/rocm")
    monkeypatch.setattr(os, "execv", lambda *_: ran.append(dict(os.environ)))
    wrapper_hipcc.main()
    assert not {"ROCM_PATH", "HIP_PATH", "HIP_DEVICE_LIB_PATH"} & ran[0].keys()


@pytest.mark.slow
def test_math_of_the_device_with_a_rocm_that_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = find_host_compiler()
    assert not isinstance(host, Missing)
    folder = compilers.folder(HIP, host)
    if isinstance(folder, Missing):
        pytest.skip(folder.reason)
    (tmp_path / "rocm" / "include" / "hip").mkdir(parents=True)
    (tmp_path / "rocm" / "lib").mkdir()
    (tmp_path / "rocm" / "lib" / "libamdhip64.so").touch()
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    (tmp_path / "a.hip").write_text("__global__ void k(float *p) { p[0] = max(p[0], powf(p[1], 2.f)); }\n")
    done = invoke((str(folder / "hipcc"), "-fsyntax-only", "a.hip"), 80, tmp_path)
    assert done.ok, done.said


@pytest.mark.slow
def test_c_files_beside_hip(tmp_path: Path) -> None:
    """A flag of ours that is for C++ alone would stop clang at the C file."""
    compiler = find_host_compiler()
    tools = compiler if isinstance(compiler, Missing) else compilers.folder(HIP, compiler)
    if isinstance(tools, Missing):
        pytest.skip(tools.reason)
    (tmp_path / "a.c").write_text("int next(int class) { return class + 1; }\n")
    (tmp_path / "b.hip").write_text("__global__ void k(int *p) { *p = 1; }\n")
    done = invoke((str(tools / "hipcc"), "-O0", "-fsyntax-only", "a.c", "b.hip"), 60, tmp_path)
    assert done.ok, done.said


@pytest.mark.slow
def test_openmp_of_the_host(tmp_path: Path) -> None:
    """gcc's omp.h, whose attributes clang does not all take; without clang's own library one thread runs."""
    compiler = find_host_compiler()
    tools = compiler if isinstance(compiler, Missing) else compilers.folder(HIP, compiler)
    if isinstance(tools, Missing):
        pytest.skip(tools.reason)
    if not (tools / "include" / "omp.h").exists():
        pytest.skip("no omp.h of gcc's")
    (tmp_path / "a.hip").write_text(
        "#include <omp.h>\n#include <cstdlib>\n__global__ void k(int *p) { *p = 1; }\n"
        "int main() {\n    int sum = 0;\n#pragma omp parallel for reduction(+ : sum)\n"
        "    for (int i = 0; i < 10; i++) sum += i;\n"
        "    return sum == 45 && omp_get_max_threads() > 0 ? 0 : 1;\n}\n"
    )
    done = invoke((str(tools / "hipcc"), "-fopenmp", "-O1", "a.hip", "-o", "a"), 80, tmp_path)
    assert done.ok, done.said

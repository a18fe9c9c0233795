"""The command lines of the hipcc for virtual devices, and the runtime that programs are linked to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.programs import compilers, wrapper_hipcc, wrapper_removed
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


_SAYS = {
    "clockRate": 'a.cu(3): error: class "cudaDeviceProp" has no member "clockRate"',
    "cudaThreadExit": "a.cpp:3:1: error: 'cudaThreadExit' was not declared in this scope",
    None: 'a.cu(3): error: identifier "clock_rate" is undefined',
}


@pytest.mark.parametrize("missed", [*_SAYS, ""])
def test_nvcc_is_asked_again_for_names_that_it_lacks_alone(
    missed: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The second command is told what the first one lacked; other errors stand, and what went well is not repeated."""
    nvcc, notes = tmp_path / "nvcc", tmp_path / "notes"
    said = _SAYS.get(missed or None, "") if missed != "" else ""
    nvcc.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/ran\necho out\ncase "$*" in\n  *-include*) exit 0 ;;\nesac\n'
                    f'cat >&2 <<END\n{said}\nEND\nexit {int(bool(said))}\n')  # fmt: skip
    nvcc.chmod(0o755)
    monkeypatch.setattr(wrapper_removed, "headers_with_members", lambda *_: None)
    monkeypatch.setenv("PORTER_BUILD_NOTES", str(notes))
    code = wrapper_removed.with_removed([str(nvcc), "a.cu"], "removed.h")
    ran = (tmp_path / "ran").read_text().splitlines()
    out, told = capfd.readouterr()
    assert out == "out\n"
    if missed:
        assert (code, ran, notes.read_text()) == (0, ["a.cu", "-include removed.h a.cu"], f"{missed}\n")
    else:
        assert (code, ran, notes.exists()) == (int(missed is None), ["a.cu"], False)
        assert said in told


def test_the_members_are_put_where_there_is_room_for_them(tmp_path: Path) -> None:
    """And nothing is put into headers of another form."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "other.h").touch()
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(f"""#!/bin/sh\necho '#$ INCLUDES="-I{tmp_path}/include"  '\n""")
    nvcc.chmod(0o755)
    header = tmp_path / "include" / "driver_types.h"
    before = "struct __device_builtin__ other\n{\n    int reserved[7];\n};\n"
    for text in ("struct __device_builtin__ cudaDeviceProp\n{\n    char name[256];\n};\n" + before, before):
        header.write_text(text)
        assert wrapper_removed.headers_with_members(str(nvcc), tmp_path / "removed") is None
    header.write_text(
        before + "struct __device_builtin__ cudaDeviceProp\n{\n    int a; int  reserved[56];\n};\n" + before
    )
    made = wrapper_removed.headers_with_members(str(nvcc), tmp_path / "removed")
    assert made is not None and sorted(path.name for path in made.iterdir()) == ["driver_types.h", "other.h"]
    text = (made / "driver_types.h").read_text()
    assert text.count("int reserved[7];") == 2 and "int cooperativeMultiDeviceLaunch; int reserved[48];" in text


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

"""Whole commands on machines that lack one program, or have it too old: not run, for the right reason, and no crash."""

from __future__ import annotations

import fnmatch
import json
import os
import subprocess
from pathlib import Path

import pytest

from porter.system.needs import need
from tests.cli.command import porter
from tests.outside import needs, require
from tests.validate.running import write_case

pytestmark = [pytest.mark.slow, needs("nvcc", "clang++", "C compiler")]

ONLY_THE_PATH = """
import dataclasses
from porter.system.needs import BY_NAME
BY_NAME.update({name: dataclasses.replace(row, folders=(), wheels=()) for name, row in BY_NAME.items()})
"""
SOURCE = "__global__ void twice(const float* a, float* out) { out[threadIdx.x] = 2 * a[threadIdx.x]; }\n"
CASE = 'grid = 1\nblock = 32\narguments = ["in a: float32[32]", "out out: float32[32]"]\nreference = "r.py:twice"\n'
REFERENCE = "def twice(a):\n    return 2 * a\n"
C_COMPILERS = ("clang", "clang-[0-9]*", "gcc*", "cc", "c99*", "c89*", "*-gnu-gcc*")
CLANGS = ("clang++*",)


def machine(folder: Path, gone: tuple[str, ...], **old: str) -> dict[str, str]:
    """The programs of this machine but for some; of the others, scripts that call themselves older."""
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(ONLY_THE_PATH)
    path = folder / "bin"
    path.mkdir()
    for place in map(Path, os.environ["PATH"].split(os.pathsep)):
        for program in place.iterdir() if place.is_dir() else ():
            hidden = any(fnmatch.fnmatch(program.name, pattern) for pattern in gone)
            if not hidden and not (path / program.name).is_symlink():
                (path / program.name).symlink_to(program)
    scripts = {name: f"echo '{said}'" for name, said in old.items()}
    if "nvcc" not in gone:  # it may be one of NVIDIA's wheels, which are not on the PATH
        scripts.setdefault("nvcc", f'exec "{require("nvcc")}" "$@"')
    for name, text in scripts.items():
        (path / name).unlink(missing_ok=True)
        (path / name).write_text(f"#!/bin/sh\n{text}\n")
        (path / name).chmod(0o755)
        os.utime(path / name, (0, 0))  # one that was written just now is another compiler
    variables = {name: "" for row in ("nvcc", "hipcc", "clang++", "C compiler") for name in need(row).variables}
    homes = dict.fromkeys(need("nvcc").homes, "")
    return {**variables, **homes, "PATH": str(path), "PYTHONPATH": str(folder / "site")}


OLD_NVCC, OLD_CLANG = "Cuda compilation tools, release 10.2, V10.2.89", "clang version 14.0.6"
NOT_RUN = {
    "nvcc": (("nvcc",), {}, "ptx", "no nvcc (11.0 or newer): not in PATH"),
    "an old nvcc": ((), {"nvcc": OLD_NVCC}, "ptx", "/nvcc: it is 10.2.89 (pip install 'porter[cuda]'"),
    "g++": (("g++*", "*-gnu-g++*"), {}, "ptx", "needs a host compiler: no g++: not in PATH (apt install g++)"),
    "clang++": (CLANGS, {}, "gfx942", "no clang++ (17 or newer): not in PATH"),
    "an old clang++": (CLANGS, {"clang++": OLD_CLANG}, "gfx942", "/clang++: it is 14.0.6 (apt install clang-19"),
}


@pytest.mark.parametrize("name", NOT_RUN)
def test_validate_says_what_it_lacks(name: str, tmp_path: Path) -> None:
    """The device is not there, and why; the other one runs its side."""
    gone, old, device, reason = NOT_RUN[name]
    done = porter("validate", project(tmp_path), "--format", "json", environment=machine(tmp_path, gone, **old))
    assert done.code == 0, done.stderr
    report = json.loads(done.stdout)
    devices = {row["name"]: row["reason"] or "" for row in report["devices"]}
    assert reason in devices[device], devices
    (case,) = report["cases"]
    assert [(side["device"], side["status"]) for side in case["sides"]] == [
        ("gfx942" if device == "ptx" else "ptx", "passed")
    ]


def test_without_any_compiler_nothing_is_claimed(tmp_path: Path) -> None:
    environment = machine(tmp_path, C_COMPILERS)
    done = porter("validate", project(tmp_path), "--format", "json", environment=environment)
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.count("no C compiler: not in PATH, PORTER_HOST_CC (apt install gcc)") == 2


def project(folder: Path) -> Path:
    """A kernel, its case and its reference."""
    made = folder / "project"
    made.mkdir()
    (made / "r.py").write_text(REFERENCE)
    write_case(made, "twice", CASE, SOURCE)
    return made


BUILDS = {
    "hipcc": (("hipcc",), {}, "no hipcc (5.2 or newer): not in PATH"),
    "an old hipcc": (
        (),
        {"hipcc": "HIP version: 4.3.1\nclang version 13.0.0"},
        "/hipcc: it is 4.3.1 (apt install hipcc",
    ),
    "both": (("hipcc", *CLANGS), {}, "no clang++ (17 or newer): not in PATH"),
}


@pytest.mark.parametrize("name", BUILDS)
def test_build_says_what_it_lacks(name: str, tmp_path: Path) -> None:
    gone, old, reason = BUILDS[name]
    (tmp_path / "k.hip").write_text(f"#include <hip/hip_runtime.h>\n{SOURCE}")
    environment = machine(tmp_path, gone, **old)
    done = porter("build", tmp_path / "k.hip", "--target", "gfx942", folder=tmp_path, environment=environment)
    assert "Traceback" not in done.stderr
    assert reason in done.stdout + done.stderr


def test_git_is_named_where_it_is_needed(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "k.cu").write_text(SOURCE)
    environment = machine(tmp_path, ("git*",))
    for command in (("port", ".", "--in-place"), ("check", ".", "--since", "HEAD")):
        done = porter(*command, folder=tmp_path, environment=environment)
        assert done.code == 2
        assert "no git: not in PATH (apt install git)" in done.stderr
    assert porter("port", ".", "-o", tmp_path.parent / "out", folder=tmp_path, environment=environment).code <= 1

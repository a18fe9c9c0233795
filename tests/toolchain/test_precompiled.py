"""HIP's runtime header is read back only where that gives the same code as reading it anew."""

from __future__ import annotations

import os
import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from porter.validation.toolchain import precompiled as module
from porter.validation.toolchain.clang import assemble, find_clang
from porter.validation.toolchain.precompiled import Precompiled, precompiled
from porter.validation.toolchain.result import Assembled, CompileFailed, Missing

pytestmark = pytest.mark.slow
USUAL = os.environ.get("PORTER_CACHE_DIR")
KERNEL = """
#include <cstdint>
#include <hip/hip_fp16.h>
__global__ void k(float *p, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) p[i] = sqrtf(p[i]) + __shfl_down(p[i], VALUE) + __half2float(__float2half(p[i]));
}
"""
SMALL = "__global__ void k(float *p) { p[0] = sqrtf(p[1]) + VALUE; }\n"
"""For tests of the header, which is more than nine tenths of what is read."""


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_known", {})
    if isinstance(found := find_clang(), Missing):
        pytest.skip(found.reason)


@pytest.fixture
def shared(at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is that of earlier runs, where it is not the header itself that is tested: making one takes a second."""
    make = module._make

    def kept(*words: Any) -> Precompiled | None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PORTER_CACHE_DIR", USUAL) if USUAL else patch.delenv("PORTER_CACHE_DIR")
            return make(*words)

    monkeypatch.setattr(module, "_make", kept)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The header is made for the first kernel, which costs less than to compile that without it."""
    monkeypatch.setattr(module, "_is_used_again", lambda key: True)


def _made(tmp_path: Path, number: int, *options: str, text: str = SMALL) -> Assembled | CompileFailed:
    source = tmp_path / f"{number}.hip"
    source.write_text(text.replace("VALUE", str(number)))
    done = assemble(source, options=("-O3", *options))
    assert not isinstance(done, Missing)
    return done


def _code(made: Assembled | CompileFailed) -> list[str]:
    assert isinstance(made, Assembled), made
    code = made.text[: made.text.index(".amdgpu_metadata")]
    return [line for line in code.splitlines() if re.match(r"\t[a-z]", line)]


def _headers() -> list[Path]:
    return [one.path for one in module._known.values() if one is not None]


def test_the_code_is_the_same(tmp_path: Path) -> None:
    first = _made(tmp_path, 3, text=KERNEL)
    assert not _headers()  # made at the second use: one kernel alone would wait for it
    _made(tmp_path, 5, text=KERNEL)
    (header,) = _headers()
    (tmp_path / "3.hip").write_text(KERNEL.replace("VALUE", "3") + "// another file, so compiled again\n")
    again = assemble(tmp_path / "3.hip", options=("-O3",))
    assert isinstance(again, Assembled) and _code(again) == _code(first)
    assert header.stat().st_size > 1 << 20
    assert isinstance(first, Assembled) and first.command == again.command  # what a person can repeat
    assert len(again.text) < len(first.text)


def test_what_is_in_it_counts_as_read(tmp_path: Path) -> None:
    for number in range(3):
        _made(tmp_path, number)
    records = [path.read_text() for path in (tmp_path / "cache").rglob("porter-build-3.json")]
    assert sum("hip_runtime.h" in record for record in records) == 4  # three kernels and the header


@pytest.mark.usefixtures("shared")
def test_an_error_is_told_as_ever(tmp_path: Path) -> None:
    _made(tmp_path, 0)
    (tmp_path / "wrong.hip").write_text("__global__ void k(float *p) { p[0] = q; }\n")
    done = assemble(tmp_path / "wrong.hip", options=("-O3",))
    assert isinstance(done, CompileFailed)
    assert "use of undeclared identifier 'q'" in done.output and "pch" not in " ".join((done.output, *done.command))


@pytest.mark.usefixtures("at_once")
def test_a_damaged_one_is_passed_over(tmp_path: Path) -> None:
    _made(tmp_path, 0)
    (header,) = _headers()
    header.write_bytes(b"no header")
    assert isinstance(_made(tmp_path, 7), Assembled)


@pytest.mark.usefixtures("shared")
def test_macros_have_their_own(tmp_path: Path) -> None:
    _made(tmp_path, 0)
    _made(tmp_path, 0, "-DNDEBUG")
    assert len(set(_headers())) == 2


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    ("standard", "count"), [("c++17", 1), ("gnu++14", 1), ("c++20", 0), ("gnu++2a", 0), ("c++23", 0)]
)
def test_standards_that_clang_reads_back(standard: str, count: int, tmp_path: Path) -> None:
    assert isinstance(_made(tmp_path, 0, "-std=c++11", f"-std={standard}"), Assembled)
    assert len(_headers()) == count


@pytest.mark.usefixtures("shared")
def test_folders_share_one(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / str(number) / "include").mkdir(parents=True)
        _made(tmp_path, number, "-I", str(tmp_path / str(number)), f"-I{tmp_path}", "-Wall")
    assert len(_headers()) == 1


@pytest.mark.usefixtures("shared")
def test_options_of_the_back_end_share_one(tmp_path: Path) -> None:
    """And still decide what the file is compiled to."""
    _made(tmp_path, 0)
    plain, other = (
        _made(tmp_path, 3, text=KERNEL),
        _made(tmp_path, 3, "-mllvm", "-disable-machine-cse", "-mllvm", "-disable-post-ra", text=KERNEL),
    )
    assert len(_headers()) == 1
    assert isinstance(other, Assembled) and "-disable-post-ra" in other.command
    assert _code(plain) != _code(other)
    unknown = _made(tmp_path, 3, "-mllvm", "-no-such-option")
    assert isinstance(unknown, CompileFailed) and "no-such-option" in unknown.output


def test_a_compiler_that_hangs_costs_no_more_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_clang()
    assert not isinstance(found, Missing)
    slow = tmp_path / "clang++"
    slow.write_text("#!/bin/sh\nsleep 100\n")
    slow.chmod(0o755)
    monkeypatch.setattr(module, "_is_used_again", lambda key: True)
    (tmp_path / "k.hip").write_text(KERNEL)
    began = time.monotonic()
    done = assemble(tmp_path / "k.hip", seconds=2.0, clang=replace(found, path=str(slow)))
    assert isinstance(done, CompileFailed) and "no end after" in done.output
    assert time.monotonic() - began < 20


NONE: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("name", "usable"),
    [("types.h", False), ("bits/types.h", False), ("other/types.h", True), ("bits/other.h", True), ("types.hpp", True)],
)
def test_a_header_of_the_project_that_comes_first(
    name: str, usable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, project = tmp_path / "system" / "bits" / "types.h", tmp_path / "project"
    for path in (system, project / name):
        path.parent.mkdir(parents=True)
        path.write_text("")
    known = Precompiled(tmp_path / "runtime.pch", (system,))
    monkeypatch.setattr(module, "_made", lambda *words: known)
    for options in (("-I", str(project)), (f"-isystem{project}", "-O3")):
        found = precompiled("clang", "x.h", lambda source, options: NONE, options)
        assert (found is known) is usable
    assert precompiled("clang", "x.h", lambda source, options: NONE, ("-I", str(system.parent))) is known


def test_headers_that_were_installed_anew_fit(tmp_path: Path) -> None:
    """The same text with other time stamps, as in an environment that was made a second time."""
    found = find_clang()
    assert not isinstance(found, Missing)
    header, source = tmp_path / "include" / "runtime.h", tmp_path / "u.cpp"
    header.parent.mkdir()
    source.write_text("int u = V;\n")
    start = (found.path, "-x", "c++", "-I", str(header.parent))
    results = []
    for age, text in ((5000, "#define V 1\n"), (50, "#define V 1\n"), (50, "#define V 2\n")):
        header.write_text(text)
        os.utime(header, (time.time() - age,) * 2)
        module._known.clear()
        for _ in range(2):
            made = precompiled(found.path, "runtime.h", lambda path, options: (*start, *options, str(path)), ())
        assert made is not None
        options = (*start, "-E", "-P", *made.options, str(source))
        results.append((made.path, subprocess.run(options, capture_output=True, text=True, check=True).stdout))
    assert [said.strip() for _, said in results] == ["int u = 1;", "int u = 1;", "int u = 2;"]
    assert results[0][0] == results[1][0] != results[2][0]

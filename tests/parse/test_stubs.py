"""The declaration stubs compile by themselves, and their precompiled form is only a faster way to the same."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from clang import cindex

from porter.cpp.clang import libclang as clang
from porter.cpp.clang import stubs
from porter.cpp.clang.view import Parsed, ParseRequest, parse

CACHED = (stubs._stub_folder, stubs._pch)


@pytest.fixture
def fresh() -> Iterator[None]:
    for function in CACHED:
        function.cache_clear()
    yield
    for function in CACHED:
        function.cache_clear()


@pytest.mark.parametrize("side", ["host", "device"])
@pytest.mark.parametrize("language", ["cuda", "hip"])
def test_stubs_compile_without_errors(language: str, side: str) -> None:
    flags = stubs._base(language, side)
    header = stubs._main_header(stubs._stub_folder(language))
    late = Path(header).parent / "std" / "late.h"
    unit = clang.parse("x.cu", (*flags, "-include", header, "-include", str(late)), {"x.cu": b""}, clang.Depth.ALL)
    assert unit is not None
    assert list(unit.diagnostics()) == []


def test_precompiled_stubs_are_made_once(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    stubs.prepare()
    (folder,) = filter(Path.is_dir, (tmp_path / "cache").iterdir())
    made = {path.name: path.stat().st_ino for path in folder.iterdir()}
    assert {name for name in made if not name.endswith(".sha256")} == {"stubs", "cuda-host.pch", "cuda-device.pch"}
    for function in CACHED:
        function.cache_clear()
    stubs.prepare()
    assert {path.name: path.stat().st_ino for path in folder.iterdir()} == made


def test_precompiled_stubs_keep_their_time(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clang refuses a preamble of another process that was built upon them when their time changes."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    stubs.prepare()
    made = sorted((tmp_path / "cache").glob("*/*.pch"))
    for path in made:
        os.utime(path, (1_700_000_000, 1_700_000_000))
    for function in CACHED:
        function.cache_clear()
    stubs.prepare()
    assert made
    assert {path.stat().st_mtime for path in made} == {1_700_000_000}


def test_stubs_that_change_while_a_file_is_read_end_no_parse(
    fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "large.h").write_text("".join(f"inline int f{n}(int a) {{ return a + {n}; }}\n" for n in range(2000)))
    text = b'#include "large.h"\n__global__ void k(float *p) { p[0] = f1(2); }\n'
    (tmp_path / "k.cu").write_bytes(text)
    stubs.prepare()
    parse_really = clang.parse
    depths = []

    def changed(main: str, flags: Sequence[str], files: dict[str, bytes], depth: clang.Depth, path: str = "") -> object:
        depths.append(depth)
        return None if depth is clang.Depth.OWN_BODIES else parse_really(main, flags, files, depth, path)

    monkeypatch.setattr(clang, "parse", changed)
    seen = parse(ParseRequest(str(tmp_path / "k.cu"), text, root=str(tmp_path), bodies=True))
    assert isinstance(seen, Parsed)
    assert seen.type_at(text.index(b"p[0]")) == "float *"
    assert clang.Depth.OWN_BODIES in depths


def test_a_broken_precompiled_header_is_replaced(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path))
    stubs.prepare()
    (folder,) = filter(Path.is_dir, tmp_path.iterdir())
    (folder / "cuda-host.pch").write_bytes(b"not a precompiled header")
    for function in CACHED:
        function.cache_clear()
    result = parse(ParseRequest("/nowhere/k.cu", b"__global__ void k(cudaStream_t s) {}"))
    assert isinstance(result, Parsed)
    assert result.kernels[0].typed
    assert (folder / "cuda-host.pch").stat().st_size > 100_000


def test_without_a_place_to_write_the_stubs_are_included_as_they_are(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(name: str) -> Path:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(stubs, "kept_folder", full)
    assert "-include" in stubs.flags("cuda", "host")
    assert not list(Path(stubs._installed()).parent.glob("*.pch")), "nothing is written where porter is installed"
    result = parse(ParseRequest("/nowhere/k.cu", b"__global__ void k(cudaStream_t s) {}"))
    assert isinstance(result, Parsed)
    assert result.kernels[0].typed


@pytest.mark.parametrize("damage", ["stub", "precompiled", "sum", "all"])
def test_damaged_stubs_are_made_again(
    fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    """What they say decides what is ported, so no answer may come from a damaged one."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path))
    stubs.prepare()
    (folder,) = filter(Path.is_dir, tmp_path.iterdir())
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        name = {".h": "stub", ".pch": "precompiled", ".sha256": "sum"}.get(path.suffix)
        if damage in (name, "all"):
            data = path.read_bytes()
            path.write_bytes(data[: len(data) // 2] + b" " + data[len(data) // 2 + 1 :])
    for function in CACHED:
        function.cache_clear()
    assert "-include-pch" in stubs.flags("cuda", "host")
    sound = stubs._stub_files("cuda")
    assert all((folder / "stubs" / name).read_bytes() == data for name, data in sound.items())
    result = parse(ParseRequest("/nowhere/k.cu", b"__global__ void k(cudaStream_t s) {}"))
    assert isinstance(result, Parsed)
    assert result.kernels[0].typed


def test_stubs_that_rot_where_they_lie_are_made_again(
    fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same size and the same time, as when a disk loses a bit."""
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path))
    stubs.prepare()
    (folder,) = filter(Path.is_dir, tmp_path.iterdir())
    rotten = folder / "stubs/cuda/runtime.h"
    status = rotten.stat()
    rotten.write_bytes(rotten.read_bytes().replace(b"cudaStream_t", b"cudbStream_t"))
    os.utime(rotten, ns=(status.st_atime_ns, status.st_mtime_ns))
    for function in CACHED:
        function.cache_clear()
    stubs.prepare()
    assert rotten.read_bytes() == stubs._stub_files("cuda")["cuda/runtime.h"]


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX's")
def test_a_full_disk_ends_no_run(tmp_path: Path) -> None:
    """libclang ends the process that cannot write what it precompiles; here files are limited instead."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cu").write_text("void f(cudaStream_t s) { cudaStreamSynchronize(s); }\n")
    code = "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); "
    code += "runpy.run_module('porter', run_name='__main__', alter_sys=True)"
    command = (sys.executable, "-c", code, "port", str(tmp_path / "src"), "-o", str(tmp_path / "out"))
    environment = {**os.environ, "PORTER_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "hipStreamSynchronize" in (tmp_path / "out" / "a.hip").read_text()


def test_libclang_is_the_pinned_major_version() -> None:
    assert "clang version" in clang.clang_version()
    assert cindex.conf.get_filename()

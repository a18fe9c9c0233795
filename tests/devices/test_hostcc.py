"""A library is compiled by clang and linked as clang would; where that fails, clang does both."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from porter.validation.devices.core import hostcc
from porter.validation.devices.core.hostcc import HostBuildFailed, HostCompiler, build, find_host_compiler
from porter.validation.toolchain.result import Missing

WIDE = """
#include <math.h>
typedef unsigned __int128 Wide;
unsigned quotient(unsigned a, unsigned b) { return (unsigned)(((Wide)a << 64) / ((Wide)b << 64)); }
double root(double x) { return cbrt(x); }
"""
"""Needs the compiler's own library and that of mathematics."""


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_CACHE_DIR", str(tmp_path))
    hostcc._linker.cache_clear()


@pytest.fixture
def clang() -> HostCompiler:
    found = find_host_compiler()
    if isinstance(found, Missing) or not found.is_clang:
        pytest.skip("no clang")
    return found


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is run."""
    seen: list[list[str]] = []
    run: Callable[..., Any] = subprocess.run

    def noted(command: Any, **settings: Any) -> Any:
        seen.append(list(command))
        return run(command, **settings)

    monkeypatch.setattr(subprocess, "run", noted)
    return seen


def _works(made: Path | HostBuildFailed) -> bool:
    assert isinstance(made, Path), made
    library = ctypes.CDLL(str(made))
    library.root.restype, library.root.argtypes = ctypes.c_double, [ctypes.c_double]
    return bool(library.quotient(91, 13) == 7 and abs(library.root(27.0) - 3.0) < 1e-12)


def test_it_is_linked_as_clang_links(clang: HostCompiler, commands: list[list[str]]) -> None:
    assert _works(build(clang, WIDE))
    asked, compiled, linked = commands
    assert "-###" in asked and "-c" in compiled and "-shared" not in compiled
    assert linked[0] != clang.path and Path(linked[0]).name.startswith("ld")
    hostcc._linker.cache_clear()
    assert _works(build(clang, WIDE, ("-O1",)))
    assert not any("-###" in command for command in commands[3:])  # kept


def test_a_linker_that_fails(clang: HostCompiler, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """As when what it was told to read was replaced since: clang is asked to do it all."""
    monkeypatch.setattr(hostcc, "_linker", lambda compiler: ("/bin/false", "/dev/null", "/dev/null.so"))
    assert _works(build(clang, WIDE))
    assert [command[0] for command in commands] == [clang.path, "/bin/false", clang.path]
    assert "-shared" in commands[-1]


@pytest.mark.parametrize(
    "said", [b"", b'"/no/such/ld" "/dev/null" "/dev/null.so"', b'"/bin/ld" "-shared"', b'"unclosed']
)
def test_a_clang_that_does_not_say_how(said: bytes, clang: HostCompiler, commands: list[list[str]]) -> None:
    assert hostcc._linker(clang)
    (kept,) = (
        path for path in hostcc.kept_folder("host").iterdir() if path.name.startswith("link-") and not path.suffix
    )
    hostcc.keep(kept, said)
    hostcc._linker.cache_clear()
    assert hostcc._linker(clang) == ()
    del commands[:]
    assert _works(build(clang, WIDE))
    assert [command[0] for command in commands] == [clang.path]


def test_what_c_does_not_allow_is_told(clang: HostCompiler, commands: list[list[str]]) -> None:
    failed = build(clang, "int f(void) { return missing; }\n")
    assert isinstance(failed, HostBuildFailed) and "missing" in failed.output and "-c" in failed.command
    assert len(commands) == 2


def test_other_compilers_do_both(commands: list[list[str]]) -> None:
    found = find_host_compiler()
    if isinstance(found, Missing):
        pytest.skip(found.reason)
    other = HostCompiler(found.path, "gcc 12")
    assert _works(build(other, WIDE))
    assert len(commands) == 1 and "-shared" in commands[0]

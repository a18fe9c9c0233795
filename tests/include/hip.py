"""Compiling for AMD targets with whatever clang and HIP headers are installed."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from porter.validation.toolchain.clang import find_compiler
from porter.validation.toolchain.precompiled import Precompiled, precompiled
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.rocm_headers import fetched
from porter.validation.toolchain.store import Shorter, identity

from porter.system.programs import on_this_machine
from tests import kept

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HEADERS = Path(__file__).parents[2] / "porter" / "include"
TARGETS = ("gfx942", "gfx90a", "gfx1100")
EXTRA_TREES = "PORTER_TEST_HIP_INCLUDES"
"""More HIP include folders to test with, separated like PATH."""


@dataclass(frozen=True)
class HipTree:
    """An include folder with `hip/hip_runtime.h`; None: what clang finds by itself."""

    version: str
    include: Path | None

    @property
    def flags(self) -> tuple[str, ...]:
        return () if self.include is None else ("-isystem", str(self.include))

    def has(self, header: str) -> bool:
        return ((self.include or Path("/usr/include")) / header).exists()


def clang() -> str | Missing:
    """A clang that knows AMDGPU."""
    found = find_compiler()
    return found if isinstance(found, Missing) else found[0]


def old_clang() -> str | None:
    """A clang of the time of HIP 5.2, which knows no gfx942."""
    return on_this_machine("clang++ of hipcc")


@functools.cache
def trees() -> tuple[HipTree, ...]:
    """Header trees here: the system's, those of `porter headers`, triton's, those of the environment variable."""
    folders: list[Path | None] = [None] if Path("/usr/include/hip/hip_version.h").exists() else []
    rocm = Path(os.environ.get("ROCM_PATH", "/opt/rocm")) / "include"
    folders += [Path(p) for p in os.environ.get(EXTRA_TREES, "").split(os.pathsep) if p]
    folders += [path for path in (rocm, fetched(), _triton()) if path is not None]
    found = [
        HipTree(_version(folder or Path("/usr/include")), folder)
        for folder in folders
        if folder is None or (folder / "hip" / "hip_version.h").exists()
    ]
    return tuple({tree.version: tree for tree in found}.values())


def _triton() -> Path | None:
    spec = importlib.util.find_spec("triton")
    origin = spec.origin if spec is not None else None
    return Path(origin).parent / "backends" / "amd" / "include" if origin else None


def _version(include: Path) -> str:
    text = (include / "hip" / "hip_version.h").read_text("utf-8")
    numbers = [re.search(rf"HIP_VERSION_{part}\s+(\d+)", text) for part in ("MAJOR", "MINOR")]
    return ".".join(number[1] for number in numbers if number)


def require_clang() -> str:
    """The compiler, or a skip that says what is missing."""
    path = clang()
    if isinstance(path, Missing):
        pytest.skip(path.reason)
    return path


def require_tree(needs: str = "hip/hip_runtime.h") -> HipTree:
    """Any HIP header tree that has a header, or a skip that says so."""
    for tree in trees():
        if tree.has(needs):
            return tree
    pytest.skip(f"no HIP headers with {needs} ({EXTRA_TREES} names include folders)")


def snippet(name: str) -> str:
    """The text of a HIP file of the tests."""
    return (Path(__file__).parent / "snippets" / f"{name}.hip").read_text("utf-8")


def supplied(header: str) -> dict[str, str]:
    """CUDA name -> our name, as `support.toml` lists them for a header."""
    rows = tomllib.loads((HEADERS / "support.toml").read_text("utf-8"))
    return {cuda: row["name"] for cuda, row in rows.items() if row["header"] == header}


def compiled(
    source: str,
    folder: Path,
    *,
    target: str = "gfx942",
    tree: HipTree | None = None,
    host: bool = False,
    compiler: str | None = None,
    flags: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Compiles a snippet to assembly (device) or checks it (host) with every warning an error."""
    tree, program = tree or require_tree(), compiler or require_clang()
    start = (
        *(program, "-x", "hip", f"--offload-arch={target}", "-D__HIP_PLATFORM_AMD__", "-std=c++17", "-O3", "-nogpulib"),
        *("-mcode-object-version=5", "-Wall", "-Wextra", "-Werror", "-I", str(HEADERS), *tree.flags),
        "--cuda-host-only" if host else "--cuda-device-only",
    )
    rest = (*flags, "-fsyntax-only" if host else "-S")

    def shorter(behind: tuple[str, ...]) -> Shorter | None:
        header = _runtime(source, start, flags)
        return None if header is None else Shorter((*start, *header.options, *rest, *behind), header.inputs)

    return kept.compiled((*start, *rest), source, folder / "snippet.s", shorter=shorter, seconds=300)


_BEGINS_WITH_RUNTIME = re.compile(r"(?:\s|//[^\n]*\n|#define FEW_KERNELS\n)*#include <hip/hip_runtime\.h>")


def _runtime(source: str, start: tuple[str, ...], flags: tuple[str, ...]) -> Precompiled | None:
    """The runtime's header, where a snippet begins with it."""
    if _BEGINS_WITH_RUNTIME.match(source) is None:
        return None

    def command(header: Path, options: tuple[str, ...]) -> tuple[str, ...]:
        return (*start, *options, str(header))

    return precompiled(identity(start[0], "tests"), "hip/hip_runtime.h", command, flags)


def check_everywhere(source: str, folder: Path, needs: str = "hip/hip_runtime.h") -> None:
    """Compiles for every target with every header tree that has `needs`, by the old clang as well."""
    found = [tree for tree in trees() if tree.has(needs)]
    done = [compiled(source, folder, target=target, tree=tree) for tree in found for target in TARGETS]
    old = old_clang()
    if old is not None and Path("/usr/include").joinpath(needs).exists():
        system = HipTree("5.2", None)
        options = ("--rocm-path=/usr",)
        for target in ("gfx90a", "gfx1100"):
            done.append(compiled(source, folder, target=target, tree=system, compiler=old, flags=options))
    if not done:
        require_tree(needs)
    assert all(run.returncode == 0 for run in done), "\n".join(run.stderr for run in done)


def assembly(source: str, folder: Path, **options: object) -> dict[str, list[str]]:
    """Instructions of each kernel of a snippet, without labels, comments and directives."""
    done = compiled(source, folder, **options)  # type: ignore[arg-type]
    assert done.returncode == 0, done.stderr
    kernels: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in (folder / "snippet.s").read_text("utf-8").splitlines():
        if found := re.match(r"(\w+):\s", line):
            current = kernels.setdefault(found[1], [])
        elif re.match(r"\ts_endpgm", line):
            current = None
        elif current is not None and re.match(r"\t[a-z]", line):
            current.append(line.split(";")[0].strip())
    return kernels

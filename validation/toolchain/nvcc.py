"""nvcc: where it is, what it supports, and how it makes PTX."""

from __future__ import annotations

import functools
import os
import re
import shutil
import site
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.invoke import Invocation, first_line, invoke
from porter.validation.toolchain.result import Assembled, CompileFailed, Missing
from porter.validation.toolchain.store import DEPFILE, Made, Recipe, identity, make, probing

_RELEASE = re.compile(r"release (\d+\.\d+), V([\d.]+)")
_ARCHITECTURE = re.compile(r"^(?:compute|sm)_\d+[a-z]?$", re.MULTILINE)
_SECONDS = 20


@dataclass(frozen=True)
class Nvcc:
    """A usable nvcc."""

    path: str
    version: str
    """`13.0.88`."""
    include_dirs: tuple[Path, ...] = ()
    """Folders that nvcc does not find by itself: headers that came in other wheels."""
    library_dirs: tuple[Path, ...] = ()


def _wheel_roots() -> list[Path]:
    """`nvidia/` folders of this Python's packages."""
    folders = dict.fromkeys([*site.getsitepackages(), site.getusersitepackages(), *sys.path])
    return [root for folder in folders if (root := Path(folder or ".") / "nvidia").is_dir()]


def _candidates() -> Iterator[tuple[str, Path]]:
    """Where it came from, and the file."""
    if os.environ.get("PORTER_NVCC"):
        yield "PORTER_NVCC", Path(os.environ["PORTER_NVCC"])
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield name, Path(os.environ[name]) / "bin" / "nvcc"
    on_path = shutil.which("nvcc")
    if on_path:
        yield "PATH", Path(on_path)
    for root in _wheel_roots():
        for found in sorted((*root.glob("cu[0-9]*/bin/nvcc"), *root.glob("cuda_nvcc/bin/nvcc"))):
            yield "pip", found
    yield "/usr/local/cuda", Path("/usr/local/cuda/bin/nvcc")


def _wheel_folders(found: Path, kind: str) -> tuple[Path, ...]:
    """Sibling `include` or `lib` folders of an nvcc that was installed by pip."""
    for root in _wheel_roots():
        if root in found.parents:
            return tuple(sorted(path for path in root.glob(f"*/{kind}") if path.is_dir()))
    return ()


@functools.cache
def _examine(path: str, stamp: tuple[int, int]) -> str | Missing:
    del stamp
    shown = invoke((path, "--version"), _SECONDS)
    release = _RELEASE.search(shown.output)
    if not shown.ok or release is None:
        return Missing(f"{path} --version: {first_line(shown.said) or f'exit status {shown.code}'}")
    return release[2]


def find_nvcc() -> Nvcc | Missing:
    """$PORTER_NVCC, $CUDA_HOME, $CUDA_PATH, PATH, pip's packages, /usr/local/cuda; or why there is none."""
    reasons: list[str] = []
    for origin, path in _candidates():
        if not path.exists():
            if origin not in ("/usr/local/cuda",):
                reasons.append(f"{origin}: no {path}")
            continue
        status = path.stat()
        version = _examine(str(path), (status.st_mtime_ns, status.st_size))
        if isinstance(version, str):
            pip = origin == "pip"
            include = _wheel_folders(path, "include") if pip else ()
            return Nvcc(str(path), version, include, _wheel_folders(path, "lib") if pip else ())
        reasons.append(version.reason)
    why = "; ".join(reasons) or "not on PATH, not below CUDA_HOME or CUDA_PATH, not installed by pip"
    return Missing(f"no nvcc: {why}")


@functools.cache
def _listed(path: str) -> tuple[str, ...]:
    shown = invoke((path, "--list-gpu-code"), _SECONDS)
    return tuple(_ARCHITECTURE.findall(shown.output)) if shown.ok else ()


def targets(nvcc: Nvcc) -> tuple[str, ...]:
    """Architectures that it makes code for."""
    return _listed(nvcc.path)


def _flags(nvcc: Nvcc, include_dirs: tuple[Path, ...], defines: tuple[str, ...]) -> tuple[str, ...]:
    system = (word for folder in nvcc.include_dirs for word in ("-isystem", str(folder)))
    return (*system, *(f"-I{folder}" for folder in include_dirs), *(f"-D{name}" for name in defines))


def compile_with(
    nvcc: Nvcc, source: Path, command: tuple[str, ...], output: str, seconds: float, keep: tuple[str, ...] = ()
) -> Made:
    """Run nvcc on one source with cached results; `output` names the product."""

    def whole(folder: Path) -> tuple[str, ...]:
        depfile = ("-MD", "-MF", str(folder / DEPFILE))
        return (nvcc.path, *command, *depfile, str(source), "-o", str(folder / output))

    def probe(folder: Path) -> tuple[str, ...]:
        return (nvcc.path, *command, "-E", "-Xcompiler", ",".join(probing(folder)), str(source))

    tool = identity(nvcc.path, f"nvcc {nvcc.version}")
    return make(Recipe(tool, whole, (source,), (output, *keep), probe=probe), seconds)


def ptx(
    source: Path,
    architecture: str = "sm_80",
    options: tuple[str, ...] = (),
    seconds: float = 300.0,
    include_dirs: tuple[Path, ...] = (),
    defines: tuple[str, ...] = (),
) -> Assembled | CompileFailed | Missing:
    """PTX of one file with line information, from the cache when nothing it reads has changed."""
    nvcc = find_nvcc()
    if isinstance(nvcc, Missing):
        return nvcc
    flags = ("-std=c++17", "-ptx", "-lineinfo", f"-arch={architecture}")
    command = (*flags, *_flags(nvcc, include_dirs, defines), *options, "-x", "cu")
    made = compile_with(nvcc, source.absolute(), command, "device.ptx", seconds)
    return _text_of(made.invocation, made, "device.ptx")


def _text_of(invocation: Invocation, made: Made, name: str) -> Assembled | CompileFailed:
    if not invocation.ok:
        return CompileFailed(invocation.command, invocation.said)
    try:
        return Assembled((made.folder / name).read_text("utf-8", "replace"), invocation.command)
    except OSError as error:
        return CompileFailed(invocation.command, f"{name}: {error.strerror}")

"""nvcc: where it is, what it supports, and how it makes PTX."""

from __future__ import annotations

import functools
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.cuda_headers import fetched_for_cuda
from porter.validation.toolchain.invoke import Invocation, invoke
from porter.validation.toolchain.programs import find
from porter.validation.toolchain.result import Assembled, CompileFailed, Missing
from porter.validation.toolchain.store import DEPFILE, Made, Recipe, identity, make, probing

from porter.system.programs import package_folders

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


def _wheel_folders(found: Path, kind: str) -> tuple[Path, ...]:
    """Sibling `include` or `lib` folders of an nvcc that was installed by pip."""
    roots = (folder / "nvidia" for folder in package_folders() if folder / "nvidia" in found.parents)
    return tuple(dict.fromkeys(path for root in roots for path in sorted(root.glob(f"*/{kind}")) if path.is_dir()))


def find_nvcc() -> Nvcc | Missing:
    """$PORTER_NVCC, $CUDA_HOME, $CUDA_PATH, PATH, pip's packages, /usr/local/cuda; or why there is none."""
    found = find("nvcc")
    if isinstance(found, Missing):
        return found
    host = find("g++")
    if isinstance(host, Missing) and not os.environ.get("NVCC_CCBIN") and sys.platform != "win32":
        return Missing(f"{found.path} needs a host compiler: {host.reason}")
    path, is_pip = Path(found.path), found.origin == "pip"
    include = _wheel_folders(path, "include") if is_pip else ()
    return Nvcc(found.path, found.version, include, _wheel_folders(path, "lib") if is_pip else ())


@functools.cache
def _listed(path: str) -> tuple[str, ...]:
    shown = invoke((path, "--list-gpu-code"), _SECONDS)
    return tuple(_ARCHITECTURE.findall(shown.output)) if shown.ok else ()


def targets(nvcc: Nvcc) -> tuple[str, ...]:
    """Architectures that it makes code for."""
    return _listed(nvcc.path)


def _flags(nvcc: Nvcc, include_dirs: tuple[Path, ...], defines: tuple[str, ...]) -> tuple[str, ...]:
    folders = (*nvcc.include_dirs, *fetched_for_cuda())
    system = (word for folder in folders for word in ("-isystem", str(folder)))
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

"""Builds PyTorch's CUDA half for one side, against the PyTorch of the program: `python -m ... WHAT SIDE TORCH`."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import sys
from pathlib import Path

from porter.validation.devices.core.hostcc import HostCompiler, find_host_compiler, fingerprint
from porter.validation.programs.compilers import folder as compiler_folder
from porter.validation.programs.compilers import runtime_version
from porter.validation.programs.dropin import BuildFailed, build, compile_and_link
from porter.validation.programs.sides import CUDA, HIP, SIDES, Side
from porter.validation.toolchain.cuda_headers import fetched_for_cuda
from porter.validation.toolchain.headers import find_headers
from porter.validation.toolchain.invoke import invoke
from porter.validation.toolchain.nvcc import Nvcc, find_nvcc
from porter.validation.toolchain.programs import find
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.torch_headers import STAND_INS, converted_for

from porter.system.cache import cache_folder
from porter.system.folders import is_whole, whole

_HERE = Path(__file__).parent
_SOURCES = _HERE / "library"
_HEADERS = _HERE / "headers"
_NAMES = {CUDA: ("libc10_cuda.so", "libtorch_cuda.so"), HIP: ("libc10_hip.so", "libtorch_hip.so")}
"""One library under the names that extensions are linked to."""


def headers(side: Side, torch: Path) -> tuple[Path, ...] | Missing:
    """Folders to search before PyTorch's own headers."""
    if side is CUDA:
        nvcc = find_nvcc()
        if isinstance(nvcc, Missing):
            return Missing(nvcc.reason)
        return (_HEADERS, *fetched_for_cuda(), *_own_headers(nvcc))
    found = converted_for(torch)
    return found if isinstance(found, Missing) else (found, STAND_INS)


def _own_headers(nvcc: Nvcc) -> tuple[Path, ...]:
    """The folders that nvcc itself looks into, by what it says that it would run."""
    said = invoke((nvcc.path, "--dryrun", "-x", "cu", os.devnull), 30).said
    lines = [line for line in said.splitlines() if "INCLUDES=" in line]
    found = [Path(word) for line in lines for word in re.findall(r'"(?:-I)?(/[^"]+)"', line)]
    return tuple(dict.fromkeys(path.resolve() for path in (*nvcc.include_dirs, *found) if path.is_dir()))


def home(side: Side) -> Path | Missing:
    """A folder as CUDA_HOME or ROCM_HOME: our compiler, the vendor's headers, the drop-in runtime."""
    compiler = find_host_compiler()
    if isinstance(compiler, Missing):
        return compiler
    tools, runtime = compiler_folder(side, compiler), build(side, compiler, runtime_version(side))
    for one in (tools, runtime):
        if isinstance(one, Missing):
            return one
    assert not isinstance(tools, Missing) and not isinstance(runtime, Missing)
    include = _vendor_headers(side)
    if isinstance(include, Missing):
        return include
    target = cache_folder() / "programs" / f"home-{fingerprint(str(tools), str(runtime), repr(include))[:24]}"
    if not is_whole(target):
        with whole(target) as made:
            (made / "bin").symlink_to(tools)
            for name in ("lib", "lib64"):
                (made / name).symlink_to(runtime)
            (made / "include").mkdir()
            for name, path in include:
                (made / "include" / name).symlink_to(path)
    return target


def _vendor_headers(side: Side) -> list[tuple[str, Path]] | Missing:
    """Names and places of what is in its `include`; those of a distribution are not /usr/include as a whole."""
    if side is HIP:
        found = find_headers()
        if isinstance(found, Missing):
            return found
        roots, wanted = [found], ["hip", "roc"]
    else:
        nvcc = find_nvcc()
        if isinstance(nvcc, Missing):
            return Missing(nvcc.reason)
        roots, wanted = [*_own_headers(nvcc), *fetched_for_cuda()], [""]
    rows = {
        path.name: path
        for root in reversed(roots)
        for path in sorted(root.iterdir())
        if path.name.startswith(tuple(wanted))
    }
    return sorted(rows.items())


def library(side: Side, torch: Path) -> Path | Missing:
    """The folder with the library, built when it is not there."""
    compiler, gcc = find_host_compiler(), find("g++")
    for tool in (compiler, gcc):
        if isinstance(tool, Missing):
            return tool
    assert not isinstance(compiler, Missing) and not isinstance(gcc, Missing)
    runtime = build(side, compiler, runtime_version(side))
    before = headers(side, torch)
    for one in (runtime, before):
        if isinstance(one, Missing):
            return one
    assert not isinstance(runtime, Missing) and not isinstance(before, Missing)
    target = _folder(side, torch, runtime, compiler)
    if is_whole(target, every_byte=True):
        return target
    try:
        with whole(target) as made:
            _build(side, torch, made, runtime, str(gcc.path), before)
    except BuildFailed as error:
        return Missing(f"the C++ compiler failed on the CUDA half of PyTorch {_version(torch)}: {error}")
    return target


def _folder(side: Side, torch: Path, runtime: Path, compiler: HostCompiler) -> Path:
    key = fingerprint(side.name, str(torch), _version(torch), str(runtime), compiler.version, _sources())[:24]
    return cache_folder() / "programs" / f"torch-{side.name}-{key}"


def _version(torch: Path) -> str:
    return (torch / "version.py").read_text("utf-8", "replace")


@functools.cache
def _sources() -> str:
    digest = hashlib.sha256()
    files = [*_SOURCES.iterdir(), *(path for path in _HEADERS.rglob("*") if path.is_file()), Path(__file__)]
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _build(side: Side, torch: Path, made: Path, runtime: Path, gcc: str, before: tuple[Path, ...]) -> None:
    include = torch / "include"
    flags = ["-std=c++20", "-O1", "-fPIC", "-w", *(f"-I{folder}" for folder in before)]
    flags += [f"-I{include}", f"-I{include / 'torch' / 'csrc' / 'api' / 'include'}"]
    if side is HIP:
        flags += ["-DUSE_ROCM=1", "-D__HIP_PLATFORM_AMD__=1", "-DHIPBLAS_V2"]
        found = find_headers()
        flags += [] if isinstance(found, Missing) or str(found) == "/usr/include" else [f"-I{found}"]
    unit = made / "all.cpp"  # reading PyTorch's headers takes most of it, and one unit reads them once
    unit.write_text("".join(f'#include "{path}"\n' for path in sorted(_SOURCES.glob("*.cpp"))))
    own, other = _NAMES[side]
    libraries = [f"-L{torch / 'lib'}", "-lc10", "-ltorch_cpu", str(runtime / side.library)]
    paths = [f"-Wl,-rpath,{torch / 'lib'}:{runtime}", f"-Wl,-soname,{own}"]
    compile_and_link([gcc, *flags, "-shared", str(unit), *libraries, *paths, "-o", str(made / own)])
    (made / other).symlink_to(own)
    unit.unlink()


def main() -> None:
    """Print a folder, or the headers' folders as JSON."""
    what, side, torch = sys.argv[1:]
    chosen = SIDES[side]
    found = home(chosen) if what == "home" else (library if what == "library" else headers)(chosen, Path(torch))
    if isinstance(found, Missing):
        sys.exit(found.reason)
    print(found if isinstance(found, Path) else json.dumps([str(path) for path in found]))


if __name__ == "__main__":
    main()

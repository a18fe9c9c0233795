"""clang with the AMDGPU backend: where it is, what it lacks, and how it makes assembly for a GPU."""

from __future__ import annotations

import functools
import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.headers import find_headers, include_options, rocm_roots
from porter.validation.toolchain.invoke import invoke
from porter.validation.toolchain.precompiled import precompiled
from porter.validation.toolchain.programs import Program, find
from porter.validation.toolchain.result import Assembled, CompileFailed, Missing
from porter.validation.toolchain.store import DEPFILE, Recipe, Shorter, identity, make, probing, roots

from porter.system.cache import kept_text
from porter.system.folders import is_whole, whole
from porter.system.needs import need

__all__ = [
    "Assembled",
    "Clang",
    "CompileFailed",
    "Missing",
    "assemble",
    "assemble_text",
    "find_clang",
]

_SECONDS = 20
RUNTIME = "hip/hip_runtime.h"
BITCODE = ("amdgcn/bitcode", "lib/x86_64-linux-gnu/amdgcn/bitcode", "lib/amdgcn/bitcode")
# Device libraries older than gfx942 serve it under the name of the generation they know.
STAND_INS = {"942": ("940",), "941": ("940",)}
OLD_HIP, OLD_LIBRARIES = (Path(__file__).with_name(name) for name in ("old_hip.h", "old_libraries.h"))
_NEWER = {"ockl.bc": b"__ockl_steadyctr_u64", "ocml.bc": b"__ocml_cvtrtz_f32_f64"}
"""By device library: a function of those that HIP's newer headers call (old_libraries.h has them all)."""


@dataclass(frozen=True)
class Clang:
    """A usable clang: compiler, device libraries, HIP headers."""

    path: str
    version: str
    bitcode: Path
    headers: Path


def find_compiler() -> tuple[str, str] | Missing:
    """Path and version of a clang++ with the AMDGPU backend."""
    found = find("clang++", _no_backend)
    return found if isinstance(found, Missing) else (found.path, found.said.splitlines()[0])


def _no_backend(found: Program) -> str | None:
    return None if _knows_amdgpu(found) else "no AMDGPU backend"


@functools.cache
def _knows_amdgpu(found: Program) -> bool:
    return "amdgcn" in invoke((found.path, "--print-targets"), _SECONDS).output


def _isa(architecture: str) -> str:
    return architecture.split(":")[0].removeprefix("gfx")


def find_bitcode(architecture: str) -> Path | Missing:
    """The folder of the device libraries for an architecture, copied where these are too old to name it."""
    for root in rocm_roots():
        for place in BITCODE:
            folder = root / place
            if not (folder / "ocml.bc").exists():
                continue
            if (folder / f"oclc_isa_version_{_isa(architecture)}.bc").exists():
                return folder
            return _private_copy(folder, architecture)
    return Missing(f"no ROCm device libraries (ocml.bc): {need('device libraries').remedy}")


def _private_copy(folder: Path, architecture: str) -> Path | Missing:
    """The libraries again, with the missing ISA version file put in from its stand-in."""
    wanted = f"oclc_isa_version_{_isa(architecture)}.bc"
    found = [folder / f"oclc_isa_version_{name}.bc" for name in STAND_INS.get(_isa(architecture), ())]
    found = [path for path in found if path.exists()]
    if not found:
        return Missing(f"device libraries in {folder} do not know {architecture}")
    files = sorted(folder.glob("*.bc"))
    stamp = "".join(f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}\n" for path in files)
    key = hashlib.sha256(f"{folder}\n{wanted}\n{stamp}".encode()).hexdigest()[:16]
    reason = ""
    for root in roots():
        target = root / "bitcode" / key
        try:
            if not is_whole(target):
                _copy((*((path, path.name) for path in files), (found[0], wanted)), target)
            return target
        except OSError as error:
            reason = f"{error.filename or target}: {error.strerror}"
    return Missing(f"the device libraries in {folder} have to be copied for {architecture}: {reason}")


def _copy(files: tuple[tuple[Path, str], ...], target: Path) -> None:
    with whole(target) as made:
        for path, name in files:
            shutil.copyfile(path, made / name)


@functools.cache
def find_clang(architecture: str = "gfx942") -> Clang | Missing:
    """A clang that can make assembly for the architecture, or what is missing."""
    compiler = find_compiler()
    if isinstance(compiler, Missing):
        return compiler
    bitcode = find_bitcode(architecture)
    if isinstance(bitcode, Missing):
        return bitcode
    headers = find_headers()
    return headers if isinstance(headers, Missing) else Clang(*compiler, bitcode, headers)


@functools.cache
def libraries(clang: Clang) -> tuple[Path, ...]:
    """The device libraries, which dependency files do not list."""
    return tuple(sorted(clang.bitcode.glob("*.bc")))


@functools.cache
def lacks_wrapping_atomics(clang: Clang) -> bool:
    """Whether HIP's headers are older than the compiler: atomicInc and atomicDec call what clang no longer has."""
    return b'__asm("llvm.amdgcn.atomic.inc' in _bytes(clang.headers / "hip/amd_detail/amd_hip_atomic.h")


@functools.cache
def _lacks_functions(clang: Clang) -> bool:
    """Whether HIP's headers are newer than the device libraries: they call what these do not have."""
    called = _bytes(clang.headers / "hip/amd_detail/amd_device_functions.h")
    return any(name in called and name not in _bytes(clang.bitcode / file) for file, name in _NEWER.items())


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def prelude(clang: Clang) -> tuple[str, ...]:
    """Options for headers that do not go with the compiler or the device libraries: what is missing comes from us."""
    files = (OLD_HIP if lacks_wrapping_atomics(clang) else None, OLD_LIBRARIES if _lacks_functions(clang) else None)
    return tuple(word for path in files if path is not None for word in ("-include", str(path)))


def device_command(
    clang: Clang, source: Path, target: Path, architecture: str, options: tuple[str, ...]
) -> tuple[str, ...]:
    """The command that writes assembly of the device pass."""
    runtime = (*prelude(clang), "-include", RUNTIME)
    return (*_start(clang, architecture, runtime, options), "-S", str(source), "-o", str(target))


def _start(clang: Clang, architecture: str, runtime: tuple[str, ...], options: tuple[str, ...]) -> tuple[str, ...]:
    return (
        *(clang.path, "-x", "hip", "-std=c++17", f"--offload-arch={architecture}"),
        *(f"--rocm-device-lib-path={clang.bitcode}", "--cuda-device-only", "-mcode-object-version=5"),
        *("-D__HIP_PLATFORM_AMD__", *include_options(clang.headers), *runtime, "-O3", "-g", *options),
    )


def assemble(
    source: Path,
    architecture: str = "gfx942",
    options: tuple[str, ...] = (),
    seconds: float = 300.0,
    clang: Clang | None = None,
    ir: bool = False,
) -> Assembled | CompileFailed | Missing:
    """Compile the device pass of one file, from the cache when nothing it reads has changed; `ir`: to LLVM's IR."""
    found = clang or find_clang(architecture)
    if isinstance(found, Missing):
        return found
    source = source.absolute()
    options = (*options, "-emit-llvm") if ir else options

    def command(folder: Path) -> tuple[str, ...]:
        depfile = ("-MD", "-MF", str(folder / DEPFILE))
        return device_command(found, source, folder / "device.s", architecture, (*options, *depfile))

    def probe(folder: Path) -> tuple[str, ...]:
        return device_command(found, source, folder / "device.s", architecture, (*options, *probing(folder)))

    def shorter(folder: Path, seconds: float) -> Shorter | None:
        return _by_precompiled(found, source, folder, architecture, options, seconds)

    tool, inputs = identity(found.path, found.version), (source, *libraries(found))
    made = make(Recipe(tool, command, inputs, ("device.s",), probe=probe, shorter=shorter), seconds)
    done = made.invocation
    if not done.ok:
        return CompileFailed(done.command, done.said)
    try:  # comments may hold any byte
        return Assembled((made.folder / "device.s").read_text("utf-8", "replace"), done.command)
    except OSError as error:
        return CompileFailed(done.command, f"device.s: {error.strerror}")


def _by_precompiled(
    clang: Clang, source: Path, folder: Path, architecture: str, options: tuple[str, ...], seconds: float
) -> Shorter | None:
    def reading(header: Path, options: tuple[str, ...]) -> tuple[str, ...]:
        return (*_start(clang, architecture, prelude(clang), options), str(header))

    header = precompiled(identity(clang.path, clang.version), RUNTIME, reading, options, seconds)
    if header is None:
        return None
    writing = ("-MD", "-MF", str(folder / DEPFILE), "-S", str(source), "-o", str(folder / "device.s"))
    return Shorter((*_start(clang, architecture, header.options, options), *writing), header.inputs)


def assemble_text(
    code: str, architecture: str = "gfx942", options: tuple[str, ...] = (), name: str = "kernel.hip"
) -> Assembled | CompileFailed | Missing:
    """Compile a self-contained piece of HIP; the same text is the same file, so it is compiled once."""
    try:
        return assemble(kept_text("assembly", code.encode(), name), architecture, options)
    except OSError as error:
        return CompileFailed((), f"{error.filename}: {error.strerror}")

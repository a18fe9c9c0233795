"""Compiles one unit for one target, with hipcc, with clang alone, or for its syntax only."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from porter.validation.build.model import How
from porter.validation.build.setup_script import setup_macros
from porter.validation.build.torch_use import torch_of
from porter.validation.toolchain.clang import Clang, lacks_wrapping_atomics, libraries, prelude
from porter.validation.toolchain.headers import include_options
from porter.validation.toolchain.hipcc import ENVIRONMENT, Hipcc
from porter.validation.toolchain.invoke import Invocation
from porter.validation.toolchain.store import DEPFILE, Made, Recipe, identity, make, probing
from porter.validation.toolchain.torch_headers import TorchHeaders

_STANDARD = re.compile(r"-?-std=")
_LEVEL = re.compile(r"-O")
_WARNINGS = ("-Wno-unused-result", "-Wno-unknown-cuda-version", "-fno-caret-diagnostics")
_PLAIN = (".cpp", ".cc", ".cxx", ".c++")
AS_GCC = ("-x", "c++", "-Wno-c++11-narrowing")
"""C++ without a device, in which narrowing is a warning."""
_FIRST_CXX20 = 16
"""clang 15 crashes on members of type `std::optional` in HIP code."""
_WRAPPING = re.compile(r"_atomic_(?:inc|dec)\b|\bds_(?:inc|dec)(?:_rtn)?_u32\b")
PUT_RIGHT = "atomicInc and atomicDec are porter's own: the installed HIP headers call what this clang no longer has"
DEVICE, HOST, OBJECT = "device.s", "host.ok", "unit.o"


@dataclass(frozen=True)
class Tool:
    """What compiles for one target."""

    how: How
    hipcc: Hipcc | None = None
    clang: Clang | None = None

    @property
    def shown(self) -> str:
        """Path and version."""
        if self.hipcc is not None:
            return f"{self.hipcc.path} {self.hipcc.version} (clang {self.hipcc.clang})"
        return f"{self.clang.path}: {self.clang.version}" if self.clang else "libclang"


@dataclass(frozen=True)
class Compiled:
    """What the compiler made of a unit."""

    invocations: tuple[Invocation, ...]
    assembly: str
    object: Path | None
    reused: bool
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every pass succeeded."""
        return all(done.ok for done in self.invocations)

    @property
    def said(self) -> str:
        """The output of all passes."""
        return "\n".join(filter(None, (done.said for done in self.invocations)))


def common_options(source: Path, options: tuple[str, ...]) -> tuple[str, ...]:
    """The project's options, and what it leaves open: the standard, -O3, what PyTorch's builder and a setup.py give."""
    found = _torch(source, options)
    standard = () if any(map(_STANDARD.match, options)) else (found.standard if found else "-std=c++17",)
    level = () if any(map(_LEVEL.match, options)) else ("-O3",)
    builder = found.options if found else ()
    macros = setup_macros(source, options, found is not None)
    return (*standard, *level, *options, *builder, *macros, *_WARNINGS)


def _torch(source: Path, options: tuple[str, ...]) -> TorchHeaders | None:
    found = torch_of(source, options)
    return found if isinstance(found, TorchHeaders) else None


def is_for_host(source: Path, options: tuple[str, ...]) -> bool:
    """Whether the host's compiler gets the unit: PyTorch's builder and CMake give it what is plain C++ by its name."""
    return source.suffix in _PLAIN and _torch(source, options) is not None


def is_too_old_for_torch(tool: Tool, source: Path, options: tuple[str, ...]) -> bool:
    """Whether the unit includes a PyTorch that is C++20, and hipcc's clang is one that dies of its constraints."""
    if tool.hipcc is None or int(tool.hipcc.clang.partition(".")[0]) >= _FIRST_CXX20:
        return False
    torch = torch_of(source, options)
    return isinstance(torch, TorchHeaders) and torch.standard > "-std=c++17"


def compile_unit(tool: Tool, source: Path, target: str, options: tuple[str, ...], seconds: float) -> Compiled:
    """Both passes of one unit; results are kept by content."""
    if tool.hipcc is not None:
        return _with_hipcc(tool.hipcc, source, target, options, seconds)
    if tool.clang is not None:
        return _with_clang(tool.clang, source, target, options, seconds)
    raise ValueError("syntax is checked by porter.cpp.clang")


def _with_hipcc(hipcc: Hipcc, source: Path, target: str, options: tuple[str, ...], seconds: float) -> Compiled:
    for_host = is_for_host(source, options)
    language = AS_GCC if for_host else ("-x", "hip", f"--offload-arch={target}", *hipcc.libraries)
    one_pass = () if for_host else ("--cuda-device-only",)
    shared = (hipcc.path, *language, *common_options(source, options))

    def command(folder: Path) -> tuple[str, ...]:
        depfile = ("-MD", "-MF", str(folder / DEPFILE))
        return (*shared, "-save-temps=obj", *depfile, "-c", str(source), "-o", str(folder / OBJECT))

    assembly = f"*-{target.partition(':')[0]}*.s"

    def probe(folder: Path) -> tuple[str, ...]:
        return (*shared, *one_pass, *probing(folder), str(source))

    products = (OBJECT,) if for_host else (assembly, OBJECT)
    made = make(Recipe(hipcc.identity, command, (source,), products, environment=ENVIRONMENT, probe=probe), seconds)
    path = made.product(assembly) if made.invocation.ok and not for_host else None
    return compiled_as((made,), path, made.product(OBJECT))


def _with_clang(clang: Clang, source: Path, target: str, options: tuple[str, ...], seconds: float) -> Compiled:
    shared = (
        *include_options(clang.headers),
        "-D__HIP_PLATFORM_AMD__",
        *prelude(clang),
        *common_options(source, options),
    )
    tool = identity(clang.path, clang.version)
    if is_for_host(source, options):
        return _for_host((clang.path, *AS_GCC, *shared), tool, source, seconds)
    start = (clang.path, "-x", "hip", f"--offload-arch={target}", f"--rocm-device-lib-path={clang.bitcode}")

    def device(folder: Path) -> tuple[str, ...]:
        depfile = ("-MD", "-MF", str(folder / DEPFILE))
        return (*start, *shared, "--cuda-device-only", *depfile, "-S", str(source), "-o", str(folder / DEVICE))

    def host(folder: Path) -> tuple[str, ...]:
        depfile = ("-MD", "-MF", str(folder / DEPFILE))
        return (*start, *shared, "--cuda-host-only", "-fsyntax-only", *depfile, str(source))

    def probe(folder: Path) -> tuple[str, ...]:
        return (*start, *shared, "--cuda-device-only", *probing(folder), str(source))

    inputs = (source, *libraries(clang))
    first = make(Recipe(tool, device, inputs, (DEVICE,), probe=probe), seconds)
    if first.invocation.code is None or "file not found" in first.invocation.output:
        return compiled_as((first,))
    second = make(Recipe(tool, host, (source,), ()), seconds)
    compiled = compiled_as((first, second), first.product(DEVICE) if first.invocation.ok else None, None)
    if lacks_wrapping_atomics(clang) and _WRAPPING.search(compiled.assembly):
        return replace(compiled, notes=(*compiled.notes, f"{PUT_RIGHT} ({clang.headers}, {clang.version})"))
    return compiled


def _for_host(start: tuple[str, ...], tool: str, source: Path, seconds: float) -> Compiled:
    def host(folder: Path) -> tuple[str, ...]:
        return (*start, "-fsyntax-only", "-MD", "-MF", str(folder / DEPFILE), str(source))

    return compiled_as((make(Recipe(tool, host, (source,), ()), seconds),))


def compiled_as(made: tuple[Made, ...], assembly: Path | None = None, made_object: Path | None = None) -> Compiled:
    """The passes as one outcome."""
    text = ""
    if assembly is not None:
        try:
            text = assembly.read_text("utf-8", "replace")
        except OSError:
            text = ""
    notes = tuple(dict.fromkeys(one.note for one in made if one.note))
    return Compiled(tuple(one.invocation for one in made), text, made_object, all(one.reused for one in made), notes)

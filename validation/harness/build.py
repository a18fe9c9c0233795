"""Builds a harness: the binding once with the host compiler, the kernel's side with nvcc or hipcc, then the link."""

from __future__ import annotations

import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path

from porter.validation.devices.device import Program
from porter.validation.harness.render import Unit, render, template_folder
from porter.validation.toolchain.hipcc import ENVIRONMENT, Hipcc, find_hipcc
from porter.validation.toolchain.nvcc import Nvcc, find_nvcc
from porter.validation.toolchain.programs import find
from porter.validation.toolchain.python_headers import python_headers
from porter.validation.toolchain.result import CompileFailed, Missing
from porter.validation.toolchain.store import DEPFILE, Made, Recipe, identity, make, probing

from porter.engine.support import include_folder
from porter.system.cache import cache_folder, kept_text

MODULE = "porter_harness_module"
_OBJECT, _LIBRARY = "side.o", f"{MODULE}.so"


@dataclass(frozen=True)
class Harness:
    """A built module."""

    path: Path
    command: tuple[str, ...]
    """The one that compiled the kernel."""
    unit: Unit


@functools.cache
def _host_compiler() -> tuple[str, str] | Missing:
    found = find("C++ compiler")
    return found if isinstance(found, Missing) else (found.path, found.said.splitlines()[0])


@functools.cache
def _pybind11() -> Path | Missing:
    try:
        import pybind11
    except ImportError:
        return Missing("no pybind11: pip install 'porter[validation]'")
    return Path(pybind11.get_include())


def why_not() -> str | None:
    """None, or what the Python side of a harness lacks here."""
    found = (_host_compiler(), _pybind11(), python_headers())
    return next((one.reason for one in found if isinstance(one, Missing)), None)


def build(unit: Unit, architecture: str, seconds: float) -> Harness | CompileFailed | Missing:
    """The module around one kernel; every step is kept by content."""
    host, headers, python = _host_compiler(), _pybind11(), python_headers()
    for found in (host, headers, python):
        if isinstance(found, Missing):
            return found
    assert isinstance(host, tuple) and isinstance(headers, Path) and isinstance(python, Path)
    binding = _binding(host, headers, python, seconds)
    if not binding.invocation.ok:
        return CompileFailed(binding.invocation.command, binding.invocation.said)
    side = _side(unit, architecture, seconds)
    if isinstance(side, Missing):
        return side
    if not side.invocation.ok:
        return CompileFailed(side.invocation.command, side.invocation.said)
    linked = _linked(unit.program, binding.folder / _OBJECT, side.folder / _OBJECT, architecture, seconds)
    if isinstance(linked, Missing):
        return linked
    if not linked.invocation.ok:
        return CompileFailed(linked.invocation.command, linked.invocation.said)
    return Harness(linked.folder / _LIBRARY, side.invocation.command, unit)


def _binding(host: tuple[str, str], headers: Path, python: Path, seconds: float) -> Made:
    source = template_folder() / "binding.cpp"
    folders = (f"-I{template_folder()}", "-isystem", str(headers), "-isystem", str(python))

    def command(folder: Path) -> tuple[str, ...]:
        # Exceptions cross it and nothing in it is hot: -O1 halves the time.
        flags = ("-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-MD", "-MF", str(folder / DEPFILE))
        return (host[0], *flags, *folders, "-c", str(source), "-o", str(folder / _OBJECT))

    return make(Recipe(identity(*host), command, (source,), (_OBJECT,)), seconds)


def _side(unit: Unit, architecture: str, seconds: float) -> Made | Missing:
    source = _source(unit)
    program = unit.program
    support = () if program.language == "cuda" else (f"-I{include_folder()}",)
    flags = (
        f"-I{template_folder()}",
        *(f"-I{folder}" for folder in (program.source.absolute().parent, *program.include_dirs)),
        *(f"-D{name}" for name in program.defines),
        *program.options,
        *support,
    )
    if program.language == "cuda":
        nvcc = find_nvcc()
        return nvcc if isinstance(nvcc, Missing) else _with_nvcc(nvcc, source, architecture, flags, seconds)
    hipcc = find_hipcc()
    return hipcc if isinstance(hipcc, Missing) else _with_hipcc(hipcc, source, architecture, flags, seconds)


def _with_nvcc(nvcc: Nvcc, source: Path, architecture: str, flags: tuple[str, ...], seconds: float) -> Made:
    system = tuple(word for folder in nvcc.include_dirs for word in ("-isystem", str(folder)))

    def command(folder: Path) -> tuple[str, ...]:
        own = ("-std=c++17", "-O3", f"-arch={architecture}", "-Xcompiler", "-fPIC", "-lineinfo", *_quiet("cuda"))
        depfile = ("-MD", "-MF", str(folder / DEPFILE))
        return (nvcc.path, *own, *system, *flags, *depfile, "-x", "cu", "-c", str(source), "-o", str(folder / _OBJECT))

    return make(Recipe(identity(nvcc.path, f"nvcc {nvcc.version}"), command, (source,), (_OBJECT,)), seconds)


def _with_hipcc(hipcc: Hipcc, source: Path, architecture: str, flags: tuple[str, ...], seconds: float) -> Made:
    own = ("-x", "hip", "-std=c++17", "-O3", f"--offload-arch={architecture}", "-fPIC", *_quiet("hip"))
    shared = (hipcc.path, *own, *flags, *hipcc.libraries)

    def command(folder: Path) -> tuple[str, ...]:
        depfile = ("-MD", "-MF", str(folder / DEPFILE))
        return (*shared, *depfile, "-c", str(source), "-o", str(folder / _OBJECT))

    def probe(folder: Path) -> tuple[str, ...]:
        return (*shared, "--cuda-device-only", *probing(folder), str(source))

    recipe = Recipe(hipcc.identity, command, (source,), (_OBJECT,), environment=ENVIRONMENT, probe=probe)
    return make(recipe, seconds)


def _quiet(language: str) -> tuple[str, ...]:
    """Warnings are the business of `porter build`."""
    return ("-w",) if language == "cuda" else ("-Wno-everything",)


def _runtime(nvcc: Nvcc) -> str:
    """Which of its runtime libraries there is to link to: older wheels have the shared one alone."""
    static = not nvcc.library_dirs or any((folder / "libcudart_static.a").is_file() for folder in nvcc.library_dirs)
    return "static" if static else "shared"


def _linked(program: Program, binding: Path, side: Path, architecture: str, seconds: float) -> Made | Missing:
    start: tuple[str, ...]
    if program.language == "cuda":
        nvcc = find_nvcc()
        if isinstance(nvcc, Missing):
            return nvcc
        folders = tuple(f"-L{folder}" for folder in nvcc.library_dirs)
        start = (nvcc.path, f"-arch={architecture}", "-shared", "-cudart", _runtime(nvcc))
        tool, environment = identity(nvcc.path, f"nvcc {nvcc.version}"), {}
    else:
        hipcc = find_hipcc()
        if isinstance(hipcc, Missing):
            return hipcc
        folders, start = (), (hipcc.path, f"--offload-arch={architecture}", "-shared")
        tool, environment = hipcc.identity, ENVIRONMENT

    def command(folder: Path) -> tuple[str, ...]:
        return (*start, str(binding), str(side), *folders, "-o", str(folder / _LIBRARY))

    return make(Recipe(tool, command, (binding, side), (_LIBRARY,), None, environment, has_depfile=False), seconds)


def _source(unit: Unit) -> Path:
    """The rendered unit as a file; the same text is the same file."""
    text = render(unit)
    suffix = ".cu" if unit.program.language == "cuda" else ".hip"
    try:
        return kept_text("harness", text.encode(), f"{unit.program.source.stem}{suffix}")
    except OSError:
        raise OSError(f"neither {cache_folder()} nor {tempfile.gettempdir()} can be written") from None

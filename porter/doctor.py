"""`porter doctor`: what is installed, and what each part would need."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from porter import __version__
from porter.command import run
from porter.report.text import table

SCHEMA = "porter-doctor-1"
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_SECONDS = 10


class Check(NamedTuple):
    """One thing that a part of porter needs."""

    name: str
    part: str
    found: str | None
    """Version or place; None: missing."""
    required: bool
    """Whether `scan` and `port` need it."""
    remedy: str


def examine() -> tuple[Check, ...]:
    """Looks at Python, packages, compilers, headers and devices; runs only `--version` and device listings."""
    return (*_port_checks(), *_compiler_checks(), *_validation_checks(), *_device_checks())


def _port_checks() -> list[Check]:
    python = ".".join(map(str, sys.version_info[:3]))
    return [
        Check("python", "port", python if sys.version_info >= (3, 10) else None, True, "Python 3.10 or newer"),
        _package("libclang", "port", required=True),
        _tried("parser", "port", _parser, "reinstall libclang"),
        _tried("rules", "port", _rules, "reinstall porter"),
        _tried("name tables", "port", _tables, "reinstall porter"),
        _package("jinja2", "Markdown reports", required=True),
        _program("git", "in-place ports, .gitignore"),
    ]


def _compiler_checks() -> list[Check]:
    return [
        _program("hipcc", "compiling the port", "apt install hipcc, or ROCm"),
        _program("clang++-19", "syntax checks for gfx942", "apt install clang-19"),
        _program("nvcc", "compiling the original", "the CUDA toolkit"),
        _file("HIP headers", "compiling the port", "hip/hip_runtime.h", "apt install libamdhip64-dev, or ROCm"),
        _folder("ROCm device libraries", "compiling device code", _DEVICE_LIBRARIES, "apt install rocm-device-libs"),
    ]


_DEVICE_LIBRARIES = ("/opt/rocm/amdgcn/bitcode", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/amdgcn/bitcode")
_INCLUDES = ("/opt/rocm/include", "/usr/include")


def _validation_checks() -> list[Check]:
    return [_package(name, "validation", required=False) for name in ("torch", "numpy", "pybind11")]


def _device_checks() -> list[Check]:
    return [
        _listed("AMD GPU", "running the port", ("rocminfo",), r"gfx\w+", "a machine with an AMD Instinct GPU"),
        _listed("NVIDIA GPU", "running the original", ("nvidia-smi", "-L"), r"GPU 0: [^(]+", "an NVIDIA GPU"),
    ]


def _package(name: str, part: str, *, required: bool) -> Check:
    try:
        found: str | None = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        found = None
    extra = "" if required else "[validation]"
    return Check(name, part, found, required, f"pip install 'porter{extra}'")


def _tried(name: str, part: str, attempt: Callable[[], str], remedy: str) -> Check:
    try:
        return Check(name, part, attempt(), True, remedy)
    except Exception as error:
        return Check(name, part, None, True, f"{remedy} ({type(error).__name__}: {error})")


def _parser() -> str:
    from porter.parse import Parsed, ParseRequest, parse

    parsed = parse(ParseRequest("doctor.cu", b"__global__ void k(float *x) { x[threadIdx.x] = 0; }\n"))
    if not isinstance(parsed, Parsed):
        raise RuntimeError(parsed.reason)
    return f"types a kernel ({parsed.kernels[0].parameters[0].type})"


def _rules() -> str:
    from porter.registry import all_rules

    return f"{len(all_rules())} rules"


def _tables() -> str:
    from porter.names.table import load_names

    return f"{len(load_names(None, {})):,} names"


def _program(name: str, part: str, remedy: str = "") -> Check:
    place = shutil.which(name)
    if place is None:
        return Check(name, part, None, False, remedy or f"install {name}")
    done = run([place, "--version"], seconds=_SECONDS)
    version = _VERSION.search((done.stdout + done.stderr).decode(errors="replace"))
    return Check(name, part, f"{version[0]} in {place}" if version else place, False, remedy)


def _file(name: str, part: str, header: str, remedy: str) -> Check:
    found = next((base for base in _INCLUDES if (Path(base) / header).is_file()), None)
    return Check(name, part, found, False, remedy)


def _folder(name: str, part: str, places: tuple[str, ...], remedy: str) -> Check:
    return Check(name, part, next((place for place in places if Path(place).is_dir()), None), False, remedy)


def _listed(name: str, part: str, command: tuple[str, ...], pattern: str, remedy: str) -> Check:
    done = run(command, seconds=_SECONDS)
    found = re.search(pattern, done.stdout.decode(errors="replace")) if done.ok else None
    return Check(name, part, found[0].strip() if found else None, False, remedy)


def doctor_text(checks: tuple[Check, ...]) -> str:
    """One line per thing, and what to do about those that are missing."""
    rows = [(c.name, c.found or "missing", c.part, "" if c.found else c.remedy) for c in checks]
    return "\n".join([f"porter {__version__}", *table(("what", "found", "needed for", "to get it"), rows)]) + "\n"


def doctor_json(checks: tuple[Check, ...]) -> str:
    """The same as JSON."""
    document = {"schema": SCHEMA, "porter": __version__, "checks": [check._asdict() for check in checks]}
    return json.dumps(document, indent=1) + "\n"


def is_able(checks: tuple[Check, ...]) -> bool:
    """Whether `scan` and `port` can work."""
    return all(check.found for check in checks if check.required)

"""`porter doctor`: what is installed, and what each part would need."""

from __future__ import annotations

import importlib.metadata
import importlib.util
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
    """Looks at Python, packages, compilers, headers and devices; an empty kernel asks hipcc for its targets."""
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
    from porter.validation.toolchain.clang import find_clang, find_compiler
    from porter.validation.toolchain.headers import find_headers
    from porter.validation.toolchain.result import Missing

    clang, headers, compiler = find_clang("gfx942"), find_headers(), find_compiler()
    found = None if isinstance(compiler, Missing) else f"{_number(compiler[1])} in {compiler[0]}"
    libraries = None if isinstance(clang, Missing) else str(clang.bitcode)
    why = clang.reason if isinstance(clang, Missing) else ""
    return [
        _hipcc(),
        Check("clang for AMD", "building without ROCm", found, False, _why(compiler, "clang >= 17 with AMDGPU")),
        Check("HIP headers", "building", _place(headers), False, _why(headers, "porter headers, or ROCm")),
        Check(
            "library headers", "building with ROCm's libraries", _libraries(headers), False, "porter headers, or ROCm"
        ),
        Check("device libraries", "device code for gfx942", libraries, False, why),
        _nvcc(),
    ]


def _hipcc() -> Check:
    from porter.validation.toolchain.hipcc import find_hipcc, supports
    from porter.validation.toolchain.result import Missing

    found = find_hipcc()
    if isinstance(found, Missing):
        return Check(
            "hipcc", "building and linking the port", None, False, f"apt install hipcc, or ROCm ({found.reason})"
        )
    known = [target for target in _TARGETS if supports(found, target) is None]
    shown = f"{found.version} (clang {found.clang}) in {found.path}: {', '.join(known) or 'no ' + ', '.join(_TARGETS)}"
    return Check("hipcc", "building and linking the port", shown, False, "")


def _nvcc() -> Check:
    from porter.validation.toolchain.nvcc import find_nvcc, targets
    from porter.validation.toolchain.result import Missing

    found = find_nvcc()
    if isinstance(found, Missing):
        return Check("nvcc", "compiling the original", None, False, f"the CUDA toolkit ({found.reason})")
    made = targets(found)
    span = f": {made[0]} to {max(made, key=_capability)}" if made else ""
    return Check("nvcc", "compiling the original", f"{found.version} in {found.path}{span}", False, "")


_TARGETS = ("gfx942", "gfx90a")


def _capability(target: str) -> int:
    return int("".join(filter(str.isdigit, target)))


def _number(text: str) -> str:
    version = _VERSION.search(text)
    return version[0] if version else text


_LIBRARIES = ("hipblas", "hipcub", "hipfft", "hiprand", "hipsolver", "hipsparse", "miopen", "rccl", "rocprim", "thrust")


def _libraries(headers: object) -> str | None:
    """Those of which the folder has the headers."""
    found = [name for name in _LIBRARIES if isinstance(headers, Path) and (headers / name).is_dir()]
    return ", ".join(found) or None


def _place(found: object) -> str | None:
    return str(found) if isinstance(found, Path) else None


def _why(found: object, remedy: str) -> str:
    reason = getattr(found, "reason", None)
    return f"{remedy} ({reason})" if reason else remedy


def _validation_checks() -> list[Check]:
    return [_package(name, "validation", required=False) for name in ("torch", "numpy", "pybind11")]


def _device_checks() -> list[Check]:
    if importlib.util.find_spec("numpy") is None:
        return [Check(f"device {name}", part, None, False, _EXTRA) for name, part in _DEVICES.items()]
    from porter.validation.devices.registry import why_not

    found = [(name, part, why_not(name)) for name, part in _DEVICES.items()]
    return [
        Check(f"device {name}", part, None if reason else "can run kernels", False, reason or "")
        for name, part, reason in found
    ]


_EXTRA = "pip install 'porter[validation]'"
_DEVICES = {
    "ptx": "the original without a GPU",
    "cuda": "the original on an NVIDIA GPU",
    "gfx942": "the port without a GPU",
    "hip": "the port on an AMD GPU",
}


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

"""`porter doctor`: what is installed, and what each part would need."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from porter import __version__
from porter.report.text import table
from porter.system.needs import NEEDS, Need, Part, need
from porter.system.programs import library_on_this_machine, on_this_machine
from porter.validation.toolchain.clang import find_bitcode, find_compiler
from porter.validation.toolchain.headers import find_headers
from porter.validation.toolchain.hipcc import find_hipcc, supports
from porter.validation.toolchain.nvcc import find_nvcc, targets
from porter.validation.toolchain.programs import find
from porter.validation.toolchain.python_headers import python_headers
from porter.validation.toolchain.result import Missing

SCHEMA = "porter-doctor-1"
_VERSION = re.compile(r"\d+(?:\.\d+)+")


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
    """Looks at Python, packages, what comes from outside, and devices; an empty kernel asks hipcc for its targets."""
    return (*_port_checks(), *_outside_checks(), *_validation_checks(), *_device_checks())


def _port_checks() -> list[Check]:
    python = ".".join(map(str, sys.version_info[:3]))
    return [
        Check("python", "port", python if sys.version_info >= (3, 10) else None, True, "Python 3.10 or newer"),
        _package("libclang", "port", required=True),
        _tried("parser", "port", _parser, "reinstall libclang"),
        _tried("rules", "port", _rules, "reinstall porter"),
        _tried("name tables", "port", _tables, "reinstall porter"),
        _package("jinja2", "Markdown reports", required=True),
    ]


def _outside_checks() -> list[Check]:
    """The rows of the table of needs that a command uses; the tests' own are theirs."""
    parts = (Part.PORT, Part.BUILD, Part.VALIDATE, Part.GPU)
    return [_outside(row) for row in NEEDS if row.part in parts]


def _outside(row: Need) -> Check:
    found: str | Missing
    if row.library:
        found = library_on_this_machine(row) or Missing(row.absent)
    else:
        found = _LOOK[row.name]() if row.name in _LOOK else _program(row.name)
    if isinstance(found, Missing):
        return Check(row.name, row.purpose, None, False, found.reason)
    return Check(row.name, row.purpose, found or None, False, "" if found else row.remedy)


def _program(name: str) -> str | Missing:
    found = find(name)
    return found if isinstance(found, Missing) else f"{found.version} in {found.path}"


def _hipcc() -> str | Missing:
    found = find_hipcc()
    if isinstance(found, Missing):
        return found
    known = [target for target in _TARGETS if supports(found, target) is None]
    made = ", ".join(known) or f"no {', '.join(_TARGETS)}"
    return f"{found.version} (clang {found.clang}) in {found.path}: {made}"


def _clang() -> str | Missing:
    found = find_compiler()
    return found if isinstance(found, Missing) else f"{_number(found[1])} in {found[0]}"


def _nvcc() -> str | Missing:
    found = find_nvcc()
    if isinstance(found, Missing):
        return found
    made = targets(found)
    span = f": {made[0]} to {max(made, key=_capability)}" if made else ""
    return f"{found.version} in {found.path}{span}"


def _triton() -> str | Missing:
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return Missing(need("Triton").absent)


def _place(found: Path | Missing) -> str | Missing:
    return found if isinstance(found, Missing) else str(found)


def _libraries() -> str:
    """Those of which the folder has the headers."""
    headers = find_headers()
    return ", ".join(name for name in _LIBRARIES if isinstance(headers, Path) and (headers / name).is_dir())


_TARGETS = ("gfx942", "gfx90a")
_LIBRARIES = ("hipblas", "hipcub", "hipfft", "hiprand", "hipsolver", "hipsparse", "miopen", "rccl", "rocprim", "thrust")
_LOOK: dict[str, Callable[[], str | Missing]] = {
    "hipcc": _hipcc,
    "clang++": _clang,
    "HIP headers": lambda: _place(find_headers()),
    "library headers": _libraries,
    "device libraries": lambda: _place(find_bitcode("gfx942")),
    "nvcc": _nvcc,
    "Triton": _triton,
    "rocm_agent_enumerator": lambda: on_this_machine("rocm_agent_enumerator") or "",
    "rocminfo": lambda: on_this_machine("rocminfo") or "",
    "Python headers": lambda: _place(python_headers()),
    "distributed": lambda: _package("distributed", "", required=False).found or "",
}
"""How what is no program is found, and programs of which more is to be told than the version."""


def _capability(target: str) -> int:
    return int("".join(filter(str.isdigit, target)))


def _number(text: str) -> str:
    version = _VERSION.search(text)
    return version[0] if version else text


def _validation_checks() -> list[Check]:
    return [_package(name, "validation", required=False) for name in ("torch", "numpy", "pybind11", "pyelftools")]


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
    from porter.cpp.clang.view import Parsed, ParseRequest, parse

    parsed = parse(ParseRequest("doctor.cu", b"__global__ void k(float *x) { x[threadIdx.x] = 0; }\n"))
    if not isinstance(parsed, Parsed):
        raise RuntimeError(parsed.reason)
    return f"types a kernel ({parsed.kernels[0].parameters[0].type})"


def _rules() -> str:
    from porter.engine.registry import all_rules

    return f"{len(all_rules())} rules"


def _tables() -> str:
    from porter.names.table import load_names

    return f"{len(load_names(None, {})):,} names"


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

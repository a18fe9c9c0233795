"""Why the compiler does not know a name or a header: what is installed is too old for it, or lacks it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

from porter.validation.build.model import Status, UnitBuild
from porter.validation.toolchain.headers import NEWER, version_of
from porter.validation.toolchain.rocm_headers import LIBRARIES, fetched

_UNKNOWN = re.compile(
    r"(?:undeclared identifier|unknown type name|no (?:type|member|template) named|no matching function for call to) "
    r"'(?P<name>(?:hip|HIP|nccl|rocrand|miopen)\w+)'"
    r"|'(?P<header>(?:hip|roc|rccl|miopen)[\w/]*\.h(?:pp)?)' file not found"
)

_BFLOAT16 = re.compile(
    r"(?:conver|invalid operands|no viable overloaded|invalid argument type).*'(?:const )?__hip_bfloat162?\b"
)
_CALCULATES = "6.2"
"""The ROCm since which bfloat16 has all of CUDA's operators and conversions."""


def hint_on(message: str, headers: Path | None) -> str | None:
    """One sentence about the name in an error, or None."""
    name, since = _wanted(message)
    here = _installed(headers) if headers is not None and since is not None else None
    if since is None or here is None or _number(since) <= _number(here):
        return None
    return f"{name} is in ROCm since {since}, the headers here are of {here}"


def _wanted(message: str) -> tuple[str, str | None]:
    """What an error lacks, and the oldest ROCm that has it; None where newer headers would not help."""
    if (found := _UNKNOWN.search(message)) is not None:
        name = found["name"] or found["header"]
        return name, _since().get(name)
    return ("arithmetic of __hip_bfloat16", _CALCULATES) if _BFLOAT16.search(message) else ("", None)


_TOLD = re.compile(r"(?P<name>[\w ./]+) is in ROCm since (?P<since>[\d.]+), the headers here are of (?P<here>[\d.]+)")


def too_old(units: Iterable[UnitBuild]) -> tuple[str, ...]:
    """A note on a build whose headers are older than names of the port, with what to do; none where no unit failed."""
    hints = [one.hint for unit in units if unit.status is not Status.BUILT for one in unit.diagnostics if one.hint]
    told = {found["name"]: found for hint in hints if (found := _TOLD.fullmatch(hint))}
    if not told:
        return ()
    since = sorted({found["since"] for found in told.values()}, key=_number)
    here = next(iter(told.values()))["here"]
    came = since[0] if len(since) == 1 else f"{since[0]} to {since[-1]}"
    names = f"{len(told):,} name{'s' * (len(told) != 1)} of this port came with ROCm {came}"
    return (f"{names}, and the headers here are of {here}. {NEWER} `porter port --rocm {here}` ports for these.",)


def why_absent(header: str) -> str:
    """A sentence on a header that no folder has."""
    said = f"{header} is neither in the tree nor installed"
    is_library = header.partition("/")[0] in LIBRARIES and "/" in header
    if is_library and fetched() is None:
        return f"{said}; `porter headers` fetches it"
    package = _PACKAGES.get(header.partition("/")[0])
    return f"{said}; Debian has it in {package}" if package else said


_PACKAGES = {
    "omp.h": "libomp-19-dev",
    "mpi.h": "libopenmpi-dev",
    "boost": "libboost-dev",
    "Eigen": "libeigen3-dev",
    "glm": "libglm-dev",
    "gsl": "libgsl-dev",
    "fftw3.h": "libfftw3-dev",
    "cblas.h": "libopenblas-dev",
}
"""What ports include most that no ROCm has: headers, or their folders, and the packages."""


_installed = functools.lru_cache(maxsize=8)(version_of)


@functools.cache
def _since() -> dict[str, str]:
    """HIP name or header -> the oldest ROCm that has it by this name, from the name tables."""
    from porter.names.records import load_records

    found: dict[str, str] = {}
    records = load_records()
    for _, _, hip, _, _, since, _, _, before, *_ in (*records.names.values(), *records.headers.values()):
        if hip and since:
            came = max((since, *(until for until, _ in before)), key=_number)
            found[hip] = min(came, found.get(hip, came), key=_number)
    return found


def _number(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor or 0)

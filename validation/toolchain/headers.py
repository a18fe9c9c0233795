"""HIP's headers, and those of ROCm's libraries: where they are, and how a compiler is told."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from pathlib import Path

from porter.validation.toolchain.debian_headers import newest
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.rocm_headers import fetched

from porter.errors import Unusable
from porter.settings import Choices, with_overrides
from porter.system.needs import need

_SYSTEM = Path("/usr/include")
ONE_GENERATOR = Path(__file__).parent / "random"
"""Headers with cuRAND's and hipRAND's names for device code, over one generator: both sides draw the same numbers."""
GIVEN = "PORTER_ROCM_HEADERS"
"""The variable behind `--rocm-headers`: worker processes inherit it."""
NEWER = (
    "Newer headers than these: `porter headers --suite sid` where apt is at hand, or with a container of ROCm's, "
    "`docker run --rm -v DIR:/to rocm/dev-ubuntu-24.04 cp -rL /opt/rocm/include /to`, "
    "then `--rocm-headers DIR/include`, or that variable: PORTER_ROCM_HEADERS."
)


def use_headers(folder: Path | None) -> None:
    """Take HIP's headers, and those of the libraries, from a folder; Unusable where it holds none."""
    if folder is None:
        return
    if not (folder / "hip" / "hip_runtime.h").is_file():
        raise Unusable(f"--rocm-headers {folder}: no hip/hip_runtime.h there; give the `include` folder of a ROCm")
    os.environ[GIVEN] = str(folder.resolve())


def rocm_roots() -> list[Path]:
    """Folders that may hold a ROCm, named ones first; `/usr` is where distributions have theirs."""
    named = [Path(os.environ[name]) for name in ("ROCM_PATH", "HIP_PATH") if os.environ.get(name)]
    return [*named, Path("/opt/rocm"), Path("/usr")]


def find_headers() -> Path | Missing:
    """The folder of `hip/hip_runtime.h`: the one given, an installed ROCm's, the newest fetched, the distribution's."""
    *own, system = (root / "include" for root in rocm_roots())
    given = Path(os.environ[GIVEN]) if os.environ.get(GIVEN) else None
    for folder in (given, *own, newest(), system):
        if folder is not None and (folder / "hip/hip_runtime.h").exists():
            return folder
    return Missing(f"no HIP headers (hip/hip_runtime.h): {need('HIP headers').remedy}")


def version_of(headers: Path) -> str | None:
    """The version of HIP that the headers are of, such as `6.0`; None where they do not say."""
    try:
        text = (headers / "hip" / "hip_version.h").read_text("utf-8", "replace")
    except OSError:
        return None
    found = dict(re.findall(r"^#define HIP_VERSION_(MAJOR|MINOR)\s+(\d+)", text, re.MULTILINE))
    return f"{found['MAJOR']}.{found['MINOR']}" if len(found) == 2 else None


def for_headers(choices: Choices) -> Choices:
    """Where a project names no ROCm: a port that is compiled here is for the one whose headers it will meet."""
    headers = find_headers()
    if choices.engine.rocm is not None or isinstance(headers, Missing):
        return choices
    return with_overrides(choices, rocm=version_of(headers))


def used_by(command: Sequence[str]) -> str | None:
    """HIP's headers that a compiler was given, or has of its own: version and folder; None where they are not here."""
    given = (Path(after) for word, after in itertools.pairwise(command) if word == "-isystem")
    for folder in (*given, *(root / "include" for root in rocm_roots())) if command else ():
        version = version_of(folder)
        if version is not None:
            return f"HIP {version} in {folder}"
    return None


def include_options(headers: Path) -> tuple[str, ...]:
    """For clang, which searches the system's folder by itself, and last."""
    return () if headers == _SYSTEM else ("-isystem", str(headers))


def library_options(hipcc: str) -> tuple[str, ...]:
    """For a distribution's hipcc: the fetched headers of the libraries, beside its own of HIP, to which it links."""
    folder = fetched()
    if folder is None or Path(hipcc).parent != Path("/usr/bin"):
        return ()
    return ("-isystem", str(folder.with_name("libraries")))

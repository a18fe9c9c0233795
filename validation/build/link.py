"""Which units make up a program, and linking them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.validation.build.includes import shared_folders
from porter.validation.build.model import ProgramBuild, Status
from porter.validation.toolchain.hipcc import ENVIRONMENT, Hipcc
from porter.validation.toolchain.programs import find
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.store import Made, Recipe, identity, make

_MAIN = re.compile(rb"^[ \t]*(?:static[ \t]+)?(?:int|auto|signed)[ \t\r\n]+main[ \t\r\n]*\(", re.MULTILINE)
_LIBRARIES = {
    b"hipblas": "hipblas",
    b"hipblaslt": "hipblaslt",
    b"hiprand": "hiprand",
    b"hipfft": "hipfft",
    b"hipsparse": "hipsparse",
    b"hipsolver": "hipsolver",
    b"rocblas": "rocblas",
    b"rccl": "rccl",
    b"hip/hiprtc": "hiprtc",
    b"MIOpen|miopen": "MIOpen",
}
_OTHERS = "others.a"
_NO_LIBRARY = re.compile(r"(?:unable to find library|cannot find) -l([^\s:]+)")


@dataclass(frozen=True)
class Program:
    """A unit with `main`, and the units that belong to it."""

    main: str
    units: tuple[str, ...]
    libraries: tuple[str, ...]
    others: tuple[str, ...]
    """Units without `main` elsewhere in the tree, near ones first; of them, what defines something that is missing."""


def programs(root: Path, units: Iterable[str]) -> tuple[Program, ...]:
    """One program per `main`: with it go the units of its folder and below that have no `main`."""
    texts = {unit: _read(root / unit) for unit in units}
    mains = [unit for unit, text in texts.items() if _MAIN.search(text)]
    rest = [unit for unit in texts if unit not in set(mains)]
    found: list[Program] = []
    for main in mains:
        folder = posixpath.dirname(main)
        own = [unit for unit in rest if posixpath.dirname(unit) == folder or unit.startswith(folder + "/")]
        members = (main, *own)
        used = {name for unit in members for head, name in _LIBRARIES.items() if _includes(texts[unit], head)}
        others = sorted(set(rest) - set(own), key=lambda unit: (-shared_folders(unit, main), unit))
        found.append(Program(main, members, tuple(sorted(used)), tuple(others)))
    return tuple(found)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _includes(text: bytes, head: bytes) -> bool:
    return re.search(rb'#[ \t]*include[ \t]*[<"](?:' + head + rb")[/.]", text) is not None


def link(hipcc: Hipcc, program: Program, objects: Mapping[str, Path], target: str, seconds: float) -> ProgramBuild:
    """Link the objects of one program, and of the others what it lacks."""
    files = tuple(objects[unit] for unit in program.units)
    others = tuple(objects[unit] for unit in program.others if unit in objects)
    archive = _archive(others, seconds) if others else None

    def linked(libraries: Iterable[str]) -> Made:
        def command(folder: Path) -> tuple[str, ...]:
            named = (*files, *([archive] if isinstance(archive, Path) else []), *(f"-l{name}" for name in libraries))
            return (hipcc.path, f"--offload-arch={target}", *map(str, named), "-o", str(folder / "program"))

        inputs = (*files, *others)
        recipe = Recipe(hipcc.identity, command, inputs, ("program",), None, ENVIRONMENT, has_depfile=False)
        return make(recipe, seconds)

    made = linked(program.libraries)
    done, absent = made.invocation, _NO_LIBRARY.findall(made.invocation.output)
    if absent and not done.ok:  # another one may have its functions, as libamdhip64 those of an old hiprtc
        rest = tuple(name for name in program.libraries if name not in absent)
        without = linked(rest).invocation
        done = without if without.ok else done
    if done.ok:
        return ProgramBuild(program.main, program.units, target, Status.BUILT, None, done.command)
    if isinstance(archive, Missing) and "undefined" in done.output:
        why = f"units beside it may have what it lacks, but there is {archive.reason}"
        return ProgramBuild(program.main, program.units, target, Status.NOT_RUN, why, done.command, done.said)
    status = Status.TIMED_OUT if done.stopped and "no end" in done.stopped else Status.FAILED
    said = f"lib{absent[0]} is not installed" if absent else done.stopped or _first_error(done.output)
    status = Status.NOT_RUN if absent else status
    return ProgramBuild(program.main, program.units, target, status, said, done.command, done.said)


def _archive(objects: tuple[Path, ...], seconds: float) -> Path | Missing | None:
    """A thin archive, from which a linker takes what it needs; None when it cannot be made."""
    found = find("ar")
    if isinstance(found, Missing):
        return found
    path = found.path

    def command(folder: Path) -> tuple[str, ...]:
        return (path, "rcsT", str(folder / _OTHERS), *map(str, objects))

    made = make(Recipe(identity(path, "ar"), command, objects, (_OTHERS,), has_depfile=False), seconds)
    return made.product(_OTHERS) if made.invocation.ok else None


def _first_error(output: str) -> str:
    lines = [line for line in output.splitlines() if "undefined" in line or "error" in line]
    return lines[0].strip() if lines else "the linker failed"

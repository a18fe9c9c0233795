"""Runs one program against the drop-in libraries."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from porter.validation.devices.core.hostcc import HostCompiler, find_host_compiler
from porter.validation.programs.clock import clock_library
from porter.validation.programs.dropin import build
from porter.validation.programs.libraries import STAND_INS, build_stand_in, built_stand_in, kept_libraries
from porter.validation.programs.outcome import Account, ProgramRun, Verdict, gathered, judge
from porter.validation.programs.pytorch.results import with_results
from porter.validation.programs.sides import HIP, Side
from porter.validation.programs.store import WRAPPED, translations
from porter.validation.programs.wanted import STATIC, Wanted, wanted
from porter.validation.toolchain.result import Missing

from porter.system.limits import die_with
from porter.system.reading import LARGEST_DOCUMENT, parsed_json, read_regular

_KEPT = 16 << 20
"""Bytes of output that are kept."""
_TRANSLATING = 900
"""Seconds of processor time that a translator may take beyond the program's limit: that time is not the program's."""


@dataclass(frozen=True)
class Options:
    """How to run, and what to check on the way."""

    seconds: float | None = None
    """Limit of the whole run, by the clock."""
    cpu_seconds: int | None = None
    """Limit of the processor time of each process."""
    budget: int = 0
    """Lane-instructions after which the run is too long; 0: no limit."""
    threads: int | None = None
    schedule: int = 0
    """Seed of a random interleaving; 0: waves run until they wait."""
    delay: int = 0
    """Seed of the order in which asynchronous work is done, when something waits for it; 0: at once."""
    races: bool = False
    uninitialised: bool = False
    go_on: bool = False
    """After a fault, give the program an error instead of ending it."""
    every_launch: bool = False
    """Run also those launches whose result is known: same kernel, arguments and memory as one before."""
    devices: int = 1
    as_the_port: bool = False
    """An original is told of its GPU what the port is told, warps aside: multiprocessors, clocks, capability."""
    wrapped: bool = False
    """An original's shifts take their counts modulo the width, as gfx942's do."""
    trace: Path | None = None
    """A folder for what each launch wrote."""
    profile: str | None = None
    """The GPU that every launch is counted for, as `mi300x`; one host thread then."""
    side: Side | None = None
    """Of programs in Python; None: that of the folder they run in."""
    clock: int = 1
    """How many times as fast as time goes the program's clock runs."""
    fresh: int = 0
    """The byte that malloc's memory is full of when it is handed out; 0: whatever was there."""
    began: int = 0
    """The time of day, in seconds, that the program (none in Python) is told when it first asks; 0: what it is."""
    careful: bool = False
    """In a comparison: programs that agree run again with each check."""
    memory: int = 0
    """Bytes of device memory; 0: half of the host's, 80 GiB at most."""


def environment(words: Sequence[str], folder: Path | None, options: Options) -> dict[str, str] | Missing:
    """The variables that put the libraries in place, PORTER_RUN_REPORT left out."""
    path = shutil.which(words[0], path=None) or words[0]
    program = Path(folder or ".", path) if not Path(path).is_absolute() else Path(path)
    if not program.exists():
        return Missing(f"{words[0]}: no such program")
    compiler = find_host_compiler()
    if isinstance(compiler, Missing):
        return compiler
    asked = wanted(program)
    if asked.static:
        return Missing(f"{words[0]}: {STATIC}")
    libraries = _libraries(asked, compiler)
    if isinstance(libraries, Missing):
        return libraries
    stand_ins = _stand_ins(asked, compiler)
    if isinstance(stand_ins, Missing):
        return stand_ins
    values = _variables(asked, libraries, stand_ins[0], compiler, options)
    if options.clock != 1 or (options.began and asked.is_certain):
        clock = clock_library(compiler)
        if isinstance(clock, Missing):
            return clock
        loaded = (str(clock), values.get("LD_PRELOAD", os.environ.get("LD_PRELOAD", "")))
        values |= {"LD_PRELOAD": " ".join(loaded).strip(), "PORTER_RUN_CLOCK": str(options.clock)}
        values |= {"PORTER_RUN_BEGAN": str(options.began)}
    if not asked.is_certain:  # an interpreter, or a script
        from porter.validation.programs.pytorch.environment import side_of, variables  # reads the compilers' modules

        values |= variables(options.side or side_of(folder or Path()))
    return {**os.environ, **stand_ins[1], **values}


def _libraries(asked: Wanted, compiler: HostCompiler) -> list[Path] | Missing:
    folders: list[Path] = []
    for side, version in asked.libraries:
        built = build(side, compiler, version)
        if isinstance(built, Missing):
            return built
        folders.append(built)
    return folders


def _stand_ins(asked: Wanted, compiler: HostCompiler) -> tuple[list[Path], dict[str, str]] | Missing:
    """Folders and variables of those that are needed; a program that may load any gets those that are built."""
    pairs = asked.stand_ins
    if not asked.is_certain:
        pairs = tuple((row, version) for row in STAND_INS for side, version in asked.libraries if row.side is side)
    folders: list[Path] = []
    variables: dict[str, str] = {}
    for row, version in pairs:
        there = built_stand_in(row, compiler, version)
        if there is None and not asked.is_certain:
            continue
        kept = kept_libraries(row)
        built = kept if isinstance(kept, Missing) else there or build_stand_in(row, compiler, version)
        if isinstance(built, Path) and isinstance(kept, dict):
            folders.append(built)
            variables |= kept
        elif isinstance(built, Missing) and asked.is_certain:
            return built
    return folders, variables


def _variables(
    asked: Wanted, folders: Sequence[Path], stand_ins: Sequence[Path], compiler: HostCompiler, options: Options
) -> dict[str, str]:
    sides = {side.name: side for side, _ in asked.libraries}
    for side in sides.values():
        translations(side, compiler, wrapped=options.wrapped).mkdir(parents=True, exist_ok=True)
    values = {
        "LD_LIBRARY_PATH": ":".join([*map(str, (*folders, *stand_ins)), os.environ.get("LD_LIBRARY_PATH", "")]).rstrip(
            ":"
        ),
        "PORTER_RUN_PYTHON": sys.executable,
        "PORTER_RUN_SCHEDULE": str(options.schedule),
        "PORTER_RUN_RACES": str(int(options.races)),
        "PORTER_RUN_UNINITIALISED": str(int(options.uninitialised)),
        "PORTER_RUN_STOP": str(int(not options.go_on)),
        "PORTER_RUN_DELAY": str(options.delay),
        "PORTER_RUN_EVERY": str(int(options.every_launch)),
        "PORTER_RUN_DEVICES": str(options.devices),
        "PORTER_RUN_BUDGET": str(options.budget),
        "PORTER_RUN_MEMORY": str(options.memory),
    }
    if options.as_the_port:
        values |= {"PORTER_RUN_AS_THE_PORT": "1", "PORTER_RUN_MULTIPROCESSORS": str(HIP.multiprocessors)}
    if options.wrapped:
        values[WRAPPED] = "1"
    if options.fresh:
        values["MALLOC_PERTURB_"] = str(options.fresh ^ 0xFF)  # what glibc fills freed memory with; fresh: the rest
    if options.threads is not None:
        values["PORTER_RUN_THREADS"] = str(options.threads)
    for side in sides.values():
        values[f"PORTER_RUN_CACHE_{side.name.upper()}"] = str(translations(side, compiler, wrapped=options.wrapped))
    if options.profile is not None:
        from porter.validation.estimate.chip import load, load_original

        shapes = (("CUDA", load_original().caches), ("HIP", load(options.profile).caches))
        values |= {f"PORTER_RUN_SHAPE_{side}": " ".join(map(str, astuple(shape))) for side, shape in shapes}
    if options.trace is not None:
        values["PORTER_RUN_TRACE"] = str(options.trace)
    if asked.early:
        files = [
            str(folder / f"{side.library}.{v}") for folder, (side, v) in zip(folders, asked.libraries, strict=True)
        ]
        values["LD_PRELOAD"] = " ".join([*files, os.environ.get("LD_PRELOAD", "")]).strip()
    return values


def run_program(
    words: Sequence[str], options: Options | None = None, folder: Path | None = None, *, keep: bool = False
) -> ProgramRun:
    """Run it to its end. `keep`: its output is kept, else it goes where ours goes."""
    options = options or Options()
    command = tuple(words)
    variables = environment(words, folder, options)
    if isinstance(variables, Missing):
        return ProgramRun(command, Verdict.NOT_RUN, variables.reason, None, Account(), 0.0)
    with tempfile.TemporaryDirectory(prefix="porter-run-") as reports:
        variables["PORTER_RUN_REPORT"] = reports
        if options.profile is not None:
            variables["PORTER_RUN_PROFILE"] = reports
        return _run(command, variables, options, folder, Path(reports), keep=keep)


def _run(
    command: tuple[str, ...],
    variables: Mapping[str, str],
    options: Options,
    folder: Path | None,
    reports: Path,
    *,
    keep: bool,
) -> ProgramRun:
    out, err = (reports / "stdout", reports / "stderr") if keep else (None, None)
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) if path else None for path in (out, err)]
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=dict(variables),
                stdin=subprocess.DEVNULL if keep else None,
                stdout=files[0],
                stderr=files[1],
                start_new_session=keep,
                preexec_fn=_begun(options, bound=keep),
            )
        except OSError as error:
            reason = f"{command[0]}: {error.strerror}"
            return ProgramRun(command, Verdict.NOT_RUN, reason, None, Account(), 0.0)
        stopped = _wait(process, options.seconds, whole_group=keep)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    account = with_results(gathered(_read_reports(reports)), reports)
    code = None if stopped else process.returncode
    if code == -signal.SIGXCPU:
        stopped = f"no end after {options.cpu_seconds} s of processor time"
    verdict, reason = judge(code, stopped, account)
    kept = [_head(path) if path else b"" for path in (out, err)]
    profile = None
    if options.profile is not None:
        from porter.validation.programs.profile import profiled

        profile = profiled(reports, options.profile)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ProgramRun(command, verdict, reason, code, account, seconds, cpu, kept[0], kept[1], profile)


def _begun(options: Options, *, bound: bool) -> Any:
    """What the child does before it becomes the program. `bound`: it ends with us, who may be killed: it is in a group
    of its own, where no terminal's interrupt reaches it. A translator goes up to the hard limit (translate.py)."""
    if options.cpu_seconds is None and not bound:
        return None
    parent, most = os.getpid(), resource.getrlimit(resource.RLIMIT_CPU)[1]
    limit = options.cpu_seconds

    def begun() -> None:
        if bound:
            die_with(parent)
        if limit is not None:
            longest = limit + _TRANSLATING if most == resource.RLIM_INFINITY else min(limit + _TRANSLATING, most)
            resource.setrlimit(resource.RLIMIT_CPU, (min(limit, longest), longest))

    return begun


def _wait(process: subprocess.Popen[bytes], seconds: float | None, *, whole_group: bool) -> str | None:
    """Why it had to be stopped, or None; nothing it started is left running."""
    try:
        process.wait(seconds)
        return None
    except subprocess.TimeoutExpired:
        return f"no end after {seconds:g} s"
    finally:
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(2)
        if whole_group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        if process.poll() is None:
            process.kill()
        process.wait()


def _read_reports(folder: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(ValueError, OSError):
            found.append(parsed_json(read_regular(path, LARGEST_DOCUMENT).decode("utf-8", "replace")))
    return found


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_KEPT)

"""`porter validate` without a command line: finds cases, plans what runs where, and makes one report of it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter.validation.cases.case import ANY_STRING, Case, CaseError
from porter.validation.cases.file import find_case_files, read_cases
from porter.validation.cases.runtime_text import kernel_file
from porter.validation.devices import registry
from porter.validation.devices.device import Program
from porter.validation.run.crew import Answer, Crew, Lost, Spare
from porter.validation.run.porting import NotPorted, Port, existing_port, in_hip, port_of
from porter.validation.run.task import Agreement, Checked, SideKey, SidePlan, Task
from porter.validation.toolchain.elsewhere import is_given, standing
from porter.validation.toolchain.headers import ONE_GENERATOR
from porter.validation.toolchain.store import prune
from porter.validation.verdict.outcome import (
    CaseResult,
    FileError,
    PairResult,
    SideResult,
    Status,
    ValidateReport,
    pair_status,
    total,
)

from porter.cpp.kernels import find_kernels
from porter.cpp.lex import lex
from porter.errors import Unusable
from porter.source import SourceFile
from porter.system.reading import read_regular

Progress = Callable[[int, int], None]
_CUDA = ("ptx", "cuda")
GIVEN = "given"
"""The warp mode of a port that was not made by porter."""


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    paths: tuple[Path, ...]
    devices: tuple[str, ...] | None = None
    """None: every device that can be used here."""
    warps: tuple[str, ...] = ("preserve",)
    names: tuple[str, ...] = ()
    schedules: int = 3
    seeds: tuple[int, ...] | None = None
    jobs: int = 1
    build_seconds: float = 300.0
    launch_seconds: float = 60.0
    grace_seconds: float = 30.0
    """Beside what a launch takes."""
    tree: Path | None = None
    """A port made before; None: made on the fly."""


@dataclass(frozen=True)
class Outcome:
    """The report, and tracebacks of our own bugs."""

    report: ValidateReport
    crashes: tuple[str, ...] = ()


def collect(request: Request) -> tuple[tuple[Case, ...], tuple[FileError, ...]]:
    """The cases asked for, and what is wrong with their files; raises Unusable when there is none."""
    files = find_case_files(request.paths)
    if not files:
        raise Unusable(f"no *.case.toml in {', '.join(map(str, request.paths))}")
    cases: list[Case] = []
    errors: list[FileError] = []
    for path in files:
        read, unread = read_cases(path)
        cases += read
        errors += map(_file_error, unread)
    wanted = tuple(case for case in cases if not request.names or case.name in request.names)
    unknown = [name for name in request.names if name not in {case.name for case in cases}]
    if unknown and not errors:
        raise Unusable(f"no case {unknown[0]!r}; there are {', '.join(case.name for case in cases)}")
    return wanted, tuple(errors)


def validate(request: Request, progress: Progress | None = None, spare: Spare | None = None) -> Outcome:
    """Check all cases; children that are `spare` are used, and those that were needed are spare afterwards."""
    prune()
    cases, errors = collect(request)
    found = list(errors)
    usable = [fitting(case, request, registry.why_not_asked) for case in cases]
    devices = tuple(name for name in registry.NAMES if any(name in of_case for of_case in usable))
    if cases and not devices:
        reasons = "; ".join(f"{name}: {registry.why_not(name)}" for name in registry.DEFAULT)
        raise Unusable(f"no device can be used here: {reasons}")
    served = kernels_by_unit(cases)
    planned: list[tuple[Case, Task]] = []
    for case, here in zip(cases, usable, strict=True):
        try:
            planned.append((case, prepare(case, siblings(case, served[unit_of(case)]), here, request)))
        except CaseError as error:
            found.append(_file_error(error))
    concluded: list[Concluded | None] = [None] * len(planned)
    done = 0

    def deliver(number: int, answer: Answer) -> None:
        nonlocal done
        done += 1
        concluded[number] = conclude(*planned[number], answer, request)
        if progress is not None:
            progress(done, len(planned))

    runnable = [task for _, task in planned]
    if runnable:
        Crew(runnable, request.jobs, deliver, spare).run()
    kept = [one for one in concluded if one is not None]
    found += [error for one in kept for error in one.errors]
    crashes = tuple(one.crash for one in kept if one.crash)
    results = tuple(one.result for one in kept if one.result is not None)
    table = device_table(devices, registry.why_not)
    return Outcome(ValidateReport(results, tuple(dict.fromkeys(found)), table, settings(request, devices)), crashes)


def fitting(case: Case, request: Request, why_not: Callable[[str], str | None]) -> tuple[str, ...]:
    """Where a case is run: what was asked for, else what there is and fits; what is built already is only run."""
    if request.devices is not None:
        return request.devices
    before = registry.RUN if case.is_built else ""
    fits = (name for name in registry.DEFAULT if not (case.is_object and name in _CUDA))
    return tuple(name for name in fits if why_not(f"{before}{name}") is None)


@dataclass(frozen=True)
class Concluded:
    """What is said of a case in the end."""

    result: CaseResult | None
    errors: tuple[FileError, ...] = ()
    crash: str = ""
    """A traceback of ours."""


def prepare(case: Case, also: tuple[str, ...], devices: Sequence[str], request: Request) -> Task:
    """What is to be done for a case, with its port made; raises CaseError."""
    _check_signature(case)
    return _task(case, also, devices, request)


def conclude(case: Case, task: Task, answer: Answer, request: Request) -> Concluded:
    """The result of a case, and what is wrong with its files or with us."""
    if not isinstance(answer, Lost):
        errors = (FileError(*answer.error),) if answer.error is not None else ()
        return Concluded(_result(case, task, answer, request), errors)
    lost = _lost(case, answer, request)
    if answer.traceback:
        return Concluded(lost, (), f"{case.identifier}\n{answer.traceback}")
    return Concluded(lost, (FileError(str(case.path), case.line, f"{case.name}: {answer.reason}"),))


def device_table(devices: Sequence[str], why_not: Callable[[str], str | None]) -> tuple[tuple[str, str], ...]:
    """Every device that may have been meant, and why it is not there."""
    return tuple((name, why_not(name) or "") for name in dict.fromkeys((*registry.DEFAULT, *devices)))


def settings(request: Request, devices: Sequence[str]) -> dict[str, object]:
    """What the report says of the request."""
    return {
        "devices": list(devices),
        "warp": list(request.warps),
        "schedules": request.schedules,
        "seeds": list(request.seeds) if request.seeds else None,
        "build_seconds": request.build_seconds,
        "launch_seconds": request.launch_seconds,
        "port": str(request.tree) if request.tree else None,
    }


_AS_NVRTC = ("--expt-relaxed-constexpr",)
"""For NVRTC's headers, functions of the standard library are for the device, too."""


def _file_error(error: CaseError) -> FileError:
    return FileError(str(error.path), error.line, error.message)


# -- plan ---------------------------------------------------------------------------------------------


def _check_signature(case: Case) -> None:
    """Raise CaseError for a kernel that is not in the source, or one with another number of parameters."""
    if case.is_built or (case.not_run and dict(case.not_run).get("*")):
        return
    name = re.split(r"[<(]", case.kernel)[0].rpartition("::")[2].strip()
    source = kernel_file(case, case.source)
    counts = dict(_kernels(source, source.stat().st_mtime_ns))
    if name not in counts:
        if _is_named(case, name):
            return
        there = ", ".join(sorted(counts)) or "none"
        raise case.error(f"no kernel {name!r} in {case.source}; there are: {there}", "kernel")
    if len(case.parameters) not in counts[name]:
        wanted = " or ".join(map(str, sorted(counts[name])))
        raise case.error(f"{name} takes {wanted} arguments, not {len(case.parameters)}", "arguments")


@functools.cache
def _kernels(source: Path, stamp: int) -> tuple[tuple[str, frozenset[int]], ...]:
    del stamp
    file = SourceFile(source.name, read_regular(source))
    found: dict[str, frozenset[int]] = {}
    for kernel in find_kernels(lex(file.text), source.name, file):
        found[kernel.name] = found.get(kernel.name, frozenset()) | {len(kernel.parameters)}
    return tuple(found.items())


def _is_named(case: Case, name: str) -> bool:
    """Whether the identifier stands in the source or in a header below the root: macros make kernels, too."""
    from porter.project.discovery import is_code

    word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
    files = [case.source, *(path for path in case.root.rglob("*") if path.is_file() and is_code(path.name))]
    return any(word.search(read_regular(path)) for path in files)


def kernels_by_unit(cases: Sequence[Case]) -> Mapping[tuple[object, ...], frozenset[str]]:
    """The kernels that one compilation can serve, by what it is compiled from."""
    found: dict[tuple[object, ...], set[str]] = {}
    for case in cases:
        found.setdefault(unit_of(case), set()).add(case.kernel)
    return {unit: frozenset(kernels) for unit, kernels in found.items()}


def siblings(case: Case, kernels: Collection[str]) -> tuple[str, ...]:
    """Kernels of other cases among those of its unit."""
    return tuple(sorted({*kernels} - {case.kernel}))


def unit_of(case: Case) -> tuple[object, ...]:
    """What tells apart what has to be compiled apart."""
    options = case.include_dirs, case.defines, case.cuda_options, case.hip_options, case.assumed, case.one_generator
    string = case.string if case.string != ANY_STRING else (ANY_STRING, case.kernel)
    return case.source, string, case.port, case.root, options, case.reason_not_run("*")


def _task(case: Case, also: tuple[str, ...], devices: Sequence[str], request: Request) -> Task:
    return Task(
        case,
        tuple(sides_of(case, also, devices, request)),
        request.schedules,
        request.seeds,
        request.build_seconds,
        request.launch_seconds,
        request.grace_seconds,
        elsewhere=standing(),
    )


def sides_of(case: Case, also: tuple[str, ...], devices: Sequence[str], request: Request) -> Iterator[SidePlan]:
    """What runs where for one case: the original and the ports, each on its device, or the reason why not."""
    if case.is_built:
        yield from _built_sides(case, devices)
        return
    for name in (name for name in registry.NAMES if name in devices):
        before = registry.RUN if is_given() else ""
        reason = case.reason_not_run(name) or registry.why_not_asked(f"{before}{name}")
        found = registry.device(name)
        if reason is not None or isinstance(found, str):
            side = "original" if name in ("ptx", "cuda") else "port"
            for warp in request.warps if side == "port" and case.port is None else (None,):
                yield SidePlan(side, name, None, warp, reason or str(found))
        elif found.language == "cuda":
            yield SidePlan("original", name, _program(case, case.source, "cuda", also))
        elif case.port is not None:
            program = _program(case, case.port, "hip", also)
            yield SidePlan("port", name, program, GIVEN, lanes=case.port_lanes)
        else:
            for warp in request.warps:
                yield _port_side(case, also, name, warp, request)


def _built_sides(case: Case, devices: Sequence[str]) -> Iterator[SidePlan]:
    """Machine code is the port, and its original is not here; Triton compiles one source for both."""
    for name in (name for name in registry.NAMES if name in devices and not (case.is_object and name in _CUDA)):
        reason = case.reason_not_run(name) or registry.why_not_built(name)
        side, language = ("original", "cuda") if name in _CUDA else ("port", "hip")
        program = Program(case.source, case.kernel, language, is_object=case.is_object, triton=case.triton)
        yield SidePlan(side, name, None if reason else program, GIVEN if side == "port" else None, reason or "")


def _program(case: Case, source: Path, language: str, also: tuple[str, ...]) -> Program:
    options = case.cuda_options if language == "cuda" else case.hip_options
    if language == "cuda" and case.string is not None:
        options = (*_AS_NVRTC, *options)
    if case.one_generator:
        options = (f"-I{ONE_GENERATOR}", *options)
    source = kernel_file(case, source)
    before = "".join(f"{line}\n" for line in case.assumed)
    return Program(source, case.kernel, language, case.include_dirs, case.defines, options, also, assumed=before)


def _port_side(case: Case, also: tuple[str, ...], device: str, warp: str, request: Request) -> SidePlan:
    try:
        port = _port(case.root, warp, request.tree).around(case)
        program = _program(case, port.file(case), "hip", also)
        folders = tuple(port.folder(folder) for folder in case.include_dirs)
        program = replace(program, kernel=in_hip(program.kernel), also=tuple(in_hip(name) for name in program.also))
        program = replace(program, include_dirs=folders if case.string is None else (*folders, port.tree))
        return SidePlan("port", device, program, warp, lanes=port.lanes(case), left=port.left)
    except NotPorted as error:
        return SidePlan("port", device, None, warp, f"not ported: {error}")


@functools.cache
def _port(root: Path, warp: str, tree: Path | None) -> Port:
    """The port; where native mode widens nothing, the preserving one, so that it is compiled once."""
    if tree is not None:
        return existing_port(tree, root)
    port = port_of(root, warp)
    if warp == "native":
        preserving = _port(root, "preserve", None)
        if port.is_same(preserving):
            return preserving
    return port


# -- results ------------------------------------------------------------------------------------------


def _result(case: Case, task: Task, checked: Checked, request: Request) -> CaseResult:
    by_key: dict[SideKey, SideResult] = {(s.side, s.device, s.warp): s for s in checked.sides}
    originals = [side for side in checked.sides if side.side == "original"]
    ports = [side for side in checked.sides if side.side == "port"]
    pairs = tuple(_pairs(case, originals, ports, checked))
    status = total(pairs)
    decisive = next((pair for pair in pairs if pair.status is status), None)
    reason = decisive.reason if decisive is not None else "no side could be run"
    declared = status is Status.NOT_RUN and all(case.reason_not_run(side.device) for side in by_key.values())
    return CaseResult(
        name=case.name,
        path=str(case.path),
        line=case.line,
        source=str(case.source),
        kernel=case.kernel,
        status=status,
        reason=reason,
        sides=checked.sides,
        pairs=pairs,
        trials=checked.trials,
        seeds=checked.seeds,
        declared=declared,
        repeat=repeat_command(case, request, task),
        seconds=sum(side.seconds for side in checked.sides),
    )


def _pairs(
    case: Case, originals: Sequence[SideResult], ports: Sequence[SideResult], checked: Checked
) -> Iterator[PairResult]:
    agreements = {(a.original, a.port): a for a in checked.agreements}
    ratios = dict(checked.ratios)
    none: Sequence[SideResult | None] = (None,)
    for original in originals or none:
        for port in ports or none:
            if original is not None or port is not None:
                yield _pair(case, original, port, agreements, ratios)


def _pair(
    case: Case,
    original: SideResult | None,
    port: SideResult | None,
    agreements: Mapping[tuple[SideKey, SideKey], Agreement],
    ratios: Mapping[SideKey, float],
) -> PairResult:
    refereed = case.reference is not None
    status, reason = pair_status(original, port, refereed=refereed)
    agreement, ratio = None, None
    against = ("reference",) if refereed else ()
    if original is not None and port is not None:
        one, other = _key(original), _key(port)
        known = agreements.get((one, other))
        agreement = None if known is None else _describe(known)
        against = (*against, "original") if known is not None else against
        if ratios.get(one):
            ratio = ratios.get(other, 0.0) / ratios[one]
    return PairResult(
        original.device if original else None,
        port.device if port else None,
        port.warp if port else None,
        status,
        reason,
        agreement,
        ratio,
        against,
        port.evidence if port else None,
        original.evidence if original else None,
    )


def _key(side: SideResult) -> SideKey:
    return side.side, side.device, side.warp


def _describe(known: Agreement) -> str:
    if known.bitwise:
        return "bitwise"
    parts = [f"{known.ulps} ulp apart{known.where}"] if known.ulps else []
    parts += [f"{known.integers} integers differ"] if known.integers else []
    return ", ".join(parts) or "different elements are written"


def _lost(case: Case, answer: Lost, request: Request) -> CaseResult:
    return CaseResult(
        name=case.name,
        path=str(case.path),
        line=case.line,
        source=str(case.source),
        kernel=case.kernel,
        status=Status.NOT_RUN,
        reason=answer.reason,
        repeat=repeat_command(case, request, None),
    )


def repeat_command(case: Case, request: Request, task: Task | None) -> tuple[str, ...]:
    """The command line that checks this case again in the same way."""
    devices = request.devices or tuple(dict.fromkeys(side.device for side in task.sides)) if task else request.devices
    words = ["porter", "validate", str(case.path), "--case", case.name]
    words += ["--devices", ",".join(devices)] if devices else []
    words += ["--warp", ",".join(request.warps), "--schedules", str(request.schedules)]
    words += [word for seed in request.seeds or () for word in ("--seed", str(seed))]
    words += ["--port", str(request.tree)] if request.tree else []
    return tuple(words)

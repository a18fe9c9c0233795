"""Programs built and run on both sides, and what they printed compared."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter.validation.programs.agreement import ENDS, Agreement, Compared, compare_runs, text_of
from porter.validation.programs.alike import SEED, as_the_port
from porter.validation.programs.building import Built, build
from porter.validation.programs.careful import look_closer
from porter.validation.programs.compilers import UNFUSED
from porter.validation.programs.fresh import by_fresh_memory
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.outcome import ProgramRun
from porter.validation.programs.random_numbers import seeding
from porter.validation.programs.recipes import Program, programs_of
from porter.validation.programs.sides import CUDA, HIP, Alike, Side
from porter.validation.programs.steady import NOTHING, merged, varying
from porter.validation.programs.written import files_of, with_files
from porter.validation.toolchain.headers import for_headers
from porter.validation.toolchain.result import Missing

from porter.errors import Unusable
from porter.settings import load_choices

_BUILD_SECONDS = 900.0
_RUN_SECONDS = 300.0
_FASTER = 8
"""Times as fast as the clock: what shows a time or a rate."""
_MOST_RUNS = 5
_SHIFTS = (
    "they agree where the original's shifts take their counts modulo the width, as gfx942's do: one shifts by as many "
    "bits as a value has, or more, which C++ leaves open and NVIDIA's GPUs answer with 0 (or the sign)"
)
_SILENT = "nothing was printed: only the exit codes were compared"


@dataclass(frozen=True)
class ComparedProject:
    """All programs of a project."""

    programs: tuple[Compared, ...]

    @property
    def exit_code(self) -> int:
        """0 when all agree."""
        return int(any(program.agreement is not Agreement.AGREE for program in self.programs))


def run_both(
    program: Program, original: Path, port: Path, options: Options, words: Sequence[str] | None = None
) -> Compared:
    """Run a program that is built on both sides, and compare. Both are told the same time of day when they first ask,
    so that what they draw by it is the same."""
    options = _within(program, options)
    command = tuple(words or program.run)
    first = run_program(command, replace(options, side=CUDA), original / program.folder, keep=True)
    other = program.run_port or command
    second = run_program(other, replace(options, side=HIP), port / program.folder, keep=True)
    found = settle(program, first, second, original, port, options)
    if found.agreement is not Agreement.AGREE or not options.careful:
        return found
    return look_closer(found, program.tolerance, options, _another(program, first, second, original, port))


def _another(
    program: Program, first: ProgramRun, second: ProgramRun, original: Path, port: Path
) -> Callable[[Side, Options], ProgramRun]:
    """One more run of either side."""

    def ran(side: Side, options: Options) -> ProgramRun:
        run, root = (first, original) if side is CUDA else (second, port)
        return _ran(program, run.command, replace(options, side=side), root)

    return ran


def _within(program: Program, options: Options) -> Options:
    """The options with the time that a run of the program may take, and the time of day that all its runs are told."""
    seconds = options.seconds or program.seconds or _RUN_SECONDS
    return replace(options, seconds=seconds, began=options.began or int(time.time()))


def settle(
    program: Program, first: ProgramRun, second: ProgramRun, original: Path, port: Path, options: Options
) -> Compared:
    """Compare; where outputs differ, look closer."""
    tolerance = program.tolerance
    written = [files_of(program, root) for root in (original, port)]
    if not program.output:
        first, second = replace(first, output=b""), replace(second, output=b"")
    found = compare_runs(program.name, first, second, tolerance)
    if found.agreement is Agreement.DIFFER:
        found = _closer(program, found, first, second, original, port, options)
    if found.agreement is Agreement.DIFFER and all(run.verdict in ENDS for run in (first, second)):
        hint = _first_launch(program, first, second, original, port, options)
        return found if hint is None else replace(found, reason=f"{found.reason}; {hint}")
    if found.agreement is Agreement.AGREE and written[0] != written[1]:
        _again(program, first, original, options)
        written.append(files_of(program, original))
        return with_files(found, program, written)
    if found.agreement is Agreement.AGREE and not (first.output.strip() or first.account.tests or program.files):
        return replace(found, reason="; ".join(part for part in (found.reason, _SILENT) if part))
    return found


def _closer(
    program: Program,
    found: Compared,
    first: ProgramRun,
    second: ProgramRun,
    original: Path,
    port: Path,
    options: Options,
) -> Compared:
    """Another run of the original tells what varies by itself, and runs that are alike - in what their GPU says of
    itself, in fresh memory of the host - what goes by that."""
    tolerance, runs = program.tolerance, _another(program, first, second, original, port)
    steady: tuple[ProgramRun, ...] = ()
    if first.code == second.code:
        again = _again(program, first, original, options)
        if again.verdict is first.verdict and varying(text_of(first), text_of(again), tolerance) != NOTHING:
            found = compare_runs(program.name, first, second, tolerance, again)
        if found.agreement is Agreement.DIFFER and not first.account.tests:
            found = as_the_port(found, tolerance, options, runs) or found
        if again.verdict is first.verdict:
            steady = (again,)
            if found.agreement is Agreement.DIFFER and not first.account.tests:
                found = _by_the_clock(program, first, second, again, original, options) or found
    if found.agreement is Agreement.DIFFER and all(run.verdict in ENDS for run in (first, second)):
        found = by_fresh_memory(found, tolerance, options, runs, *steady) or found
    return found


def _ran(program: Program, command: Sequence[str], options: Options, root: Path) -> ProgramRun:
    """One more run of a side, without what it printed where that is not compared."""
    run = run_program(command, options, root / program.folder, keep=True)
    return run if program.output else replace(run, output=b"")


def _again(program: Program, first: ProgramRun, original: Path, options: Options) -> ProgramRun:
    """The original once more, with another schedule."""
    return _ran(program, first.command, replace(options, schedule=SEED, threads=1), original)


def _by_the_clock(
    program: Program, first: ProgramRun, second: ProgramRun, again: ProgramRun, original: Path, options: Options
) -> Compared | None:
    """The two that agree without what the original says otherwise when its clock runs faster: times, rates, and what a
    seed by the clock decides. It runs again as long as a run shows more of that: numbers may be the same by chance."""
    others, known = [again], varying(text_of(first), text_of(again), program.tolerance)
    for _ in range(_MOST_RUNS):
        run = _again(program, first, original, replace(options, clock=_FASTER))
        shown = merged(known, varying(text_of(first), text_of(run), program.tolerance))
        if run.verdict is not first.verdict or shown == known:
            return None
        others, known = [*others, run], shown
        same = compare_runs(program.name, first, second, program.tolerance, *others)
        if same.agreement is Agreement.AGREE:
            return replace(same, reason=f"{same.reason}, with a clock that runs {_FASTER} times as fast")
    return None


def _first_launch(
    program: Program, first: ProgramRun, second: ProgramRun, original: Path, port: Path, options: Options
) -> str | None:
    """Both again, with what each launch writes kept: the first launch after which memory differs."""
    from porter.validation.programs.trace import first_difference

    with tempfile.TemporaryDirectory(prefix="porter-trace-") as work:
        folders = [Path(work) / side for side in ("original", "port")]
        for folder, run, root in zip(folders, (first, second), (original, port), strict=True):
            folder.mkdir()
            run_program(run.command, replace(options, trace=folder), root / program.folder, keep=True)
        found = first_difference(folders[0], folders[1], program.tolerance)
    return None if found is None else str(found)


def built(
    name: str, side: Side, folder: Path, steps: Sequence[Sequence[str]], alike: Alike | None = None
) -> Compared | str:
    """What is to be told of a build that went well: mostly nothing."""
    which = "original" if side is CUDA else "port"
    done = build(side, folder, steps, _BUILD_SECONDS, alike)
    if isinstance(done, Missing):
        return Compared(name, Agreement.NOT_RUN, f"{which}: {done.reason}", which)
    if done.failed is not None:
        return Compared(name, Agreement.NOT_BUILT, f"{which}: {_said_by(done)}", which)
    return f"{which} built with names that its toolkit lacks: {', '.join(done.removed)}" if done.removed else ""


def _said_by(done: Built) -> str:
    return f"{' '.join(done.failed or ())}: {done.first_error}"


def compare_project(
    source: Path, names: tuple[str, ...], options: Options, tell: Callable[[Compared], None] = lambda _: None
) -> ComparedProject:
    """Port the project into a temporary folder, build every program on both sides, run and compare; `tell`: what is
    done with each as it ends."""
    chosen = programs_in(source, names)
    found: list[Compared] = []
    with tempfile.TemporaryDirectory(prefix="porter-programs-") as work:
        original, port = both_sides(source, Path(work))
        for program in chosen:
            found.append(compare_one(program, source, original, port, options))
            tell(found[-1])
    return ComparedProject(tuple(found))


def programs_in(source: Path, names: tuple[str, ...] = ()) -> tuple[Program, ...]:
    """The programs of a project, or those that are named; Unusable when there is none."""
    choices = load_choices(source)
    programs = programs_of(tuple(dict(table) for table in choices.program))
    if not programs:
        raise Unusable(f"{source}: no [[program]] in porter.toml; `porter programs init` drafts them")
    unknown = [name for name in names if name not in {program.name for program in programs}]
    if unknown:
        raise Unusable(f"no program {unknown[0]!r}; there are: {', '.join(program.name for program in programs)}")
    return tuple(program for program in programs if not names or program.name in names)


def both_sides(source: Path, work: Path) -> tuple[Path, Path]:
    """A copy of the project to build in, and its port."""
    original, port = work / "original", work / "port"
    shutil.copytree(source, original, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    port_tree(original, port)
    return original, port


def port_tree(original: Path, port: Path) -> None:
    """The port of a tree, as `porter port` writes it; where the project names no ROCm, for the one whose headers the
    port will be built with."""
    from porter.project.port import Request, port_to

    port_to(Request(original, for_headers(load_choices(original)), 1), port)


def compare_one(program: Program, source: Path, original: Path, port: Path, options: Options) -> Compared:
    """One program of a project, built and run on both sides; `original` and `port` are what `both_sides` made of it."""
    told = _both_built(program, original, port)
    if isinstance(told, Compared):
        return told
    options = _within(program, options)
    found = run_both(program, original, port, options)
    found = replace(found, reason="; ".join(part for part in (found.reason, told) if part))
    if found.agreement is not Agreement.DIFFER or found.original is None:
        return found
    why = seeding(port, (kernel.name for kernel in found.original.account.kernels))
    if why is not None:
        return _with_one_generator(program, source, options, found, why)
    if found.original.account.tests:
        return found
    return _by_shifts(program, original, options, found) or _with_one_rounding(program, source, options, found)


def _both_built(program: Program, original: Path, port: Path, alike: Alike | None = None) -> Compared | str:
    """What is to be told of builds that both went well."""
    steps = ((CUDA, original, program.build), (HIP, port, program.build_port or program.build))
    told = []
    for side, folder, commands in steps:
        done = built(program.name, side, folder / program.folder, commands, alike)
        if isinstance(done, Compared):
            return done
        told.append(done)
    return "; ".join(part for part in told if part)


def _anew(program: Program, source: Path, options: Options, alike: Alike) -> Compared:
    """Both sides built once more in fresh folders, with something in common, and run."""
    with tempfile.TemporaryDirectory(prefix="porter-programs-") as work:
        original, port = both_sides(source, Path(work))
        done = _both_built(program, original, port, alike)
        return done if isinstance(done, Compared) else run_both(program, original, port, options)


def _by_shifts(program: Program, original: Path, options: Options, found: Compared) -> Compared | None:
    """The same difference, where the original says what the port does once its shifts are gfx942's."""
    if found.original is None or found.port is None or not {found.original.verdict, found.port.verdict} <= ENDS:
        return None
    again = _ran(program, found.original.command, replace(options, wrapped=True), original)
    same = compare_runs(program.name, again, found.port, program.tolerance)
    return replace(found, reason=f"{found.reason}; {_SHIFTS}") if same.agreement is Agreement.AGREE else None


def _with_one_rounding(program: Program, source: Path, options: Options, found: Compared) -> Compared:
    """The same difference, and whether it is all by which products the two compilers fuse with sums: a program that
    compares exactly may say PASS by one's choice and FAIL by the other's."""
    same = _anew(program, source, options, Alike.ROUNDING)
    if same.agreement is not Agreement.AGREE:
        return found
    flags = f"{UNFUSED[CUDA.name]}, {UNFUSED[HIP.name]}"
    reason = (
        f"{found.reason}; they agree with {Alike.ROUNDING.value} on both sides ({flags}): each compiler fuses others"
    )
    return replace(found, reason=reason)


def _with_one_generator(program: Program, source: Path, options: Options, found: Compared, why: str) -> Compared:
    """Both sides built anew, with device code that draws the same random numbers on both: where they agree then, the
    vendors' generators are all that makes them differ."""
    same = _anew(program, source, options, Alike.GENERATOR)
    own = found.reason.partition("; memory differs first")[0]
    if same.agreement in (Agreement.AGREE, Agreement.DIFFER):
        reason = f"with one generator of random numbers on both sides; with each one's own {own}; {why}"
        return replace(same, reason="; ".join(part for part in (same.reason, reason) if part))
    return replace(found, reason=f"{found.reason}; {why}; with one generator on both sides {same.reason}")

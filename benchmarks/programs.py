"""Programs of HeCBench, original and port, built and run without a GPU: how many end on both sides and agree.

    python -m benchmarks.programs HECBENCH/src --set development --count 60 --output programs.json
    python -m benchmarks.programs --show programs.json

The programs `*-cuda`, sorted by name: every second one is for development, the others for judging. Each is copied,
ported as `porter port` does, built with its own Makefile, its arguments cut down until they fit (sizes.py), run and
compared. Nothing is written to HECBENCH. A run that was cut off goes on where it ended.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.validation.programs.agreement import Agreement, Compared
from porter.validation.programs.compare import built, port_tree, settle
from porter.validation.programs.draft import from_makefile, refusal_of_make
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.outcome import ProgramRun
from porter.validation.programs.recipes import Program
from porter.validation.programs.sides import CUDA, HIP
from porter.validation.programs.sizes import choose

from benchmarks.both_sides import Row, agreeing, drawn, options, others, run_all, share

LIBRARIES = re.compile(
    r"#\s*include\s*[<\"](cublas|cusparse|cufft|curand(?!_kernel)|cusolver|cudnn|nccl|mpi\.h|cutensor|cublasLt|nvml|nvrtc)|"
    r"-l(cublas|cusparse|cufft|curand|cusolver|cudnn|nccl|mpi|nvidia-ml|boost|gsl|png|jpeg|z\b)"
)
VERDICT = re.compile(r"\b(PASS|FAIL)", re.IGNORECASE)
CODE = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".c", ".cc")
SIBLING = re.compile(r"\.\./([A-Za-z0-9_-][A-Za-z0-9_.-]*)")


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, nargs="?", help="HeCBench's folder src")
    parser.add_argument("--set", choices=("development", "judging"), default="development")
    options(parser, "this program (without -cuda)", 30)
    parser.add_argument("--plain", action="store_true", help="only those that print PASS or FAIL and need no library")
    parser.add_argument("--budget", type=float, default=1e9, help="lane-instructions of one run")
    parser.add_argument("--seconds", type=float, default=4.0, help="processor time a run may take")
    parser.add_argument("--output", type=Path, default=Path("programs.json"))
    parser.add_argument("--keep", type=Path, help="leave sources and programs in this folder")
    given = parser.parse_args()
    if given.show:
        print(summary(json.loads(given.show.read_text())))
        return
    names = given.only or draw(given.source, given.set, given.count, given.seed, given.plain)
    print(summary(run_all(names, lambda name: one(given.source, name, given), given)))


def draw(source: Path, which: str, count: int, seed: int, plain: bool = False) -> list[str]:
    """Names without -cuda; plain: the first of the order that have a verdict and need no library."""
    names = sorted(path.name.removesuffix("-cuda") for path in source.glob("*-cuda") if (path / "Makefile").exists())
    half = names[0::2] if which == "development" else names[1::2]
    if not plain:
        return drawn(half, count, seed)
    kept = (name for name in drawn(half, len(half), seed) if is_plain(features(source / f"{name}-cuda")))
    return list(itertools.islice(kept, count or None))


def one(source: Path, name: str, given: argparse.Namespace) -> Row:
    """Everything about one program, as plain values."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="porter-hecbench-") as temporary:
        work = given.keep / name if given.keep else Path(temporary)
        shutil.rmtree(work, ignore_errors=True)
        facts = features(source / f"{name}-cuda")
        compared, arguments, tried = attempt(source, name, work, given)
        ended = compared.agreement in (Agreement.NO_LAUNCH, Agreement.CRASHED, Agreement.NOT_RUN)
        if ended and (absent := missing_data(source, name)):
            compared = replace(compared, reason=f"not in the repository: {absent}; {compared.reason}")
    return {
        **facts,
        "verdict": compared.agreement.value,
        "reason": compared.reason,
        "side": compared.side,
        "says": compared.says,
        "arguments": list(arguments),
        "tried": tried,
        "original": _run(compared.original),
        "port": _run(compared.port),
        "seconds": round(time.monotonic() - start, 1),
    }


def features(folder: Path) -> dict[str, Any]:
    """What the sources say: libraries, and whether the program has a verdict of its own."""
    files = [path for path in folder.rglob("*") if path.is_file() and (path.suffix in CODE or path.name == "Makefile")]
    text = "\n".join(path.read_text("utf-8", "replace") for path in files)
    found = {(match[1] or match[2]).split(".")[0] for match in LIBRARIES.finditer(text)}
    return {"libraries": sorted(found), "prints": bool(VERDICT.search(text))}


def is_plain(row: Row) -> bool:
    """Whether a program has a verdict of its own and needs no library."""
    return bool(row["prints"]) and not row["libraries"]


def missing_data(source: Path, name: str) -> str:
    """What the arguments name like a file and is not there; what it writes is left out, as far as names tell."""
    folder = source / f"{name}-cuda"
    drafted = from_makefile(folder / "Makefile", folder)
    words = () if drafted is None else drafted.run[1:]
    named = [word for word in words if re.search(r"[A-Za-z]{3}", word) and not word.startswith("-")]
    where = folder / (drafted.folder if drafted else "")
    absent = [word for word in named if "out" not in word and not (where / word).exists()]
    return ", ".join(absent) or ", ".join(kept_elsewhere(source, name))


def kept_elsewhere(source: Path, name: str) -> list[str]:
    """Data of DVC's, of which the repository has the sums alone: beside the program, and where its files look."""
    folder = source / f"{name}-cuda"
    files = [path for path in folder.rglob("*") if path.is_file() and (path.suffix in CODE or path.name == "Makefile")]
    beside = {found for path in files for found in SIBLING.findall(path.read_text("utf-8", "replace"))}
    folders = [folder, *(source / found for found in sorted(beside) if found != "data")]
    return sorted({path.stem for one in folders for path in one.glob("*.dvc") if not path.with_suffix("").exists()})


def attempt(source: Path, name: str, work: Path, given: argparse.Namespace) -> tuple[Compared, Sequence[str], int]:
    """Copy, port, build, choose arguments, run, compare."""
    original, port = work / "original", work / "port"
    folder = f"{name}-cuda"
    copy_with_siblings(source, folder, original)
    drafted = from_makefile(original / folder / "Makefile", original)
    if drafted is None:
        said = refusal_of_make(original / folder / "Makefile")
        reason = f"make: {said}" if said else "no program in the Makefile's target run"
        return Compared(name, Agreement.NOT_RUN, reason, "original"), (), 0
    port_tree(original, port)
    where, steps = drafted.folder, [shlex.split(step) for step in drafted.build]
    failed = built(name, CUDA, original / where, steps)
    if failed is not None:
        return failed, drafted.run[1:], 0
    how = Options(seconds=900, cpu_seconds=given.limit)

    def run_with(arguments: Sequence[str], limit: int = int(8 * given.seconds) + 1) -> ProgramRun:
        limited = replace(how, cpu_seconds=min(limit, given.limit))
        return run_program((drafted.run[0], *arguments), limited, original / where, keep=True)

    sized = choose(drafted.run[1:], run_with, int(given.budget), given.seconds)
    if sized.run.verdict.value == "no-launch":  # perhaps it wants peers
        how = replace(how, devices=2)
        sized = choose(drafted.run[1:], run_with, int(given.budget), given.seconds)
    if sized.run.verdict.value == "too-long":
        sized = replace(sized, run=run_with(sized.arguments, given.limit))
    if sized.run.verdict.value not in ("passed", "failed"):
        agreement = Agreement(sized.run.verdict.value)
        reason = f"original: {sized.run.reason}"
        return Compared(name, agreement, reason, "original", sized.run), sized.arguments, sized.tried
    link_siblings(source, original, port)
    failed = built(name, HIP, port / where, steps)
    if failed is not None:
        return failed, sized.arguments, sized.tried
    program = Program(name, (drafted.run[0], *sized.arguments), where)
    second = run_program(program.run, how, port / where, keep=True)
    return settle(program, sized.run, second, original, port, how), sized.arguments, sized.tried


def copy_with_siblings(source: Path, folder: str, target: Path) -> None:
    """The program's folder, and those beside it that its files name: CUDA's copied, data linked."""
    wanted, seen = [folder], set[str]()
    target.mkdir(parents=True)
    while wanted:
        name = wanted.pop()
        if name in seen or not (source / name).is_dir():
            continue
        seen.add(name)
        if name.endswith("-cuda"):
            shutil.copytree(source / name, target / name, symlinks=True)
            for path in (source / name).rglob("*"):
                if path.is_file() and (path.suffix in CODE or path.name == "Makefile"):
                    wanted += SIBLING.findall(path.read_text("utf-8", "replace"))
        else:
            (target / name).symlink_to((source / name).absolute())


def link_siblings(source: Path, original: Path, port: Path) -> None:
    """The same links beside the port."""
    for path in original.iterdir():
        if path.is_symlink() and not (port / path.name).exists():
            (port / path.name).symlink_to((source / path.name).absolute())


def _run(run: ProgramRun | None) -> dict[str, Any] | None:
    if run is None:
        return None
    account = run.account
    return {
        "verdict": run.verdict.value,
        "reason": run.reason,
        "code": run.code,
        "launches": account.launches,
        "lane_instructions": account.lane_instructions,
        "seconds": round(run.seconds, 2),
        "cpu_seconds": round(run.cpu_seconds, 2),
    }


def summary(results: dict[str, Row]) -> str:
    """How many of what, over all, and over those that have a verdict of their own and need no library."""
    plain = {name: row for name, row in results.items() if is_plain(row)}
    silent = [name for name, row in agreeing(results).items() if not row["original"]["launches"]]
    failing = [name for name, row in agreeing(results).items() if row["says"] == "fail"]
    lines = [f"all: {share(results)}", f"with a verdict, without libraries: {share(plain)}"]
    lines.append(f"agree without a launch: {len(silent)}; agree that they fail: {', '.join(failing) or 'none'}")
    return "\n".join([*lines, *others(results)])


if __name__ == "__main__":
    sys.exit(main())

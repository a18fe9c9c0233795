"""Port a public project and compile its units for gfx942: `python -m benchmarks.public_project TREE --work W ...`.

A unit that does not compile is `told` where a manual finding stands where the compiler stops, `own` where nvcc, too,
refuses the original there, and `silent` otherwise.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.compiler import Compiler, PassResult, run_limited
from benchmarks.corpus import HEADER_SUFFIXES, SOURCE_SUFFIXES, Program, Unit, included_names
from benchmarks.diagnostics import CompileError
from benchmarks.explained import Report, load_report

STATUSES = ("compiles", "told", "own", "silent", "headers")
_GPU = (".hip", ".cu")
_NVCC_ERROR = re.compile(r"^(.+?)\((\d+)\): error(?: #[\w-]+)?:", re.M)
_ENDS = (";", "{", "}")
_LONGEST_STATEMENT = 40
_SHOWN = 4


@dataclass(frozen=True)
class Place:
    """A line of the original."""

    path: Path
    line: int


@dataclass(frozen=True)
class Build:
    """What the project's own build gives the compiler, as written for the source: folders may be of the tree."""

    includes: tuple[str, ...]
    defines: tuple[str, ...]
    standard: str

    def folders(self, tree: Path) -> tuple[Path, ...]:
        """The include folders for the original or for the port."""
        return tuple(tree / folder for folder in self.includes)


@dataclass(frozen=True)
class Original:
    """The compiler that says whether the original is CUDA."""

    nvcc: str
    tree: Path
    build: Build
    time_limit: float

    def refuses(self, path: str) -> tuple[Place, ...]:
        """Where it finds errors in a unit; nothing where it compiles, or where a header is missing."""
        options = [f"-I{folder}" for folder in self.build.folders(self.tree)]
        options += [f"-D{define}" for define in self.build.defines]
        command = [self.nvcc, f"-std={self.build.standard}", "-w", "--expt-relaxed-constexpr", "--extended-lambda"]
        unit = self.tree / path
        command += [*options, "-ptx", "-o", os.devnull, str(unit)]
        code, said = run_limited(command, unit.parent, self.time_limit)
        return nvcc_places(said, unit.parent) if code else ()


def nvcc_places(said: str, folder: Path) -> tuple[Place, ...]:
    """The lines that nvcc's errors stand at."""
    return tuple(Place((folder / match[1]).resolve(), int(match[2])) for match in _NVCC_ERROR.finditer(said))


def statement_lines(lines: list[str], line: int) -> range:
    """The lines of the statement that a line belongs to: compilers name its first or its last one."""
    first = last = min(max(line, 1), len(lines))
    while first > 1 and last - first < _LONGEST_STATEMENT and not lines[first - 2].rstrip().endswith(_ENDS):
        first -= 1
    while last < len(lines) and last - first < _LONGEST_STATEMENT and not lines[last - 1].rstrip().endswith(_ENDS):
        last += 1
    return range(first, last + 1)


def is_own(report: Report, errors: list[CompileError], refused: tuple[Place, ...]) -> bool:
    """Whether an error stands in a statement that nvcc refuses in the original: no port of the unit compiles."""
    return any(_is_refused(report, error, refused) for error in errors)


def _is_refused(report: Report, error: CompileError, refused: tuple[Place, ...]) -> bool:
    found = report.original(Path(error.file), error.line)
    if found is None:
        return False
    path, first, last = found
    file = (report.source / path).resolve()
    text = file.read_text("utf-8", "replace").splitlines()
    within = range(statement_lines(text, first).start, statement_lines(text, last).stop)
    return any(place.path == file and place.line in within for place in refused)


def judged(report: Report, results: list[PassResult], path: str, original: Original | None) -> str:
    """One of `STATUSES` for a unit of the source."""
    if all(result.passed for result in results):
        return "compiles"
    errors = [error for result in results for error in result.errors]
    if any(map(report.explains, errors)):
        return "told"
    if any("file not found" in error.message for error in errors):
        return "headers"
    if original is not None and is_own(report, errors, original.refuses(path)):
        return "own"
    return "silent"


def units_of(tree: Path, only: str) -> list[Path]:
    """The sources with GPU code that no other file includes."""
    files = [path for path in sorted(tree.rglob("*")) if path.is_file()]
    code = [path for path in files if path.suffix in SOURCE_SUFFIXES | HEADER_SUFFIXES]
    included = {Path(os.fsdecode(name)).name for path in code for name in included_names(path)}
    units = [path for path in files if path.suffix in _GPU and path.name not in included]
    units = [path for path in units if path.suffix == ".hip" or not path.with_suffix(".hip").exists()]
    return [path for path in units if re.search(only, path.relative_to(tree).as_posix())]


def port(tree: Path, out: Path, report: Path, options: list[str]) -> None:
    """`porter port`, its report kept."""
    command = [sys.executable, "-m", "porter", "-q", "port", str(tree), "-o", str(out), "--force", *options]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{tree}: {done.stderr[-2000:]}")
    report.write_text(done.stdout)


def measure(arguments: argparse.Namespace) -> Counter[str]:
    """Each unit, printed as it is done."""
    source, out = arguments.tree.resolve(), arguments.work.resolve() / "port"
    kept = arguments.work.resolve() / "report.json"
    arguments.work.mkdir(parents=True, exist_ok=True)
    if not arguments.ported or not kept.is_file():
        port(source, out, kept, ["--rocm", arguments.rocm, *(["--verify"] if arguments.verify else [])])
    report = load_report(kept, out)
    build = Build(tuple(arguments.include), tuple(arguments.define), arguments.std)
    compiler = Compiler("clang++-19", arguments.rocm_tree, "gfx942", build.standard, arguments.limit, arguments.cache)
    compiler.prepare()
    program = Program(source.name, out, build.folders(out), build.defines, ())
    original = Original(arguments.nvcc, source, build, arguments.limit) if arguments.nvcc else None
    counts: Counter[str] = Counter()
    for path in units_of(out, arguments.only):
        results = compiler.check(program, Unit(path, (path,)))
        name = path.relative_to(out).as_posix()
        status = judged(report, results, report.origin.get(name, name), original)
        counts[status] += 1
        print(f"{status:8} {sum(result.seconds for result in results):5.1f} {name}", flush=True)
        errors = dict.fromkeys(error for result in results for error in result.errors)
        for error in [one for one in errors if not report.explains(one)][:_SHOWN] if status != "compiles" else ():
            print(f"    {error.file}:{error.line}: {error.message}", flush=True)
    return counts


def main(argv: list[str]) -> int:
    """Exit code 1 where a unit is silent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path, help="the project")
    parser.add_argument("--work", type=Path, required=True, help="for the port and its report")
    parser.add_argument("--ported", action="store_true", help="take the port and the report that are there")
    parser.add_argument("--verify", action="store_true", help="port with --verify: what it finds is told")
    parser.add_argument("--rocm-tree", type=Path, required=True, help="with HIP's headers in include/")
    parser.add_argument("--rocm", default="6.0")
    parser.add_argument("--cache", type=Path, default=Path("/tmp/porter-public-projects"))
    parser.add_argument("--nvcc", help="compile what is silent as CUDA")
    parser.add_argument("--include", action="append", default=[], metavar="FOLDER", help="of the project, or elsewhere")
    parser.add_argument("--define", action="append", default=[])
    parser.add_argument("--std", default="c++17")
    parser.add_argument("--only", default=".", metavar="REGEX", help="units by their path in the port")
    parser.add_argument("--limit", type=float, default=150, help="seconds for one pass")
    counts = measure(parser.parse_args(argv))
    print(", ".join(f"{status}: {counts[status]}" for status in STATUSES))
    return 1 if counts["silent"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

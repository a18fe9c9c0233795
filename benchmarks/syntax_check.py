"""Syntax-check ported programs for gfx942: `python -m benchmarks.syntax_check TREE ...` (see --help)."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.compiler import Compiler, PassResult
from benchmarks.corpus import Program, load_program, program_names
from benchmarks.diagnostics import CompileError
from benchmarks.explained import Report, load_report

SCHEMA = 1
_QUOTED = re.compile(r"'[^']*'")
_NUMBER = re.compile(r"\b\d+\b")


@dataclass(frozen=True, slots=True)
class UnitResult:
    """One translation unit of a program, its path relative to the checked tree."""

    path: str
    passes: tuple[PassResult, ...]

    @property
    def passed(self) -> bool:
        """Whether both passes succeeded."""
        return all(result.passed for result in self.passes)


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """A program passes when it has all its units and each of them passes."""

    name: str
    units: tuple[UnitResult, ...]
    missing: str | None = None

    @property
    def passed(self) -> bool:
        """Whether nothing is missing and nothing failed."""
        return self.missing is None and all(unit.passed for unit in self.units)

    def errors(self) -> list[CompileError]:
        """Errors of all units and passes, each once."""
        found = [error for unit in self.units for result in unit.passes for error in result.errors]
        return list(dict.fromkeys(found))


def check_program(compiler: Compiler, program: Program, tree: Path, expected: int) -> ProgramResult:
    """Both passes of every unit; fewer units than the original has is a failure of its own."""
    units = tuple(
        UnitResult(str(unit.path.relative_to(tree)), tuple(compiler.check(program, unit))) for unit in program.units
    )
    if not units or len(units) < expected:
        return ProgramResult(program.name, units, f"{len(units)} of {expected} translation units are there")
    return ProgramResult(program.name, units)


def check_all(compiler: Compiler, arguments: argparse.Namespace, names: list[str]) -> list[ProgramResult]:
    """All selected programs, `jobs` at a time."""

    def check(name: str) -> ProgramResult:
        original = load_program(arguments.corpus / f"{name}-cuda", name)
        expected = len(original.units) if arguments.complete else 1
        program = load_program(arguments.tree / f"{name}{arguments.suffix}", name)
        result = check_program(compiler, program, arguments.tree, expected)
        print("." if result.passed else "F", end="", file=sys.stderr, flush=True)
        return result

    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(check, names))
    print(file=sys.stderr)
    return results


def normalised(error: CompileError) -> str:
    """An error message without what varies between programs; header names and short identifiers are kept."""
    return _NUMBER.sub("N", _QUOTED.sub(_shortened, error.message))


def _shortened(match: re.Match[str]) -> str:
    text = match[0]
    return text if re.fullmatch(r"'[\w./:]{1,40}'", text) else "'...'"


def summary_text(results: list[ProgramResult], set_aside: frozenset[str]) -> str:
    """Counts, then failures grouped by message with the most frequent first."""
    counted = [result for result in results if result.name not in set_aside]
    lines = [_count_line("all programs", results)]
    if len(counted) != len(results):
        lines.append(_count_line(f"without {', '.join(sorted(set_aside))}", counted))
    units = [unit for result in results for unit in result.units]
    lines.append(f"translation units: {sum(unit.passed for unit in units)} of {len(units)} pass")
    failed = [result for result in results if not result.passed]
    lines += ["", "failing programs, first error:"]
    lines += [f"  {result.name}: {_first_problem(result)}" for result in failed]
    programs_by_message = defaultdict(set)
    occurrences: Counter[str] = Counter()
    for result in failed:
        for error in result.errors():
            programs_by_message[normalised(error)].add(result.name)
            occurrences[normalised(error)] += 1
    lines += ["", "errors by message (programs, occurrences):"]
    for message, names in sorted(programs_by_message.items(), key=lambda item: (-len(item[1]), item[0])):
        examples = ", ".join(sorted(names)[:6])
        lines.append(f"  {len(names):3} {occurrences[message]:4}  {message}  [{examples}]")
    return "\n".join(lines)


def silent_text(results: list[ProgramResult], report: Report) -> str:
    """Failing programs whose every error is at a place that the report says nothing about."""
    failed = [result for result in results if not result.passed]
    silent = [result for result in failed if not any(map(report.explains, result.errors()))]
    lines = [f"failing programs without a manual finding where the compiler complains: {len(silent)} of {len(failed)}"]
    lines += [f"  {result.name}: {_first_problem(result)}" for result in silent]
    return "\n".join(lines)


def _count_line(label: str, results: list[ProgramResult]) -> str:
    passed = sum(result.passed for result in results)
    share = 100 * passed / len(results) if results else 0.0
    return f"{label}: {passed} of {len(results)} programs pass ({share:.1f} %)"


def _first_problem(result: ProgramResult) -> str:
    if result.missing:
        return result.missing
    error = result.errors()[0]
    return f"{error.file}:{error.line}: {error.message}"


def as_document(results: list[ProgramResult], arguments: argparse.Namespace) -> dict[str, Any]:
    """The JSON form of a run."""
    return {
        "schema": SCHEMA,
        "tree": str(arguments.tree),
        "arch": arguments.arch,
        "every": arguments.every,
        "offset": arguments.offset,
        "programs": [{"passed": result.passed, **asdict(result)} for result in results],
        "passed": sum(result.passed for result in results),
        "total": len(results),
    }


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line; it exits with 2 on wrong usage."""
    parser = argparse.ArgumentParser(prog="benchmarks.syntax_check", description=__doc__)
    add = parser.add_argument
    add("tree", type=Path, nargs="?", help="folder with the ported programs (default: the corpus itself)")
    add("--corpus", type=Path, required=True, help="folder with the X-cuda and X-hip programs")
    add("--rocm-tree", type=Path, required=True, help="folder whose include/ holds the ROCm headers")
    add("--suffix", default="-cuda", help="folder suffix of the programs in TREE (-hip: hand-made versions)")
    add("--every", type=int, default=4)
    add("--offset", type=int, default=0, help="0: the development sample; 2: the held-out one")
    add("--only", default="", help="comma-separated program names")
    add("--set-aside", default="", help="comma-separated programs whose third-party headers are not at hand")
    add("--no-complete", dest="complete", action="store_false", help="allow fewer units than the original")
    add("--compiler", default="clang++-19")
    add("--arch", default="gfx942")
    add("--standard", default="c++17")
    add("--no-pch", dest="pch", action="store_false", help="include the runtime header as text")
    add("--shims", type=Path, help="a dual tree's headers for AMD builds, TREE/porter/hip")
    add("--time-limit", type=float, default=120.0, help="seconds per pass")
    add("--jobs", type=int, default=2)
    add("--cache", type=Path, default=Path(".syntax-cache"))
    add("--report", type=Path, help="what `porter port --format json` printed for TREE: look for silent failures")
    add("--json", type=Path, help="write the full result here")
    arguments = parser.parse_args(argv)
    arguments.tree = (arguments.tree or arguments.corpus).resolve()
    arguments.corpus = arguments.corpus.resolve()
    return arguments


def main(argv: list[str] | None = None) -> int:
    """Exit code 0 when every program passes, 1 otherwise."""
    arguments = parse_arguments(argv)
    compiler = Compiler(
        executable=arguments.compiler,
        rocm_tree=arguments.rocm_tree.resolve(),
        arch=arguments.arch,
        standard=arguments.standard,
        time_limit=arguments.time_limit,
        cache=arguments.cache.resolve(),
        precompiled=arguments.pch,
        shims=arguments.shims.resolve() if arguments.shims else None,
    )
    compiler.prepare()
    names = program_names(arguments.corpus, arguments.every, arguments.offset)
    if arguments.only:
        names = [name for name in names if name in arguments.only.split(",")]
    results = check_all(compiler, arguments, names)
    if arguments.json:
        arguments.json.write_text(json.dumps(as_document(results, arguments), indent=1))
    set_aside = frozenset(filter(None, arguments.set_aside.split(",")))
    print(summary_text(results, set_aside))
    if arguments.report:
        counted = [result for result in results if result.name not in set_aside]
        print("\n" + silent_text(counted, load_report(arguments.report, arguments.tree)))
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())

"""CUDA in strings of public Python projects: texts that are followed, cases that are drafted, and a sample of them run.

    python -m benchmarks.python_strings PROJECT... [--run N] [--seed S]

PROJECT is a folder. A drafted case is complete where nothing is left TODO. With --run, N of the complete cases of each
project are validated on the virtual devices, each file in a folder of its own; none of the projects' code is run.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from porter.validation.cases.python_units import python_units
from porter.validation.draft.init import Draft, DraftedCase, draft
from porter.validation.run.plan import Request, validate

from porter.errors import Unusable


@dataclass
class Project:
    """What a project has."""

    name: str
    calls: int = 0
    followed: int = 0
    with_kernels: int = 0
    cases: int = 0
    complete: list[tuple[Path, Draft, DraftedCase]] = field(default_factory=list)
    why: Counter[str] = field(default_factory=Counter)
    incomplete: Counter[str] = field(default_factory=Counter)


def read(folder: Path) -> Project:
    """Drafts for every Python file below a folder."""
    project = Project(folder.name)
    for path in sorted(folder.rglob("*.py")):
        try:
            units = python_units(path) if path.is_file() else ()
            project.calls += len(units)
            project.followed += sum(1 for unit in units if not unit.problem)
            project.why.update(unit.problem.partition(":")[0] for unit in units if unit.problem)
            made = draft(path) if any(unit.content for unit in units) else None
        except (OSError, Unusable):
            continue
        for part in made.parts if made is not None else ():
            project.cases += 1
            if part.marks or "TODO" in part.kernel:
                project.incomplete.update(part.marks[:1])
            elif made is not None:
                project.complete.append((path, made, part))
    return project


def run(project: Project, count: int, seed: int) -> Counter[str]:
    """Statuses of a sample."""
    chosen = random.Random(seed).sample(project.complete, min(count, len(project.complete)))
    found: Counter[str] = Counter()
    for path, made, part in chosen:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(path, Path(folder, path.name))
            cases = Path(folder, "one.case.toml")
            cases.write_text(made.head() + "\n" + part.text(), "utf-8")
            report = validate(Request((cases,), devices=("ptx", "gfx942"), jobs=1)).report
        for error in report.errors:
            found["error"] += 1
            print(f"  {path}: {part.kernel}: {error.message}", flush=True)
        for case in report.cases:
            found[case.status.value] += 1
            reason = (
                "" if case.status.value == "passed" else "; ".join(f"{side.side}: {side.reason}" for side in case.sides)
            )
            print(f"  {path}: {part.kernel}: {case.status.value} {reason[:600]}", flush=True)
    return found


def main() -> None:
    """A line per project, and sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="+", type=Path)
    parser.add_argument("--run", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--why", action="store_true", help="what is not followed or complete, counted")
    options = parser.parse_args()
    sums: Counter[str] = Counter()
    print("| project | calls | followed | cases drafted | complete | run |\n|---|---|---|---|---|---|")
    for folder in options.projects:
        project = read(folder)
        found = run(project, options.run, options.seed) if options.run else Counter()
        shown = ", ".join(f"{number} {status}" for status, number in sorted(found.items()))
        print(
            f"| {project.name} | {project.calls} | {project.followed} | {project.cases} | {len(project.complete)} |",
            f"{shown} |",
            flush=True,
        )
        if options.why:
            for what, number in (project.why + project.incomplete).most_common(12):
                print(f"    {number}  {what}")
        sums.update(calls=project.calls, followed=project.followed, cases=project.cases, complete=len(project.complete))
        sums.update({f"run: {status}": number for status, number in found.items()})
    print(dict(sums))


if __name__ == "__main__":
    main()

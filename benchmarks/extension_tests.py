"""PyTorch extensions' own tests on both sides, on the CPU wheel: how many pass on ptx, and of the port on gfx942.

    python -m benchmarks.extension_tests TREE[:TESTS[:FOLDER]] ... --work DIR --output tests.json
    python -m benchmarks.extension_tests --show tests.json

TESTS is what pytest is given, `tests` by default, FOLDER the one with setup.py. Where a project's tests are scripts,
`--script "check.py forward"` runs each instead: it passes when it ends with 0 and launched something. Each tree is
copied, built in place with its own setup.py, ported, and the port built likewise; then its tests run. What is built
stays in DIR: a run that was cut off goes on where it ended. `--step` does one step alone. The Python that runs this has
to have PyTorch, pytest and what the tests import.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from porter.validation.programs.building import Built, build
from porter.validation.programs.compare import port_tree
from porter.validation.programs.launch import Options, run_program
from porter.validation.programs.outcome import ProgramRun, Verdict
from porter.validation.programs.sides import CUDA, HIP, Side

STEPS = ("build-original", "build-port", "run-original", "run-port")
_BUILD = (sys.executable, "setup.py", "build_ext", "--inplace")
_TEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", metavar="TREE[:TESTS[:FOLDER]]")
    parser.add_argument("--work", type=Path, default=Path(".extension-tests"))
    parser.add_argument("--script", action="append", help="a script and its arguments in place of pytest; repeatable")
    parser.add_argument("--step", action="append", choices=STEPS, help="this one alone; repeatable")
    parser.add_argument("--seconds", type=float, default=3600.0, help="limit of a step")
    parser.add_argument("--output", type=Path, default=Path("tests.json"))
    parser.add_argument("--show", type=Path)
    parser.add_argument("pytest", nargs="*", help="after --: options for pytest")
    given, more = parser.parse_known_args(_before_dashes())
    if more:
        parser.error(f"unknown: {' '.join(more)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started is ended with it
    rows = _read(given.show or given.output)
    for tree in given.trees:
        path, tests, inside = (*tree.split(":"), "", "")[:3]
        row = rows.setdefault(Path(path).name, {})
        for step in given.step or STEPS:
            row[step] = _step(step, Path(path), tests.split() or ["tests"], inside, given)
            given.output.write_text(json.dumps(rows, indent=1))
    print(summary(rows))


def _before_dashes() -> list[str]:
    return sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]


def _for_pytest() -> list[str]:
    return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.exists() else {}


def _step(step: str, tree: Path, tests: list[str], inside: str, given: argparse.Namespace) -> dict[str, Any]:
    work, side = (given.work / tree.name).resolve(), HIP if step.endswith("port") else CUDA
    original, port = work / "original", work / "port"
    if not original.exists():
        shutil.copytree(tree, original, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    if side is HIP and not port.exists():
        clean = work / "clean"
        shutil.copytree(tree, clean, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        port_tree(clean, port)
    folder = (port if side is HIP else original) / inside
    if step.startswith("build"):
        return _built(side, folder, given.seconds)
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (folder, folder / "src", *_roots(folder))))
    options = Options(seconds=given.seconds, side=side)
    if given.script:
        return _scripts(given.script, options, folder)
    return _ran(run_program((*_TEST, *tests, *_for_pytest()), options, folder, keep=True))


def _roots(folder: Path) -> list[Path]:
    """Folders that hold what was built in place and are no packages (`package_dir`)."""
    built = {path.parent for path in folder.rglob("*.so") if "build" not in path.relative_to(folder).parts}
    return sorted(one for one in built if not (one / "__init__.py").exists())


def _scripts(scripts: list[str], options: Options, folder: Path) -> dict[str, Any]:
    """Each script as a test."""
    runs = {one: run_program((sys.executable, *shlex.split(one)), options, folder, keep=True) for one in scripts}
    rows = [_ran(run) for run in runs.values()]
    worst = next((row for row in rows if row["verdict"] != "passed"), rows[0])
    operators: Counter[str] = Counter()
    for row in rows:
        operators.update(row["operators"])
    return {
        **worst,
        "launches": sum(row["launches"] for row in rows),
        "operators": dict(operators),
        "cpu_seconds": sum(row["cpu_seconds"] for row in rows),
        "tests": [
            (one, "passed" if run.verdict is Verdict.PASSED else "failed", run.reason) for one, run in runs.items()
        ],
    }


def _built(side: Side, folder: Path, seconds: float) -> dict[str, Any]:
    done = build(side, folder, (_BUILD,), seconds)
    if not isinstance(done, Built):
        return {"failed": done.reason}
    return {"failed": done.first_error, "said": done.said[-3000:]} if done.failed else {"failed": None}


def _ran(run: ProgramRun) -> dict[str, Any]:
    tests = [(test.name, test.outcome, test.reason) for test in run.account.tests]
    return {
        "verdict": run.verdict.value,
        "reason": run.reason,
        "launches": run.account.launches,
        "kernels": len(run.account.kernels),
        "operators": dict(run.account.operators),
        "cpu_seconds": round(run.cpu_seconds, 1),
        "tests": tests,
        "said": (run.output + run.errors).decode("utf-8", "replace")[-3000:],
    }


def summary(rows: dict[str, Any]) -> str:
    """A table: tests, what passes on each device, launches, and how many tests end alike."""
    heads = ("extension", "tests", "pass on ptx", "pass on gfx942", "end alike", "launches", "ATen calls on the host")
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for name, row in rows.items():
        lines.append("| " + " | ".join((name, *_cells(row))) + " |")
    return "\n".join(lines)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    runs = [row.get(step) for step in ("run-original", "run-port")]
    tests = [{name: outcome for name, outcome, _ in run["tests"]} if run else {} for run in runs]
    names = {**tests[0], **tests[1]}
    alike = sum(tests[0].get(name) == tests[1].get(name) for name in names)
    shown = [_share(row.get(step), run, names) for step, run in zip(STEPS, runs, strict=False)]
    launches = " and ".join(str(run["launches"]) if run else "-" for run in runs)
    host = " and ".join(str(sum(run["operators"].values())) if run else "-" for run in runs)
    return (str(len(names)), *shown, str(alike), launches, host)


def _share(built: dict[str, Any] | None, run: dict[str, Any] | None, names: dict[str, str]) -> str:
    if run is None:
        return f"not built: {built['failed'][:60]}" if built and built["failed"] else "-"
    counts = Counter(outcome for _, outcome, _ in run["tests"])
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    ending = "" if run["verdict"] in ("passed", "failed") else f" ({run['verdict']})"
    return f"{counts['passed']} of {len(names)}{skipped}{ending}"


if __name__ == "__main__":
    main()

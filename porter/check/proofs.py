"""Building and validating what a change touches, by what stands behind `porter build` and `porter validate`."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from porter.check.result import CheckResult, Proof, Step
from porter.errors import Unusable
from porter.project.port import Request as PortRequest
from porter.project.port import port_to
from porter.settings import Choices
from porter.system.reading import parsed_python, read_regular

if TYPE_CHECKING:
    from porter.validation.build.model import BuildReport
    from porter.validation.cases.case import Case
    from porter.validation.verdict.outcome import CaseResult

_SOURCES = (".cu", ".hip", ".c", ".cc", ".cpp", ".cxx")
PASSED = "passed"
"""The state of a subject that is as it should be."""
_SAYS_NOTHING = frozenset({"not-run", "missing-header"})


@dataclass(frozen=True)
class Touched:
    """What a change touches, as paths below the source."""

    source: Path
    choices: Choices
    jobs: int
    kernels: frozenset[str]
    """Files with kernels that changed."""
    files: frozenset[str] | None
    """All files that changed, whatever they are, and code that depends on them; None: everything counts."""
    includes: Callable[[str], Iterable[str]]
    """What a file of code includes, directly or not."""


Prove = Callable[[Touched], Proof]


def with_proofs(
    result: CheckResult, touched: Touched, *, build: bool, validate: bool, more: Mapping[str, Prove] | None = None
) -> CheckResult:
    """The result with what was built and validated, where that was asked for, and what `more` proves by name."""
    proofs: list[Proof] = []
    if build:
        proofs.append(_guarded("build", build_touched, touched))
    if validate:
        proofs.append(_guarded("validate", validate_touched, touched))
    proofs += [_guarded(name, prove, touched) for name, prove in (more or {}).items()]
    return replace(result, proofs=tuple(proofs))


def _guarded(name: str, prove: Prove, touched: Touched) -> Proof:
    try:
        return prove(touched)
    except Unusable as error:
        return Proof(name, Step.NOT_RUN, str(error))
    except ImportError as error:
        return Proof(name, Step.NOT_RUN, f"{error}: install porter[validation]")


def build_touched(touched: Touched) -> Proof:
    """Ports into a private folder, and compiles the sources whose kernels changed."""
    from porter.validation.build.run import BuildRequest
    from porter.validation.build.run import build as run_build

    wanted = sorted(path for path in touched.kernels if path.lower().endswith(_SOURCES))
    if not wanted:
        return Proof("build", Step.PASSED, "no kernel changed")
    subjects: list[Mapping[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="porter-build-") as folder:
        tree = Path(folder) / "port"
        answer = port_to(PortRequest(touched.source, touched.choices, touched.jobs), tree)
        outputs = {record.path: record.output for record in answer.run.records}
        for path in wanted:
            report = run_build(BuildRequest(tree / outputs.get(path, path), jobs=touched.jobs))
            subjects += _units(path, report)
    return Proof("build", step_of(subjects), counted(subjects, "unit"), tuple(subjects))


def _units(path: str, report: BuildReport) -> Iterator[Mapping[str, Any]]:
    for unit in report.units:
        errors = [one.message for one in unit.diagnostics if one.severity == "error"]
        why = errors[0] if errors else unit.reason or ""
        status = PASSED if unit.status.value == "built" else unit.status.value
        yield {"name": f"{path} for {unit.target}", "status": status, "message": why}


def validate_touched(touched: Touched) -> Proof:
    """Runs the cases of which a source, a header, the reference or the case itself changed."""
    from porter.validation.cases.file import find_case_files
    from porter.validation.run.plan import Request, collect
    from porter.validation.run.plan import validate as run_validate

    if not find_case_files((touched.source,)):
        return Proof("validate", Step.PASSED, "there are no cases")
    cases, errors = collect(Request((touched.source,)))
    subjects: list[Mapping[str, Any]] = [
        {"name": f"{error.path}:{error.line}", "status": "failed", "message": error.message} for error in errors
    ]
    chosen = [case for case in cases if is_touched(case, touched)]
    if not chosen and not subjects:
        return Proof("validate", Step.PASSED, f"no case of {len(cases):,} is about what changed")
    by_file: dict[Path, list[str]] = {}
    for case in chosen:
        by_file.setdefault(case.path, []).append(case.name)
    for path, names in by_file.items():
        outcome = run_validate(Request((path,), names=tuple(names), jobs=touched.jobs))
        subjects += [_subject(found) for found in outcome.report.cases]
        subjects += [{"name": path.name, "status": "failed", "message": text} for text in outcome.crashes]
    return Proof("validate", step_of(subjects), counted(subjects, "case"), tuple(subjects))


def _subject(found: CaseResult) -> Mapping[str, Any]:
    told = [found.reason, *(pair.evidence.message for pair in found.pairs if pair.evidence is not None)]
    status = PASSED if found.declared else found.status.value
    return {"name": found.name, "status": status, "message": next(filter(None, told), "")}


def is_touched(case: Case, touched: Touched) -> bool:
    """Whether a file that decides about a case changed."""
    if touched.files is None:
        return True
    root = touched.source.resolve()
    return any(
        path.resolve().relative_to(root).as_posix() in touched.files
        for path in files_of(case, touched)
        if path.resolve().is_relative_to(root)
    )


def files_of(case: Case, touched: Touched) -> Iterator[Path]:
    """The case file, its source with all it includes, the port it names, and its Python with what that imports."""
    yield case.path
    yield case.source
    if case.port is not None:
        yield case.port
    root = touched.source.resolve()
    if case.source.resolve().is_relative_to(root):
        relative = case.source.resolve().relative_to(root).as_posix()
        yield from (root / path for path in touched.includes(relative))
    hooks = [argument.values.hook for argument in case.arguments if argument.values is not None]
    for named in (case.reference, *hooks):
        if named:
            yield from python_files(case.path.parent / named.rpartition(":")[0])


def python_files(path: Path) -> tuple[Path, ...]:
    """A Python file and the files beside it that it imports, directly or not; it is read, not run."""
    found: dict[Path, None] = {}
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current in found or not current.is_file():
            continue
        found[current] = None
        try:
            tree = parsed_python(read_regular(current))
        except (OSError, ValueError):
            continue
        waiting += [current.parent / f"{name}.py" for node in ast.walk(tree) for name in _imported(node)]
    return tuple(found)


def _imported(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Import):
        return [alias.name.replace(".", "/") for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module.replace(".", "/")]
    return []


def step_of(subjects: Iterable[Mapping[str, Any]], says_nothing: frozenset[str] = _SAYS_NOTHING) -> Step:
    """What the subjects come to; `says_nothing`: the states of those that could not be run."""
    statuses = {str(subject["status"]) for subject in subjects}
    if statuses <= {PASSED}:
        return Step.PASSED
    return Step.NOT_RUN if statuses <= {PASSED, *says_nothing} else Step.FAILED


def counted(subjects: Sequence[Mapping[str, Any]], word: str, good: str = "passed") -> str:
    """`3 of 4 units passed`."""
    number = sum(subject["status"] == PASSED for subject in subjects)
    return f"{number:,} of {len(subjects):,} {word}{'s' * (len(subjects) != 1)} {good}"

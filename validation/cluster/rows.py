"""`porter bench` and `porter run --compare` with a store: one task per case or program, rows in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from porter.validation.cases.case import Case
from porter.validation.cases.file import find_case_files, read_cases
from porter.validation.cluster.engine import digest_of
from porter.validation.cluster.kinds.cases import CaseTrees, touched
from porter.validation.cluster.run import Where, do_run, ready, store_at
from porter.validation.cluster.trees import Tree, Trees
from porter.validation.estimate.bench import DEVICE, ORIGINAL, Estimated, EstimateReport, EstimateRequest
from porter.validation.estimate.chip import load
from porter.validation.programs.agreement import Agreement, Compared
from porter.validation.programs.compare import ComparedProject, programs_in
from porter.validation.programs.launch import Options
from porter.validation.run.bench import BenchReport, BenchRequest, Timing
from porter.validation.run.codec import made, plain
from porter.validation.verdict.outcome import FileError

from porter.errors import Unusable
from porter.system.results import Store, Task


class _Cases:
    """The cases of a bench or an estimate."""

    def __init__(self, name: str, request: BenchRequest | EstimateRequest) -> None:
        self.name = self.handler = name
        self._request, self._trees = request, CaseTrees()
        self.errors: list[FileError] = []

    @property
    def key(self) -> str:
        """What tells this run from others."""
        return digest_of([self.name, plain(self._request)])

    def tasks(self) -> Iterator[Task]:
        """One per case; Unusable when there is none."""
        names, found = set(self._request.names), set[str]()
        files = find_case_files(self._request.paths)
        if not files:
            raise Unusable(f"no *.case.toml in {', '.join(map(str, self._request.paths))}")
        for path in files:
            cases, unread = read_cases(path)
            self.errors += (FileError(str(error.path), error.line, error.message) for error in unread)
            found |= {case.name for case in cases}
            for case in cases:
                if not names or case.name in names:
                    payload = {"path": str(case.path), "case": case.name}
                    content = self._trees.of(case, self._request.tree).name.digest
                    yield Task(f"{path}::{case.name}", payload, digest_of([payload, content]), "", touched(case))
        unknown = [name for name in self._request.names if name not in found]
        if unknown and not self.errors:
            raise Unusable(f"no case {unknown[0]!r}; there are {', '.join(sorted(found))}")

    def payload(self, store: Store, task: Task) -> Mapping[str, Any]:
        """All that a worker has to know."""
        del store
        return {**task.payload, "request": plain(self._request)}

    def tree(self, task: Task) -> Tree:
        """What has to travel."""
        path = Path(str(task.payload["path"]))
        case: Case = next(case for case in read_cases(path)[0] if case.name == task.payload["case"])
        return self._trees.of(case, self._request.tree)

    def limit(self, task: Task) -> float:
        """Seconds after which a worker gives it up."""
        del task
        return 24 * 3600.0

    def lost(self, task: Task, reason: str) -> Mapping[str, Any]:
        """The answer of a task that nobody could answer."""
        error = FileError(str(task.payload["path"]), 1, f"{task.payload['case']}: {reason}")
        return {"rows": [], "errors": plain([error]), "failed": True}


def _rows(kind: _Cases, where: Where, wanted: tuple[str, ...]) -> tuple[list[Any], tuple[FileError, ...]]:
    with Store(store_at(where, kind.name, kind.key)) as store:
        with ready(where, store, kind.name, wanted, must=False) as place:
            do_run(kind, store, place, where, place.devices)
        answers = [answer for _, answer in store.answers(kind.name)]
        store.end(kind.name, {}, "")
    errors = [made(FileError, error) for answer in answers for error in answer["errors"]]
    return [row for answer in answers for row in answer["rows"]], (*kind.errors, *errors)


def benched(request: BenchRequest, where: Where) -> BenchReport:
    """Timings from the GPUs of the workers; one case at a time on each machine."""
    rows, errors = _rows(_Cases("bench", request), replace(where, jobs=1), request.devices)
    return BenchReport(tuple(made(Timing, row) for row in rows), errors, request)


def estimated(request: EstimateRequest, where: Where) -> EstimateReport:
    """Estimates from workers; raises Unusable for an unknown chip."""
    chip = load(request.chip)
    devices = (ORIGINAL, DEVICE) if request.original else (DEVICE,)
    rows, errors = _rows(_Cases("estimate", request), where, devices)
    return EstimateReport(chip, tuple(made(Estimated, row) for row in rows), errors)


@dataclass
class _Programs:
    """The programs of a project."""

    source: Path
    names: tuple[str, ...]
    options: Options

    name = handler = "run"

    def __post_init__(self) -> None:
        self._whole = Trees().tree([self.source])

    @property
    def key(self) -> str:
        """What tells this run from others."""
        return digest_of([self.name, str(self.source), self.names, plain(self.options), self._whole.name.digest])

    def tasks(self) -> Iterator[Task]:
        """One per program; Unusable when there is none."""
        for program in programs_in(self.source, self.names):
            payload = {"source": str(self.source), "program": program.name}
            yield Task(program.name, payload, digest_of([payload, self.key]), "", digest_of(plain(program)))

    def payload(self, store: Store, task: Task) -> Mapping[str, Any]:
        """All that a worker has to know."""
        del store
        return {**task.payload, "options": plain(self.options)}

    def tree(self, task: Task) -> Tree:
        """What has to travel."""
        del task
        return self._whole

    def limit(self, task: Task) -> float:
        """Seconds after which a worker gives it up; the builds and runs have limits of their own."""
        del task
        return 24 * 3600.0

    def lost(self, task: Task, reason: str) -> Mapping[str, Any]:
        """The answer of a task that nobody could answer."""
        return {"compared": plain(Compared(task.name, Agreement.NOT_RUN, reason)), "failed": True}


def compared(source: Path, names: tuple[str, ...], options: Options, where: Where) -> ComparedProject:
    """Programs built and run on both sides by workers."""
    kind = _Programs(source, names, options)
    with Store(store_at(where, kind.name, kind.key)) as store:
        with ready(where, store, kind.name, ("ptx", "gfx942"), must=False) as place:
            do_run(kind, store, place, where, place.devices)
        found = [(task, answer) for task, answer in store.answers(kind.name)]
        store.end(kind.name, {}, "")
    return ComparedProject(tuple(_one(task, answer) for task, answer in found))


def _one(task: Task, answer: Mapping[str, Any]) -> Compared:
    if "unusable" in answer:
        return Compared(task.name, Agreement.NOT_RUN, str(answer["unusable"]))
    return made(Compared, answer["compared"])

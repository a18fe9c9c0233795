"""The cases of `porter validate` as tasks, and their report."""

from __future__ import annotations

import functools
import hashlib
import zlib
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from porter.validation.cases.case import Case
from porter.validation.cases.file import find_case_files, read_cases
from porter.validation.cluster.engine import digest_of
from porter.validation.cluster.kinds.cases import CaseTrees, touched
from porter.validation.devices import registry
from porter.validation.run.codec import made, plain
from porter.validation.run.plan import (
    Concluded,
    Outcome,
    Request,
    device_table,
    fitting,
    settings,
    siblings,
    unit_of,
)
from porter.validation.verdict.outcome import CaseResult, FileError, ValidateReport
from porter.validation.verdict.report import head_json

from porter.errors import Unusable
from porter.system.cache import publish
from porter.system.results import Store, Task


class Validating:
    """One run of `porter validate`; case files are read one at a time."""

    name = handler = "validate"

    def __init__(self, request: Request, trees: CaseTrees) -> None:
        self._request, self._trees = request, trees
        self._devices: tuple[str, ...] = ()
        self._used: set[str] = set()
        self.built: dict[str, Mapping[str, tuple[str, str]]] = {}
        """By task: what was compiled for it, as digests and files by what they answer."""
        self._errors: list[FileError] = []
        self._kernels = functools.lru_cache(maxsize=64)(self._kernels_of)
        self._store: Store | None = None

    @property
    def devices(self) -> tuple[str, ...]:
        """Those asked for; empty: all that there are."""
        return self._request.devices or ()

    @property
    def key(self) -> str:
        """What tells this run from others."""
        return digest_of([self.name, plain(replace(self._request, jobs=1)), self._devices])

    def use(self, devices: Sequence[str]) -> None:
        """The devices that there are, and those that only run what is compiled."""
        self._devices = tuple(devices)

    def fitting(self, case: Case) -> tuple[str, ...]:
        """Where a case is run."""
        return fitting(case, self._request, lambda name: None if name in self._devices else "not there")

    def tasks(self) -> Iterator[Task]:
        """One per case, in the order of the report; Unusable when there is none."""
        files = find_case_files(self._request.paths)
        if not files:
            raise Unusable(f"no *.case.toml in {', '.join(map(str, self._request.paths))}")
        wanted, found = set(self._request.names), set[str]()
        for path in files:
            cases, unread = read_cases(path)
            self._errors += (FileError(str(error.path), error.line, error.message) for error in unread)
            found |= {case.name for case in cases} if wanted else set()
            yield from (self._task(case) for case in cases if not wanted or case.name in wanted)
        unknown = [name for name in self._request.names if name not in found]
        if unknown and not self._errors:
            raise Unusable(f"no case {unknown[0]!r}; there are {', '.join(sorted(found))}")

    def _task(self, case: Case) -> Task:
        self._used |= set(self.fitting(case))
        payload = {"path": str(case.path), "case": case.name, "kernel": case.kernel}
        content = self._trees.of(case, self._request.tree).name.digest
        about = digest_of([plain(part) if part else None for part in unit_of(case)])
        name = f"{case.path}::{case.name}"
        return Task(name, payload, digest_of([payload, content, self.key]), about, touched(case))

    def payload(self, store: Store, task: Task, kind: str = name) -> Mapping[str, Any]:
        """All that a worker has to know; `kind` is what the tasks are called in the store."""
        self._store = store
        (case,) = (case for case in load_cases_of(task) if case.name == task.payload["case"])
        also = siblings(case, self._kernels(kind, task.about))
        found = {**task.payload, "also": also, "devices": self.fitting(case), "request": plain(self._request)}
        built = self.built.get(task.name)
        return found if built is None else {**found, "built": {key: digest for key, (digest, _) in built.items()}}

    def _kernels_of(self, kind: str, about: str) -> frozenset[str]:
        assert self._store is not None
        return frozenset(str(payload["kernel"]) for payload in self._store.payloads_about(kind, about))

    def tree(self, task: Task) -> Any:
        """What has to travel."""
        (case,) = (case for case in load_cases_of(task) if case.name == task.payload["case"])
        tree = self._trees.of(case, self._request.tree)
        built = self.built.get(task.name)
        return tree if built is None else replace(tree, built=tuple(sorted(set(built.values()))))

    def limit(self, task: Task) -> float:
        """Seconds after which a worker gives it up; a case has limits of its own for each step."""
        del task
        return 24 * 3600.0

    def lost(self, task: Task, reason: str) -> Mapping[str, Any]:
        """The answer of a task that nobody could answer."""
        if reason.startswith("Traceback"):
            concluded = Concluded(None, (), f"{task.name}\n{reason}")
        else:
            error = FileError(str(task.payload["path"]), 1, f"{task.payload['case']}: {reason}")
            concluded = Concluded(None, (error,))
        return {"concluded": plain(concluded), "failed": True, "parts": []}

    def outcome(self, store: Store, why_not: Mapping[str, str | None]) -> tuple[Outcome, Mapping[str, Any]]:
        """The report, whose cases stay in the store until somebody looks, and the head of its document."""
        errors, crashes = list(self._errors), list[str]()
        for _, answer in store.answers(self.name):
            concluded = answer["concluded"]
            errors += (made(FileError, error) for error in concluded["errors"])
            crashes += [concluded["crash"]] if concluded["crash"] else []
        devices = tuple(name for name in registry.NAMES if name in self._used)
        table = device_table(devices, lambda name: why_not.get(name, "nobody was asked"))
        report = ValidateReport(
            StoredCases(store), tuple(dict.fromkeys(errors)), table, settings(self._request, devices)
        )
        return Outcome(report, tuple(crashes)), head_json(report)


class Compiling:
    """The cases of a run, compiled by workers that can for those that cannot."""

    name, handler = "validate-compile", "compile"

    def __init__(self, cases: Validating) -> None:
        self._cases = cases

    @property
    def key(self) -> str:
        """What tells this run from others."""
        return digest_of([self.name, self._cases.key])

    def tasks(self) -> Iterator[Task]:
        """One per case."""
        return self._cases.tasks()

    def payload(self, store: Store, task: Task) -> Mapping[str, Any]:
        """All that a worker has to know."""
        return self._cases.payload(store, task, self.name)

    def tree(self, task: Task) -> Any:
        """What has to travel."""
        return self._cases.tree(task)

    def limit(self, task: Task) -> float:
        """Seconds after which a worker gives it up."""
        return self._cases.limit(task)

    def lost(self, task: Task, reason: str) -> Mapping[str, Any]:
        """The answer of a task that nobody could answer: the case itself will say what is wrong."""
        del task
        return {"built": {}, "lost": reason, "failed": True}

    def built(self, store: Store, folder: Path) -> dict[str, Mapping[str, tuple[str, str]]]:
        """What came of it, as files below a folder, which are called by their digests."""
        found: dict[str, Mapping[str, tuple[str, str]]] = {}
        for task, answer in store.answers(self.name):
            files = {key: _kept(folder, zlib.decompress(b64decode(data))) for key, data in answer["built"].items()}
            found[task.name] = files
        return found


def _kept(folder: Path, data: bytes) -> tuple[str, str]:
    digest = hashlib.sha256(data).hexdigest()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder.absolute() / digest
    if not path.exists():
        publish(path, data)
    return digest, str(path)


def load_cases_of(task: Task) -> tuple[Case, ...]:
    """The cases of a task's file."""
    path = Path(task.payload["path"])
    return _loaded(str(path), path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _loaded(path: str, stamp: int) -> tuple[Case, ...]:
    del stamp
    return read_cases(Path(path))[0]


class StoredCases(Sequence[CaseResult]):
    """Results that are read from the store when they are wanted."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __iter__(self) -> Iterator[CaseResult]:
        for _, answer in self._store.answers(Validating.name):
            if answer["concluded"]["result"] is not None:
                yield made(CaseResult, answer["concluded"]["result"])

    def __len__(self) -> int:
        return sum(1 for _ in self._store.parts(Validating.name))

    @overload
    def __getitem__(self, index: int) -> CaseResult: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[CaseResult]: ...

    def __getitem__(self, index: int | slice) -> CaseResult | Sequence[CaseResult]:
        return tuple(self)[index]

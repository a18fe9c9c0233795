"""`porter build` with a store: units on workers, then the programs that are linked of them."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.validation.build.hints import too_old
from porter.validation.build.link import Program
from porter.validation.build.model import BuildReport, ProgramBuild, TargetTool, UnitBuild
from porter.validation.build.model import Status as BuildStatus
from porter.validation.build.report import build_json
from porter.validation.build.run import BuildRequest
from porter.validation.build.units import Tree as Units
from porter.validation.build.units import find_tree
from porter.validation.cluster.engine import digest_of
from porter.validation.cluster.run import Ready, Where, do_run, ready, store_at
from porter.validation.cluster.trees import Tree, Trees
from porter.validation.run.codec import made, plain

from porter.errors import Unusable
from porter.system.cache import publish
from porter.system.results import Store, Task

_PARTS = ("units",)


class _Step:
    """One of the three: which tools there are, the units, the programs."""

    handler = "build"

    def __init__(self, name: str, request: BuildRequest, payloads: Sequence[Mapping[str, Any]], tree: Tree) -> None:
        self.name, self._request, self._payloads, self._tree = name, request, payloads, tree

    @property
    def key(self) -> str:
        """What tells this run from others."""
        return digest_of([self.name, plain(replace(self._request, jobs=1)), self._tree.name.digest])

    def tasks(self) -> Iterator[Task]:
        """One per payload."""
        for payload in self._payloads:
            name = "::".join(str(payload[key]) for key in ("step", "unit", "main", "target") if key in payload)
            yield Task(name, payload, digest_of([payload, self.key]), "", digest_of([payload]))

    def payload(self, store: Store, task: Task) -> Mapping[str, Any]:
        """All that a worker has to know."""
        del store
        return {**task.payload, "request": plain(replace(self._request, jobs=1))}

    def tree(self, task: Task) -> Tree:
        """What has to travel."""
        del task
        return self._tree

    def limit(self, task: Task) -> float:
        """Seconds after which a worker gives it up."""
        del task
        return 4 * self._request.seconds + 120

    def lost(self, task: Task, reason: str) -> Mapping[str, Any]:
        """The answer of a task that nobody could answer."""
        payload = task.payload
        if payload["step"] == "unit":
            unit = UnitBuild(payload["unit"], payload["target"], None, BuildStatus.NOT_RUN, reason, ())
            return {"unit": plain(unit), "notes": [], "object": None, "failed": True}
        return {"unusable": reason, "failed": True}


def built(request: BuildRequest, where: Where) -> BuildReport:
    """The report; Unusable when there is nothing to compile, or nothing to compile with."""
    began = time.monotonic()
    units = find_tree(request.path, request.description)
    trees = Trees()
    extra = [request.description] if request.description is not None else []
    tree = trees.tree([units.root], extra)
    with (
        Store(store_at(where, "build", replace(request, jobs=1))) as store,
        ready(where, store, "build", ()) as place,
    ):
        tools = _tools(request, store, place, where, tree)
        payloads = [
            {"step": "unit", "unit": unit.path, "target": target, "keep": bool(tools["programs"])}
            for target in request.targets
            for unit in units.units
        ]
        do_run(_Step("build", request, payloads, tree), store, place, where)
        programs = _programs(request, store, place, where, trees, tree, tools)
        report = _report(units, store, tools, programs, time.monotonic() - began)
        head = {key: value for key, value in build_json(report).items() if key not in _PARTS}
        store.end("build", head, "units")
    return report


def _tools(request: BuildRequest, store: Store, place: Ready, where: Where, tree: Tree) -> Mapping[str, Any]:
    step = _Step("build-tools", request, [{"step": "tools"}], tree)
    do_run(step, store, place, replace(where, progress=None))
    found = store.answer_at(step.name, 0) or {}
    store.end(step.name, {}, "")
    if "unusable" in found:
        raise Unusable(str(found["unusable"]))
    return found


def _programs(
    request: BuildRequest,
    store: Store,
    place: Ready,
    where: Where,
    trees: Trees,
    tree: Tree,
    tools: Mapping[str, Any],
) -> tuple[ProgramBuild, ...]:
    if not tools["programs"]:
        return ()
    folder = store.path.with_name(f"{store.path.name}-objects")
    objects = dict(_objects(store, folder))
    payloads: list[Mapping[str, Any]] = []
    for target, row in tools["programs"]:
        program = made(Program, row)
        wanted = [unit for unit in (*program.units, *program.others) if (unit, target) in objects]
        places = [[unit, target, str(objects[unit, target])] for unit in wanted]
        payloads.append({"step": "program", "main": program.main, "target": target, "objects": places})
    if place.backend.is_remote and objects:
        tree = trees.tree([Path(top) for top in tree.manifest.folders], [*objects.values()])
    step = _Step("build-programs", request, payloads, tree)
    do_run(step, store, place, replace(where, progress=None))
    answers = [answer for _, answer in store.answers(step.name)]
    store.end(step.name, {}, "")
    lost = next((answer["unusable"] for answer in answers if "unusable" in answer), None)
    if lost is not None:
        raise Unusable(str(lost))
    return tuple(made(ProgramBuild, answer["program"]) for answer in answers)


def _objects(store: Store, folder: Path) -> Iterator[tuple[tuple[str, str], Path]]:
    """What workers compiled, as files that others can link."""
    for task, answer in store.answers("build"):
        if answer.get("object") is not None:
            data = base64.b64decode(answer["object"])
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = folder.absolute() / f"{hashlib.sha256(data).hexdigest()[:32]}.o"
            if not path.exists():
                publish(path, data)
            yield (str(task.payload["unit"]), str(task.payload["target"])), path


def _report(
    units: Units, store: Store, tools: Mapping[str, Any], programs: tuple[ProgramBuild, ...], seconds: float
) -> BuildReport:
    found: list[UnitBuild] = []
    notes = dict.fromkeys((*units.notes, *map(str, tools["notes"])))
    for task, answer in store.answers("build"):
        if "unusable" in answer:
            reason = str(answer["unusable"])
            lost = UnitBuild(task.payload["unit"], task.payload["target"], None, BuildStatus.NOT_RUN, reason, ())
            found.append(lost)
            continue
        found.append(made(UnitBuild, answer["unit"]))
        notes |= dict.fromkeys(map(str, answer["notes"]))
    notes |= dict.fromkeys(too_old(found))
    used = tuple(made(TargetTool, json.loads(json.dumps(tool))) for tool in tools["tools"])
    return BuildReport(str(units.root), used, tuple(found), programs, seconds, units.description, tuple(notes))

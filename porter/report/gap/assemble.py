"""Puts the documents together: kernels with their findings and evidence, folders, kinds of work."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from porter.check.result import HAZARD_GROUPS
from porter.engine.knowledge import rule_infos
from porter.report.gap.actions import actions_of, waiting
from porter.report.gap.estimates import estimates_by_kernel, profiles_as_estimates, roofs_of
from porter.report.gap.evidence import (
    Paths,
    builds_by_kernel,
    cases_by_kernel,
    errors_by_source,
    failed_units,
    plain_name,
    programs_of,
    sources_with,
    tools_of,
)
from porter.report.gap.inputs import Document, Inputs
from porter.report.gap.instances import all_run, instances_of
from porter.report.gap.model import Build, Case, Folder, GapReport, Instance, Kernel, Made, Place, Rule, State, Work

_PASSED = frozenset({"passed", "pass", "ok"})
_SAYS_NOTHING = frozenset({"not-run", "skipped"})


def gap_report(
    inputs: Inputs, last_lines: Mapping[tuple[str, int], int], made: tuple[str, str] = ("", "")
) -> GapReport:
    """The whole report; `last_lines` gives the end of the kernels whose source is at hand, by path and first line;
    `made` is the date and the commit of the source."""
    inputs = replace(inputs, estimates=(*inputs.estimates, *profiles_as_estimates(inputs.runs)))
    report = inputs.report
    rules = _rules()
    places = [_place(finding) for finding in report.get("findings", ())]
    kernels = _kernels(inputs, places, last_lines)
    settings = report.get("settings") or {}
    work = _work(places, kernels, rules)
    failed = failed_units(inputs.builds, _paths(report), Counter(kernel.path for kernel in kernels))
    programs = programs_of(inputs.programs)
    return GapReport(
        porter=str(report.get("porter", "")),
        source=str(report.get("source", "")),
        output=report.get("output"),
        rocm=settings.get("rocm"),
        warp=str(settings.get("warp", "preserve")),
        totals=report.get("totals") or {},
        kernels=kernels,
        folders=_folders(report, kernels),
        work=work,
        gaps=tuple(report.get("gaps", ())),
        files=tuple(report.get("files", ())),
        rules={place.code: rules[place.code] for place in places if place.code in rules},
        devices=_devices(kernels),
        open_questions=tuple(dict.fromkeys(text for k in kernels for case in k.cases for text in case.does_not_show)),
        actions=actions_of(
            kernels,
            work,
            failed,
            built=bool(inputs.builds),
            ran=bool(inputs.validations),
            programs=programs,
            source=str(report.get("source", "")),
            output=report.get("output"),
        ),
        failed=failed,
        units=sum(len(document.get("units", ())) for document in inputs.builds),
        made=Made(*made, tools_of(inputs.builds, inputs.validations)),
        history=(),
        missing=_missing(inputs, kernels),
        roofs=roofs_of(inputs.estimates),
        programs=programs,
        notes=(*report.get("notes", ()), *(f"not understood: {text}" for text in inputs.unknown)),
    )


def _rules() -> dict[str, Rule]:
    return {
        code: Rule(code, info.name, info.group, info.title, info.explanation, info.group in HAZARD_GROUPS)
        for code, info in rule_infos().items()
    }


def _place(finding: Mapping[str, Any]) -> Place:
    return Place(
        finding["code"],
        finding["effort"],
        finding["path"],
        finding["line"],
        finding["column"],
        finding["message"],
        finding.get("kernel"),
        bool(finding.get("fixed")),
        finding.get("suppressed"),
    )


def _paths(report: Document) -> Paths:
    files = report.get("files", ())
    outputs = {file["output"]: file["path"] for file in files if file.get("output")}
    return Paths((file["path"] for file in files), outputs)


def _kernels(inputs: Inputs, places: Sequence[Place], last_lines: Mapping[tuple[str, int], int]) -> tuple[Kernel, ...]:
    paths = _paths(inputs.report)
    builds = builds_by_kernel(inputs.builds, paths)
    cases = cases_by_kernel(inputs.validations, paths)
    outputs = {file["path"]: file["output"] for file in inputs.report.get("files", ()) if file.get("output")}
    estimates = estimates_by_kernel(inputs.estimates, paths, outputs)
    errors = errors_by_source(inputs.builds, paths)
    failed, built = (sources_with(inputs.builds, paths, status) for status in ("failed", "built"))
    inside: defaultdict[tuple[str, str | None], list[Place]] = defaultdict(list)
    for place in places:
        inside[place.path, place.kernel].append(place)
    found: list[Kernel] = []
    rank = {state: number for number, state in enumerate(State)}
    for number, kernel in enumerate(inputs.report.get("kernels", ()), 1):
        key = kernel["path"], plain_name(kernel["qualified"])
        own = inside[kernel["path"], kernel["qualified"]]
        made, checked = builds.get(key, []), cases.get(key, [])
        live = [place for place in own if place.suppressed is None]
        hazards = [place for place in live if _is_hazard(place.code)]
        instances = instances_of(made, checked)
        state = _state(kernel["left"], made, checked, instances, kernel["path"] in failed, kernel["path"] in built)
        found.append(
            Kernel(
                anchor=f"k{number}",
                path=kernel["path"],
                name=kernel["qualified"],
                line=kernel["line"],
                last_line=last_lines.get((kernel["path"], kernel["line"]), kernel["line"]),
                state=state,
                rewritten=kernel["rewritten"],
                review=kernel["review"],
                manual=kernel["manual"],
                hazards=len(hazards),
                open_hazards=sum(place.effort != "none" for place in hazards),
                through=tuple(kernel.get("through", ())),
                signature=", ".join(f"{kind} {name}".strip() for name, kind in kernel.get("parameters", ())),
                launches=tuple(
                    f"line {x['line']}: <<<{x['grid']}, {x['block']}>>>" for x in kernel.get("launches", ())
                ),
                places=tuple(own),
                instances=instances,
                builds=tuple(made),
                cases=tuple(checked),
                estimates=tuple(estimates.get(key, ())),
                errors=tuple(
                    message
                    for within, message in errors.get(kernel["path"], ())
                    if within is None or plain_name(within) == key[1]
                ),
            )
        )
    return tuple(sorted(found, key=lambda one: (rank[one.state], -one.effort, one.path, one.line)))


def _is_hazard(code: str) -> bool:
    info = rule_infos().get(code)
    return info is not None and info.group in HAZARD_GROUPS


def _state(
    left: str,
    builds: Sequence[Build],
    cases: Sequence[Case],
    instances: Sequence[Instance],
    failed: bool,
    built: bool,
) -> State:
    said = {case.status for case in cases} - _SAYS_NOTHING
    if said - _PASSED - {"build-failed"}:
        return State.WRONG
    if left == "manual":
        return State.MANUAL
    if failed or "build-failed" in said:
        return State.BROKEN
    if left == "review":
        return State.REVIEW
    if said:
        return State.PROVEN if all_run(instances) else State.PARTLY
    return State.BUILT if builds or built else State.PORTED


def _folders(report: Document, kernels: Iterable[Kernel]) -> tuple[Folder, ...]:
    """One per folder that holds code, in order."""
    by_folder: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for file in report.get("files", ()):
        by_folder[posixpath.dirname(file["path"])].append(file)
    states: defaultdict[str, Counter[State]] = defaultdict(Counter)
    for kernel in kernels:
        states[posixpath.dirname(kernel.path)][kernel.state] += 1
    return tuple(
        Folder(
            path=path or ".",
            files=len(files),
            lines=sum(file["lines"] for file in files),
            changed=sum(file.get("lines_changed", 0) + file.get("lines_added", 0) for file in files),
            kernels=states[path].total() if path in states else 0,
            states=dict(states.get(path, {})),
            review=sum(file["review"] for file in files),
            manual=sum(file["manual"] for file in files),
        )
        for path, files in sorted(by_folder.items())
        if any(file["lines"] for file in files) or any(file["review"] or file["manual"] for file in files)
    )


def _work(places: Iterable[Place], kernels: Sequence[Kernel], rules: Mapping[str, Rule]) -> tuple[Work, ...]:
    by_code: defaultdict[str, list[Place]] = defaultdict(list)
    for place in places:
        if place.suppressed is None:
            by_code[place.code].append(place)
    found: list[Work] = []
    for code, own in by_code.items():
        open_places = [place for place in own if place.effort != "none"]
        rule = rules.get(code) or Rule(code, "", "", "", "", False)
        found.append(
            Work(
                rule=rule,
                review=sum(place.effort == "review" for place in own),
                manual=sum(place.effort == "manual" for place in own),
                done=sum(place.fixed for place in own),
                files=len({place.path for place in open_places}),
                kernels=waiting(kernels, open_places),
                places=tuple(sorted(open_places, key=lambda p: (p.effort != "manual", p.path, p.line))),
            )
        )
    return tuple(sorted(found, key=lambda work: (-work.manual, -work.review, -work.done, work.rule.code)))


def _devices(kernels: Iterable[Kernel]) -> tuple[tuple[str, str, int | None, int, int], ...]:
    runs: Counter[tuple[str, str, int | None]] = Counter()
    passed: Counter[tuple[str, str, int | None]] = Counter()
    for kernel in kernels:
        for case in kernel.cases:
            for run in case.runs:
                key = run.side, run.device, run.lanes
                runs[key] += 1
                passed[key] += run.status in _PASSED
    return tuple((*key, runs[key], passed[key]) for key in sorted(runs, key=str))


def _missing(inputs: Inputs, kernels: Sequence[Kernel]) -> tuple[str, ...]:
    """What the report cannot say for want of a document."""
    told: list[str] = []
    if inputs.report.get("output") is None:
        told.append("There is no ported tree to show beside the original: use the JSON of `porter port -o`.")
    if not inputs.builds:
        told.append("Nothing was built: registers, LDS and occupancy are unknown. Add the JSON of `porter build`.")
    if not inputs.validations:
        what = "No case was run: no kernel's own result" if inputs.programs else "Nothing was run: no result"
        told.append(f"{what} is known. Add the JSON of `porter validate`.")
    else:
        bare = sum(not kernel.cases for kernel in kernels)
        if bare:
            told.append(f"{bare:,} of {len(kernels):,} kernels have no case, so nothing was run for them.")
    return tuple(told)

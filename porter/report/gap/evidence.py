"""What `build` and `validate` documents say about kernels, in one shape, whatever of it is there."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from porter.report.gap.instances import arguments_of
from porter.report.gap.model import Build, Case, FailedUnit, Output, Pair, Program, Run

Key = tuple[str, str]
"""Path of the source and name of the kernel, without template arguments and namespaces."""


_ANONYMOUS = "(anonymous namespace)::"


def plain_name(name: str) -> str:
    """`reduce` of `void ns::reduce<float, 4>(float*)`."""
    head = name.replace(_ANONYMOUS, "").partition("(")[0].partition("<")[0].strip()
    return head.rpartition("::")[2].rpartition(" ")[2]


class Paths:
    """Finds the report's name of a file that another document may name from elsewhere, or by its port."""

    def __init__(self, paths: Iterable[str], outputs: Mapping[str, str]) -> None:
        self._known = {**outputs, **{path: path for path in paths}}
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._known:
            self._by_name[posixpath.basename(path)].append(path)

    def find(self, given: object) -> str:
        """The path in the report; where nothing fits, the path as it was given."""
        path = posixpath.normpath(str(given or ""))
        if path in self._known:
            return self._known[path]
        alike = self._by_name.get(posixpath.basename(path), ())
        inside = [one for one in alike if path.endswith(f"/{one}")]
        if inside:
            return self._known[max(inside, key=len)]
        below = {self._known[one] for one in alike if one.endswith(f"/{path}")}
        return below.pop() if len(below) == 1 else path


def builds_by_kernel(documents: Iterable[Mapping[str, Any]], paths: Paths) -> dict[Key, list[Build]]:
    """Compiled kernels by the kernel of the source."""
    found: defaultdict[Key, list[Build]] = defaultdict(list)
    for document in documents:
        for kernel in _kernels(document):
            path = paths.find(kernel.get("source") or kernel.get("path") or kernel.get("unit"))
            found[path, plain_name(str(kernel.get("name", "")))].append(_build(kernel))
    return found


def _kernels(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from document.get("kernels", ())


def _build(facts: Mapping[str, Any]) -> Build:
    notes = tuple(str(note.get("message", "")) for note in facts.get("notes") or ())
    limited = facts.get("limited_by") or ""
    return Build(
        name=str(facts.get("name", "")),
        target=str(facts.get("target") or ""),
        vgprs=facts.get("vgprs"),
        agprs=facts.get("agprs"),
        sgprs=facts.get("sgprs"),
        lds_bytes=facts.get("lds_bytes"),
        scratch_bytes=facts.get("scratch_bytes"),
        waves_per_simd=facts.get("waves_per_simd"),
        limited_by=", ".join(limited) if isinstance(limited, list) else str(limited),
        notes=notes,
        spills=int(facts.get("vgpr_spills") or 0) + int(facts.get("sgpr_spills") or 0),
    )


def sources_with(documents: Iterable[Mapping[str, Any]], paths: Paths, status: str) -> frozenset[str]:
    """Files some unit of which ended so. `failed` is what the compiler refused; a missing tool says nothing."""
    return frozenset(
        paths.find(unit.get("path"))
        for document in documents
        for unit in document.get("units", ())
        if unit.get("status") == status
    )


def failed_units(
    documents: Iterable[Mapping[str, Any]], paths: Paths, kernels: Mapping[str, int]
) -> tuple[FailedUnit, ...]:
    """Units that did not come out, those without kernels too; `kernels` is how many each source holds."""
    return tuple(
        _failed(unit, paths, kernels)
        for document in documents
        for unit in document.get("units", ())
        if unit.get("status") not in ("built", "checked", None)
    )


_OLD_HEADERS = re.compile(r".* is in ROCm since .*, (?P<here>the headers here are of [\d.]+)")
"""What a build says at a name that its headers do not have yet."""


def _failed(unit: Mapping[str, Any], paths: Paths, kernels: Mapping[str, int]) -> FailedUnit:
    source = paths.find(unit.get("path"))
    errors = [one for one in unit.get("diagnostics", ()) if one.get("severity") == "error"]
    first: Mapping[str, Any] = errors[0] if errors else {}
    message, hint = str(first.get("message") or unit.get("reason") or unit.get("status")), str(first.get("hint") or "")
    refused = unit.get("status") == "failed"
    old = next((found for one in errors if (found := _OLD_HEADERS.fullmatch(str(one.get("hint") or "")))), None)
    if refused and old is not None:  # what else is wrong there shows once the headers are those of the port
        refused, first = False, next(one for one in errors if one.get("hint") == old[0])
        message, hint = f"the port is for a newer ROCm, and {old['here']}", f"{old[0]}. {_NEWER_HEADERS}"
    return FailedUnit(
        source=source,
        target=str(unit.get("target") or ""),
        refused=refused,
        message=message,
        path=paths.find(first.get("source") or first.get("path") or unit.get("path")),
        line=int(first.get("source_line") or first.get("line") or 1),
        hint=hint,
        kernels=kernels.get(source, 0),
    )


_NEWER_HEADERS = "`porter headers --suite sid` gets newer ones where apt is at hand; `--rocm` ports for older ones"


def tools_of(builds: Iterable[Mapping[str, Any]], validations: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Compilers, headers and packages as the documents name them."""
    found = [
        f"{one['target']}: {one['tool']}" for document in builds for one in document.get("targets", ()) if one["tool"]
    ]
    for document in validations:
        found += [f"{name} {version}" for name, version in (document.get("versions") or {}).items()]
    return tuple(dict.fromkeys(text for text in found if not text.startswith("porter ")))


def errors_by_source(documents: Iterable[Mapping[str, Any]], paths: Paths) -> dict[str, list[tuple[str | None, str]]]:
    """What compilers refused, by file: the kernel, if it is in one, and the message with its place."""
    found: defaultdict[str, list[tuple[str | None, str]]] = defaultdict(list)
    for document in documents:
        for unit in document.get("units", ()):
            for one in unit.get("diagnostics", ()):
                if one.get("severity") != "error":
                    continue
                path = paths.find(one.get("source") or one.get("path") or unit.get("path"))
                line = one.get("source_line") or one.get("line")
                found[path].append((one.get("kernel"), f"{path}:{line}: {one.get('message', '')}"))
    return found


def cases_by_kernel(documents: Iterable[Mapping[str, Any]], paths: Paths) -> dict[Key, list[Case]]:
    """Cases by the kernel that they check."""
    found: defaultdict[Key, list[Case]] = defaultdict(list)
    for document in documents:
        for case in document.get("cases", ()):
            path = paths.find(case.get("source") or case.get("path"))
            found[path, plain_name(str(case.get("kernel", "")))].append(_case(case))
    return found


def _case(case: Mapping[str, Any]) -> Case:
    sides = case.get("sides") or ()
    return Case(
        name=str(case.get("name", "")),
        path=str(case.get("path", "")),
        status=str(case.get("status", "not-run")),
        reason=str(case.get("reason") or ""),
        runs=tuple(map(_run, sides)),
        pairs=tuple(map(_pair, case.get("devices") or ())),
        does_not_show=tuple(dict.fromkeys(str(text) for side in sides for text in side.get("does_not_show") or ())),
        command=_command(case.get("repeat")),
        instance=arguments_of(str(case.get("kernel", ""))),
    )


def _run(side: Mapping[str, Any]) -> Run:
    evidence = side.get("evidence") or {}
    told = [side.get("reason"), evidence.get("message")]
    warp = f" ({side['warp']})" if side.get("warp") not in (None, "preserve") else ""
    return Run(
        side=f"{side.get('side', '')}{warp}",
        device=str(side.get("device", "")),
        lanes=side.get("lanes"),
        status=str(side.get("status", "not-run")),
        reason="; ".join(dict.fromkeys(str(text) for text in told if text)),
        outputs=tuple(map(_output, side.get("outputs") or ())),
        counters=_counters(side.get("counters") or {}),
        command=_command(side.get("command")),
    )


_SHOWN_COUNTERS = {
    "active_lanes": "active lanes per vector instruction",
    "vector_instructions": "vector instructions",
    "divergent_branches": "divergent branches",
    "matrix_operations": "matrix operations",
}


def _counters(counted: Mapping[str, Any]) -> dict[str, float]:
    """Of what a device counts, the figures that fit a bar."""
    found = {name: counted.get(key) for key, name in _SHOWN_COUNTERS.items()}
    found |= {f"bytes asked for, {level}": count for level, count in (counted.get("bytes_moved") or {}).items()}
    sites = counted.get("memory") or ()
    least = sum(site.get("least_lines", 0) for site in sites)
    if least:
        found["memory lines per line that would do"] = sum(site.get("lines", 0) for site in sites) / least
        found["LDS bank conflicts"] = sum(site.get("conflicts", 0) for site in sites)
    return {name: value for name, value in found.items() if value}


def _output(output: Mapping[str, Any]) -> Output:
    return Output(
        name=str(output.get("name", "")),
        max_error=output.get("max_error"),
        rms_error=output.get("rms_error"),
        of_allowed=output.get("of_allowed"),
        ulps=tuple(one["elements"] for one in output.get("ulps") or ()),
    )


def _pair(pair: Mapping[str, Any]) -> Pair:
    against = ", ".join(pair.get("against") or ()) or pair.get("original") or "reference"
    ratio = pair.get("accuracy_ratio")
    accuracy = f"{ratio:.3g} times the original's error" if isinstance(ratio, (int, float)) else None
    told = [pair.get("reason"), pair.get("agreement"), accuracy]
    what = f"{pair.get('port') or pair.get('original')} against {against}"
    return Pair(what, str(pair.get("status", "not-run")), "; ".join(str(text) for text in told if text))


def _command(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return shlex.join(map(str, value))
    return str(value or "")


def programs_of(documents: Iterable[Mapping[str, Any]]) -> tuple[Program, ...]:
    """What `porter run --compare` said; those that do not agree first."""
    found = [_program(one) for document in documents for one in document["programs"]]
    return tuple(sorted(found, key=lambda one: (one.agrees, not one.is_wrong, one.name)))


def _program(one: Mapping[str, Any]) -> Program:
    runs = [run for run in (one["original"], one["port"]) if run is not None]
    answered = dict.fromkeys(str(call["text"]) for run in runs for call in run["stand_ins"])
    return Program(
        str(one["name"]),
        str(one["verdict"]),
        str(one["side"] or ""),
        str(one["reason"] or ""),
        str(one["says"] or ""),
        tuple(int(run["launches"]) for run in runs),
        len(one["port"]["kernels"]) if one["port"] is not None else 0,
        tuple(answered),
    )

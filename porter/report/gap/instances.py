"""Instances of a kernel's template: which were compiled, and which of them were run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.report.gap.model import Build, Case, Instance

_SAME = (
    (re.compile(r"\b(?:std|c10|at)::"), ""),
    (re.compile(r"\b(?:__nv_bfloat16|__hip_bfloat16|nv_bfloat16|hip_bfloat16|BFloat16)\b"), "bf16"),
    (re.compile(r"\b(?:__half|half|Half|_Float16)\b"), "f16"),
    (re.compile(r"\b(?:u?int64_t|size_t|long long|long)\b(?: int)?"), "long"),
    (re.compile(r"\b(?:uint32_t|unsigned int|int32_t)\b"), "int"),
    (re.compile(r"\(\w[\w ]*\)(?=\d|true|false)"), ""),
    (re.compile(r"(?<=\d)[uUlL]+\b"), ""),
    (re.compile(r"\btrue\b"), "1"),
    (re.compile(r"\bfalse\b"), "0"),
    (re.compile(r"\s+"), ""),
)


def arguments_of(name: str) -> str:
    """`<float, 4>` of `void ns::reduce<float, 4>(float*)`; empty where the name has none at its end."""
    head = name.replace("(anonymous namespace)::", "")
    depth, start = 0, -1
    for place, char in enumerate(head):
        if char == "<":
            start = place if depth == 0 else start
            depth += 1
        elif char == ">" and depth:
            depth -= 1
            if depth == 0 and head[place + 1 : place + 2] in ("", "("):
                return head[start : place + 1]
        elif char == "(" and depth == 0:
            return ""
    return ""


def instances_of(builds: Sequence[Build], cases: Sequence[Case]) -> tuple[Instance, ...]:
    """Compiled instances first, with the verdict of the cases that ran them; then those that were run alone."""
    built = dict.fromkeys(arguments_of(build.name) for build in builds)
    built.pop("", None)
    run: dict[str, list[Case]] = {}
    for case in cases:
        if case.instance and case.status != "not-run":
            run.setdefault(_plain(case.instance), []).append(case)
    names = {_plain(name) for name in built}
    own = [Instance(name, True, _verdict(run.get(_plain(name), ()))) for name in built]
    rest = [Instance(found[0].instance, False, _verdict(found)) for key, found in run.items() if key not in names]
    return (*own, *rest)


def all_run(instances: Sequence[Instance]) -> bool:
    """Whether every compiled instance was run: as many as were compiled, where their names cannot be matched."""
    built = sum(one.built for one in instances)
    return built < 2 or sum(bool(one.verdict) for one in instances) >= built


def _verdict(cases: Sequence[Case]) -> str:
    statuses = {case.status for case in cases}
    return next((status for status in sorted(statuses) if status != "passed"), "passed" if statuses else "")


def _plain(arguments: str) -> str:
    for pattern, new in _SAME:
        arguments = pattern.sub(new, arguments)
    return arguments

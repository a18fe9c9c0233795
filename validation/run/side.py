"""One side of a case, an original or a port on its device: compiled, in its trials, and in the end."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.validation.cases.case import Case
from porter.validation.devices.core.result import NotRun
from porter.validation.devices.device import CUT_OUT, BuildFailed, Device, Loaded
from porter.validation.devices.virtual import VirtualDevice
from porter.validation.run.task import OpenDevice, Say, SidePlan, Task
from porter.validation.toolchain.headers import used_by
from porter.validation.toolchain.store import NO_ROOM
from porter.validation.verdict.outcome import Evidence, OutputResult, SideResult, Status, worst

_KEPT = 4000
"""Characters kept of what a compiler said."""
_ROOM = 4 << 20
"""Bytes without which a compiler cannot work."""
_NOTHING_SEEN = "the original printed nothing and left its variables alone: there is nothing to compare"
_NOT_SEEN = "what a kernel prints, or leaves in variables, is seen on virtual devices alone"
_ASSUMED = "compiled with what the case assumes in place of names that nothing defines: "


@dataclass
class Side:
    """What is known of a side while its trials go on."""

    plan: SidePlan
    device: Device
    loaded: Loaded
    statuses: list[Status] = field(default_factory=list)
    outputs: dict[str, OutputResult] = field(default_factory=dict)
    evidence: Evidence | None = None
    reason: str = ""
    failed: list[str] = field(default_factory=list)
    launches: int = 0
    notes: dict[str, None] = field(default_factory=dict)
    squares: float = 0.0
    elements: int = 0
    counters: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    is_over: bool = False
    silent: int = 0
    """Trials in which the original showed nothing of what is observed."""


def begin(plan: SidePlan, task: Task, open_device: OpenDevice, say: Say) -> Side | SideResult:
    """The side with its kernel compiled, or what stands in the way."""
    if plan.program is None:
        return _stopped(plan, Status.NOT_RUN, plan.reason)
    declared = task.case.reason_not_run(plan.device)
    if declared is not None:
        return _stopped(plan, Status.NOT_RUN, declared)
    device = open_device(plan.device)
    if task.case.observed and not isinstance(device, VirtualDevice):
        return _stopped(plan, Status.NOT_RUN, _NOT_SEEN)
    say(plan.key, f"compile {plan.program.source.name}", task.build_seconds * 2 + task.grace_seconds)
    started = time.monotonic()
    loaded = device.compile(plan.program, task.build_seconds)
    seconds = time.monotonic() - started
    if isinstance(loaded, NotRun):
        return _stopped(plan, Status.NOT_RUN, loaded.reason, device, seconds)
    if isinstance(loaded, BuildFailed):
        return _refused(plan, task.case, loaded, device, seconds)
    said = [f"{_ASSUMED}{'; '.join(task.case.assumed)}"] if task.case.assumed else []
    notes = dict.fromkeys([*getattr(loaded, "notes", ()), *said])
    return Side(plan, device, loaded, notes=notes, seconds=seconds)


def _refused(plan: SidePlan, case: Case, failed: BuildFailed, device: Device, seconds: float) -> SideResult:
    """A compiler's no: not the port's fault where porter itself said that work is left, or a header is not here."""
    said = failed.output.strip()
    first = next((line for line in said.splitlines() if "error" in line), said.splitlines()[0] if said else "no output")
    cut = next((line for line in said.partition(CUT_OUT)[2].splitlines() if "error" in line), "")
    status, reason = Status.BUILD_FAILED, first.strip()
    left = [sentence for path, sentence in plan.left if first.startswith(path)]
    missing = _missing_header(first)
    if left:
        more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
        status, reason = Status.NOT_RUN, f"manual work is left in the port: {left[0]}{more}; {first.strip()}"
    elif NO_ROOM.search(said) or _is_disk_full():
        status, reason = Status.NOT_RUN, f"the compiler had no room to work: {first.strip()}"
    elif missing is not None:
        around = _folder_around(case, missing) if plan.side == "port" else None
        why = (
            "is not installed here" if around is None else f"is not ported with it: say root = {around} in {case.path}"
        )
        status, reason = Status.NOT_RUN, f"header {missing} {why}: {first.strip()}"
    reason = f"{reason}; cut out of it: {cut.strip()}" if cut else reason
    result = _stopped(plan, status, reason, device, seconds, failed.command)
    return replace(result, notes=(_shortened(said),)) if said else result


def _folder_around(case: Case, header: str) -> str | None:
    """What to give as `root`, where a header that the source includes lies outside of the folder that is ported."""
    found = case.source.parent / header
    if not found.is_file() or found.resolve().is_relative_to(case.root.resolve()):
        return None
    around = os.path.commonpath([found.resolve(), case.root.resolve()])
    return json.dumps(Path(os.path.relpath(around, case.path.parent.resolve())).as_posix())


def _is_disk_full() -> bool:
    """Not every compiler says so."""
    try:
        return shutil.disk_usage(os.environ.get("TMPDIR") or tempfile.gettempdir()).free < _ROOM
    except OSError:
        return False


def _shortened(said: str) -> str:
    """The beginning and the end of a long text, of both where it is about a file and the kernel alone."""
    whole, mark, cut = said.partition(CUT_OUT)
    if mark:
        return f"{_shortened(whole)}{mark}{_shortened(cut)}"
    if len(said) <= _KEPT:
        return said
    head, tail = said[: _KEPT * 3 // 4], said[-_KEPT // 4 :]
    return f"{head}\n... {len(said) - len(head) - len(tail)} characters left out ...\n{tail}"


def _missing_header(line: str) -> str | None:
    for mark in ("file not found", "No such file or directory", "could not open source file"):
        if mark in line:
            quoted = [part for part in line.replace('"', "'").split("'")[1::2] if part]
            return quoted[0] if quoted else line.rpartition(mark)[0].rpartition("error:")[2].strip(" :")
    return None


def _stopped(
    plan: SidePlan,
    status: Status,
    reason: str,
    device: Device | None = None,
    seconds: float = 0.0,
    command: tuple[str, ...] = (),
) -> SideResult:
    return SideResult(
        plan.side,
        plan.device,
        device.lanes if device is not None else 0,
        status,
        plan.warp,
        reason,
        source=str(plan.program.source) if plan.program else "",
        command=command,
        headers=(used_by(command) or "") if plan.program and plan.program.language == "hip" else "",
        does_not_show=device.does_not_show if device is not None else (),
        seconds=seconds,
    )


def finished(side: Side, trials: int, error: tuple[str, int, str] | None) -> SideResult:
    """What came of a side; `error` is a fault of the case itself, which no side can pass."""
    status, reason = worst(side.statuses), side.reason
    if status is Status.PASSED and side.silent == len(side.statuses) > 0:
        status, reason = Status.NOT_RUN, _NOTHING_SEEN
    if error is not None and status in (Status.PASSED, Status.NOT_RUN):
        status, reason = Status.NOT_RUN, f"{error[0]}:{error[1]}: {error[2]}"
    elif not side.statuses:
        reason = "the sweep has no shapes"
    if len(side.failed) and len(side.failed) < len(side.statuses):
        side.notes[f"fails in {len(side.failed)} of {len(side.statuses)} trials: {'; '.join(side.failed[:12])}"] = None
    result = _stopped(side.plan, status, reason, side.device, side.seconds, side.loaded.command)
    return replace(
        result,
        evidence=side.evidence,
        outputs=tuple(side.outputs.values()),
        trials=trials,
        launches=side.launches,
        notes=tuple(side.notes),
        counters=dict(side.counters),
    )

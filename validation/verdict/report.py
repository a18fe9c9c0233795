"""The report of `porter validate` as JSON, text and Markdown. Pure."""

from __future__ import annotations

import importlib.metadata
import platform
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from porter.validation.verdict.compare import BINS
from porter.validation.verdict.outcome import (
    CaseResult,
    Evidence,
    OutputResult,
    PairResult,
    SideResult,
    Status,
    ValidateReport,
    Written,
)

from porter import __version__

SCHEMA = "porter-validate/1"


def versions() -> dict[str, str]:
    """What takes part, beside the compilers."""
    found = {"porter": __version__, "python": platform.python_version()}
    for name in ("numpy", "torch"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def counts(report: ValidateReport) -> dict[str, int]:
    """Cases per status, every status named."""
    found = Counter(case.status for case in report.cases)
    return {status.value: found[status] for status in Status}


# -- JSON ---------------------------------------------------------------------------------------------


def report_json(report: ValidateReport) -> dict[str, Any]:
    """The document that `schemas/validate.json` describes."""
    return {**head_json(report), "cases": [case_json(case) for case in report.cases]}


def head_json(report: ValidateReport) -> dict[str, Any]:
    """The document but for its cases."""
    return {
        "schema": SCHEMA,
        "versions": versions(),
        "settings": report.settings,
        "devices": [{"name": name, "reason": reason or None} for name, reason in report.devices],
        "totals": counts(report),
        "errors": [{"path": e.path, "line": e.line, "message": e.message} for e in report.errors],
    }


def case_json(case: CaseResult) -> dict[str, Any]:
    """One of the document's `cases`."""
    return {
        "name": case.name,
        "path": case.path,
        "line": case.line,
        "source": case.source,
        "kernel": case.kernel,
        "status": case.status.value,
        "reason": case.reason,
        "declared": case.declared,
        "seeds": list(case.seeds),
        "trials": list(case.trials),
        "devices": [_pair(pair) for pair in case.pairs],
        "sides": [_side(side) for side in case.sides],
        "repeat": shlex.join(case.repeat),
        "seconds": round(case.seconds, 3),
    }


def _pair(pair: PairResult) -> dict[str, Any]:
    return {
        "original": pair.original,
        "port": pair.port,
        "warp": pair.warp,
        "status": pair.status.value,
        "reason": pair.reason,
        "against": list(pair.against),
        "agreement": pair.agreement,
        "accuracy_ratio": _number(pair.ratio),
        "evidence": _evidence(pair.evidence),
        "original_evidence": _evidence(pair.original_evidence),
    }


def _side(side: SideResult) -> dict[str, Any]:
    return {
        "side": side.side,
        "device": side.device,
        "warp": side.warp,
        "lanes": side.lanes,
        "status": side.status.value,
        "reason": side.reason,
        "evidence": _evidence(side.evidence),
        "outputs": [_output(output) for output in side.outputs],
        "trials": side.trials,
        "launches": side.launches,
        "source": side.source,
        "command": shlex.join(side.command),
        "headers": side.headers or None,
        "does_not_show": list(side.does_not_show),
        "notes": list(side.notes),
        "counters": {name: round(count, 4) for name, count in side.counters.items()},
        "seconds": round(side.seconds, 3),
    }


def _output(output: OutputResult) -> dict[str, Any]:
    return {
        "name": output.name,
        "elements": output.elements,
        "bitwise": output.bitwise,
        "max_error": _number(output.max_error),
        "rms_error": _number(output.rms_error),
        "of_allowed": _number(output.of_allowed),
        "ulps": [{"at_most": end, "elements": n} for end, n in zip((*BINS, None), output.ulps, strict=False)],
    }


def _evidence(evidence: Evidence | None) -> dict[str, Any] | None:
    if evidence is None:
        return None
    return {
        "message": evidence.message,
        "trial": evidence.trial,
        "schedule": evidence.schedule,
        "output": evidence.output,
        "index": None if evidence.index is None else list(evidence.index),
        "written_by": _writer(evidence.written_by),
        "original_written_by": _writer(evidence.original_written_by),
    }


def _writer(by: Written | None) -> dict[str, Any] | None:
    if by is None:
        return None
    return {"kernel": by.kernel, "block": list(by.block), "thread": list(by.thread), "where": by.where}


def _number(value: float | None) -> float | str | None:
    """JSON has no infinities."""
    if value is None or value in (float("inf"), float("-inf")) or value != value:
        return None if value is None else str(value)
    return value


# -- tables -------------------------------------------------------------------------------------------

_HEAD = ("case", "original", "port", "verdict", "agreement", "evidence")


def _rows(report: ValidateReport) -> Iterator[tuple[str, ...]]:
    for case in report.cases:
        for pair in case.pairs:
            port = "" if pair.port is None else f"{pair.port} ({pair.warp})" if pair.warp else pair.port
            shown = _shown(case, pair)
            yield case.name, pair.original or "", port, pair.status.value, pair.agreement or "", shown
        if not case.pairs:
            yield case.name, "", "", case.status.value, "", case.reason


def _shown(case: CaseResult, pair: PairResult) -> str:
    if pair.status is not Status.PASSED:
        return pair.reason
    side = _port_of(case, pair)
    parts = [_accuracy(side)] if side is not None else []
    if pair.ratio is not None and not _is_bitwise(side):
        parts.append(f"error {pair.ratio:.2f} x the original's")
    return "; ".join([*parts, *([pair.reason] if pair.reason else [])])


def _port_of(case: CaseResult, pair: PairResult) -> SideResult | None:
    wanted = ("port", pair.port, pair.warp) if pair.port is not None else ("original", pair.original, None)
    return next((side for side in case.sides if (side.side, side.device, side.warp) == wanted), None)


def _is_bitwise(side: SideResult | None) -> bool:
    return side is not None and all(output.bitwise for output in side.outputs)


def _accuracy(side: SideResult) -> str:
    trials = f"{side.trials} trial{'s' * (side.trials != 1)}"
    if not side.outputs:
        return trials
    if _is_bitwise(side):
        return f"bitwise, {trials}"
    largest = max(output.of_allowed for output in side.outputs)
    error = max(output.max_error for output in side.outputs)
    return f"largest error {error:.2g}, {100 * largest:.3g} % of what is allowed, {trials}"


def _summary(report: ValidateReport) -> str:
    found = [f"{count} {status}" for status, count in counts(report).items() if count]
    cases = (
        f"{len(report.cases)} case{'s' * (len(report.cases) != 1)}: {', '.join(found)}" if found else "no case was run"
    )
    unusable = len({error.path for error in report.errors})
    return f"{cases}; {unusable} case file{'s' * (unusable != 1)} cannot be used as a whole" if unusable else cases


def _left_open(report: ValidateReport) -> dict[str, tuple[str, ...]]:
    return {side.device: side.does_not_show for case in report.cases for side in case.sides if side.does_not_show}


def _headers(report: ValidateReport) -> dict[str, str]:
    """The devices that ports were compiled for, and HIP's headers that they were compiled with."""
    return {side.device: side.headers for case in report.cases for side in case.sides if side.headers}


def report_text(report: ValidateReport, *, verbose: bool = False) -> str:
    """A table, what went wrong in full, and what the devices do not show."""
    rows = tuple(_rows(report))
    lines = [*_columns([_HEAD, *rows]), ""] if rows else []
    for case in report.cases:
        lines += _details(case, verbose=verbose)
    lines += [f"{error.path}:{error.line}: {error.message}" for error in report.errors]
    for device, open_points in _left_open(report).items():
        lines.append(f"{device} does not show: {', '.join(open_points)}")
    lines += [f"{device}: compiled with the headers of {headers}" for device, headers in _headers(report).items()]
    asked = report.settings.get("devices", [])
    lines += [f"{name} was not used: {reason}" for name, reason in report.devices if reason and name not in asked]
    return "\n".join([*lines, _summary(report)]) + "\n"


def _details(case: CaseResult, *, verbose: bool) -> list[str]:
    lines: list[str] = []
    for side in case.sides:
        where = f"{side.side} on {side.device}{f' ({side.warp})' if side.warp else ''}"
        if side.status is Status.PASSED and not verbose:
            hazards = {note.partition(":")[0]: note for note in reversed(side.notes) if note.startswith("hazard")}
            lines += [f"{case.name}: {where}: {hazards[kind]}" for kind in sorted(hazards)]
            continue
        if side.status is Status.NOT_RUN and not verbose and (case.declared or side.evidence is None):
            continue
        lines.append(f"{case.name}: {where}: {side.status.value}: {side.reason}")
        if side.evidence is not None:
            schedule = f", {side.evidence.schedule}" if side.evidence.schedule else ""
            lines.append(f"  in the trial {side.evidence.trial}{schedule}")
            lines += _written(side.evidence)
        lines += [f"  {line}" for note in side.notes for line in note.splitlines()[: None if verbose else 6]]
        if verbose and side.command:
            lines.append(f"  compiled with: {shlex.join(side.command)}")
    if lines:
        lines += [f"  repeat with: {shlex.join(case.repeat)}", ""]
    return lines


def _written(evidence: Evidence) -> list[str]:
    found = (("written", evidence.written_by), ("in the original written", evidence.original_written_by))
    return [
        f"  {how} by {by.kernel}, block {by.block}, thread {by.thread}, at {by.where}"
        for how, by in found
        if by is not None
    ]


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    used = [index for index in range(len(_HEAD)) if any(row[index] for row in rows[1:])] or [0]
    widths = {index: min(max(len(row[index]) for row in rows), 60) for index in used}
    lines: list[str] = []
    for row in rows:
        cells = [row[i] if i == used[-1] else row[i].ljust(widths[i]) for i in used]
        lines.append("  ".join(cells).rstrip())
    return lines


def report_markdown(report: ValidateReport) -> str:
    """The table for a pull request."""
    lines = [f"| {' | '.join(_HEAD)} |", f"|{'---|' * len(_HEAD)}"]
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in _rows(report)]
    lines += [""]
    lines += [f"- {_cell(f'{error.path}:{error.line}: {error.message}')}" for error in report.errors]
    for device, open_points in _left_open(report).items():
        lines.append(f"- `{device}` does not show: {', '.join(open_points)}")
    lines += [f"- `{device}`: compiled with the headers of {_cell(used)}" for device, used in _headers(report).items()]
    return "\n".join([*lines, "", _summary(report)]) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")

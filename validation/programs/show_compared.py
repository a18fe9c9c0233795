"""Compared programs as text and as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from porter.validation.programs.agreement import Compared
from porter.validation.programs.compare import ComparedProject
from porter.validation.programs.show import run_json

SCHEMA = "porter-programs-1"


def compared_json(report: ComparedProject) -> dict[str, Any]:
    """As plain values (docs/schemas/porter-programs-1.json)."""
    return {"schema": SCHEMA, "programs": [_json(program) for program in report.programs]}


def _json(compared: Compared) -> dict[str, Any]:
    return {
        "name": compared.name,
        "verdict": compared.agreement.value,
        "reason": compared.reason,
        "side": compared.side,
        "says": compared.says,
        "original": None if compared.original is None else run_json(compared.original),
        "port": None if compared.port is None else run_json(compared.port),
    }


def compared_text(report: ComparedProject) -> str:
    """A line per program, then how many of what."""
    return "".join(map(compared_line, report.programs)) + compared_counts(report)


def compared_line(program: Compared) -> str:
    """What one program came to."""
    runs = [run for run in (program.original, program.port) if run is not None]
    launches = " and ".join(str(run.account.launches) for run in runs)
    ran = f" ({launches} launches)" if launches else ""
    own = " both say that they fail" if program.says == "fail" and program.agreement.value == "agree" else ""
    reason = f": {program.reason}" if program.reason else ""
    return f"{program.agreement.value:14} {program.name}{ran}{own}{reason}\n"


def compared_counts(report: ComparedProject) -> str:
    """How many of what."""
    counts = Counter(program.agreement.value for program in report.programs)
    said = ", ".join(f"{number} {what}" for what, number in counts.most_common())
    return f"{len(report.programs)} programs: {said}\n"

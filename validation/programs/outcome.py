"""What one run of a program came to."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # estimates take longer to load than a run
    from porter.validation.programs.profile import Profile


class Verdict(str, enum.Enum):
    """One word for it; only the first is a pass."""

    PASSED = "passed"
    FAILED = "failed"
    """The program said so: an exit code other than 0."""
    FAULT = "fault"
    UNSUPPORTED = "unsupported"
    NO_LAUNCH = "no-launch"
    """Nothing was launched: the run shows nothing."""
    IGNORED_ERROR = "ignored-error"
    """A call failed, and the program ended as if it had not."""
    TOO_LONG = "too-long"
    CRASHED = "crashed"
    NOT_RUN = "not-run"


EXIT_CODES = {
    Verdict.FAULT: 120,
    Verdict.UNSUPPORTED: 121,
    Verdict.NO_LAUNCH: 122,
    Verdict.IGNORED_ERROR: 123,
    Verdict.TOO_LONG: 124,
    Verdict.NOT_RUN: 125,
}
"""Of `porter run`; a program that passed or failed keeps its own, one that a signal ended has 128 and the signal."""
_DROPPED = "operations, which were dropped"
"""In the note on what streams held when the program ended (queue.c)."""
_NATURAL = {"cudaErrorNotReady", "hipErrorNotReady"}


@dataclass(frozen=True)
class Happening:
    """A fault, a failed call or something noted, and how often."""

    text: str
    count: int
    details: Mapping[str, Any]


@dataclass(frozen=True)
class KernelUse:
    """What one kernel did in a run."""

    name: str
    launches: int
    known: int
    """Launches of these that did not have to run: their result was known."""
    blocks: int
    lane_instructions: int
    seconds: float


@dataclass(frozen=True)
class TestOutcome:
    """One test of a suite that pytest ran."""

    __test__ = False
    name: str
    outcome: str
    """`passed`, `failed`, `error`, `skipped`, `xfailed`, `xpassed`, or `not-ended`."""
    reason: str = ""
    """The last line of what failed, or why it was skipped."""


@dataclass(frozen=True)
class Account:
    """What the devices of one run say, over all its processes."""

    sides: tuple[str, ...] = ()
    launches: int = 0
    known: int = 0
    """Launches of these that did not have to run: same kernel, arguments and memory as one before."""
    lane_instructions: int = 0
    device_seconds: float = 0.0
    kernels: tuple[KernelUse, ...] = ()
    faults: tuple[Happening, ...] = ()
    unsupported: tuple[Happening, ...] = ()
    failed_calls: tuple[Happening, ...] = ()
    notes: tuple[Happening, ...] = ()
    stand_ins: tuple[Happening, ...] = ()
    operators: tuple[tuple[str, int], ...] = ()
    """PyTorch's own operators that ran on the host instead of the device, and how often."""
    tests: tuple[TestOutcome, ...] = ()
    """What pytest said of each test; none where the program is no test suite."""
    endings: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    """Kernels that were at work when a process was ended."""
    printed: bool = False
    """Whether a kernel did: its lines have no order."""


@dataclass(frozen=True)
class ProgramRun:
    """One run: the command, how it ended, what it printed, what the devices say."""

    command: tuple[str, ...]
    verdict: Verdict
    reason: str
    code: int | None
    """The program's exit status, negative for a signal."""
    account: Account
    seconds: float
    cpu_seconds: float = 0.0
    output: bytes = b""
    """Standard output, where it was kept."""
    errors: bytes = b""
    profile: Profile | None = None
    """Counters and estimates of the launches, where they were asked for."""

    @property
    def exit_code(self) -> int:
        """Of `porter run`."""
        if self.verdict in EXIT_CODES:
            return EXIT_CODES[self.verdict]
        if self.code is None:
            return EXIT_CODES[Verdict.NOT_RUN]
        return 128 - self.code if self.code < 0 else self.code


def gathered(reports: Sequence[Mapping[str, Any]]) -> Account:
    """The reports of all processes as one."""
    kernels: dict[str, KernelUse] = {}
    for report in reports:
        for row in report["kernels"]:
            use = KernelUse(
                row["name"],
                row["launches"],
                row["known"],
                row["blocks"],
                row["lane_instructions"],
                row["seconds"],
            )
            before = kernels.get(use.name)
            kernels[use.name] = use if before is None else _both(before, use)
    return Account(
        sides=tuple(dict.fromkeys(report["side"] for report in reports)),
        launches=sum(report["launches"] for report in reports),
        known=sum(report["known"] for report in reports),
        lane_instructions=sum(report["lane_instructions"] for report in reports),
        device_seconds=sum(report["seconds"] for report in reports),
        kernels=tuple(sorted(kernels.values(), key=lambda use: -use.lane_instructions)),
        faults=_happenings(reports, "faults"),
        unsupported=_happenings(reports, "unsupported_kernels") + _happenings(reports, "unsupported_calls"),
        failed_calls=_happenings(reports, "failed_calls"),
        notes=_happenings(reports, "notes"),
        stand_ins=_happenings(reports, "stand_ins"),
        endings=tuple(dict.fromkeys(report["ending"] for report in reports if report["ending"])),
        running=tuple(dict.fromkeys(report["running"] for report in reports if report["running"])),
        printed=any(report["printed"] for report in reports),
    )


def _both(first: KernelUse, second: KernelUse) -> KernelUse:
    return KernelUse(
        first.name,
        first.launches + second.launches,
        first.known + second.known,
        first.blocks + second.blocks,
        first.lane_instructions + second.lane_instructions,
        first.seconds + second.seconds,
    )


def _happenings(reports: Sequence[Mapping[str, Any]], key: str) -> tuple[Happening, ...]:
    rows = [row for report in reports for row in report[key]]
    return tuple(
        Happening(row["text"], row["count"], {k: v for k, v in row.items() if k not in ("text", "count")})
        for row in rows
    )


def _test_of(account: Account) -> str:
    return next((f", in {test.name}" for test in account.tests if test.outcome == "not-ended"), "")


def judge(code: int | None, stopped: str | None, account: Account) -> tuple[Verdict, str]:
    """The verdict, and the reason in a sentence."""
    ending, during = account.endings[0] if account.endings else "", _test_of(account)
    if stopped is not None:
        where = f", in {account.running[0]}" if account.running else ", outside of kernels"
        return Verdict.TOO_LONG, stopped + where + during
    if code == EXIT_CODES[Verdict.TOO_LONG] and ending:
        return Verdict.TOO_LONG, ending
    if code == EXIT_CODES[Verdict.NOT_RUN] and ending:
        return Verdict.NOT_RUN, ending
    if account.unsupported:
        return Verdict.UNSUPPORTED, account.unsupported[0].text + during
    if account.faults:
        budget = account.faults[0].details.get("kind") == "budget"
        return (Verdict.TOO_LONG if budget else Verdict.FAULT), account.faults[0].text + during
    errors = [call for call in account.failed_calls if call.details.get("name") not in _NATURAL]
    if code is not None and code < 0:
        before = f" after an error of {errors[0].text} ({errors[0].details.get('name')})" if errors else ""
        return Verdict.CRASHED, f"ended by signal {-code}{before}{during}"
    if code != 0:
        return Verdict.FAILED, f"exit code {code}"
    if not account.launches:
        answered = sum(row.count for row in account.stand_ins)
        only = f"; {answered} calls were answered by stand-ins" if answered else ""
        dropped = next((f"; {row.text}" for row in account.notes if _DROPPED in row.text), "")
        failed = f"; the first error: {errors[0].text} ({errors[0].details.get('name')})" if errors else ""
        return Verdict.NO_LAUNCH, f"no kernel was launched: the run shows nothing{only}{dropped}{failed}"
    if errors:
        said = f"{errors[0].text} ({errors[0].details.get('name')})"
        return Verdict.IGNORED_ERROR, f"the program went on after an error of {said}"
    return Verdict.PASSED, ""

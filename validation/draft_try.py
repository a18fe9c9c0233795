"""Tries the sizes of a draft: the original itself, on a device, says which of them it takes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.validation.case import CaseError
from porter.validation.casefile import load_cases
from porter.validation.draft import Draft, DraftedCase
from porter.validation.run import Request, validate
from porter.validation.verdict import CaseResult, Status

_DEVICE = "ptx"
_LONGEST = 160
_FINAL = (Status.BUILD_FAILED, Status.NOT_RUN, Status.TIMED_OUT)
"""What other sizes do not change."""


@dataclass(frozen=True)
class TriedCase:
    """A drafted case, the sizes that the original takes, and what it says of the others."""

    case: DraftedCase
    chosen: tuple[int, ...]
    reason: str = ""
    """Why there is none."""
    status: Status = Status.PASSED
    """Of the original, where there is none."""
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The case, with the sizes that run; as drafted where none does."""
        said = [f"the original with the sizes of the draft: {self.reason}"] if self.reason else list(self.notes)
        return self.case.text(self.chosen or None, notes=said)


def try_sizes(draft: Draft, source: Path, launch_seconds: float = 20.0, jobs: int = 1) -> tuple[TriedCase, ...]:
    """Every case with its first sizes that run: small ones for a kernel that guards its indices, else one that does.

    Cases with something to fill in are not run.
    """
    tried: dict[int, TriedCase] = {}
    open_cases = dict(enumerate(draft.parts))
    for number, part in list(open_cases.items()):
        if part.marks:
            tried[number] = TriedCase(part, (), f"to fill in: {part.marks[0]}", Status.NOT_RUN)
            del open_cases[number]
    first = {number: tuple(range(part.sizes.preferred)) for number, part in open_cases.items()}
    rounds: list[Mapping[int, tuple[int, ...]]] = [first]
    most = max((len(part.sizes.tables) for part in open_cases.values()), default=0)
    rounds += [
        {
            number: (place,)
            for number, part in open_cases.items()
            if part.sizes.preferred <= place < len(part.sizes.tables)
        }
        for place in range(most)
    ]
    for wanted in rounds:
        asked = {number: places for number, places in wanted.items() if number in open_cases}
        if not asked:
            continue
        results = _run(draft, source, asked, launch_seconds, jobs)
        for number, places in asked.items():
            tried[number] = _judged(draft.parts[number], places, results, number, tried.get(number))
            if tried[number].chosen or tried[number].status in _FINAL:
                del open_cases[number]
    return tuple(tried[number] for number in range(len(draft.parts)))


def text_of(draft: Draft, tried: Sequence[TriedCase]) -> str:
    """The case file."""
    return "\n".join([draft.head, *(one.text for one in tried)])


def _judged(
    part: DraftedCase,
    places: Sequence[int],
    results: Mapping[str, CaseResult | str],
    number: int,
    before: TriedCase | None,
) -> TriedCase:
    fine: list[int] = []
    status, reason = Status.NOT_RUN, "not run"
    refused: list[str] = []
    for place in places:
        result = results.get(_name(number, place), "not run")
        if isinstance(result, CaseResult) and result.status in (Status.PASSED, Status.NONDETERMINISTIC):
            fine.append(place)
            continue
        status = result.status if isinstance(result, CaseResult) else Status.NOT_RUN
        reason = " ".join((result.reason if isinstance(result, CaseResult) else result).split())[:_LONGEST]
        refused.append(f"{_sizes(part, place)}: {status.value}: {reason}")
    if fine:
        return TriedCase(part, tuple(fine), notes=tuple(f"left out, {one}" for one in refused))
    if before is not None and status is Status.NOT_RUN:
        return before
    return TriedCase(part, (), f"{status.value}: {reason}", status)


def _sizes(part: DraftedCase, place: int) -> str:
    pairs = zip(part.sizes.names, part.sizes.tables[place], strict=True)
    return ", ".join(f"{name}={value}" for name, value in pairs) or "no sizes"


def _name(number: int, place: int) -> str:
    return f"try_{number}_{place}"


def _run(
    draft: Draft, source: Path, asked: Mapping[int, Sequence[int]], launch_seconds: float, jobs: int
) -> dict[str, CaseResult | str]:
    """What the original came to with each table of sizes: a case for each."""
    with tempfile.TemporaryDirectory(prefix="porter-try-") as folder:
        path = Path(folder) / "try.case.toml"
        found: dict[str, CaseResult | str] = {}
        parts: list[str] = []
        for number, places in asked.items():
            for place in places:
                part = draft.parts[number]
                text = part.text((place,), name=_name(number, place))
                try:
                    path.write_text(_head(source) + text, "utf-8")
                    load_cases(path)
                    parts.append(text)
                except CaseError as error:
                    found[_name(number, place)] = error.message
        if not parts:
            return found
        path.write_text("\n".join([_head(source), *parts]), "utf-8")
        request = Request((path,), (_DEVICE,), schedules=1, jobs=jobs, launch_seconds=launch_seconds)
        outcome = validate(request)
        found |= {case.name: case for case in outcome.report.cases}
        for wrong in outcome.report.errors:
            for number, places in asked.items():
                for place in places:
                    found.setdefault(_name(number, place), wrong.message)
        return found


def _head(source: Path) -> str:
    absolute = source.absolute()
    return f'schema = "porter-case/1"\nsource = {_string(absolute)}\nroot = {_string(absolute.parent)}\n'


def _string(path: Path) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'

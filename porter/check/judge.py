"""Which findings are new, accepted or known, and which entries of the baseline match nothing. Pure."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from porter.check.baseline import Accepted
from porter.check.fail_on import FailOn
from porter.check.matching import Mark, match
from porter.check.result import HAZARD_GROUPS, Checked, State
from porter.check.side import Detail
from porter.engine.knowledge import rule_infos
from porter.project.records import Entry


@dataclass(frozen=True)
class Spotted:
    """A finding on one side, with what it is recognised by."""

    mark: Mark
    entry: Entry
    detail: Detail


@dataclass(frozen=True)
class Seen:
    """What was looked at, now and in the base, and what was found there."""

    now: tuple[Spotted, ...]
    before: tuple[Spotted, ...]
    paths: Container[str]
    """All that there is now."""
    looked_at: Collection[str] | None
    """None: everything below the prefix."""
    prefix: str
    incomplete: str | None = None

    @property
    def live(self) -> tuple[Spotted, ...]:
        """What no allow comment covers."""
        return tuple(one for one in self.now if one.entry.suppressed is None)

    def knows(self, entry: Accepted) -> bool:
        """Whether an entry is about something that was looked at, or that is gone.

        Nothing else may vouch for a finding here: what the entry is about is still there, unseen.
        """
        path = entry.mark.path
        if not path.startswith(self.prefix):
            return False
        return self.looked_at is None or path in self.looked_at or path not in self.paths


@dataclass(frozen=True)
class Verdict:
    """All findings with their state, and entries of the baseline that match nothing."""

    findings: tuple[Checked, ...]
    stale: tuple[Accepted, ...]
    incomplete: str | None


def judge(seen: Seen, accepted: Sequence[Accepted], fail_on: FailOn) -> Verdict:
    """Compares with the base and with the baseline."""
    known, taken = _known(seen), _taken(seen, accepted)
    used = set(map(id, taken.values()))
    stale = [entry for entry in accepted if seen.knows(entry) and id(entry) not in used]
    findings = _checked(seen, known, taken, fail_on)
    return Verdict(tuple(findings), tuple(stale) if seen.incomplete is None else (), seen.incomplete)


def updated(seen: Seen, accepted: Sequence[Accepted], fail_on: FailOn) -> tuple[Accepted, ...]:
    """The new baseline: entries about other things stay, those that match nothing go, what fails comes in."""
    known, taken = _known(seen), _taken(seen, accepted)
    used = set(map(id, taken.values()))
    kept = [
        entry for entry in accepted if id(entry) not in used and (seen.incomplete is not None or not seen.knows(entry))
    ]
    for number, one in enumerate(seen.live):
        before = taken.get(number)
        if before is not None:
            kept.append(Accepted(one.mark, one.entry.effort, before.reason))
        elif _closes(one.entry, fail_on) and number not in known:
            kept.append(Accepted(one.mark, one.entry.effort))
    return tuple(kept)


def _known(seen: Seen) -> Mapping[int, int]:
    """The live findings that the base has as well, by number."""
    before = [one.mark for one in seen.before if one.entry.suppressed is None]
    return match([one.mark for one in seen.live], before, seen.paths)


def _taken(seen: Seen, accepted: Sequence[Accepted]) -> dict[int, Accepted]:
    """The entries of the baseline that live findings match, by the number of the finding."""
    usable = [entry for entry in accepted if seen.knows(entry)]
    pairs = match([one.mark for one in seen.live], [entry.mark for entry in usable], seen.paths)
    return {number: usable[entry] for number, entry in pairs.items()}


def _closes(entry: Entry, fail_on: FailOn) -> bool:
    """Whether a new finding of this kind closes the gate."""
    if fail_on is FailOn.MANUAL:
        return entry.effort == "manual"
    if fail_on is FailOn.REVIEW:
        return entry.effort in ("manual", "review")
    info = rule_infos().get(entry.code)
    return info is not None and info.group in HAZARD_GROUPS


def _checked(seen: Seen, known: Mapping[int, int], taken: Mapping[int, Accepted], fail_on: FailOn) -> Iterable[Checked]:
    number = -1
    for one in seen.now:
        entry, state, reason = one.entry, State.NEW, one.entry.suppressed
        if reason is not None:
            state = State.SUPPRESSED
        else:
            number += 1
            if number in taken:
                state, reason = State.ACCEPTED, taken[number].reason
            elif number in known:
                state = State.PRESENT
        yield Checked(
            code=entry.code,
            effort=entry.effort,
            path=one.mark.path,
            line=entry.line,
            column=entry.column,
            place=one.detail.place,
            kernel=entry.kernel,
            name=entry.name,
            message=entry.message,
            fixed=entry.fixed,
            context=one.mark.context,
            state=state,
            fails=state is State.NEW and _closes(entry, fail_on),
            reason=reason,
            fix=one.detail.fix,
        )

"""Tries the sizes of a draft: the original itself, on a device, says which of them it takes."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.validation.cases.case import LANES, Case, CaseError
from porter.validation.cases.expression import BadExpression
from porter.validation.cases.file import load_cases
from porter.validation.cases.inputs import shape_of
from porter.validation.draft import guessing
from porter.validation.draft.init import Draft, DraftedCase
from porter.validation.draft.order import ORDER, agrees, calmed, one_block, ran, said_of
from porter.validation.draft.probing import probes
from porter.validation.draft.types import bytes_of
from porter.validation.run.crew import Spare, spare_children
from porter.validation.run.plan import Request, validate
from porter.validation.verdict.outcome import CaseResult, Status

_DEVICE = "ptx"
_LONGEST = 160
_LARGEST_BLOCK = 1024
_MANY_THREADS, _MOST_BYTES = 1 << 18, 1 << 28
_RACE, _TOO_LARGE = "data race", "too large for a virtual device"
_TOO_LONG = "the program's grid takes longer than a launch may"
_CROPPED = 1 << 18
"""Elements of an array of which only what the first blocks reach is there."""
_MOST_NOTES = 4
_AGAIN = 6
"""Tables of sizes that are tried with other values."""
_FAVOURED = 13
"""Bits of the number of threads to begin with."""
_ORDERS = 4
"""Of threads, in which the original's results have to be the same."""
_PATIENCE = 30
"""Times the limit of a launch, for all launches of a file together."""
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
    unsteady: int | None = None
    """The sizes with which the original runs, and its results depend on the order of threads; where no others run."""

    @property
    def order(self) -> str:
        """What hangs on the order of the original's threads, where no launch was found with which nothing does."""
        return next((note for note in self.case.notes if note.startswith(ORDER)), "")

    @property
    def text(self) -> str:
        """The case, with the sizes that run; as drafted where none does."""
        said = [f"the original with the sizes of the draft: {self.reason}"] if self.reason else list(self.notes)
        return self.case.text(self.chosen or None, notes=said)


@dataclass(frozen=True)
class _Runs:
    """How the original is run, several times one after the other."""

    launch_seconds: float
    jobs: int
    spare: Spare
    until: float
    """When no more is begun, by `time.monotonic`."""
    unasked: set[int] = field(default_factory=set)
    """Cases of which a launch was not begun for it."""


def try_sizes(
    draft: Draft, launch_seconds: float = 20.0, jobs: int = 1, file_seconds: float | None = None
) -> tuple[TriedCase, ...]:
    """Every case with its first sizes that run: small ones for a kernel that guards its indices, else one that does.

    Cases with something to fill in are not run. After `file_seconds` (30 times the limit of a launch by default) no
    launch is begun any more; cases for which none was found by then say so.
    """
    patience = _PATIENCE * launch_seconds if file_seconds is None else file_seconds
    with spare_children() as spare:
        runs = _Runs(launch_seconds, jobs, spare, time.monotonic() + patience)
        tried = _tried(draft, runs)
    return tuple(_stopped(one, patience) if n in runs.unasked else one for n, one in enumerate(tried))


def _stopped(one: TriedCase, seconds: float) -> TriedCase:
    """With why no more was tried, where no sizes were found."""
    note = f"no more was tried after {seconds:g} s for this file"
    return one if one.chosen else replace(one, reason="; ".join(filter(None, (one.reason, note))))


def _tried(draft: Draft, runs: _Runs) -> tuple[TriedCase, ...]:
    planned = [_planned(part, draft) for part in draft.parts]
    draft = replace(draft, parts=tuple(one.case for one in planned))
    tried: dict[int, TriedCase] = {}
    open_cases: dict[int, tuple[int, ...]] = {}
    for number, one in enumerate(planned):
        open_ = guessing.obstacle(one.case) or next(iter(one.case.marks), "")
        reason = f"to fill in: {open_}" if open_ else one.refused
        tried[number] = TriedCase(one.case, (), reason, Status.NOT_RUN)
        if one.places:
            open_cases[number] = one.places
    _try(draft, open_cases, tried, runs)
    late = {n: places[:1] for n, places in open_cases.items() if tried[n].status is Status.TIMED_OUT}
    fewer = {n: part for n in late if (part := one_block(draft.parts[n], _TOO_LONG)) is not None}
    parts = (fewer.get(n, p) for n, p in enumerate(draft.parts))
    _try(replace(draft, parts=tuple(parts)), {n: late[n] for n in fewer}, tried, runs, keep=True)
    faulty = {n: places for n, places in open_cases.items() if tried[n].status is Status.FAULT}
    quiet = replace(draft, parts=tuple(part.quiet() if n in faulty else part for n, part in enumerate(draft.parts)))
    again = {n: places[:_AGAIN] for n, places in faulty.items() if quiet.parts[n].after != draft.parts[n].after}
    second = dict(tried)
    _try(quiet, again, second, runs)
    tried |= {n: one for n, one in second.items() if one.chosen or one.unsteady is not None}
    racing = {n: open_cases[n][:_AGAIN] for n in faulty if not tried[n].chosen and _RACE in tried[n].reason}
    alone = {n: part for n in racing if (part := one_block(draft.parts[n])) is not None}
    parts = (alone.get(n, p) for n, p in enumerate(draft.parts))
    _try(replace(draft, parts=tuple(parts)), {n: racing[n] for n in alone}, tried, runs, keep=True)
    racing = {n: places for n, places in racing.items() if not tried[n].chosen}
    parts = (p.unchecked(tried[n].reason) if n in racing else p for n, p in enumerate(draft.parts))
    _try(replace(draft, parts=tuple(parts)), racing, tried, runs)
    _calm(draft, tried, runs)
    _guess(draft, {n: places[0] for n, places in open_cases.items()}, tried, runs)
    _probe(draft, tried, runs)
    return tuple(tried[number] for number in range(len(draft.parts)))


def _probe(draft: Draft, tried: dict[int, TriedCase], runs: _Runs) -> None:
    """Wider values for the cases that run, where the original takes them with all of its sizes."""
    left = {n: [*probes(one.case, one.case.body)] for n, one in tried.items() if one.chosen and not one.order}
    while left := {n: parts for n, parts in left.items() if parts}:
        now = {n: parts.pop(0) for n, parts in left.items()}
        whole = tuple(now.get(n, part) for n, part in enumerate(draft.parts))
        results = _run(replace(draft, parts=whole), {n: tried[n].chosen for n in now}, runs)
        for n, part in now.items():
            if all(agrees(results.get(_name(n, place), "not run")) for place in tried[n].chosen):
                tried[n] = replace(tried[n], case=part)
                del left[n]


def _widen(draft: Draft, made: Mapping[int, DraftedCase], tried: dict[int, TriedCase], runs: _Runs) -> None:
    """Cases that were guessed with one table of sizes, with all of the small ones."""
    sizes = {n: draft.parts[n].sizes for n in made if draft.parts[n].sizes.preferred > 1}
    wide = {n: replace(made[n], sizes=all_) for n, all_ in sizes.items() if made[n].sizes.tables[0] in all_.tables}
    parts = tuple(wide.get(n, part) for n, part in enumerate(draft.parts))
    places = {n: tuple(range(part.sizes.preferred)) for n, part in wide.items()}
    _try(replace(draft, parts=parts), places, tried, runs, keep=True)


def _guess(draft: Draft, favoured: Mapping[int, int], tried: dict[int, TriedCase], runs: _Runs) -> None:
    """The cases with something to fill in, and those that leave an array: guesses until one runs."""
    searches = {
        n: guessing.search(replace(part, sizes=part.sizes.only(favoured.get(n, _roomy(part)))), runs.launch_seconds)
        for n, part in enumerate(draft.parts)
        if not tried[n].chosen and guessing.can_be_guessed(part, tried[n].reason)
    }
    guessed: dict[int, DraftedCase] = {}
    for n, made in _searched(draft, searches, runs).items():
        if isinstance(made, DraftedCase):
            tried[n] = TriedCase(made, (0,))
            guessed[n] = made
        else:
            reason = " ".join(f"{tried[n].reason}; guessed: {made}".split())[: 2 * _LONGEST]
            tried[n] = replace(tried[n], reason=reason)
    _widen(draft, guessed, tried, runs)


def _roomy(part: DraftedCase) -> int:
    """The largest of the small sizes, with which all of a kernel has something to do."""
    return part.sizes.preferred - 1


def _calm(draft: Draft, tried: dict[int, TriedCase], runs: _Runs) -> None:
    """The cases that run and whose results depend on the order of threads: held to less, else said so."""
    searches = {
        n: calmed(replace(one.case, sizes=one.case.sizes.only(one.unsteady)), one.reason)
        for n, one in tried.items()
        if one.unsteady is not None and not one.chosen
    }
    for n, made in _searched(draft, searches, runs).items():
        if isinstance(made, DraftedCase):
            tried[n] = TriedCase(made, (0,))


def _searched(draft: Draft, searches: Mapping[int, guessing.Search], runs: _Runs) -> dict[int, DraftedCase | str]:
    """What searches come to, all their next cases together."""
    ended: dict[int, DraftedCase | str] = {}
    parts: dict[int, DraftedCase] = {}
    results: dict[str, CaseResult | str] = {}
    left = dict(searches)
    while left:
        for n in tuple(left):
            try:
                going = left[n]
                parts[n] = going.send(results.get(_name(n, 0), "not run")) if n in parts else next(going)
            except StopIteration as stopped:
                ended[n] = stopped.value
                del left[n]
        whole = tuple(parts.get(n, part) for n, part in enumerate(draft.parts))
        results = _run(replace(draft, parts=whole), dict.fromkeys(left, (0,)), runs) if left else {}
    return ended


def _try(
    draft: Draft,
    places: Mapping[int, tuple[int, ...]],
    tried: dict[int, TriedCase],
    runs: _Runs,
    *,
    keep: bool = False,
) -> None:
    """The small sizes together, then the others one by one, until one runs; what is known is kept where none does."""
    left = dict(places)
    first = {n: tuple(p for p in ps if p < draft.parts[n].sizes.preferred) for n, ps in left.items()}
    others = {n: tuple(p for p in ps if p not in first[n]) for n, ps in left.items()}
    most = max((len(rest) for rest in others.values()), default=0)
    rounds = [first, *({n: ps[i : i + 1] for n, ps in others.items()} for i in range(most))]
    for wanted in rounds:
        asked = {n: ps for n, ps in wanted.items() if n in left and ps}
        if not asked:
            continue
        results = _run(draft, asked, runs)
        for n, ps in asked.items():
            found = _judged(draft.parts[n], ps, results, n, tried[n])
            if found.chosen or not keep:
                tried[n] = found
            if found.chosen or found.status in _FINAL:
                del left[n]


def text_of(draft: Draft, tried: Sequence[TriedCase]) -> str:
    """The case file."""
    return "\n".join([draft.head(), *(one.text for one in tried)])


def _judged(
    part: DraftedCase,
    places: Sequence[int],
    results: Mapping[str, CaseResult | str],
    number: int,
    before: TriedCase,
) -> TriedCase:
    fine: list[int] = []
    status, reason = Status.NOT_RUN, "not run"
    refused: list[str] = []
    unsteady, changed = (before.unsteady, before.reason) if before.case == part else (None, "")
    for place in sorted(places):
        result = results.get(_name(number, place), "not run")
        if agrees(result):
            fine.append(place)
            continue
        if unsteady is None and ran(result):
            unsteady, changed = place, said_of(result)
        status = result.status if isinstance(result, CaseResult) else Status.NOT_RUN
        reason = " ".join((result.reason if isinstance(result, CaseResult) else result).split())[:_LONGEST]
        refused.append(f"{_sizes(part, place)}: {status.value}: {reason}")
    if fine:
        said = [*before.notes, *(f"left out, {one}" for one in refused)]
        return TriedCase(part, tuple(fine), notes=tuple(said[:_MOST_NOTES]))
    if before.status is not Status.NOT_RUN and status is Status.NOT_RUN:
        return before
    notes = (*before.notes, *(f"left out, {one}" for one in refused))
    if unsteady is not None:
        return TriedCase(part, (), changed, Status.NONDETERMINISTIC, notes, unsteady)
    return TriedCase(part, (), f"{status.value}: {reason}", status, notes)


def _sizes(part: DraftedCase, place: int) -> str:
    pairs = zip(part.sizes.names, part.sizes.tables[place], strict=True)
    return ", ".join(f"{name}={value}" for name, value in pairs) or "no sizes"


def _name(number: int, place: int) -> str:
    return f"try_{number}_{place}"


def _run(draft: Draft, asked: Mapping[int, Sequence[int]], runs: _Runs) -> dict[str, CaseResult | str]:
    """What the original came to with each table of sizes: a file for each, so that every case has the name, and with
    it the values, that it will have."""
    if time.monotonic() > runs.until:
        runs.unasked.update(asked)
        return {}
    with tempfile.TemporaryDirectory(prefix="porter-try-") as folder:
        found: dict[str, CaseResult | str] = {}
        files: dict[Path, list[str]] = {}
        keys: dict[tuple[str, str], str] = {}
        for number, places in asked.items():
            for turn, place in enumerate(places):
                path = Path(folder) / f"try{turn}.case.toml"
                text = draft.parts[number].text((place,))
                try:
                    path.write_text(draft.head(path.parent) + text, "utf-8")
                    (case,) = load_cases(path)
                    keys[path.name, case.name] = _name(number, place)
                    files.setdefault(path, [draft.head(path.parent)]).append(text)
                except CaseError as error:
                    found[_name(number, place)] = error.message
                    path.unlink()
        if not files:
            return found
        for path, parts in files.items():
            path.write_text("\n".join(parts), "utf-8")
        request = Request(
            tuple(files), (_DEVICE,), schedules=_ORDERS, jobs=runs.jobs, launch_seconds=runs.launch_seconds
        )
        outcome = validate(request, spare=runs.spare)
        found |= {
            key: one for one in outcome.report.cases if (key := keys.get((Path(one.path).name, one.name))) is not None
        }
        for wrong in outcome.report.errors:
            for (name, _), key in keys.items():
                if name == Path(wrong.path).name:
                    found.setdefault(key, wrong.message)
        return found


@dataclass(frozen=True)
class _Planned:
    """A drafted case, and the tables of sizes that are worth a run, in order."""

    case: DraftedCase
    places: tuple[int, ...]
    refused: str = ""


def _planned(part: DraftedCase, draft: Draft) -> _Planned:
    """Some thousand threads first; fewer blocks than the program has, where no table of sizes leaves few."""
    if part.marks:
        return _Planned(_with_blocks(part, draft), ())
    threads, refused = _threads(part, draft)
    for changed in (part.narrower, part.roomier, part.shrunk) if not threads else ():
        other = changed()
        found = _threads(other, draft) if other != part and not threads else ({}, "")
        if found[0]:
            part, (threads, refused) = other, found
    if not threads and _TOO_LARGE in refused and (cropped := _cropped(part, draft)) is not None:
        part = cropped
        threads, refused = _threads(part, draft)
    if threads and min(threads.values()) > _MANY_THREADS:
        part = part.clipped()
        threads, refused = _threads(part, draft)
    order = sorted(threads, key=lambda place: abs(threads[place].bit_length() - _FAVOURED))
    return _Planned(part, tuple(order), refused)


def _with_blocks(part: DraftedCase, draft: Draft) -> DraftedCase:
    """A case with lengths to fill in, with sizes that leave blocks: a launch of none runs clean and shows nothing."""
    for one in (part, part.roomier()):
        filled = tuple(guessing.with_length(line, 1) or line for line in one.after)
        if found := _threads(replace(one, after=filled), draft)[0]:
            return one if 0 in found else replace(one, sizes=one.sizes.only(min(found)))
    return part


def _cropped(part: DraftedCase, draft: Draft) -> DraftedCase | None:
    """The first blocks of the grid, with arrays cut short that are too large as a whole: they grow as accesses ask."""
    with tempfile.TemporaryDirectory(prefix="porter-try-") as folder:
        path = Path(folder) / "try.case.toml"
        path.write_text(draft.head(path.parent) + part.text((0,)), "utf-8")
        try:
            (case,) = load_cases(path)
            shapes = next(iter(case.shapes()))
            counts = {one.name: math.prod(shape_of(case, one, shapes)) for one in case.arguments if one.is_array}
        except (CaseError, BadExpression):
            return None
    lines = [*part.after]
    cut: list[str] = []
    for number, line in enumerate(lines):
        name = guessing.name_of(line)
        made = guessing.with_length(line, _CROPPED) if counts.get(name, 0) > _CROPPED else None
        if made is not None:
            lines[number] = made
            cut.append(name)
    note = f"too large as a whole: of {', '.join(cut)} only what these blocks reach is there"
    return replace(part, after=tuple(lines), notes=(*part.notes, note)).clipped() if cut else None


def _threads(part: DraftedCase, draft: Draft) -> tuple[dict[int, int], str]:
    """How many threads each table of sizes comes to; and what is wrong with the last of the others."""
    found: dict[int, int] = {}
    refused = ""
    with tempfile.TemporaryDirectory(prefix="porter-try-") as folder:
        path = Path(folder) / "try.case.toml"
        for place in range(len(part.sizes.tables)):
            path.write_text(draft.head(path.parent) + part.text((place,)), "utf-8")
            try:
                (case,) = load_cases(path)
                found[place] = _threads_of(case)
            except CaseError as error:
                refused = error.message
            except BadExpression as error:
                refused = str(error)
    return found, refused


def _threads_of(case: Case) -> int:
    """Threads of a launch; raises CaseError where it has none, or its arrays would take long to fill."""
    most = 0
    for symbols in case.shapes():
        threads = 1
        for side in (*case.grid, *case.block):
            threads *= int(side.value(symbols | {LANES: 32}))
        if threads < 1:
            raise case.error("the grid has no blocks")
        block = math.prod(int(side.value(symbols | {LANES: 32})) for side in case.block)
        if block > _LARGEST_BLOCK:
            raise case.error(f"a block of {block} threads")
        arrays = [argument for argument in case.arguments if argument.is_array]
        size = sum(math.prod(shape_of(case, argument, symbols)) * bytes_of(argument.dtype) for argument in arrays)
        if size > _MOST_BYTES:
            raise case.error(f"{_TOO_LARGE}: {size} bytes")
        most = max(most, threads)
    return most

"""Launches, lengths and sizes that nobody wrote down: the original, on a device, says which guess it takes.

A guess is a launch and one number for all sizes; arrays begin with some thousand elements. An access after the end of
one says how long it has to be, one that is far outside that integers lead there; then the next guess is tried.
"""

from __future__ import annotations

import functools
import math
import re
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace

from porter.validation.cases.argument_rows import TODO
from porter.validation.cases.case import ADDRESS
from porter.validation.draft.blocks import ASSUMED_BLOCK
from porter.validation.draft.init import DraftedCase
from porter.validation.draft.order import (
    ORDER,
    agrees,
    calmer,
    depends,
    loose,
    one_block,
    races_unseen,
    ran,
    said_of,
    unordered,
)
from porter.validation.draft.repairing import NO_HEADER, repair
from porter.validation.draft.sizes import COUNTS_BITS, Sizes
from porter.validation.draft.types import bytes_of
from porter.validation.verdict.outcome import CaseResult, Status


@dataclass(frozen=True)
class Guess:
    """A launch by its dimensions, and what sizes are."""

    grid: tuple[int, int, int]
    block: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    """In one, two and three dimensions."""
    size: int

    @property
    def threads(self) -> int:
        """Of a block."""
        return math.prod(self.block[0])


GUESSES = (
    Guess((2, 2, 2), ((ASSUMED_BLOCK,), (16, 8), (8, 4, 4)), 100),
    Guess((1, 1, 1), ((256,), (16, 16), (8, 8, 4)), 33),
    Guess((1, 1, 1), ((32,), (8, 4), (4, 4, 2)), 16),
    Guess((1, 1, 1), ((64,), (8, 8), (4, 4, 4)), 4),
    Guess((1, 1, 1), ((1024,), (32, 32), (16, 8, 8)), 64),
    Guess((1, 1, 1), ((128,), (32, 4), (8, 4, 4)), 1),
    Guess((1, 1, 1), ((8,), (4, 2), (2, 2, 2)), 8),
    Guess((1, 1, 1), ((128,), (16, 8), (8, 4, 4)), 1024),
)
_LENGTH, _SIDE = 8192, 64
_FEW = 16
"""Structures with pointers, or pointers: the arrays behind them are cut into as many parts."""
_ROOM = 1 << 20
"""Elements of an array whose rows are known."""
_SHARED = 48 << 10
_LONGEST = 1 << 23
_MOST_BYTES = 1 << 27
"""Of all arrays of a case."""
_GROWTHS, _MOST_RUNS = 10, 60
_PATIENCE = 18
"""Times what a launch may take: no new guess after that."""
_AGAIN = 4
"""Times the length of an array that is too short once more."""
_LINE = re.compile(r'^(\s*")(\w+)( )(\w+)(: )(\w+|\([^)]*\))(\[)([^\]]*)(\].*)$')
_PAST = re.compile(r"(\d+) bytes after the end of (?:argument )?(\w+) \((\d+) bytes\)")
_RACE, _OUTSIDE_SHARED, _LEFT = "data race", "outside shared memory", "access outside every allocation"
_BEFORE = "bytes before argument"
_OF_AN_AXIS = re.compile(r"[xyzijk](?=\d|_|[A-Z]|$)|(?<=_)[xyzijk]|(?<![a-z])[xyzijk](?![a-z])", re.IGNORECASE)
_FEW_BITS = 4
_MOST_SINGLE = 8
"""Sizes that are tried as 0 one by one."""
_REST = (0, 1, 2)
"""For sizes that are in no length, where no guess ran."""
_MOST_STRIDES = 2
_REPAIRS = 6
_BOUNDS = re.compile(r"the kernel was compiled for (?:\d+ to )?(\d+)")
_TOO_MUCH_SHARED = re.compile(r"bytes of shared memory; there are")
_NO_SUCH_SIZE = re.compile(r'incomplete type "[^"]*<[^"]*\b\d+>"')
_WRITTEN_INPUT = re.compile(r"(\w+) is an input and was written to")
_HOPELESS = (Status.BUILD_FAILED, Status.NOT_RUN)
_STRIDES = 4
"""Times the threads of a block: sizes with which rows of different blocks lie apart."""
_TOLD = 4
"""Guesses with the block that a kernel's text fixes."""
_GIVEN = ("assumed = [", "defines = [")
_VALUE = re.compile(r"\bint (\w+) = (\d+);|#define (\w+) (\d+)'|\"(\w+)=(\d+)\"")
_IDLE = "it ran and wrote nothing"
Search = Generator[DraftedCase, "CaseResult | str", DraftedCase | str]
"""Yields what to run, and returns what ran, or why the first guess did not."""


def can_be_guessed(part: DraftedCase, reason: str = "") -> bool:
    """Whether what is missing is a launch, lengths or directions, and no type or template argument.

    Without anything missing: whether the original left an array, or a compiler asks for something, as `reason` says.
    """
    if part.marks:
        return obstacle(part) is None
    return any(sign in reason for sign in (_LEFT, _OUTSIDE_SHARED)) or repair(part, reason) is not None


def obstacle(part: DraftedCase) -> str | None:
    """The first line with something to fill in that no guess fills."""
    for line in part.marks:
        is_launch = line.partition(" ")[0] in ("grid", "block", "shared") and not line.startswith('"')
        if not is_launch and (line in map(str.strip, part.before) or _array(f"  {line}", None) is None):
            return line
    return None


def does_nothing(found: CaseResult) -> bool:
    """Whether the original ran and wrote to none of its arguments: all its threads returned at once, say."""
    counted = [side.counters["written_elements"] for side in found.sides if "written_elements" in side.counters]
    return ran(found) and bool(counted) and not any(counted)


def with_shared(part: DraftedCase) -> DraftedCase:
    """With as much shared memory as a launch can always ask for."""
    grid, block, *rest = part.after
    line = f"shared = {_SHARED}"
    return replace(part, after=(grid, block, line, *rest), notes=(*part.notes, f"nothing tells this: {line}"))


def filled(part: DraftedCase, guess: Guess, lengths: Mapping[int, int]) -> DraftedCase | None:
    """The case with a guess in place of what is missing; None where a type or another thing is."""
    if any(TODO in line for line in part.before):
        return None
    notes: list[str] = []
    lines = [*part.after]
    place = -1
    for number, line in enumerate(lines):
        word = line.partition(" ")[0]
        place += re.match(r'  (?:"|\{)', line) is not None
        if TODO not in line:
            if place in lengths and (made := with_length(line, lengths[place])) is not None:
                lines[number] = made
                notes.append(f"longer than what was found for it, which the original leaves: {made.strip().strip(',')}")
            continue
        if word in ("grid", "block", "shared"):
            lines[number] = _launch(line, word, guess)
            notes.append(f"nothing tells this: {lines[number]}")
        elif (made := _array(line, lengths.get(place))) is not None:
            lines[number] = made
            notes.append(f"nothing tells this: {made.strip().strip(',')}")
        else:
            return None
    unknown = any(TODO in line for line in part.after[:2])
    sizes = _sizes(part.sizes, guess) if unknown else _without_zeros(part.sizes, guess)
    return replace(part, after=tuple(lines), sizes=sizes, notes=(*part.notes, *notes))


def _launch(line: str, word: str, guess: Guess) -> str:
    if word == "shared":
        return f"shared = {_SHARED >> 1}"
    sides = re.findall(r'"([^"]*)"|(\d+)', line.partition("=")[2])
    chosen = guess.grid if word == "grid" else guess.block[min(len(sides), 3) - 1]
    shown = [
        str(chosen[i]) if TODO in (text or number) else f'"{text}"' if text else number
        for i, (text, number) in enumerate(sides[:3])
    ]
    return f"{word} = {shown[0] if len(shown) == 1 else '[' + ', '.join(shown) + ']'}"


def _array(line: str, length: int | None) -> str | None:
    """An array whose type is known, as long as it has to be."""
    plain = re.sub(rf"{TODO}\(in, out, inout or scratch\)", "inout", line)
    match = _LINE.match(plain)
    if match is None or TODO in match[6] or TODO in match[9]:
        return None
    sides = match[8].split(", ")
    usual = _LENGTH if len(sides) == 1 or sum(side == TODO for side in sides) == 1 else _SIDE
    usual = _FEW if ADDRESS in match[6] else usual
    inner = math.prod(int(side) for side in sides[1:] if side.isdigit())
    first = max(1, min(usual, _ROOM // inner)) if length is None else -(-length // inner)
    shown = [str(first if i == 0 else usual) if side == TODO else side for i, side in enumerate(sides)]
    return "".join(match.group(1, 2, 3, 4, 5, 6, 7)) + ", ".join(shown) + match[9]


def name_of(line: str) -> str:
    """The name of the array that a line of a case describes; empty for other lines."""
    match = _LINE.match(line)
    return match[4] if match else ""


def with_length(line: str, length: int) -> str | None:
    """An array with a first side that makes it so long, where its other sides are numbers."""
    match = _LINE.match(line)
    sides = match[8].split(", ") if match else []
    if match is None or not all(side.isdigit() for side in sides[1:]):
        return None
    inner = math.prod(int(side) for side in sides[1:])
    return "".join(match.group(1, 2, 3, 4, 5, 6, 7)) + ", ".join([str(-(-length // inner)), *sides[1:]]) + match[9]


def _sizes(sizes: Sizes, guess: Guess) -> Sizes:
    """Integers are the guess; a float stays what it was."""
    pairs = zip(sizes.names, sizes.tables[0], strict=True)
    table = tuple(v if isinstance(v, float) and v != int(v) else _size(name, guess) for name, v in pairs)
    return Sizes(sizes.names, (table,), 1)


def _without_zeros(sizes: Sizes, guess: Guess) -> Sizes:
    """A draft's sizes of 0 are the guess: its first table may be that of an empty launch."""
    pairs = zip(sizes.names, sizes.tables[0], strict=True)
    table = tuple(_size(name, guess) if value == 0 else value for name, value in pairs)
    return Sizes(sizes.names, (table,), 1)


def _size(name: str, guess: Guess) -> int:
    """The guess, and a few for what counts bits: a shift by more than a word has is not the same on both sides."""
    return min(guess.size, _FEW_BITS) if COUNTS_BITS.search(name) else guess.size


def _block_of(threads: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """A block of so many threads, in one, two and three dimensions."""
    rows = 8 if threads % 8 == 0 else 1
    return (threads,), (threads // rows, rows), (threads // rows, rows, 1)


def made_output(part: DraftedCase, name: str) -> DraftedCase | None:
    """With an array that the original writes to as one that is compared; None where it is no input of the draft."""
    lines = [*part.after]
    for number, line in enumerate(lines):
        match = _LINE.match(line)
        if match and match[2] == "in" and (match[4] == name or (name.startswith(f"{match[4]}_") and "(" in match[6])):
            lines[number] = line.replace('"in ', '"inout ', 1)
            note = f"{match[4]}: the original writes to it"
            return (
                None if name.endswith(f"_{ADDRESS}") else replace(part, after=tuple(lines), notes=(*part.notes, note))
            )
    return None


@dataclass(frozen=True)
class _Attempt:
    """What came of one guess."""

    part: DraftedCase
    """With what a compiler asked for."""
    first: str
    """Why the first run was none."""
    guess: Guess
    """With the block that the kernel was compiled for."""
    made: DraftedCase | None = None
    """The case that runs."""
    found: CaseResult | str = ""
    is_racing: bool = False
    is_hopeless: bool = False
    is_idle: bool = False
    """Whether the original ran and wrote nothing."""
    runs: int = 0

    @property
    def is_calm(self) -> bool:
        """Whether its results are the same in every order, and nothing races."""
        return agrees(self.found) and not self.is_racing and not races_unseen(self.found)


Change = Callable[[DraftedCase], "DraftedCase | None"]
"""Other sizes; None where nothing would be other."""
Going = Generator[DraftedCase, "CaseResult | str", _Attempt]


def search(part: DraftedCase, seconds: float = 20.0) -> Search:
    """One guess after the other, each with arrays that grow where the original leaves them.

    What runs first is taken, unless its results depend on the order of threads and those of another launch, tried for
    so many seconds, do not.
    """
    first = ""
    guesses = _guesses(part) if part.marks else GUESSES[:1]
    waiting: list[tuple[Guess, Change]] = [(guess, _as_it_is) for guess in guesses]
    waiting += [(guesses[0], functools.partial(DraftedCase.still, value=value)) for value in _REST]
    if not part.marks:
        waiting.append((guesses[0], functools.partial(one_block, why="with more, arrays are left")))
    is_idle, runs = False, 0
    until = time.monotonic() + _PATIENCE * seconds
    while waiting and runs < _MOST_RUNS and (not first or time.monotonic() < until):
        guess, change = waiting.pop(0)
        tried = yield from _attempt(part, guess, change, first, values=guess == guesses[0] and change is _as_it_is)
        first, runs = tried.first, runs + tried.runs
        part = _knowing_more(tried.part)
        if tried.made is not None:
            return (yield from _calmed(tried, change, seconds))
        if tried.is_hopeless and change is _as_it_is:
            return first
        if part.block != tried.part.block and part.marks:
            waiting = [*((one, _as_it_is) for one in _guesses(part)[:_TOLD]), *waiting]
        if tried.is_idle and not is_idle and guess == guesses[0]:
            is_idle = True
            waiting = [*((guess, one) for one in _single(part)), *waiting]
    return first


def _knowing_more(part: DraftedCase) -> DraftedCase:
    """With the block that its text fixes with the values that were assumed for what nothing defines."""
    if part.block_with is None:
        return part
    found = [pair for line in part.after if line.startswith(_GIVEN) for pair in _VALUE.findall(line)]
    told = {next(filter(None, pair[::2])): next(filter(None, pair[1::2])) for pair in found}
    block, strides = part.block_with(told) if told else (part.block, part.strides)
    return replace(part, block=block, strides=strides)


def _as_it_is(part: DraftedCase) -> DraftedCase:
    return part


def _single(part: DraftedCase) -> list[Change]:
    """One size 0 and the others not, then those of one kind: where a step begins at its end nothing is done."""
    names = part.sizes.names if len(part.sizes.names) > 1 else ()
    kinds: dict[str, tuple[str, ...]] = {}
    for name in names:
        kind = _OF_AN_AXIS.sub("", name)
        kinds[kind] = (*kinds.get(kind, ()), name)
    alone = [(name,) for name in names] if len(names) <= _MOST_SINGLE else []
    alike = [group for group in kinds.values() if 1 < len(group) < len(names)]
    return [functools.partial(DraftedCase.zeroed, sizes=group) for group in (*alone, *alike[:_MOST_SINGLE])]


def _guesses(part: DraftedCase) -> tuple[Guess, ...]:
    """The block that the kernel's text fixes before all others."""
    x, y, z = (*part.block, 1, 1, 1)[:3]
    whole = [n for n in part.strides if n % x == 0 and n // x != y * z][:_MOST_STRIDES]
    if not part.block:
        stepping = [replace(GUESSES[1], block=_block_of(n)) for n in whole if n != ASSUMED_BLOCK]
        return *GUESSES[:2], *stepping, *GUESSES[2:]
    block = (x * y * z,), (x, y * z), (x, y, z)
    as_many = replace(GUESSES[1], size=x * y * z)
    told = [replace(guess, block=block) for guess in (*GUESSES[:2], as_many, GUESSES[-1])]
    stepping = [replace(GUESSES[1], block=((n,), (x, n // x), (x, n // x, 1))) for n in whole]
    return *told, *stepping, *GUESSES[:-1]


def _calmed(tried: _Attempt, change: Change, seconds: float) -> Generator[DraftedCase, CaseResult | str, DraftedCase]:
    """The launch that was found, or one whose results no order changes: one block, larger strides, fewer threads."""
    assert tried.made is not None
    if tried.is_calm:
        return tried.made
    reason = "two of them race" if agrees(tried.found) else said_of(tried.found)
    until = time.monotonic() + seconds
    guess, few = tried.guess, replace(GUESSES[2], size=tried.guess.size)
    others = {
        "several blocks": replace(guess, grid=(1, 1, 1)),
        "smaller sizes": replace(guess, size=_STRIDES * guess.threads),
        "more threads": few,
    }
    if (made := (yield from _held(tried, (loose(tried.made),)))) is not None:
        return made
    for how, other in others.items() if tried.part.marks else ():
        if other == few and agrees(tried.found):
            return _told(tried)  # threads that write the same values to the same place
        if other == few and (made := (yield from _held(tried, (unordered(tried.made, reason),)))) is not None:
            return made
        if other == guess or time.monotonic() > until:
            continue
        again = yield from _attempt(tried.part, other, change, tried.first)
        made = again.made if again.is_calm else None
        if made is None and again.made is not None:
            made = yield from _held(again, (loose(again.made),))
        if made is not None:
            note = f"with {how} what the original computes depends on the order of its threads: {reason}"
            return replace(made, notes=(*made.notes, note))
    if agrees(tried.found):
        return _told(tried)
    left = () if tried.part.marks else tuple(calmer(tried.made, reason))
    return (yield from _held(tried, left)) or depends(tried.made, reason)


def _told(tried: _Attempt) -> DraftedCase:
    """The launch that was found; with what a device with other warps may show of it."""
    assert tried.made is not None
    if tried.is_racing or not races_unseen(tried.found):
        return tried.made
    note = f"{ORDER}plain accesses of the original to global memory race, which another width of warps may show"
    return replace(tried.made, notes=(*tried.made.notes, note))


def _held(
    tried: _Attempt, others: Iterable[DraftedCase | None]
) -> Generator[DraftedCase, CaseResult | str, DraftedCase | None]:
    """The first of them that agrees with itself, where the launch that was found does not and has no race."""
    for made in others if not agrees(tried.found) and not tried.is_racing else ():
        if made is not None and agrees((yield made)):
            return made
    return None


def _attempt(part: DraftedCase, guess: Guess, change: Change, first: str, *, values: bool = False) -> Going:
    """One guess, until it runs, or nothing is left that mends it; `values`: with other values where it does nothing."""
    lengths: dict[int, int] = {}
    quiet = ordered = steady = counted = unchecked = shared = False
    fixed = [1, -1] if values else []
    same: int | None = None
    for runs in range(_GROWTHS + _REPAIRS + 2):
        made = filled(part, guess, lengths)
        if made is None:
            return _Attempt(part, first, guess, is_hopeless=True)
        stilled = change(made)
        if stilled is None:
            return _Attempt(part, first, guess, is_hopeless=True)
        made = with_shared(stilled) if shared else stilled
        plain = made
        made = _with_integers(plain, quiet=quiet, ordered=ordered, steady=steady, counted=counted)
        made = made if same is None else plain.same(same)
        made = made.unchecked("its threads write to the same places") if unchecked else made
        found = yield made
        if isinstance(found, CaseResult) and ran(found) and not does_nothing(found):
            return _Attempt(part, first, guess, made, found, unchecked)
        status = found.status if isinstance(found, CaseResult) else Status.NOT_RUN
        reason = (found.reason or _IDLE) if isinstance(found, CaseResult) else found
        first = first or f"{status.value}: {reason}"
        refused = status is Status.BUILD_FAILED or NO_HEADER in reason
        repaired = repair(part, _said(found, reason)) if refused else None
        if (input_ := _WRITTEN_INPUT.search(reason)) is not None:
            repaired = made_output(part, input_[1])
        if _TOO_MUCH_SHARED.search(reason) or (repaired is None and refused and _NO_SUCH_SIZE.search(reason)):
            repaired = part.smaller_tiles()
        bounds = _BOUNDS.search(reason)
        if repaired is not None:
            part, first = repaired, ""
            continue
        if bounds is not None and guess.threads != int(bounds[1]):
            guess = replace(guess, block=_block_of(int(bounds[1])))
            continue
        if status in _HOPELESS and not isinstance(found, str):
            return _Attempt(part, first, guess, is_hopeless=True)
        if status in (Status.TIMED_OUT, Status.PASSED) and fixed and plain.same(fixed[0]).after != plain.after:
            same = fixed.pop(0)
            continue
        if status is not Status.FAULT:
            return _Attempt(part, first, guess, is_idle=status is Status.PASSED, runs=runs + 1)
        grown = _grown(part, made, reason, lengths)
        if grown is not None:
            lengths = grown
        elif _OUTSIDE_SHARED in reason and not shared and not any(line.startswith("shared") for line in made.after):
            shared = True
        elif _RACE in reason and not unchecked:
            unchecked = True
        elif quiet and not ordered and not counted and _BEFORE in reason:
            counted = True
        elif not quiet and plain.quiet().after != plain.after:
            quiet = True
        elif not ordered and plain.ordered().after != plain.after:
            ordered, counted = True, False
        elif not steady and plain.steady().after != plain.after:
            steady = True
        else:
            break
    return _Attempt(part, first, guess, runs=runs + 1)


def _with_integers(part: DraftedCase, *, quiet: bool, ordered: bool, steady: bool, counted: bool) -> DraftedCase:
    """What was tried last of the values that integers are given."""
    if steady:
        return part.steady()
    if counted:
        return part.from_one()
    return part.ordered() if ordered else part.quiet() if quiet else part


def _said(found: CaseResult | str, reason: str) -> str:
    """All that a compiler said, as far as it is known."""
    notes = [note for side in found.sides for note in side.notes] if isinstance(found, CaseResult) else []
    return "\n".join((reason, *notes))


def _grown(part: DraftedCase, made: DraftedCase, reason: str, lengths: Mapping[int, int]) -> dict[int, int] | None:
    """The lengths with the one that an access came after the end of; None where that is far outside."""
    past = _PAST.search(reason)
    if past is None:
        return None
    lines = _arrays(made)
    names = [m[4] if (m := _LINE.match(line)) else "" for line in lines]
    place = int(past[2]) if past[2].isdigit() else names.index(past[2]) if past[2] in names else -1
    if not 0 <= place < len(lines) or not (match := _LINE.match(lines[place])):
        return None
    wanted = (int(past[1]) + int(past[3])) // max(1, bytes_of(match[6])) + 1
    times = _AGAIN if place in lengths else 2
    longer = max(times * int(past[3]) // max(1, bytes_of(match[6])), 1 << wanted.bit_length())
    longer = min(longer, max(_LONGEST, wanted)) if wanted <= _LONGEST else longer
    if longer > _LONGEST or (TODO not in _arrays(part)[place] and with_length(lines[place], longer) is None):
        return None
    longest = {**lengths, **dict.fromkeys((place, *_as_long(part, place)), longer)}
    return longest if _bytes(lines, longest) <= _MOST_BYTES else None


def _bytes(lines: list[str], lengths: Mapping[int, int]) -> int:
    """Of all arrays whose sides are numbers, some with other lengths."""
    total = 0
    for place, line in enumerate(lines):
        match = _LINE.match(line)
        sides = match[8].split(", ") if match else []
        count = lengths.get(place) or (math.prod(map(int, sides)) if all(side.isdigit() for side in sides) else 0)
        total += count * bytes_of(match[6]) if match else 0
    return total


def _as_long(part: DraftedCase, place: int) -> list[int]:
    """The other arrays whose length was found to be the same."""
    sides = [match[8] if (match := _LINE.match(line)) else "" for line in _arrays(part)]
    return [n for n, side in enumerate(sides) if n != place and side == sides[place] and TODO not in side]


def _arrays(part: DraftedCase) -> list[str]:
    """The lines of the arguments."""
    return [line for line in part.after if re.match(r'  (?:"|\{)', line)]

"""Launches, lengths and sizes that nobody wrote down: the original, on a device, says which guess it takes.

A guess is a launch and one number for all sizes; arrays begin with some thousand elements. An access after the end of
one says how long it has to be, one that is far outside that integers lead there; then the next guess is tried.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace

from porter.validation.cases.argument_rows import TODO
from porter.validation.draft.assumed import ASSUMED_BLOCK
from porter.validation.draft.init import DraftedCase
from porter.validation.draft.sizes import Sizes
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
)
_LENGTH, _SIDE = 8192, 64
_ROOM = 1 << 20
"""Elements of an array whose rows are known."""
_SHARED = 48 << 10
_LONGEST = 1 << 22
_GROWTHS = 6
_LINE = re.compile(r'^(\s*")(\w+)( )(\w+)(: )(\w+|\([^)]*\))(\[)([^\]]*)(\].*)$')
_PAST = re.compile(r"(\d+) bytes after the end of (?:argument )?(\w+) \((\d+) bytes\)")
_RACE, _OUTSIDE_SHARED, _LEFT = "data race", "outside shared memory", "access outside every allocation"
_REST = (0, 1, 2)
"""For sizes that are in no length, where no guess ran."""
_RELAXED = "calling a constexpr __host__ function"
_NEWER = re.compile(r'identifier "(?:concept|requires)" is undefined')
_UNDEFINED = re.compile(r'identifier "([A-Z][A-Z0-9_]+)" is undefined')
_REPAIRS = 6
_BOUNDS = re.compile(r"the kernel was compiled for (?:\d+ to )?(\d+)")
_HOPELESS = (Status.BUILD_FAILED, Status.NOT_RUN)
_RAN = (Status.PASSED, Status.NONDETERMINISTIC)
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
    return found.status in _RAN and bool(counted) and not any(counted)


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
            if place in lengths and (made := _lengthened(line, lengths[place])) is not None:
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
    sizes = _sizes(part.sizes, guess) if unknown else part.sizes
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
    inner = math.prod(int(side) for side in sides[1:] if side.isdigit())
    first = max(1, min(usual, _ROOM // inner)) if length is None else -(-length // inner)
    shown = [str(first if i == 0 else usual) if side == TODO else side for i, side in enumerate(sides)]
    return "".join(match.group(1, 2, 3, 4, 5, 6, 7)) + ", ".join(shown) + match[9]


def _lengthened(line: str, length: int) -> str | None:
    """An array with a first side that makes it so long, where its other sides are numbers."""
    match = _LINE.match(line)
    sides = match[8].split(", ") if match else []
    if match is None or not all(side.isdigit() for side in sides[1:]):
        return None
    inner = math.prod(int(side) for side in sides[1:])
    return "".join(match.group(1, 2, 3, 4, 5, 6, 7)) + ", ".join([str(-(-length // inner)), *sides[1:]]) + match[9]


def _sizes(sizes: Sizes, guess: Guess) -> Sizes:
    """Integers are the guess; a float stays what it was."""
    table = tuple(v if isinstance(v, float) and v != int(v) else guess.size for v in sizes.tables[0])
    return Sizes(sizes.names, (table,), 1)


def _block_of(threads: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """A block of so many threads, in one, two and three dimensions."""
    rows = 8 if threads % 8 == 0 else 1
    return (threads,), (threads // rows, rows), (threads // rows, rows, 1)


def repair(part: DraftedCase, reason: str) -> DraftedCase | None:
    """The case with what a compiler asks for: an option of its own, or a macro that nothing defines."""
    if _RELAXED in reason:
        return _with_option(part, "cuda_options", "--expt-relaxed-constexpr", "the compiler asks for it")
    if _NEWER.search(reason):
        cuda = _with_option(part, "cuda_options", "-std=c++20", "its concepts ask for it")
        return cuda and _with_option(cuda, "hip_options", "-std=c++20", "its concepts ask for it")
    missing = _UNDEFINED.search(reason)
    if missing is None:
        return None
    name = missing[1]
    is_type = re.search(r"_T$|TYPE|REAL|SCALAR", name)
    value = "float" if is_type else str(ASSUMED_BLOCK) if re.search(r"BLOCK|THREAD|TPB", name) else "4"
    return _with_option(part, "defines", f"{name}={value}", "nothing defines it")


def _with_option(part: DraftedCase, key: str, option: str, why: str) -> DraftedCase | None:
    """With one more text in a list of the case; None where it is there, or there are many already."""
    lines = [*part.before, *part.after]
    place = next((n for n, line in enumerate(lines) if line.startswith(f"{key} = [")), None)
    if place is None:
        return replace(part, after=(*part.after, f'{key} = ["{option}"]'), notes=(*part.notes, f"{why}: {option}"))
    if option in lines[place] or option.partition("=")[0] + "=" in lines[place] or lines[place].count(",") >= _REPAIRS:
        return None
    lines[place] = f'{lines[place].removesuffix("]")}, "{option}"]'
    before, after = tuple(lines[: len(part.before)]), tuple(lines[len(part.before) :])
    return replace(part, before=before, after=after, notes=(*part.notes, f"{why}: {option}"))


def search(part: DraftedCase) -> Search:
    """One guess after the other, each with arrays that grow where the original leaves them."""
    first = ""
    guesses = [(guess, None) for guess in (GUESSES if part.marks else GUESSES[:1])]
    for guess, rest in (*guesses, *((GUESSES[0], value) for value in _REST)):
        lengths: dict[int, int] = {}
        quiet = unchecked = shared = False
        for _ in range(_GROWTHS + _REPAIRS + 2):
            made = filled(part, guess, lengths)
            if made is None:
                return first
            stilled = made if rest is None else made.still(rest)
            if stilled is None:
                return first
            made = with_shared(stilled) if shared else stilled
            made = made.quiet() if quiet else made
            made = made.unchecked("its threads write to the same places") if unchecked else made
            found = yield made
            if isinstance(found, CaseResult) and found.status in _RAN and not does_nothing(found):
                return made
            status = found.status if isinstance(found, CaseResult) else Status.NOT_RUN
            reason = (found.reason or _IDLE) if isinstance(found, CaseResult) else found
            first = first or f"{status.value}: {reason}"
            repaired = repair(part, reason) if status is Status.BUILD_FAILED else None
            bounds = _BOUNDS.search(reason)
            if repaired is not None:
                part = repaired
                continue
            if bounds is not None and guess.threads != int(bounds[1]):
                guess = replace(guess, block=_block_of(int(bounds[1])))
                continue
            if status in _HOPELESS and not isinstance(found, str):
                return first
            if status is not Status.FAULT:
                break
            grown = _grown(part, made, reason, lengths)
            if grown is not None:
                lengths = grown
            elif _OUTSIDE_SHARED in reason and not shared and not any(line.startswith("shared") for line in made.after):
                shared = True
            elif _RACE in reason and not unchecked:
                unchecked = True
            elif not quiet:
                quiet = True
            else:
                break
    return first


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
    longer = max(2 * int(past[3]) // max(1, bytes_of(match[6])), 1 << wanted.bit_length())
    if longer > _LONGEST or (TODO not in _arrays(part)[place] and _lengthened(lines[place], longer) is None):
        return None
    return {**lengths, place: longer}


def _arrays(part: DraftedCase) -> list[str]:
    """The lines of the arguments."""
    return [line for line in part.after if re.match(r'  (?:"|\{)', line)]

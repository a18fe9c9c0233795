"""Launches whose results no order of threads changes: calmer ones than that of a draft, one after the other.

A guess, or a program's own launch, may have blocks that write to the same places, or threads that race. Then one block
is tried, larger strides, and fewer threads; where none agrees with itself, the case says what hangs on the order.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import replace

from porter.validation.draft.init import DraftedCase
from porter.validation.verdict.outcome import CaseResult, Status

ORDER = "order: "
"""How the comment begins of a case whose results depend on the order of the original's threads."""
_RAN = (Status.PASSED, Status.NONDETERMINISTIC)
_OUTPUT = re.compile(r'^(\s*"(?:out|inout) )(\w+)(: )(\w+)(\[[^\]]*\])([^"]*)(".*)$')
_CHANGED = re.compile(r"(\w+)\[[^\]]*\] is \S+ with one schedule|elements of (\w+) are (?:wrong|not written|written)")
_HAZARD = "hazard in global memory: two waves"
"""How the note of a run begins."""
_LONGEST = 240


def ran(found: CaseResult | str) -> bool:
    """Whether the original came to an end under every schedule, with whatever results."""
    return isinstance(found, CaseResult) and found.status in _RAN


def agrees(found: CaseResult | str) -> bool:
    """Whether its results were the same under every schedule."""
    return isinstance(found, CaseResult) and found.status is Status.PASSED


def races_unseen(found: CaseResult | str) -> bool:
    """Whether plain accesses of it to global memory race, though no order that was tried shows it."""
    notes = [note for side in found.sides for note in side.notes] if isinstance(found, CaseResult) else []
    return any(note.startswith(_HAZARD) for note in notes)


def said_of(found: CaseResult | str) -> str:
    """What a run came to, in short."""
    reason = f"{found.status.value}: {found.reason}" if isinstance(found, CaseResult) else found
    return " ".join(reason.split())[:_LONGEST]


def depends(part: DraftedCase, reason: str) -> DraftedCase:
    """A case that says so."""
    note = f"{ORDER}what the original computes depends on the order of its threads: {reason}"
    return replace(part, notes=(*part.notes, note))


def one_block(part: DraftedCase, why: str = "") -> DraftedCase | None:
    """With one block of the grid; None where there is one."""
    grid, *rest = part.after
    sides = re.findall(r'"[^"]*"|\d+', grid.partition("=")[2])
    if not grid.startswith("grid =") or all(side == "1" for side in sides):
        return None
    line = f"grid = {'1' if len(sides) == 1 else '[' + ', '.join('1' for _ in sides) + ']'}"
    note = f"one block only: {why or 'with several, what the original computes depends on the order of its threads'}"
    return replace(part, after=(line, *rest), notes=(*part.notes, note))


def loose(part: DraftedCase) -> DraftedCase | None:
    """With results that may differ by roundings from order to order; None where they may, or none is a float."""
    floats = any((match := _OUTPUT.match(line)) and "float" in match[4] for line in part.after)
    if not floats or any(line.startswith("deterministic") for line in part.after):
        return None
    note = "the original's own results differ by roundings from order to order: deterministic = false"
    return replace(part, after=(*part.after, "deterministic = false"), notes=(*part.notes, note))


def unordered(part: DraftedCase, reason: str) -> DraftedCase | None:
    """With the array whose elements change places compared in any order; None where it is so already."""
    said = _CHANGED.search(reason)
    changed = said and (said[1] or said[2])
    lines = [*part.after]
    for number, line in enumerate(lines):
        match = _OUTPUT.match(line)
        if match is not None and match[2] == changed and "{" not in match[6]:
            lines[number] = "".join(match.group(1, 2, 3, 4, 5)) + " {any_order}" + match[6] + match[7]
            note = f"{match[2]}: its elements come in another order with other threads first"
            return replace(part, after=tuple(lines), notes=(*part.notes, note))
    return None


def calmed(part: DraftedCase, reason: str) -> Generator[DraftedCase, CaseResult | str, DraftedCase | str]:
    """A case whose launch is known and whose results depend on the order of threads: the calmer one that agrees."""
    for made in calmer(part, reason):
        if agrees((yield made)):
            return made
    return depends(part, reason)


def calmer(part: DraftedCase, reason: str) -> Iterator[DraftedCase]:
    """The same launch, and one block of it, held to less: what is worth a try where results change."""
    one = one_block(part)
    for made in (loose(part), one, loose(one) if one else None, unordered(part, reason)):
        if made is not None:
            yield made

"""Applying edits to text: pure, order-independent, and conflicts are values."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from porter.model import Edit, Finding, Span
from porter.source import SourceFile


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two findings whose edits touch the same bytes; `loser` was not applied."""

    winner: Finding
    loser: Finding


@dataclass(frozen=True, slots=True)
class Accepted:
    """The findings whose edits apply together, their edits in order, and the conflicts."""

    findings: tuple[Finding, ...]
    edits: tuple[Edit, ...]
    conflicts: tuple[Conflict, ...]


def overlaps(first: Edit, second: Edit) -> bool:
    """Whether the result of two different edits would depend on their order."""
    if first.start == first.end or second.start == second.end:
        return first[:2] == second[:2] or _inside(first, second)
    return first.start < second.end and second.start < first.end


def _inside(first: Edit, second: Edit) -> bool:
    return first.start < second.start < first.end or second.start < first.start < second.end


def accept(findings: Iterable[Finding]) -> Accepted:
    """Chooses the findings whose edits can be applied together.

    All edits of a finding apply or none. Identical edits of two findings agree. Where two collide, the one whose
    first edit starts earlier wins (then the wider, then the code), whatever order they came in.
    """
    owners: dict[Edit, Finding] = {}
    taken: list[Edit] = []
    winners: list[Finding] = []
    conflicts: list[Conflict] = []
    for finding in sorted((f for f in findings if f.fixed), key=_priority):
        fresh = [edit for edit in finding.edits if edit not in owners]
        collided = next((hit for edit in fresh if (hit := _collision(edit, taken))), None)
        if collided is not None:
            conflicts.append(Conflict(owners[collided], finding))
            continue
        winners.append(finding)
        for edit in fresh:
            owners[edit] = finding
            bisect.insort(taken, edit)
    return Accepted(tuple(winners), tuple(taken), tuple(conflicts))


def apart(finding: Finding, text: str) -> Finding:
    """The finding with edits that paste no name or number to what stands before it, as in `1::x`."""
    edits = tuple(_apart(edit, text) for edit in finding.edits)
    return finding if edits == finding.edits else replace(finding, edits=edits)


def _apart(edit: Edit, text: str) -> Edit:
    before, old = text[edit.start - 1 : edit.start] if edit.start else "", text[edit.start : edit.start + 1]
    after = (edit.text or text[edit.end : edit.end + 1])[:1]
    pastes = _is_of_name(before) and _is_of_name(after) and not _is_of_name(old)
    return edit._replace(text=" " + edit.text) if pastes and edit.start < edit.end else edit


def _is_of_name(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def _priority(finding: Finding) -> tuple[int, int, str, str]:
    start = min((edit.start for edit in finding.edits), default=finding.span.start)
    end = max((edit.end for edit in finding.edits), default=finding.span.end)
    return (start, -end, finding.code, finding.message)


def _collision(edit: Edit, taken: list[Edit]) -> Edit | None:
    """The edit already taken that this one collides with; `taken` is sorted and free of overlaps."""
    place = bisect.bisect_left(taken, edit)
    for other in taken[max(0, place - 2) : place + 2]:
        if overlaps(edit, other):
            return other
    return None


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """As they are applied: of insertions at one place `#include` lines come first, for others may begin with `#if`."""
    return sorted(edits, key=lambda edit: (edit.start, edit.end, not edit.text.startswith("#include "), edit.text))


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with non-overlapping edits applied."""
    pieces: list[str] = []
    position = 0
    for start, end, new in in_order(edits):
        if start < position:
            raise ValueError(f"edit at {start} overlaps the one before it")
        pieces.append(text[position:start])
        pieces.append(new)
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def mapped_back(finding: Finding, trail: Sequence[Sequence[Edit]], source: SourceFile) -> Finding:
    """A finding of a later pass, with the place in the original file that its text came from."""
    if not trail:
        return finding
    start, end = finding.span
    for changes in reversed(trail):
        start, end = _origin(start, changes), _origin(end, changes)
    line, column = source.position(min(start, len(source.text)))
    return replace(finding, span=Span(start, max(start, end)), line=line, column=column)


def _origin(offset: int, changes: Sequence[Edit]) -> int:
    """Offset before sorted edits were applied; inside inserted text: where the edit began."""
    shift = 0
    for start, end, text in changes:
        begins = start + shift
        if offset < begins:
            break
        if offset < begins + len(text):
            return start
        shift += len(text) - (end - start)
    return offset - shift


def moved(offset: int, changes: Iterable[Edit]) -> int:
    """Where a place of the text before sorted edits is after them; inside replaced text: where that begins."""
    shift = 0
    for start, end, text in changes:
        if offset < start or start <= offset < end:
            return min(offset, start) + shift
        shift += len(text) - (end - start)
    return offset + shift


def unmoved(offset: int, trail: Sequence[Sequence[Edit]]) -> int | None:
    """Where a character of the text after all edits stood before them; None for what an edit wrote."""
    for changes in reversed(trail):
        shift = 0
        for start, end, text in changes:
            if offset < start + shift:
                break
            if offset < start + shift + len(text):
                return None
            shift += len(text) - (end - start)
        offset -= shift
    return offset


def compose(trail: Sequence[Iterable[Edit]], length: int) -> tuple[Edit, ...]:
    """The edits of passes that follow each other as edits of the first text, which has `length` characters.

    Text that a later pass took out of what an earlier one inserted is gone; edits that touch become one.
    """
    if len(trail) <= 1:
        return tuple(_joined(in_order(edit for changes in trail for edit in changes)))
    pieces: list[_Piece] = [_Piece(0, length, None)]
    for changes in trail:
        pieces = _after(pieces, in_order(changes))
    composed: list[Edit] = []
    position = 0
    pending = ""
    for start, end, text in pieces:
        if text is not None:
            pending += text
            continue
        if pending or start > position:
            composed.append(Edit(position, start, pending))
        pending, position = "", end
    if pending or position < length:
        composed.append(Edit(position, length, pending))
    return tuple(composed)


def _joined(edits: Iterable[Edit]) -> list[Edit]:
    """Those that touch as one."""
    found: list[Edit] = []
    for edit in edits:
        if found and found[-1].end == edit.start:
            start, _, text = found.pop()
            edit = Edit(start, edit.end, text + edit.text)
        if edit.text or edit.start < edit.end:
            found.append(edit)
    return found


class _Piece(NamedTuple):
    """A stretch of the first text, or inserted text."""

    start: int
    end: int
    text: str | None


def _after(pieces: list[_Piece], changes: list[Edit]) -> list[_Piece]:
    result: list[_Piece] = []
    waiting = list(reversed(pieces))
    position = 0

    def take(until: int, keep: bool) -> None:
        nonlocal position
        while position < until and waiting:
            piece = waiting.pop()
            size = _size(piece)
            if position + size > until:
                first, rest = _cut(piece, until - position)
                waiting.append(rest)
                piece, size = first, until - position
            position += size
            if keep:
                result.append(piece)

    for start, end, text in changes:
        take(start, True)
        take(end, False)
        if text:
            result.append(_Piece(0, 0, text))
    result += reversed(waiting)
    return result


def _size(piece: _Piece) -> int:
    return piece.end - piece.start if piece.text is None else len(piece.text)


def _cut(piece: _Piece, size: int) -> tuple[_Piece, _Piece]:
    if piece.text is None:
        middle = piece.start + size
        return _Piece(piece.start, middle, None), _Piece(middle, piece.end, None)
    return _Piece(0, 0, piece.text[:size]), _Piece(0, 0, piece.text[size:])

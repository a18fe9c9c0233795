"""What the port would replace at a finding, as replacements of whole lines."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import NamedTuple

from porter.project.records import Entry

_MOST_LINES = 5_000


class Replacement(NamedTuple):
    """Lines [first, last) of the source, from 1, and the text that stands there in the port."""

    first: int
    last: int
    text: str


def replacements(before: bytes, after: bytes, entries: Mapping[int, Entry]) -> dict[int, tuple[Replacement, ...]]:
    """For each finding that the port rewrites, or that wants only a look: the lines around it that change.

    Lines that bring an `#include` go with each of them, so that one fix alone leaves code that can be compiled. Text
    that is not UTF-8 could not be replaced by what SARIF can hold, so there are no fixes for it.
    """
    fixed = {number: entry for number, entry in entries.items() if entry.fixed or entry.effort == "review"}
    if not fixed:
        return {}
    try:
        old, new = before.decode().split("\n"), after.decode().split("\n")
    except UnicodeDecodeError:
        return {}
    if len(old) > _MOST_LINES:
        return {}
    hunks = [
        Replacement(first + 1, last + 1, "".join(f"{line}\n" for line in new[start:end]))
        for tag, first, last, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal" and last < len(old)
    ]
    includes = [hunk for hunk in hunks if hunk.text.lstrip().startswith("#include")]
    found: dict[int, tuple[Replacement, ...]] = {}
    for number, entry in fixed.items():
        own = [hunk for hunk in hunks if hunk.first <= entry.line < max(hunk.last, hunk.first + 1)]
        if own:
            found[number] = tuple(sorted({*own, *includes}))
    return found

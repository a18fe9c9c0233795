"""What a drafted case's usual values leave out: the whole range of integers, NaN and infinities, equal values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from porter.validation.draft.init import DraftedCase

_UNSIGNED = re.compile(r'(  "(?:in|inout) (\w+): uint\d+\[[^\]"]*\])(",)$')
_SIGNED = re.compile(r'(  "(?:in|inout) (\w+): int\d+\[[^\]"]*\]) = integers\(0, 100\)(",)$')
_COUNTS = r"\b(?:for|while)\s*\((?:[^(){{}}]|\([^()]*\))*\b{name}\s*\[|(?:<<|>>)=?\s*\(?\s*{name}\s*\["
"""A loop that runs to an element, or a shift by one: other numbers mean no more than a longer run."""


def probes(part: DraftedCase, text: str) -> Iterator[DraftedCase]:
    """The same case with wider values, most first; what the original does not take is left."""
    wide = _with_range(part, text)
    special = _with_profiles(part)
    both = None if wide is None or special is None else _with_profiles(wide)
    yield from (one for one in (both, special, wide) if one is not None)


def _with_range(part: DraftedCase, text: str) -> DraftedCase | None:
    def whole(line: str) -> str:
        for pattern, values in ((_UNSIGNED, "bits"), (_SIGNED, "integers(-100, 100)")):
            match = pattern.match(line)
            if match and not re.search(_COUNTS.format(name=match[2]), text):
                return f"{match[1]} = {values}{match[3]}"
        return line

    lines = tuple(map(whole, part.after))
    return None if lines == part.after else replace(part, after=lines)


def _with_profiles(part: DraftedCase) -> DraftedCase | None:
    shown = ", ".join(f'"{profile}"' for profile in ("random", *part.profiles))
    return replace(part, after=(*part.after, f"profiles = [{shown}]")) if part.profiles else None

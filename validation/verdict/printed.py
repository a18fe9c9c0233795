"""Whether two launches printed the same, in whatever order: blocks and warps print when they come to it. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf)(?![\w.])", re.IGNORECASE)
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{8,}\b")
_ROUGHLY = 1e-5
_SHOWN = 80


def printed_otherwise(port: Sequence[str], original: Sequence[str]) -> str | None:
    """What the port's runs printed that the original's did not; nothing where the original's own runs differ."""
    wanted = _lines(original[0])
    if any(_lines(text) != wanted for text in original[1:]):
        return None
    for text in port:
        found = _lines(text)
        missing, extra = (sorted((one - other).elements()) for one, other in ((wanted, found), (found, wanted)))
        if len(missing) != len(extra):
            line = (extra or missing)[0]
            return f"it printed {found.total()} lines, the original {wanted.total()}: {line[:_SHOWN]!r}"
        for mine, theirs in zip(sorted(extra, key=_key), sorted(missing, key=_key), strict=True):
            if not _is_near(mine, theirs):
                return f"it printed {mine[:_SHOWN]!r}, the original {theirs[:_SHOWN]!r}"
    return None


def _lines(text: str) -> Counter[str]:
    """Lines and how often they are there; an address means nothing on another device."""
    return Counter(_ADDRESS.sub("0x...", line.rstrip()) for line in text.splitlines())


def _key(line: str) -> tuple[str, list[float]]:
    return _NUMBER.sub("#", line), [float(number) for number in _NUMBER.findall(line)]


def _is_near(mine: str, theirs: str) -> bool:
    """Whether only numbers with a fraction differ, by what another order of sums may do."""
    if _NUMBER.sub("#", mine) != _NUMBER.sub("#", theirs):
        return False
    pairs = zip(_NUMBER.findall(mine), _NUMBER.findall(theirs), strict=True)
    return all(one == other or (_is_real(one, other) and _near(float(one), float(other))) for one, other in pairs)


def _is_real(one: str, other: str) -> bool:
    return any(mark in text.lower() for text in (one, other) for mark in ".en")


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_ROUGHLY, abs_tol=_ROUGHLY) or (math.isnan(one) and math.isnan(other))

"""Whether a place of a file is compiled where something is absent: `#else`, `#ifndef USE_CUDA`, `#if !defined(X)`."""

from __future__ import annotations

import bisect
import re
from functools import cached_property

_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]{0,400})", re.MULTILINE)
_GUARD = re.compile(rb"\s*#[ \t]*define[ \t]+(\w+)")
_DENIES = re.compile(rb"!(?!=)|==[ \t]*0\b")
_NAMES_CUDA = re.compile(rb"\b\w*(?:CUDA|cuda)\w*")
_REFUSES = re.compile(
    rb"^[ \t]*#[ \t]*if(?:def)?\b([^\n!]{0,400})\n\s*#[ \t]*error\b[^\n]*\n\s*#[ \t]*endif\b", re.MULTILINE
)


class AbsentBranches:
    """Branches of one file's `#if`, read when it is first asked."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def lacks_cuda(self, place: int) -> bool:
        """Whether a place is compiled where CUDA is absent, by name: behind `#ifndef WITH_CUDA`, in the `#else` of
        `#ifdef WITH_CUDA`, or in a file that ends with `#error` where there is CUDA."""
        return bool(self._refused) or any(start <= place < end for start, end in self._without_cuda)

    @cached_property
    def _refused(self) -> bool:
        if b"error" not in self._text:
            return False
        return any(_NAMES_CUDA.search(match[1]) is not None for match in _REFUSES.finditer(self._text))

    @cached_property
    def _without_cuda(self) -> tuple[tuple[int, int], ...]:
        """Where branches begin and end that are compiled without CUDA alone, in a file whose `#if` are all closed."""
        found: list[tuple[int, int]] = []
        opened: list[tuple[bool, bool, int]] = []
        for match in _DIRECTIVE.finditer(self._text):
            word = match[1]
            named, denied, start = False, False, 0
            if word in (b"else", b"elif", b"endif") and opened:
                named, denied, start = opened.pop()
                if named and denied:
                    found.append((start, match.start()))
            if word == b"else":
                opened.append((named, not denied, match.end()))
            elif word == b"elif":
                opened.append((False, False, match.end()))
            elif word != b"endif":
                names = _NAMES_CUDA.search(match[2]) is not None
                opened.append((names and not self._guards(match), self._denies(match), match.end()))
        return tuple(found)

    @cached_property
    def _edges(self) -> tuple[list[int], list[int], list[int]]:
        places, counts, depths = [0], [0], [0]
        opened: list[bool] = []
        guards = 0
        for match in _DIRECTIVE.finditer(self._text):
            word = match[1]
            if word in (b"else", b"elif", b"endif") and opened:
                opened.pop()
            if word in (b"else", b"elif"):
                opened.append(True)
            elif word != b"endif":
                opened.append(self._denies(match))
                guards += len(opened) == 1 and self._guards(match)
            places.append(match.end())
            counts.append(sum(opened))
            depths.append(len(opened) - (guards > 0))
        return places, counts, depths

    def _denies(self, match: re.Match[bytes]) -> bool:
        if match[1] != b"ifndef" and (match[1] == b"ifdef" or _DENIES.search(match[2]) is None):
            return False
        return not self._guards(match)

    def _guards(self, match: re.Match[bytes]) -> bool:
        """Whether a condition keeps a header from being read twice."""
        guard = _GUARD.match(self._text, match.end())
        return guard is not None and re.search(rb"\b%b\b" % re.escape(guard[1]), match[2]) is not None

    def holds(self, place: int) -> bool:
        """Whether a place is in such a branch; the guard of a header is none."""
        places, counts, _ = self._edges
        return counts[bisect.bisect_right(places, place) - 1] > 0

    def always(self, place: int) -> bool:
        """Whether no condition but the guard of a header holds a place."""
        places, _, depths = self._edges
        return depths[bisect.bisect_right(places, place) - 1] <= 0

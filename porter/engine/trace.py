"""Whether anything in a file can concern a rule: most files of most projects need not be lexed at all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from porter.cpp.headers import Included
from porter.cpp.prescan import include_names, words_of
from porter.engine.renames import any_looks_like_cuda
from porter.engine.rule import Rule
from porter.engine.support import SupportTable
from porter.names.table import NameTable
from porter.source import SourceFile

_DEVICE_CODE = "__(?:global|device)__"
"""Device code is always a reason to look: rules that ask for nothing else need no search of their own."""
_ALLOWANCE = "porter:"


_LETTERS = re.compile(r"(?:\w|\\w|[|?*+)]|\((?:\?i?:)?|\[[\w-]+\])+")


def _is_of_words(pattern: str) -> bool:
    """Whether what a pattern finds is a part of one word, so that it is enough to look at each word once."""
    return _LETTERS.fullmatch(pattern) is not None


_MOST_HEADERS = 2000


def _is_in_sight(pattern: re.Pattern[str], source: SourceFile, included: Included | None) -> bool:
    """Whether a file or a header that it includes has what a rule looks for; yes where there are too many."""
    seen = {source.path}
    waiting = [source]
    while waiting:
        one = waiting.pop()
        if one.matches(pattern) or len(seen) > _MOST_HEADERS:
            return True
        found = [included(one.path, name) for name in include_names(one.data)] if included is not None else ()
        for header in found:
            if header is not None and header.path not in seen:
                seen.add(header.path)
                waiting.append(header)
    return False


class Trace:
    """What the rules of one run look for, as words and patterns of a file's bytes."""

    def __init__(self, rules: Iterable[Rule], names: NameTable, support: SupportTable, own: Iterable[str] = ()) -> None:
        self._names = names
        self._support = support
        self._rules = tuple(rules)
        self._own = frozenset(own)

    @cached_property
    def _known(self) -> frozenset[bytes]:
        """Words of which each alone is a reason to look, beside those of the tables of names."""
        found = {"__global__", "__device__"} | self._own | {name.partition("::")[0] for name in self._support.names}
        for rule in self._rules:
            if not rule.text:
                found |= {re.split(r"\W", trigger)[-1] for trigger in rule.triggers if "." not in trigger}
        return frozenset(name.encode("latin-1", "replace") for name in found)

    @cached_property
    def _patterns(self) -> tuple[tuple[frozenset[bytes], re.Pattern[str], bool, re.Pattern[str] | None], ...]:
        """Of each rule that has one, with its triggers, whether the pattern is of parts of words, and what has to be in
        sight; what has to come last."""
        rules = [rule for rule in self._rules if rule.text not in ("", _DEVICE_CODE)]
        asked = dict.fromkeys((rule.in_sight, rule.text, rule.triggers) for rule in rules)
        return tuple(
            (
                frozenset(name.encode("latin-1") for name in triggers),
                re.compile(text),
                _is_of_words(text),
                re.compile(in_sight) if in_sight else None,
            )
            for in_sight, text, triggers in sorted(asked, key=lambda one: bool(one[0]))
        )

    @cached_property
    def _always(self) -> bool:
        """Whether a rule says nothing of what it looks for."""
        return any(not (rule.triggers or rule.text or rule.by_names) for rule in self._rules)

    def concerns(self, source: SourceFile, included: Included | None = None) -> bool:
        """Whether some rule could find something in a file, whose headers are found so; errs on the side of yes."""
        if self._always or source.path.lower().endswith((".cu", ".cuh", ".hip")) or _ALLOWANCE in source.text:
            return True
        words = words_of(source.data)
        each = b"\n".join(words).decode("latin-1")
        if not (words.isdisjoint(self._known) and words.isdisjoint(self._names.telling)) or any_looks_like_cuda(each):
            return True
        if any(map(self._is_header_of_interest, include_names(source.data))):
            return True
        return any(
            (not triggers or not words.isdisjoint(triggers))
            and pattern.search(each if in_words else source.text)
            and (in_sight is None or _is_in_sight(in_sight, source, included))
            for triggers, pattern, in_words, in_sight in self._patterns
        )

    def _is_header_of_interest(self, name: str) -> bool:
        known = self._of_interest.get(name)
        if known is None:
            is_known = self._names.header(name) is not None or self._names.header_folder(name) is not None
            known = self._of_interest[name] = is_known or any(name in rule.triggers for rule in self._rules)
        return known

    @cached_property
    def _of_interest(self) -> dict[str, bool]:
        """What `_is_header_of_interest` was asked: files of one tree include the same headers."""
        return {}

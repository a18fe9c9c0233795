"""Which of a run's rules a file is asked about: found by its words at once, and not rule by rule."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from typing import TypeAlias

from porter.engine.dialect import Dialect
from porter.engine.rule import Rule
from porter.engine.unit import Unit

Rules: TypeAlias = tuple[Rule, ...]
_MOST_KEPT = 64
"""Sets of rules: a run has a handful, of what whole files are and of what settings leave out."""


def asked(unit: Unit, rules: Rules) -> Rules:
    """The rules with a trigger in the unit, those without triggers, and those that look for themselves, in order."""
    always, by_word, words = _index(rules)
    numbers = set(always)
    for word in (*(words & unit.identifiers), *(words & unit.included)):
        numbers.update(by_word[word])
    return tuple([rules[number] for number in sorted(numbers)])


@functools.lru_cache(maxsize=_MOST_KEPT)
def _index(rules: Rules) -> tuple[tuple[int, ...], Mapping[str, tuple[int, ...]], frozenset[str]]:
    """The rules that are always asked, and those of each trigger; all triggers."""
    always: list[int] = []
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    for number, rule in enumerate(rules):
        if type(rule).applies is not Rule.applies or not rule.triggers:
            always.append(number)
            continue
        for trigger in rule.triggers:
            by_word[trigger].append(number)
    return tuple(always), {word: tuple(numbers) for word, numbers in by_word.items()}, frozenset(by_word)


@functools.lru_cache(maxsize=_MOST_KEPT)
def triggers_of(rules: Rules) -> Mapping[str, Rules]:
    """All words that some rule looks for, each with these rules."""
    found: defaultdict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        for trigger in rule.triggers:
            found[trigger].append(rule)
    return {word: tuple(some) for word, some in found.items()}


@functools.lru_cache(maxsize=_MOST_KEPT)
def settling(rules: Rules) -> frozenset[str]:
    """The codes of those that leave nothing to do for others."""
    return frozenset(rule.code for rule in rules if rule.settles)


@functools.lru_cache(maxsize=_MOST_KEPT)
def changing(rules: Rules) -> Rules:
    """Those that may change a file."""
    return tuple(rule for rule in rules if not rule.only_reports)


@functools.lru_cache(maxsize=_MOST_KEPT)
def named(rules: Rules, name: str) -> Rules:
    """The rule of that name, if it is among them."""
    return tuple(rule for rule in rules if rule.name == name)


@functools.lru_cache(maxsize=_MOST_KEPT)
def others(rules: Rules, name: str) -> Rules:
    """All but the rule of that name."""
    return tuple(rule for rule in rules if rule.name != name)


@functools.lru_cache(maxsize=_MOST_KEPT)
def not_about(rules: Rules, dialect: Dialect) -> Rules:
    """Those that are about more than lines of one dialect."""
    return tuple(rule for rule in rules if rule.dialect is not dialect)

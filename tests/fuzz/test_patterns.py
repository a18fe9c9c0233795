"""No rule's pattern takes long over a hostile file: pieces of what it finds, again and again.

A pattern that looks back over what it has passed takes minutes for eight kilobytes; all others some hundredths of a
second. The patterns of modules have no examples to make such a file of: regexploit looks for the parts by which they
would go back.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
import warnings
from collections.abc import Iterator

import porter.rules
import porter.validation
import pytest

from porter.engine.registry import all_rules
from porter.engine.rule import Rule

_PIECES = 12
_SECONDS = 2.0
_SHARED = 2


def _pieces(pattern: re.Pattern[str], text: str) -> set[str]:
    """Beginnings and ends of what is found first in a text."""
    found = pattern.search(text)
    whole = found[0] if found else ""
    ends = range(1, len(whole) + 1, max(1, len(whole) // _PIECES))
    return {whole[:end] for end in ends} | {whole[-end:] for end in ends}


def _slowest(pattern: re.Pattern[str], texts: list[str], length: int = 8000) -> float:
    worst = 0.0
    for piece in set().union(*(_pieces(pattern, text) for text in texts)):
        hostile = f"{piece} " * (length // (len(piece) + 1))
        began = time.process_time()
        pattern.search(hostile)
        worst = max(worst, time.process_time() - began)
        if worst > _SECONDS:
            break
    return worst


@pytest.mark.parametrize("rule", [rule for rule in all_rules() if rule.text], ids=lambda rule: rule.code)
def test_what_a_rule_looks_for_is_found_in_time(rule: Rule) -> None:
    assert _slowest(re.compile(rule.text), [example.before for example in rule.examples]) < _SECONDS


def test_a_rules_pattern_that_goes_back_is_seen() -> None:
    pattern = re.compile(r"template\s*<[^;{}]*,[^;{}]*=[^;{}]*>\s*struct\s+\w+\s*;")
    assert _slowest(pattern, ["template <int N, int M = 0> struct A;"], 4500) > _SECONDS


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """All patterns that stand in a module of porter's, by module and name."""
    for package in (porter, porter.rules, porter.validation):  # their folders lie beside porter's in the source tree
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith("__main__"):
                continue
            for name, value in vars(importlib.import_module(found.name)).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    yield f"{found.name}.{name}", value


def _goes_back(pattern: re.Pattern[str]) -> bool:
    """Whether three or more of its parts can share the same text, in any way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it reads patterns by the module's former name
        from regexploit.ast.sre import SreOpParser
        from regexploit.redos import find
    reader = SreOpParser()
    reader.from_POSSESSIVE_REPEAT = reader.from_MAX_REPEAT  # of Python 3.11
    reader.from_ATOMIC_GROUP = reader.sequence_or_singleton
    return any(way.starriness > _SHARED for way in find(reader.parse_sre(pattern.pattern, pattern.flags)))


def test_no_pattern_of_a_module_goes_back() -> None:
    patterns = dict(_patterns())
    assert len(patterns) > 250
    assert not [name for name, pattern in patterns.items() if _goes_back(pattern)]


@pytest.mark.parametrize("pattern", [r"a\s*([^;]+?)\s*\}?\s*;", r"\w+\s*\w*\s*\w*;", r"(?:\w+)+;"])
def test_a_modules_pattern_that_goes_back_is_seen(pattern: str) -> None:
    assert _goes_back(re.compile(pattern))

"""What is known about each code: rules and notices alike."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

from porter.buildfiles.registry import build_rules
from porter.engine.notices import NOTICES
from porter.engine.registry import all_rules


class RuleInfo(NamedTuple):
    """What a reader should know about a code."""

    code: str
    name: str
    group: str
    title: str
    explanation: str


@functools.cache
def rule_infos() -> Mapping[str, RuleInfo]:
    """Every code that a finding can have."""
    rules = [
        RuleInfo(rule.code, rule.name, rule.group, rule.title, rule.explanation)
        for rule in (*all_rules(), *build_rules())
    ]
    notices = [RuleInfo(one.code, one.name, "", one.title, f"{one.title}\n\n{one.explanation}") for one in NOTICES]
    return {info.code: info for info in sorted([*rules, *notices])}

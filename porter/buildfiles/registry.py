"""Finds the rules for build files: every module in `rules/buildfiles` that defines a BuildRule."""

from __future__ import annotations

import functools

from porter.buildfiles.unit import BuildRule
from porter.engine.registry import rules_below
from porter.rules import buildfiles as rules_package


@functools.cache
def build_rules() -> tuple[BuildRule, ...]:
    """Every rule for build files, in the order of their codes; a code used twice is an error."""
    return rules_below(rules_package, BuildRule)


def build_rule_by_name(name: str) -> BuildRule | None:
    """A rule by its code or its name."""
    return next((rule for rule in build_rules() if name in (rule.code, rule.name) or name.upper() == rule.code), None)

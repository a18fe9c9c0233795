"""Finds the rules: every module below `rules/` that defines a Rule, named after its file."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from porter import rules as rules_package
from porter.rule import Rule


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of their codes; a code used twice is an error."""
    found: dict[str, Rule] = {}
    for module in pkgutil.walk_packages(rules_package.__path__, rules_package.__name__ + "."):
        if module.ispkg:
            continue
        for rule in _rules_of(module.name):
            if rule.code in found:
                raise ValueError(f"rule code {rule.code} is used by {found[rule.code].name} and {rule.name}")
            found[rule.code] = rule
    return tuple(found[code] for code in sorted(found))


def _rules_of(module_name: str) -> list[Rule]:
    module = importlib.import_module(module_name)
    parts = module_name.split(".")
    name, group = parts[-1].replace("_", "-"), parts[-2]
    return [
        value(name, group)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module_name
    ]


def rule_by_name(name: str) -> Rule | None:
    """A rule by its code (`W101`) or its name (`shuffle-width`)."""
    for rule in all_rules():
        if name in (rule.code, rule.name) or name.upper() == rule.code:
            return rule
    return None

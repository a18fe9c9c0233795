"""Finds the rules: every module below `rules/` that defines a Rule, named after its file."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

from porter import rules as rules_package
from porter.engine.rule import Explained, Rule

Kind = TypeVar("Kind", bound=Explained)


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule for sources, in the order of their codes; a code used twice is an error."""
    return rules_below(rules_package, Rule)


def rules_below(package: ModuleType, base: type[Kind]) -> tuple[Kind, ...]:
    """The rules of a kind in all modules below a package, in the order of their codes."""
    found: dict[str, Kind] = {}
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if module.ispkg:
            continue
        for rule in _rules_of(module.name, base):
            if rule.code in found:
                raise ValueError(f"rule code {rule.code} is used by {found[rule.code].name} and {rule.name}")
            found[rule.code] = rule
    return tuple(found[code] for code in sorted(found))


def _rules_of(module_name: str, base: type[Kind]) -> list[Kind]:
    module = importlib.import_module(module_name)
    parts = module_name.split(".")
    name, group = parts[-1].replace("_", "-"), parts[-2]
    return [
        value(name, group)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module_name
    ]


def rule_by_name(name: str) -> Rule | None:
    """A rule by its code (`W101`) or its name (`shuffle-width`)."""
    for rule in all_rules():
        if name in (rule.code, rule.name) or name.upper() == rule.code:
            return rule
    return None

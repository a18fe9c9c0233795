"""Finds the rules for build files: every module in `rules/buildfiles` that defines a BuildRule."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from porter.buildfiles.unit import BuildRule
from porter.rules import buildfiles as rules_package


@functools.cache
def build_rules() -> tuple[BuildRule, ...]:
    """Every rule for build files, in the order of their codes; a code used twice is an error."""
    found: dict[str, BuildRule] = {}
    for module in pkgutil.iter_modules(rules_package.__path__, rules_package.__name__ + "."):
        for rule in _rules_of(module.name):
            if rule.code in found:
                raise ValueError(f"rule code {rule.code} is used by {found[rule.code].name} and {rule.name}")
            found[rule.code] = rule
    return tuple(found[code] for code in sorted(found))


def _rules_of(module_name: str) -> list[BuildRule]:
    module = importlib.import_module(module_name)
    name, group = module_name.rpartition(".")[2].replace("_", "-"), "buildfiles"
    return [
        value(name, group)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, BuildRule) and value.__module__ == module_name
    ]


def build_rule_by_name(name: str) -> BuildRule | None:
    """A rule by its code or its name."""
    return next((rule for rule in build_rules() if name in (rule.code, rule.name) or name.upper() == rule.code), None)

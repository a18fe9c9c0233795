"""What a rule for build files is: all that one needs besides the language of its files."""

from __future__ import annotations

from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine.rule import Edit, Effort, Finding, apply, clean, fixes, reports

__all__ = [
    "BuildRule",
    "BuildUnit",
    "Edit",
    "Effort",
    "Finding",
    "Kind",
    "apply",
    "clean",
    "fixes",
    "reports",
]

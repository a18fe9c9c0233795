"""The outputs of a check, for people and for code hosts."""

from __future__ import annotations

import enum
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from porter.check.result import CheckResult


class CheckFormat(str, enum.Enum):
    """How the result is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"
    GITLAB = "gitlab"


def render(result: CheckResult, form: CheckFormat) -> str:
    """The result in one format, with a newline at the end."""
    names = {CheckFormat.JSON: "as_json"}
    module = importlib.import_module(f"{__name__}.{names.get(form, form.value)}")
    write: Callable[[CheckResult], str] = module.render
    return write(result)

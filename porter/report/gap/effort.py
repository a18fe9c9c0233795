"""How long an action takes: estimates by kind, from `effort.toml`, in minutes, hours or days."""

from __future__ import annotations

import functools
import importlib.resources
import re
import sys
from typing import NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

_HOUR, _DAY = 60, 480
_NUMBER = re.compile(r"\b\d[\d,]*\b")


class Class(NamedTuple):
    """Minutes for the first place of a kind, for each further cause, for each place that reads as another, and why."""

    first: int
    each: int
    why: str
    alike: int = 2

    @property
    def basis(self) -> str:
        """The row in words."""
        alike = f"{self.alike} where one reads as another" if self.alike < self.each else ""
        figures = f"{self.first} min for the first place, {self.each} for each further one"
        return "; ".join(filter(None, (self.why, ", ".join(filter(None, (figures, alike))))))


@functools.cache
def _classes() -> dict[str, Class]:
    text = (importlib.resources.files("porter") / "report" / "gap" / "effort.toml").read_text("utf-8")
    return {name: Class(**row) for name, row in tomllib.loads(text).items()}


def effort_class(code: str, *, review: bool = False) -> Class:
    """The row of a code or of a kind of action; a look is a look whatever the code."""
    classes = _classes()
    if review:
        return classes["review"]
    return classes.get(code) or classes.get(code[:1] if code[1:].isdigit() else code) or classes["manual"]


def minutes_of(kind: Class, places: int, *, alike: int = 0) -> int:
    """For so many places, of which `alike` read as one of the others: those cost a change, not a thought."""
    return kind.first + kind.each * max(0, places - alike - 1) + min(kind.alike, kind.each) * alike


def reads_as(message: str) -> str:
    """The same for messages that differ in numbers only: names tell causes apart, lines and counts do not."""
    return _NUMBER.sub("#", message)


def in_words(minutes: int) -> str:
    """`minutes`, `3 hours`, `2 days`: no figure is finer than the estimate behind it."""
    if minutes < _HOUR:
        return "minutes"
    if minutes < _DAY:
        hours = round(minutes / _HOUR)
        return f"{hours} hour{'s' * (hours != 1)}"
    days = round(minutes / _DAY)
    return f"{days:,} day{'s' * (days != 1)}"

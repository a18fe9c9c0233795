"""The table of how other compilers, and the builds of other projects, are turned to NVIDIA's GPUs."""

from __future__ import annotations

import functools
import importlib.resources
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

_VALUE = r"(?!(?i:off|0|no|false|n|ignore|none)\b|\$\{?\w+\}?[\"']?[ \t]*==)[^\s\"';)]+"
"""What turns a switch on; a variable may."""


@dataclass(frozen=True)
class Backend:
    """A row: what stands in a build, and what stands there for AMD's GPUs."""

    name: str
    words: tuple[str, ...]
    """Plain ones, of which a file has to have one."""
    what: re.Pattern[str]
    instead: str
    knows: re.Pattern[str]
    """What shows that a file has seen to AMD's GPUs."""
    needs: re.Pattern[str] | None
    """What the file has to say besides, for words that others use, too."""
    home: tuple[str, ...]
    """Ends of the paths of headers of the project itself."""
    examples: tuple[tuple[str, str], ...]
    """Each a path and a text."""
    near_misses: tuple[tuple[str, str], ...]

    def is_for(self, text: str, headers: Collection[str]) -> bool:
        """Whether anything of it is to be told in a file of a tree with these headers."""
        if not any(word in text for word in self.words):
            return False
        if self.needs is not None and self.needs.search(text) is None:
            return False
        if self.knows.search(text) is not None or self.what.search(text) is None:
            return False
        ends = tuple(f"/{header}" for header in self.home)
        return not ends or not any(f"/{path}".endswith(ends) for path in headers)


@functools.cache
def load_backends(section: str) -> tuple[Backend, ...]:
    """All rows of one section."""
    path = Path(str(importlib.resources.files("porter.rules"))) / "buildfiles" / "backends.toml"
    document: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    return tuple(_row(name, row) for name, row in document[section].items())


@functools.cache
def homes() -> tuple[str, ...]:
    """How the headers end by which the tree of such a project is known."""
    return tuple(header for section in ("flags", "switches") for row in load_backends(section) for header in row.home)


def _row(name: str, row: Mapping[str, Any]) -> Backend:
    needs = row.get("needs")
    return Backend(
        name,
        tuple(row["words"]),
        re.compile(row["flag"] if "flag" in row else _switch(row)),
        row["instead"],
        re.compile(row["knows"]),
        re.compile(needs) if needs is not None else None,
        tuple(row.get("home", ())),
        tuple((path, text) for path, text in row["examples"]),
        tuple((path, text) for path, text in row.get("clean", ())),
    )


def _switch(row: Mapping[str, Any]) -> str:
    """A variable that is given a value, or asked about: `-DX=ON`, `X ?= 1`, `set(X ON)`, `"X ON"`, `if(X)`."""
    names, value = row["switch"], row.get("value", _VALUE)
    on = row.get("value", r"(?i:on|1|true|yes)\b")
    given = rf"(?:(?::[A-Z]+)?[ \t]*[?:+]?=[ \t]*[\"']?(?:{value})|[ \t]+[\"']?(?:{on}))"
    asked = rf"|(?<=\()(?:{names})(?=\)|[ \t]+(?:AND|OR)\b)" if row.get("asked", False) else ""
    return rf"(?<![\w$({{-])(?:-D[ \t]*)?(?:{names}){given}|(?i:(?<=set\())(?:{names})[ \t]+[\"']?(?:{value}){asked}"

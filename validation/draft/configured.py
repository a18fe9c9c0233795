"""Headers that a project's build makes from templates, `config.h.in`: what they define with every option off."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from porter.validation.draft.includers import templates_of

from porter.system.reading import is_regular, read_regular

_LINE = re.compile(
    r"^[ \t]*#[ \t]*(define|cmakedefine01|cmakedefine|undef)[ \t]+(\w+(?:\([\w, ]*\))?)[ \t]*([^\n]*)$", re.MULTILINE
)
_OPTION = re.compile(r"@\w+@|\$\{\w+\}")
_PLAIN = re.compile(r"[\w.()+\-*/<>= ]{0,60}")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_SUFFIXES = (".in", ".cmake", ".cmake.in", ".cmakein")
_MOST = 64


@dataclass(frozen=True)
class Configured:
    """One such header."""

    name: str
    """As the source includes it."""
    template: str
    defines: tuple[str, ...]
    """As a compiler is given them, `HAVE_FFT=0`."""
    switched_on: tuple[str, ...] = ()
    """The same with every option on."""


def configured_headers(path: Path, missing: Iterable[str]) -> tuple[Configured, ...]:
    """Those of the headers that a source misses whose templates its project has."""
    found: list[Configured] = []
    for name in missing:
        template = _template(path, name)
        if template is not None:
            content = read_regular(template).decode("latin-1")
            off, on = (defines_of(content, option) for option in ("0", "1"))
            found += [Configured(name, template.name, off, on)] if off else []
    return tuple(found)


def _template(path: Path, name: str) -> Path | None:
    last = name.rpartition("/")[2]
    wanted = {last + suffix for suffix in _SUFFIXES}
    known = [place for place in templates_of(path) if place.name in wanted and is_regular(place)]
    inside = [place for place in known if f"/{name}" in place.as_posix()]
    return next(iter([*inside, *known]), None) if len(known) == 1 or inside else None


def defines_of(template: str, option: str = "0") -> tuple[str, ...]:
    """What a template defines when its options are this; strings and what an option leaves undefined are left out."""
    made: dict[str, str] = {}
    for word, name, rest in _LINE.findall(_COMMENT.sub(" ", template)):
        value = _OPTION.sub(option, rest).strip()
        if word == "cmakedefine01":
            made[name] = option
        elif word == "define" and _PLAIN.fullmatch(value) and not name.endswith(("_H", "_H_", "_HPP")):
            made[name] = value
    return tuple(f"{name}={value}" for name, value in list(made.items())[:_MOST])

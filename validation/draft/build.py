"""What the Makefile beside a source says of it: definitions, include folders, how the program is started."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from porter.system.reading import read_regular

_NAMES = ("Makefile", "makefile", "GNUmakefile")
_START = re.compile(
    r"^\t[^\n#]*?\./(?:\$[({]\w+[)}]|[\w.-]+)((?:[ \t]+[\w./:+-]+)*)[ \t]*(?:[>|;&#][^\n]*)?$", re.MULTILINE
)
_DEFINE = re.compile(r"(?:^|\s)-D\s*(\w+(?:=[\w.+-]+)?)(?=\s|$)")
_FOLDER = re.compile(r"(?:^|\s)-I\s*([\w./+-]+)(?=\s|$)")


@dataclass(frozen=True)
class Build:
    """Flags of the compiler and arguments of the program."""

    defines: tuple[str, ...] = ()
    include_dirs: tuple[Path, ...] = ()
    arguments: tuple[str, ...] = ()
    root: Path | None = None
    """The folder that holds the source and what it includes, where that is one above it."""


def build_of(folder: Path) -> Build:
    """What a Makefile in a folder says, without what is conditional."""
    path = next((folder / name for name in _NAMES if (folder / name).is_file()), None)
    if path is None:
        return Build()
    text = read_regular(path).decode("latin-1")
    plain = _unconditional(text.replace("\\\n", " "))
    places = dict.fromkeys(folder / name for name in _FOLDER.findall(plain))
    started = [match[1].split() for match in _START.finditer(text)]
    return Build(
        tuple(dict.fromkeys(_DEFINE.findall(plain))),
        tuple(place for place in places if place.is_dir()),
        tuple(started[0]) if started else (),
    )


def _unconditional(text: str) -> str:
    """The lines outside of `ifeq ... endif`, without comments."""
    kept: list[str] = []
    depth = 0
    for line in text.splitlines():
        word = line.split(maxsplit=1)[0] if line.strip() else ""
        depth += word in ("ifeq", "ifneq", "ifdef", "ifndef")
        if depth == 0 and not word.startswith("#"):
            kept.append(line.partition(" #")[0])
        depth -= word == "endif"
    return "\n".join(kept)

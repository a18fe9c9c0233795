"""What a project's build files and scripts give a macro: `-DBLOCK=64`, `{'REAL': 'float'}`, `set(TILE 16)`."""

from __future__ import annotations

import functools
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from porter.validation.draft.includers import project_of

from porter.system.reading import is_regular, read_regular

_SUFFIXES = frozenset(
    {".py", ".cmake", ".txt", ".mk", ".build", ".rs", ".jl", ".sh", ".am", ".ac", ".toml", ".go", ".java"}
)
_NAMES = frozenset({"Makefile", "makefile", "GNUmakefile", "SConstruct", "SConscript", "wscript"})
_VALUE = r"(-?\d[\w.+-]*|[A-Za-z_]\w*(?:::\w+)*(?:<[\w:, ]+>)?(?: \w+)?)"
_PATTERNS = (
    r"-D\s*{name}=\\?[\"']?" + _VALUE + r"(?![\w(])",
    r"[\"'](?:-D)?{name}[\"']\s*[:,]\s*[\"']" + _VALUE + r"[\"']",
    r"[\"']{name}[\"']\s*[:,]\s*(-?\d[\w.+-]*)(?=\s*[,)}}\]])",
    r"\bset\s*\(\s*{name}\s+[\"']?" + _VALUE + r"[\"']?(?=[\s)])",
)
_NUMBER = re.compile(r"-?\d[\w.+-]*")
_TYPES = re.compile(
    r"(?:(?:unsigned|signed|long|short) )*(?:float|double|int|char|short|long|bool|unsigned|half|__half|u?int\d+_t"
    r"|size_t|(?:float|double|int|uint|char|uchar)[234]|(?:\w+::)*complex<(?:float|double)>)"
)
_NEAR, _MORE = 300, 100
"""Characters around a value, and how many others it outweighs where the source is named in them."""
_LARGE, _MOST_BYTES = 1 << 19, 24 << 20


@dataclass(frozen=True)
class Given:
    """A value, and the file that gives it."""

    value: str
    file: str


def value_in_builds(path: Path, name: str) -> Given | None:
    """The number or plain type that most places give a macro, those first that name the source."""
    if not re.fullmatch(r"[A-Za-z_]\w+", name):
        return None
    found: Counter[str] = Counter()
    files: dict[str, str] = {}
    patterns = [re.compile(pattern.format(name=name)) for pattern in _PATTERNS]
    root = project_of(path)
    for other, text in _scripts(root) if root is not None else ():
        if name in text:
            for match in (match for pattern in patterns for match in pattern.finditer(text)):
                value = match[1]
                if _NUMBER.fullmatch(value) or _TYPES.fullmatch(value):
                    is_about = path.stem in text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
                    found[value] += _MORE if is_about else 1
                    files.setdefault(value, other)
    value = max(found, key=lambda one: (found[one], one), default=None)
    return Given(value, files[value]) if value is not None else None


@functools.lru_cache(maxsize=1)
def _scripts(root: Path) -> tuple[tuple[str, str], ...]:
    """Build files and scripts of a project, what is large left out."""
    found: list[tuple[str, str]] = []
    size = 0
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(place) / name for name in sorted(names)):
            wanted = path.suffix in _SUFFIXES or path.name in _NAMES or path.name.lower().startswith("make.")
            if wanted and is_regular(path) and path.stat().st_size < _LARGE:
                found.append((path.name, read_regular(path).decode("latin-1")))
                size += len(found[-1][1])
        if size > _MOST_BYTES:
            break
    return tuple(found)

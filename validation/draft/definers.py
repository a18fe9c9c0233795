"""Headers of a project that define what a file uses and does not include: its build puts them before it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from porter.validation.draft.includers import headers_of_project

DEFINES = (
    r"^[ \t]*#[ \t]*define[ \t]+{word}\b"
    r"|\btypedef\b[^;{{}}]*\b{word}\s*;|\}}\s*(?:__align__\s*\([^)]*\)\s*)?{word}\s*;|\busing\s+{word}\s*="
    r"|\b(?:struct|class|union|enum(?:\s+class)?)\s+(?:__align__\s*\([^)]*\)\s*|alignas\s*\([^)]*\)\s*)?{word}\b[^;(){{}}]*\{{"
    r"|\b(?:constexpr|const|static)\b[^;(){{}}=]*\b{word}\s*(?:\[[^\]]*\]\s*)?="
    r"|\b__constant__\b[^;(){{}}=]*\b{word}\b|\b__device__\b[^;(){{}}=]*\b{word}\s*\["
    r"|\b__device__\b[^;(){{}}=]*\b{word}\s*\("
)
"""What a text that defines a name has."""
_LANGUAGES = re.compile(
    r"(?:^|[/_.-])(?:hip|rocm|amd|opencl|sycl|cpu|musa|npu|stubs?|tests?|examples?)(?=[/_.-]|$)", re.IGNORECASE
)
_INCLUDE = re.compile(r'#[ \t]*include[ \t]*["<]([^">\n]+)[">]')


def definer(path: Path, word: str) -> Path | None:
    """The header of a source's project that defines a name: the one that the files beside it include most, then the
    nearest; headers of other languages last. Nothing for a name that many define."""
    if not re.fullmatch(r"[A-Za-z_]\w{2,}", word):
        return None
    made = re.compile(DEFINES.format(word=word), re.MULTILINE)
    found = [other for other, text in headers_of_project(path) if word in text and made.search(text)]
    if not found or len(found) > _MOST:
        return None
    used = _included_beside(path)
    return min(found, key=lambda other: (_is_foreign(other, path), -used[other.name], _apart(path, other), str(other)))


_MOST = 12


def definers(path: Path, words: Iterable[str]) -> tuple[Path, ...]:
    """One for each name that has one, without repetition."""
    return tuple(dict.fromkeys(one for word in words if (one := definer(path, word)) is not None))


def _is_foreign(other: Path, path: Path) -> bool:
    shared = os.path.commonpath([other, path.absolute()])
    return _LANGUAGES.search(os.path.relpath(other, shared)) is not None


def _apart(path: Path, other: Path) -> int:
    """Folders between a source and a header."""
    return len(Path(os.path.relpath(other.parent, path.absolute().parent)).parts)


def _included_beside(path: Path) -> Counter[str]:
    """How many files of the folder, and of the one above, include each header, by its name."""
    folders = (path.absolute().parent, path.absolute().parent.parent)
    used: Counter[str] = Counter()
    for other, text in headers_of_project(path, code=True):
        if other.parent in folders:
            used.update({name.rpartition("/")[2] for name in _INCLUDE.findall(text)})
    return used

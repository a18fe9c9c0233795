"""Names of source files in build files, and what they are called in the ported tree."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

_VARIABLES = re.compile(r"\$(?:\{[^{}]*\}|\([^()]*\)|[A-Za-z_<@^*])|@\w+@|%")
_CUDA_FILE = re.compile(r".*\.cu", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Sources:
    """The files of the tree that get another name."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    paths: frozenset[str] = frozenset()
    """C++ and CUDA files of the tree."""

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[str, ...]]:
        return _named_by_end(self.renamed)

    @cached_property
    def _paths_by_name(self) -> Mapping[str, tuple[str, ...]]:
        return _named_by_end(self.paths)

    @cached_property
    def usual(self) -> bool:
        """Whether some .cu files are renamed, and each by its suffix alone."""
        return bool(self.renamed) and all(
            posixpath.splitext(old)[0] == posixpath.splitext(new)[0] for old, new in self.renamed.items()
        )

    def is_source(self, text: str) -> bool:
        """Whether a word names a .cu file, or a pattern of them."""
        return _CUDA_FILE.fullmatch(text) is not None

    def new_name(self, folder: str, text: str) -> str | None:
        """The word for a .cu file or pattern as the port has it; None when it stays, or nothing is known of it."""
        if not self.is_source(text) or not self.renamed:
            return None
        if posixpath.basename(text).lower() == ".cu" or "*" in text or "?" in text or "%" in text:
            return text[:-3] + ".hip" if self._pattern_is_renamed(folder, text) else None
        old = self._meant(folder, text)
        if old is not None:
            return posixpath.join(posixpath.dirname(text), posixpath.basename(self.renamed[old]))
        if _VARIABLES.search(text) and self.usual:
            return text[:-3] + ".hip"
        return None

    def _pattern_is_renamed(self, folder: str, text: str) -> bool:
        return self.usual

    def _meant(self, folder: str, text: str) -> str | None:
        """The renamed file that a word stands for: by its path from the build file's folder, or by the end of it."""
        direct = posixpath.normpath(posixpath.join(folder, text))
        if direct in self.renamed:
            return direct
        tail = _VARIABLES.sub("", text).lstrip("./")
        same_name = self._by_name.get(posixpath.basename(text), ())
        ends = [path for path in same_name if path == tail or path.endswith("/" + tail)]
        if len(ends) == 1:
            return ends[0]
        below = [path for path in ends if path.startswith(folder + "/" if folder else "")]
        return below[0] if len(below) == 1 else None

    def is_missing(self, folder: str, text: str) -> bool:
        """Whether a word names one .cu file that the tree does not have."""
        if not self.is_source(text) or _VARIABLES.search(text) or "*" in text or "?" in text:
            return False
        direct = posixpath.normpath(posixpath.join(folder, text))
        return direct not in self.paths and not self._ends_like(text)

    def _ends_like(self, text: str) -> bool:
        tail = "/" + posixpath.normpath(text).lstrip("./")
        same_name = self._paths_by_name.get(posixpath.basename(tail), ())
        return any(("/" + path).endswith(tail) for path in same_name)


def _named_by_end(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Paths by the last part of their names."""
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(posixpath.basename(path), []).append(path)
    return {name: tuple(same) for name, same in found.items()}

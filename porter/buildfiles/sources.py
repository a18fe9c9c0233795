"""Names of source files in build files, and what they are called in the ported tree."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

_VARIABLES = re.compile(r"\$(?:\{[^{}]*\}|\([^()]*\)|[A-Za-z_]\w*|[<@^*])|@\w+@|%|\{[^{}]*\}")
_CUDA_FILE = re.compile(r".*\.cu", re.IGNORECASE | re.DOTALL)


_STARS = re.compile(r"\*+")
_LONGEST_NAME = 255


@dataclass(frozen=True)
class Sources:
    """The files of the tree that get another name."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    paths: frozenset[str] = frozenset()
    """C++ and CUDA files of the tree."""
    headers: frozenset[str] = frozenset()
    """Paths of the project's own headers."""

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
        """The word for a .cu file or pattern as the port has it; None when it stays, or nothing is known of it.

        A word can be the end of names alone (`.cu`, `_cuda.cu`, `\\.cu` in a regular expression).
        """
        if not self.is_source(text) or not self.renamed:
            return None
        if not _is_pattern(text):
            called = {posixpath.basename(self.renamed[old]) for old in self._meant(folder, text)}
            if len(called) == 1:
                return posixpath.join(posixpath.dirname(text), *called)
        if _is_pattern(text) or self._is_end_of_names(text):
            return self._new_pattern(text)
        return None

    def _new_pattern(self, text: str) -> str | None:
        """`*.cu` as `*.hip` finds `a.cu.hip` too, where that name was the free one; not so `%.cu` and `_cuda.cu`."""
        if self._by_suffix_alone(text):
            return text[:-3] + ".hip"
        matched = self._matched(text)
        if matched and all(self.renamed[old] == old + ".hip" for old in matched):
            return text + ".hip"
        if text[:-3].endswith("*") and matched and not self._finds_others(text[:-3] + ".hip"):
            return text[:-3] + ".hip"
        return None

    def _finds_others(self, pattern: str) -> bool:
        shape = re.compile(fnmatch.translate(_tail(pattern)))
        return any(map(shape.match, self._paths_by_name))

    def breaks(self, folder: str, text: str) -> bool:
        """Whether a word stands for renamed files, and no one word stands for their new names."""
        if not self.is_source(text) or self.new_name(folder, text) is not None:
            return False
        one = not _is_pattern(text) and not self._is_end_of_names(text)
        return self._ends_like(text) if one else bool(self._matched(text))

    def object_name(self, folder: str, text: str) -> str | None:
        """As `new_name`, for the source in the name of an object, which stands in a folder of its own."""
        found = self.new_name(folder, text)
        if found is None and self.is_source(text) and self._matched(text) and self._by_suffix_alone(text):
            return text[:-3] + ".hip"
        return found

    def lost(self, pattern: str) -> bool:
        """Whether a pattern such as `*.cu*` matches renamed files by their old names only."""
        if not ("*" in pattern or "?" in pattern) or self.is_source(pattern):
            return False
        pattern = _STARS.sub("*", posixpath.basename(pattern))
        if len(pattern) - pattern.count("*") > _LONGEST_NAME:
            return False
        shape = fnmatch.translate(pattern)
        matches = re.compile(shape).match
        return any(
            matches(posixpath.basename(old)) and not matches(posixpath.basename(new))
            for old, new in self.renamed.items()
        )

    def _by_suffix_alone(self, text: str) -> bool:
        """Whether the renamed files that a pattern can stand for, or else all, change their suffix and nothing else."""
        matched = self._matched(text)
        return self.usual or (
            bool(matched)
            and all(posixpath.splitext(old)[0] == posixpath.splitext(self.renamed[old])[0] for old in matched)
        )

    def _matched(self, text: str) -> tuple[str, ...]:
        """Renamed files whose names end as the last part of a word does, anything standing for its variables."""
        tail = _tail(text)
        found = self._known.get(tail)
        if found is None:
            found = self._known[tail] = self._with_tail(tail)
        return found

    @cached_property
    def _known(self) -> dict[str, tuple[str, ...]]:
        """What was asked of `_with_tail`: `%.cu` stands in most Makefiles of a tree."""
        return {}

    def _with_tail(self, tail: str) -> tuple[str, ...]:
        if len(tail) - tail.count("*") > _LONGEST_NAME:
            return ()
        shape = re.compile(fnmatch.translate("*" + tail))
        return tuple(old for name, paths in self._by_name.items() if shape.match(name) for old in paths)

    def _is_end_of_names(self, text: str) -> bool:
        return "/" not in text and any(name.endswith(text) for name in self._by_name)

    def _meant(self, folder: str, text: str) -> tuple[str, ...]:
        """The renamed files that a word can stand for: by its path from the build file's folder, or by the end of it.

        A function of a script may put a folder before it that only its callers know (`ext("ops.a", ["src/k.cu"])`).
        """
        direct = posixpath.normpath(posixpath.join(folder, text))
        if direct in self.renamed:
            return (direct,)
        tail = _VARIABLES.sub("", text).lstrip("./")
        ends = _ending(self._by_name, tail)
        if len(ends) == 1:
            return ends
        below = f"{folder}/" if folder else ""
        inside = tuple(path for path in ends if path.startswith(below))
        others = sum(path.startswith(below) for path in _ending(self._paths_by_name, tail)) - len(inside)
        return inside if len(inside) == 1 or others <= 0 else ()

    def is_missing(self, folder: str, text: str) -> bool:
        """Whether a word names one .cu file that the tree does not have."""
        if not self.is_source(text) or _is_pattern(text) or self._is_end_of_names(text):
            return False
        direct = posixpath.normpath(posixpath.join(folder, text))
        return direct not in self.paths and not self._ends_like(text)

    def _ends_like(self, text: str) -> bool:
        tail = "/" + posixpath.normpath(text).lstrip("./")
        same_name = self._paths_by_name.get(posixpath.basename(tail), ())
        return any(("/" + path).endswith(tail) for path in same_name)


def _tail(text: str) -> str:
    """The last part of a word, anything standing for its variables."""
    return _STARS.sub("*", posixpath.basename(_VARIABLES.sub("*", text)).replace("\\", ""))


def _is_pattern(text: str) -> bool:
    """Whether a word has variables, wildcards or backslashes, or is a suffix alone."""
    name = posixpath.basename(text)
    return name.lower() == ".cu" or _VARIABLES.search(text) is not None or any(sign in text for sign in "*?[\\")


def _ending(by_name: Mapping[str, tuple[str, ...]], tail: str) -> tuple[str, ...]:
    """The paths that a path's end can stand for."""
    same_name = by_name.get(posixpath.basename(tail), ())
    return tuple(path for path in same_name if path == tail or path.endswith("/" + tail))


def _named_by_end(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Paths by the last part of their names."""
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(posixpath.basename(path), []).append(path)
    return {name: tuple(same) for name, same in found.items()}

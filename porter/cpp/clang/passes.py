"""The compilation passes over one file, each parsed without function bodies first and with them on demand."""

from __future__ import annotations

import functools
import importlib.resources
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.cpp.clang import beginnings, stubs
from porter.cpp.clang import libclang as clang
from porter.model import Span

_SUPPORT = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"((?:\.\./)*)(porter/[\w./-]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Input:
    """What clang is given."""

    path: str
    main: str
    """The file that clang compiles: `path`, or one that includes it."""
    files: Mapping[str, bytes]
    options: tuple[str, ...]
    language: str
    header_bytes: int = 0
    """Size of the local headers."""
    shares_headers: bool = False
    """Whether what it includes first may be precompiled for other files as well."""


_LARGE_HEADERS = 20_000


class Pass:
    """One side, host or device, of one file."""

    def __init__(self, given: Input, side: str, bodies: bool = False) -> None:
        self.given = given
        self.side = side
        self.has_bodies = bodies
        """Whether one parse serves all questions: that with function bodies."""

    @functools.cached_property
    def declarations(self) -> clang.TranslationUnit | None:
        """The file without function bodies."""
        return self.bodies if self.has_bodies else self._parse(clang.Depth.DECLARATIONS)

    @functools.cached_property
    def bodies(self) -> clang.TranslationUnit | None:
        """The whole file."""
        return self._parse(self._depth)

    @functools.cached_property
    def corrected(self) -> clang.TranslationUnit | None:
        """The whole file, three times as slow: clang keeps calls with an unknown argument only when it looks for what
        was meant."""
        return self._parse(self._depth, "-fspell-checking")

    @property
    def _depth(self) -> clang.Depth:
        return clang.Depth.OWN_BODIES if self._headers_are_large else clang.Depth.ALL

    @functools.cached_property
    def error_offsets(self) -> list[int]:
        """Where clang met errors in this very file, sorted."""
        unit = self.bodies
        return sorted(diagnostic.offset for diagnostic in unit.errors_here) if unit is not None else []

    @property
    def _headers_are_large(self) -> bool:
        """Whether a preamble is worth its cost; clang makes none for a file that is not on disk."""
        given = self.given
        return given.header_bytes > _LARGE_HEADERS and given.path == given.main and Path(given.main).is_file()

    @property
    def _shares_headers(self) -> bool:
        """Whether it may be worth it to precompile what the file includes first."""
        return self.given.shares_headers and self.given.header_bytes > _LARGE_HEADERS

    @functools.cached_property
    def skipped(self) -> tuple[Span, ...]:
        """Byte ranges of the file that the preprocessor skipped in this pass."""
        unit = self.declarations
        if unit is None:
            return ()
        text = self.given.files[self.given.path]
        return tuple(filter(None, (_between_directives(text, span) for span in unit.skipped())))

    def is_active(self, offset: int) -> bool:
        """Whether this pass compiles an offset."""
        return not any(span.start <= offset < span.end for span in self.skipped)

    def _parse(self, depth: clang.Depth, *more: str) -> clang.TranslationUnit | None:
        given = self.given
        flags = (*stubs.flags(given.language, self.side), *given.options)
        begun = beginnings.begun(given.main, flags, given.files) if self._shares_headers else None
        if begun is not None:
            bodies = clang.Depth.ALL if begun.is_all and depth is clang.Depth.OWN_BODIES else depth
            unit = clang.parse(given.main, (*begun.flags, *more), dict(begun.files), bodies, given.path)
            if unit is not None:
                return unit
            beginnings.forget(flags)
        unit = clang.parse(given.main, (*flags, *more), dict(given.files), depth, given.path)
        if unit is None and depth is clang.Depth.OWN_BODIES:  # its preamble is refused where the stubs were just remade
            return clang.parse(given.main, (*flags, *more), dict(given.files), clang.Depth.ALL, given.path)
        return unit


def _between_directives(text: bytes, span: Span) -> Span | None:
    """The lines after the `#if` that starts a skipped range and before the directive that ends it."""
    start = text.find(b"\n", span.start) + 1
    end = text.rfind(b"\n", start, span.end) + 1
    return Span(start, end) if 0 < start < end else None


def support_files(path: str, data: bytes) -> dict[str, bytes]:
    """Our own headers that a ported file includes, where the ported tree will have them."""
    found: dict[str, bytes] = {}
    for match in _SUPPORT.finditer(data):
        name = os.fsdecode(match.group(2))
        folder = os.path.normpath(Path(path).parent / os.fsdecode(match.group(1)))
        place = str(Path(folder) / name)
        text = _support_header(name)
        if text is not None and not Path(place).exists():
            found[place] = text
    return found


@functools.cache
def _support_header(name: str) -> bytes | None:
    resource = importlib.resources.files("porter") / "include" / name
    return resource.read_bytes() if resource.is_file() else None

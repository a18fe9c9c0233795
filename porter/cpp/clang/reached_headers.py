"""The project's headers that a file reaches, found before clang runs, and the #include lines clang must not follow."""

# ruff: noqa: PTH118, PTH120, PTH116
from __future__ import annotations

import functools
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from porter.cpp.prescan import defines_kernel_macro
from porter.system.reading import read_regular

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*([<"])([^>"\n]*)[>"]', re.MULTILINE)
_COMPUTED = re.compile(rb"^[ \t]*#[ \t]*include(?:_next)?[ \t]+[A-Za-z_][^\n]*", re.MULTILINE)
_NAMED = re.compile(rb'^[ \t]*#[ \t]*define\b[^\n]*?["<]([^">\n]+)[">]', re.MULTILINE)
_MACRO = re.compile(rb"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(\w+)", re.MULTILINE)
_ARCHITECTURE = re.compile(rb"__(?:CUDA_ARCH|HIP_DEVICE_COMPILE|CUDACC_RDC)__")
_LARGEST_CLOSURE = 2000


class IncludeLine(NamedTuple):
    """One #include directive: byte range of the line's directive, name, and whether it is in quotes."""

    start: int
    end: int
    name: str
    quoted: bool


class Contents(NamedTuple):
    """What the search for headers needs to know of a file."""

    includes: tuple[IncludeLine, ...]
    device_branches: bool
    """Whether it asks which pass compiles it."""
    kernel_macros: bool
    """Whether it defines a macro that makes kernels."""
    computes: bool
    """Whether it includes what a macro names."""
    steps_on: bool
    """Whether it may include the next header of a name: which that is hangs on how the file was found itself."""


@dataclass
class Closure:
    """Local headers reached from a file."""

    headers: frozenset[str] = frozenset()
    device_branches: bool = False
    kernel_macros: bool = False
    names: frozenset[str] = frozenset()
    """Names in all #include lines met."""
    size: int = 0
    """Bytes of the headers."""
    steps_on: bool = False
    """Whether a file may include the next header of a name."""
    rewritten: dict[str, bytes] = field(default_factory=dict)
    """Files whose text clang gets with forbidden #include lines blanked."""


def contents_of(data: bytes) -> Contents:
    """Reads the #include lines of a file without lexing it."""
    includes = tuple(
        IncludeLine(m.start(), m.end(), os.fsdecode(m.group(2)), m.group(1) == b'"') for m in _INCLUDE.finditer(data)
    )
    return Contents(
        includes,
        _ARCHITECTURE.search(data) is not None,
        defines_kernel_macro(data),
        _COMPUTED.search(data) is not None,
        b"include_next" in data,
    )


def _text(path: str) -> bytes:
    try:
        return read_regular(path)
    except OSError:
        return b""


@functools.lru_cache(maxsize=4096)
def _header(path: str, modified: int, size: int) -> Contents:
    del modified, size
    try:
        return contents_of(read_regular(path))
    except OSError:
        return Contents((), False, False, False, False)


def macros_of(data: bytes) -> frozenset[str]:
    """The macros that a file defines or takes away, in any of its branches."""
    return frozenset(name.decode("latin-1") for name in _MACRO.findall(data))


def macros_in(header: str) -> frozenset[str]:
    """Those of a header."""
    try:
        status = os.stat(header)
    except OSError:
        return frozenset()
    return _macros_in(header, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=4096)
def _macros_in(header: str, modified: int, size: int) -> frozenset[str]:
    del modified, size
    return macros_of(_text(header))


def close_over(path: str, data: bytes, include_dirs: Iterable[str], root: str | None) -> Closure:
    """Follows the #include lines of a file through the project's own headers.

    A header outside of `root`, one that is no regular file, and one that is being included already (a cycle) are not
    followed: their lines are blanked, byte for byte, in the text clang gets.
    """
    search = _Search(tuple(include_dirs), os.path.realpath(root) if root else None)
    search.visit(path, contents_of(data), data, (os.path.realpath(path),))
    search.blank_computed(path, data)
    return Closure(
        frozenset(search.headers),
        search.device_branches,
        search.kernel_macros,
        frozenset(search.names),
        search.size,
        search.steps_on,
        search.rewritten,
    )


def find_translation_unit(path: str, root: str | None) -> str | None:
    """The file that a file is compiled as a part of: what includes it, what includes that, and so on."""
    trail = [path]
    while len(trail) <= DEEPEST_CHAIN:
        includer = _find_includer(trail[-1], root)
        if includer is None or includer in trail:
            break
        trail.append(includer)
    return trail[-1] if len(trail) > 1 else None


DEEPEST_CHAIN = 6


def _find_includer(path: str, root: str | None) -> str | None:
    """A file of the project, in the same folder or the one above, that includes a file; sources first."""
    folder, name = os.path.split(os.path.realpath(path))
    above = os.path.dirname(folder)
    limit = os.path.realpath(root) if root else folder
    folders = [folder, above] if above.startswith(limit) else [folder]
    search = _Search((), None)
    candidates = (entry for each in folders for entry in _sources(each, _modified(each)))
    for candidate, status in candidates:
        if candidate == path:
            continue
        for include in _header(candidate, status.st_mtime_ns, status.st_size).includes:
            if include.name.endswith(name):
                found = search.resolve(candidate, include)
                if found is not None and found[0] == os.path.join(folder, name):
                    return candidate
    return None


_SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".cuh", ".hpp", ".h")
_MOST_SOURCES = 200
_LARGEST_SOURCE = 1_000_000


def _modified(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=64)
def _sources(folder: str, modified: int) -> list[tuple[str, os.stat_result]]:
    """Source files of a folder, the likely translation units first."""
    del modified
    found: list[tuple[int, str, os.stat_result]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                suffix = entry.name[entry.name.rfind(".") :]
                if suffix in _SOURCES and entry.is_file():
                    found.append((_SOURCES.index(suffix), entry.path, entry.stat()))
    except OSError:
        return []
    usable = [(path, status) for _, path, status in sorted(found) if status.st_size < _LARGEST_SOURCE]
    return usable[:_MOST_SOURCES]


@functools.lru_cache(maxsize=8192)
def _real_path(path: str) -> str:
    return os.path.realpath(path)


class _Search:
    def __init__(self, include_dirs: tuple[str, ...], root: str | None) -> None:
        self.include_dirs = include_dirs
        self.root = root
        self.headers: set[str] = set()
        self.rewritten: dict[str, bytes] = {}
        self.device_branches = False
        self.kernel_macros = False
        self.computes = False
        self.steps_on = False
        self.names: set[str] = set()
        self.size = 0

    def visit(self, path: str, contents: Contents, data: bytes | None, trail: tuple[str, ...]) -> None:
        self.device_branches |= contents.device_branches
        self.kernel_macros |= contents.kernel_macros
        self.computes |= contents.computes
        self.steps_on |= contents.steps_on
        self.names.update(include.name for include in contents.includes)
        forbidden: list[IncludeLine] = []
        for include in contents.includes:
            target = self.resolve(path, include)
            if target is None:
                continue
            real, status = target
            if not self._allowed(real, status) or real in trail:
                forbidden.append(include)
            elif real not in self.headers and len(self.headers) < _LARGEST_CLOSURE:
                self.headers.add(real)
                self.size += status.st_size
                header = _header(real, status.st_mtime_ns, status.st_size)
                self.visit(real, header, None, (*trail, real))
        if forbidden:
            self._blank(path, data, forbidden)

    def blank_computed(self, path: str, data: bytes) -> None:
        """Takes away `#include MACRO` lines where a macro names a pipe or a device, which clang would read for ever."""
        if not self.computes:
            return
        files = [(path, data), *((header, self.rewritten.get(header)) for header in sorted(self.headers))]
        texts = [(name, _text(name) if text is None else text) for name, text in files]
        places = [(name, text, list(_COMPUTED.finditer(text))) for name, text in texts]
        if not any(found for *_, found in places) or not any(self._names_no_file(*each) for each in texts):
            return
        for name, text, found in places:
            lines = [IncludeLine(match.start(), match.end(), "", True) for match in found]
            if lines:
                self._blank(name, self.rewritten.get(name, text), lines)

    def _names_no_file(self, path: str, text: bytes) -> bool:
        for match in _NAMED.finditer(text):
            target = self.resolve(path, IncludeLine(0, 0, os.fsdecode(match.group(1)), True))
            if target is not None and not stat.S_ISREG(target[1].st_mode):
                return True
        return False

    def resolve(self, includer: str, include: IncludeLine) -> tuple[str, os.stat_result] | None:
        """Real path and status of the file that an #include line names; None when there is none."""
        folders = (os.path.dirname(includer), *self.include_dirs) if include.quoted else self.include_dirs
        for folder in folders:
            candidate = os.path.join(folder, include.name)
            try:
                return _real_path(candidate), os.stat(candidate)
            except (OSError, ValueError):
                continue
        return None

    def _allowed(self, real: str, status: os.stat_result) -> bool:
        inside = self.root is None or real == self.root or real.startswith(self.root.rstrip(os.sep) + os.sep)
        return inside and stat.S_ISREG(status.st_mode)

    def _blank(self, path: str, data: bytes | None, lines: list[IncludeLine]) -> None:
        if data is None:
            try:
                data = read_regular(path)
            except OSError:
                return
        text = bytearray(data)
        for line in lines:
            text[line.start : line.end] = b" " * (line.end - line.start)
        self.rewritten[path] = bytes(text)

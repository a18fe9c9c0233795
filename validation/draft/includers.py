"""Headers that compile only after what their includer includes before them."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from porter.system.reading import is_regular, read_regular

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_OWN_HEADER = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"', re.MULTILINE)
_HEADERS = frozenset({".h", ".hpp", ".cuh", ".hxx", ".inl", ".inc"})
_CODE = _HEADERS | {".cu", ".cpp", ".cc", ".cxx"}
_HIGHEST, _MOST_FILES, _DEEPEST = 4, 1500, 2
_OUTERMOST, _MOST_OF_A_PROJECT = 9, 100_000
_LARGE, _MOST_BYTES = 1 << 20, 64 << 20
_LONGEST, _MOST_LAUNCHING = 1 << 18, 2
_TEMPLATE = re.compile(r"\.(?:h|hpp|hh|hxx|cuh|inc)\.(?:in|cmake|cmake\.in|cmakein)$")
_MARKS = ("CMakeLists.txt", "Makefile", "meson.build", "setup.py", "pyproject.toml", "configure.ac", "LICENSE")
"""Files of which a project's outermost folder has one."""


def included_first(path: Path, depth: int = 0) -> tuple[str, ...]:
    """What the file that includes most before this header includes there, and what comes before that file.

    Paths, and names where they are not the project's.
    """
    if depth > _DEEPEST or (path.suffix not in _HEADERS and not _is_included(path)):
        return ()
    wanted = path.resolve()
    for folder in wanted.parents[:_HIGHEST]:
        found = [(other, _before(other, wanted)) for other in _files(folder) if other.resolve() != wanted]
        known = [(other, names) for other, names in found if names is not None]
        if known:
            other, names = max(known, key=lambda one: len(one[1]))
            return tuple(dict.fromkeys((*included_first(other, depth + 1), *names)))
        if (folder / ".git").exists() or folder.parent == folder.parent.parent:
            break
    return ()


def _is_included(path: Path) -> bool:
    """Whether a file of the project includes a source, which is a part of it then and need not compile alone."""
    return next(_including(path), None) is not None


def _including(path: Path) -> Iterator[Path]:
    """The files of a source's project that include one of its name."""
    root = _project(path.absolute().parent)
    name = re.escape(path.name.encode())
    line = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<](?:[^">\n]*/)?' + name + rb'[">]', re.MULTILINE)
    for other, text in _contents(root) if root is not None else ():
        if path.name.encode() in text and line.search(text):
            yield other


def translation_unit(path: Path) -> Path | None:
    """The source that another one without headers of its own is a part of: what it needs stands before it there."""
    if path.suffix in _HEADERS or not is_regular(path) or _OWN_HEADER.search(read_regular(path)):
        return None
    own = path.absolute()
    sources = (other for other in _including(path) if other.suffix not in _HEADERS)
    found = [other for other in sources if _before(other, path.resolve()) is not None]
    return min(found, key=lambda other: (-_shared(other.parent.parts, own.parent.parts), str(other)), default=None)


def folder_in_project(path: Path, name: str) -> Path | None:
    """The folder of a source's project that an include is found from, the one nearest to the source where several are.

    Only for names that the project alone can mean: with a folder, or of one file.
    """
    root = _project(path.parent)
    if root is None or name.startswith(("/", ".")):
        return None
    tail = f"/{name}"
    found = [Path(f"/{one}".removesuffix(tail).lstrip("/")) for one in _headers(root) if f"/{one}".endswith(tail)]
    if not found or ("/" not in name and len(found) > 1):
        return None
    inside = path.parent.relative_to(root).parts
    best = min(found, key=lambda folder: (-_shared(inside, folder.parts), len(folder.parts), folder.as_posix()))
    return root / best


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many folders two paths begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def project_of(path: Path) -> Path | None:
    """The folder of a source's project."""
    return _project(path.absolute().parent)


def _project(folder: Path) -> Path | None:
    """The outermost folder around a source that looks like a project's, with one that does not between at most."""
    around = [folder, *folder.parents[:_OUTERMOST]]
    repository = next((one for one in around if (one / ".git").exists()), None)
    if repository is not None:
        return repository
    found: Path | None = None
    bare = 0
    for one in around:
        is_marked = one.parent != one and any((one / mark).is_file() for mark in _MARKS)
        if is_marked:
            found, bare = one, 0
        bare += found is not None and not is_marked
        if bare > 1:
            break
    return found


def sources_naming(path: Path, word: str) -> Iterator[tuple[Path, str]]:
    """The other files of a source's project that have a word, with their text."""
    root = _project(path.parent)
    if root is None:
        return
    own, wanted = path.resolve(), word.encode()
    for other, content in _contents(root):
        if wanted in content and other.resolve() != own:
            yield other, content.decode("latin-1")


@functools.lru_cache(maxsize=4)
def _texts(root: Path) -> tuple[tuple[Path, str], ...]:
    return tuple((path, content.decode("latin-1")) for path, content in _contents(root))


def launching(path: Path, names: Iterable[str]) -> tuple[Path, ...]:
    """The files of a source's project that launch most of these kernels, the nearest first; a few of them."""
    root = _project(path.absolute().parent)
    own = path.resolve()
    launches = {name: re.compile(rb"\b" + name.encode() + rb"\s*(?:<[^;{}()]*>\s*)?<<<") for name in names}
    found: list[tuple[int, int, Path]] = []
    for other, content in _contents(root) if root is not None else ():
        if b"<<<" not in content or len(content) > _LONGEST or other.resolve() == own:
            continue
        count = sum(name.encode() in content and made.search(content) is not None for name, made in launches.items())
        if count:
            shared = _shared(other.parent.parts, path.absolute().parent.parts)
            found.append((-count, -shared, other))
    return tuple(other for *_, other in sorted(found)[:_MOST_LAUNCHING])


def headers_of_project(path: Path, *, code: bool = False) -> tuple[tuple[Path, str], ...]:
    """The headers of a source's project but itself, or all its code, with their text."""
    root = _project(path.absolute().parent)
    own = path.absolute()
    texts = _texts(root) if root is not None else ()
    return tuple(one for one in texts if one[0] != own and (code or one[0].suffix in _HEADERS))


@functools.lru_cache(maxsize=1)
def _contents(root: Path) -> tuple[tuple[Path, bytes], ...]:
    """The code of a project, what is large left out."""
    found: list[tuple[Path, bytes]] = []
    size = 0
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(place) / name for name in sorted(names) if Path(name).suffix in _CODE):
            with contextlib.suppress(OSError):  # not to be read, or gone
                if is_regular(path) and path.stat().st_size < _LARGE:
                    found.append((path, read_regular(path)))
                    size += len(found[-1][1])
        if size > _MOST_BYTES:
            break
    return tuple(found)


@functools.lru_cache(maxsize=64)
def templates_of(path: Path) -> tuple[Path, ...]:
    """Files of a source's project that headers are made from."""
    root = _project(path.absolute().parent)
    if root is None:
        return ()
    found: list[Path] = []
    seen = 0
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen += len(names)
        found += [Path(place) / one for one in sorted(names) if _TEMPLATE.search(one)]
        if seen > _MOST_OF_A_PROJECT:
            break
    return tuple(found)


@functools.lru_cache(maxsize=4)
def _headers(root: Path) -> tuple[str, ...]:
    """The headers of a project, as seen from its folder."""
    found: list[str] = []
    seen = 0
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen += len(names)
        found += [(Path(place) / one).relative_to(root).as_posix() for one in names if Path(one).suffix in _HEADERS]
        if seen > _MOST_OF_A_PROJECT:
            break
    return tuple(found)


def _files(folder: Path) -> list[Path]:
    """The sources of a folder and of those in it, the nearest first."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(place) / name for name in sorted(names) if Path(name).suffix in _CODE]
        if len(found) > _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _before(other: Path, wanted: Path) -> tuple[str, ...] | None:
    """The includes of a file in front of the one that leads to a header; None where none does."""
    text = read_regular(other) if is_regular(other) else b""
    if wanted.name.encode() not in text:
        return None
    found: list[str] = []
    for name in (match.decode("latin-1") for match in _INCLUDE.findall(text)):
        place = other.parent / name
        own = place.resolve() if is_regular(place) else None
        if own == wanted or (own is None and wanted.as_posix().endswith("/" + name)):
            return tuple(dict.fromkeys(found))
        found.append(str(own) if own is not None else name)
    return None

"""Discovers a repository: every entry below a folder, what kind it is, and whether it takes part."""

from __future__ import annotations

import enum
import os
import posixpath
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from porter.buildfiles.mentions import kind_of_build
from porter.cpp.include_graph import SOURCES
from porter.errors import Unusable
from porter.names.table import is_cuda_header
from porter.project.unmet import folder_notes, glob_notes, include_notes, refuse_circles, version_notes
from porter.project.writing import is_temporary
from porter.settings import Choices, Handling
from porter.system import git
from porter.system.cache import cache_folder
from porter.system.paths import real_inside
from porter.system.reading import opened
from porter.system.stamps import Stamp, stamp_of

_HEADERS = (".cuh", ".h", ".hh", ".hpp", ".hxx", ".icc", ".impl", ".inl", ".inc", ".ipp", ".tcc", ".tpp", ".txx")
CODE_SUFFIXES = frozenset((*SOURCES, *_HEADERS))
"""Files that the rules look at, whatever the case of their suffix."""
_OF_CUDA = re.compile(r"\.(?:[a-z]{1,4}cuh?|hu|cu(?:h?[hik]|knl|inc|inl|krnl|ker|kernels?|impl|tpp|def))")
"""Suffixes that projects make up for code that their sources include: `.tcu`, `.cuknl`, `.hu`."""
_LICENSE = re.compile(rb"NOTICE TO (?:LICENSEE|USER)")
_GUARD_BEFORE = 1 << 14
"""Bytes of a header, its license among them, before which its include guard stands."""


class Kind(str, enum.Enum):
    """What stands at a path, and what is done with it."""

    CODE = "code"
    BUILD = "build"
    """A build file, by its name."""
    OTHER = "other"
    LINK = "link"
    FOLDER = "folder"
    SPECIAL = "special"
    UNREADABLE = "unreadable"


class Entry(NamedTuple):
    """One path below the root, with `/` between its parts."""

    path: str
    kind: Kind
    mode: int = 0o644
    size: int = 0
    target: str | None = None
    """Of a link: what it says."""
    stamp: Stamp | None = None
    """Of a file: what tells whether it was changed since it was read (porter.system.stamps)."""


@dataclass(frozen=True, slots=True)
class Project:
    """A folder to port, or one file of a folder."""

    root: Path
    entries: tuple[Entry, ...]
    single: bool = False
    left_out: tuple[str, ...] = ()
    """Ignored by git, omitted or vendored, and by their handling not in the ported tree."""
    notes: tuple[str, ...] = ()
    listed: int = 0
    """When the listing began, in nanoseconds since 1970."""


def discover(source: Path, choices: Choices) -> Project:
    """Lists a folder in a fixed order, or takes one file; only folders are read, and what looks like CUDA's headers."""
    refuse_circles(choices)
    if source.is_dir():
        project = _folder(source, choices)
        return replace(project, notes=(*project.notes, *version_notes(choices.engine.rocm)))
    try:
        status = source.stat()
    except OSError as error:
        raise Unusable(f"{source}: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        raise Unusable(f"{source}: neither a file nor a folder")
    if not is_code(source.name):
        raise Unusable(f"{source}: not a C++ or CUDA file ({' '.join(sorted(CODE_SUFFIXES))})")
    entry = Entry(source.name, Kind.CODE, stat.S_IMODE(status.st_mode), status.st_size)
    return Project(source.parent, (entry,), single=True, notes=tuple(version_notes(choices.engine.rocm)))


def settings_notes(root: Path, choices: Choices) -> tuple[str, ...]:
    """The notes of `discover` about a folder's settings; its files are listed only where globs are asked about them."""
    if choices.include or choices.exclude or choices.omit or choices.dialect:
        return discover(root, choices).notes
    return (*folder_notes(root, choices), *version_notes(choices.engine.rocm))


def is_code(path: str) -> bool:
    """Whether the name is that of a C, C++ or CUDA file; `x.cpp.cuda` and `x.h.in` a build puts in their places."""
    stem, suffix = posixpath.splitext(path.lower())
    if suffix in (".cuda", ".in"):
        suffix = posixpath.splitext(stem)[1]
    return suffix in CODE_SUFFIXES or _OF_CUDA.fullmatch(suffix) is not None


def _folder(root: Path, choices: Choices) -> Project:
    listed = time.time_ns()
    hidden, notes = _ignored(root, choices)
    role = _roles(choices, root, hidden)
    cache = real_inside(os.path.realpath(root), str(cache_folder()))
    entries: list[Entry] = []
    sources: list[str] = []
    left_out: list[str] = []
    copies: list[str] = []
    pending = [("", Handling.PORT)]
    while pending:
        folder, inherited = pending.pop()
        below: list[tuple[str, Handling]] = []
        for found in _listed(root, folder):
            if found.path.rpartition("/")[2] == ".git" or found.path == cache:
                continue
            handling = role(found, inherited)
            if handling is Handling.SKIP:
                left_out.append(found.path)
                continue
            if found.kind in (Kind.CODE, Kind.BUILD):
                sources.append(found.path)
            if found.kind is Kind.FOLDER:
                below.append((found.path, handling))
            elif found.kind in (Kind.CODE, Kind.BUILD) and handling is Handling.COPY:
                found = found._replace(kind=Kind.OTHER)
            elif found.kind is Kind.CODE and _is_nvidias_header(root, found.path):
                found = found._replace(kind=Kind.OTHER)
                copies.append(
                    f"{found.path} is NVIDIA's own header: copied as it is, and included by nothing that is ported"
                )
            entries.append(found)
        pending += reversed(below)
    entries.sort(key=lambda entry: os.fsencode(entry.path))
    notes = (*notes, *sorted(copies), *_unmet(choices, root, sources, entries, left_out))
    return Project(root, tuple(entries), left_out=tuple(sorted(left_out)), notes=notes, listed=listed)


def _unmet(
    choices: Choices, root: Path, sources: Iterable[str], entries: Iterable[Entry], left_out: Iterable[str]
) -> Iterator[str]:
    """What the settings say of files that are not there."""

    def matches(glob: str) -> Callable[[str], bool]:
        return matcher((glob,), root, settings_folder(choices, root))

    yield from include_notes(choices.include, matches, sources)
    yield from folder_notes(root, choices)
    if choices.exclude or choices.omit or choices.dialect:
        there = (entry.path + "/" * (entry.kind is Kind.FOLDER) for entry in entries)
        away = (path + end for path in left_out for end in ("", "/"))
        yield from glob_notes(choices, below_settings(choices, root), matches, (*there, *away))


def _is_nvidias_header(root: Path, path: str) -> bool:
    """Whether a file is a copy of one of CUDA's headers, which its name, its guard and its license say.

    Stand-ins of the project's own for CPU builds have the name, and at most the guard.
    """
    name = path.rpartition("/")[2]
    if not is_cuda_header(name) and not is_cuda_header(name.removesuffix("pp")):  # cuda_fp16.hpp is half of cuda_fp16.h
        return False
    try:
        with os.fdopen(opened(root / path), "rb") as file:
            start = file.read(_GUARD_BEFORE)
    except OSError:
        return False  # whoever ports it says so
    guard = re.escape(name.replace(".", "_").encode())
    return (
        b"NVIDIA" in start
        and _LICENSE.search(start) is not None
        and re.search(rb"#\s*(?:ifndef|if)\b.*\b_*" + guard + rb"_*\b", start, re.I) is not None
    )


def _ignored(root: Path, choices: Choices) -> tuple[frozenset[str], tuple[str, ...]]:
    if choices.gitignored is Handling.PORT or not git.in_work_tree(root):
        return frozenset(), ()
    hidden = git.ignored(root)
    if hidden is None:
        return frozenset(), ("git did not answer, so .gitignore was not honoured",)
    return hidden, ()


def omits(choices: Choices, root: Path, folder: str) -> bool:
    """Whether the settings leave a folder, or one that it lies in, out of the tree."""
    match = matcher(choices.omit, root, settings_folder(choices, root))
    parts = folder.split("/")
    return any(match("/".join(parts[: count + 1]) + "/") for count in range(len(parts)))


def handlings(choices: Choices, root: Path, paths: Iterable[str]) -> dict[str, Handling]:
    """What the settings do with files below the root, be they there or not."""
    role = _roles(choices, root, frozenset())
    folders: dict[str, Handling] = {"": Handling.PORT}

    def of_folder(path: str) -> Handling:
        if path not in folders:
            above = of_folder(path.rpartition("/")[0])
            folders[path] = above if above is Handling.SKIP else role(Entry(path, Kind.FOLDER), above)
        return folders[path]

    def of_file(path: str) -> Handling:
        above = of_folder(path.rpartition("/")[0])
        return above if above is Handling.SKIP else role(Entry(path, Kind.CODE), above)

    return {path: of_file(path) for path in paths}


def settings_folder(choices: Choices, root: Path) -> Path:
    """The folder that globs are relative to: that of the settings file."""
    return Path(choices.origin).absolute().parent if choices.origin else root.absolute()


def _roles(choices: Choices, root: Path, hidden: frozenset[str]) -> Callable[[Entry, Handling], Handling]:
    """Decides for each entry whether it is ported, copied or left out; `hidden` is what git ignores."""
    base = settings_folder(choices, root)
    omit = matcher(choices.omit, root, base)
    exclude = matcher(choices.exclude, root, base)
    include = matcher(choices.include, root, base)
    vendored = frozenset(choices.vendored_folders)

    def role(entry: Entry, inherited: Handling) -> Handling:
        folder = entry.kind is Kind.FOLDER
        path = entry.path + "/" * folder
        if omit(path):
            return Handling.SKIP
        handling = inherited
        if entry.path in hidden:
            handling = choices.gitignored
        elif folder and entry.path.rpartition("/")[2] in vendored and handling is Handling.PORT:
            handling = choices.vendored
        if handling is Handling.PORT and (exclude(path) or (choices.include and not folder and not include(path))):
            return Handling.COPY
        return handling

    return role


def matcher(globs: tuple[str, ...], root: Path, base: Path) -> Callable[[str], bool]:
    """Matches paths below the root against gitignore-style globs relative to the settings file's folder."""
    if not globs:
        return lambda path: False
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines(globs)
    except (ValueError, re.error) as error:  # of one of them, which only the first kind names
        raise Unusable(f"{_wrong_glob(globs)!r} is no glob of .gitignore: {error}") from None
    prefix = _seen_from(base, root)
    return lambda path: spec.match_file(prefix + path)


def below_settings(choices: Choices, root: Path) -> str:
    """The root as seen from the folder of the settings: empty, or with a slash at its end."""
    return _seen_from(settings_folder(choices, root), root)


def _seen_from(base: Path, root: Path) -> str:
    below = os.path.relpath(root.absolute(), base)
    return "" if below == "." or below.startswith("..") else below.replace(os.sep, "/") + "/"


def _wrong_glob(globs: tuple[str, ...]) -> str:
    """The first one that alone is an error, too."""
    from pathspec import GitIgnoreSpec

    for glob in globs:
        try:
            GitIgnoreSpec.from_lines((glob,))
        except (ValueError, re.error):
            return glob
    return ", ".join(globs)


def _listed(root: Path, folder: str) -> Iterator[Entry]:
    prefix = folder + "/" if folder else ""
    try:
        with os.scandir(root / folder) as listing:
            children = sorted(listing, key=lambda child: os.fsencode(child.name))
    except OSError as error:
        if not folder:
            raise Unusable(f"{root}: {error.strerror}") from None
        yield Entry(folder, Kind.UNREADABLE)
        return
    for child in children:
        if not is_temporary(child.name):
            yield _entry(child, prefix + child.name)


def _entry(child: os.DirEntry[str], path: str) -> Entry:
    try:
        status = child.stat(follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        if child.is_symlink():
            return Entry(path, Kind.LINK, target=os.readlink(child.path))  # noqa: PTH115
        if child.is_dir(follow_symlinks=False):
            return Entry(path, Kind.FOLDER, mode)
        if not child.is_file(follow_symlinks=False):
            return Entry(path, Kind.SPECIAL)
    except OSError:
        return Entry(path, Kind.UNREADABLE)
    kind = Kind.CODE if is_code(path) else Kind.BUILD if kind_of_build(path) is not None else Kind.OTHER
    return Entry(path, kind, mode, status.st_size, None, stamp_of(status))

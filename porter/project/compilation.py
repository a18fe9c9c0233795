"""Include folders and macros that a compilation database in the tree gives each source."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from porter.cpp.include_graph import IncludeGraph
from porter.system.paths import real_inside
from porter.system.reading import parsed_json, read_regular

_NAME = "compile_commands.json"
_USUAL_FOLDERS = ("", "build", "out", "cmake-build-release", "cmake-build-debug")
_LARGEST = 64 << 20
_FOLDER_OPTIONS = ("-isystem", "-iquote", "-I", "--include-path=", "--include-path")
_MACRO_OPTIONS = ("-D", "--define-macro=", "--define-macro")


class Flags(NamedTuple):
    """What a compiler is told: folders relative to the project's root, and macros."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()


class Database(NamedTuple):
    """The flags of each source, and what could not be made out."""

    flags: dict[str, Flags]
    notes: tuple[str, ...] = ()


NO_FLAGS = Flags()


def read_database(root: Path, paths: Iterable[str]) -> Database:
    """The first database there is: among the project's files, or in a usual build folder.

    A database that cannot be read is none, and what lies outside of the project is left out.
    """
    notes: list[str] = []
    for place in database_places(root, paths):
        try:
            entries = _entries(root, place)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            notes.append(f"{_named(root, place)} is not read: {why}")
            continue
        flags, strange = _by_source(os.path.realpath(root), entries)
        notes += _oddities(_named(root, place), len(entries), strange, len(flags))
        return Database(flags, tuple(notes))
    return Database({}, tuple(notes))


def _named(root: Path, place: Path) -> str:
    return place.relative_to(root).as_posix()


def _oddities(name: str, entries: int, strange: int, found: int) -> Iterator[str]:
    if strange:
        yield f"{name}: {strange} of {entries} entries have no file, no directory or no command that can be read"
    if entries > strange and not found:
        yield f"{name}: none of its files lies in the tree, so no include folders and macros are taken from it"


def database_places(root: Path, paths: Iterable[str]) -> list[Path]:
    """Where a database may be, in the order in which they are asked."""
    listed = [os.path.dirname(path) for path in paths if path.rpartition("/")[2] == _NAME]  # noqa: PTH120
    return [root / folder / _NAME for folder in dict.fromkeys((*listed, *_USUAL_FOLDERS))]


def _entries(root: Path, path: Path) -> list[Any]:
    """The commands of a database; FileNotFoundError, OSError or ValueError where it is none."""
    real = os.path.realpath(path, strict=True)
    if real_inside(os.path.realpath(root), real) is None:
        raise ValueError("it is a link that leads out of the tree")
    document = parsed_json(read_regular(real, _LARGEST))
    if not isinstance(document, list):
        raise ValueError("it is no list of commands")
    return document


def _by_source(root: str, entries: Iterable[Any]) -> tuple[dict[str, Flags], int]:
    """The flags by source, and how many entries are none."""
    found: dict[str, Flags] = {}
    strange = 0
    for entry in entries:
        folder, name = (entry.get("directory"), entry.get("file")) if isinstance(entry, dict) else (None, None)
        words = _words(entry) if isinstance(entry, dict) else None
        strange += words is None or not (isinstance(folder, str) and isinstance(name, str))
        if not isinstance(folder, str) or not isinstance(name, str):
            continue
        base = os.path.join(root, folder)  # noqa: PTH118
        path = real_inside(root, os.path.join(base, name))  # noqa: PTH118
        if path is not None and path not in found:
            found[path] = _flags(root, base, words or [])
    return found, strange


def _words(entry: Mapping[str, Any]) -> list[str] | None:
    """The command: a list of arguments, or a line for a shell."""
    words, line = entry.get("arguments"), entry.get("command")
    if isinstance(words, list):
        return [word for word in words if isinstance(word, str)]
    try:
        return shlex.split(line) if isinstance(line, str) else None
    except ValueError:
        return None


def _flags(root: str, base: str, words: list[str]) -> Flags:
    folders = (real_inside(root, os.path.join(base, value)) for value in _values(words, _FOLDER_OPTIONS))  # noqa: PTH118
    macros = (value for value in _values(words, _MACRO_OPTIONS) if value)
    return Flags(tuple(dict.fromkeys(folder for folder in folders if folder is not None)), tuple(dict.fromkeys(macros)))


def _values(words: list[str], options: tuple[str, ...]) -> Iterator[str]:
    """The values of some options, joined to them or the next word."""
    for index, word in enumerate(words):
        for option in options:
            if word == option:
                yield from words[index + 1 : index + 2]
                break
            if word.startswith(option) and (option.endswith("=") or not option.startswith("--")):
                yield word[len(option) :]
                break


def flags_of(sources: Mapping[str, Flags], graph: IncludeGraph) -> dict[str, Flags]:
    """The flags of each source, and for a header those of the first source that includes it."""
    found = dict(sources)
    for source in sorted(sources):
        for header in graph.reachable(source):
            found.setdefault(header, sources[source])
    return found

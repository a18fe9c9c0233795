"""What several files include first, precompiled when a second file does: clang reads those headers no third time.

The beginning of a file are the #include lines that only comments precede. Files with the same flags that begin with the
same headers share them, and a longer beginning is made on top of a shorter one. Errors in headers are not repeated.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from porter.cpp.clang import libclang as clang
from porter.system.cache import temporary_root

_BLANK = re.compile(rb"(?:\s|//[^\n\\]*\n|/\*(?:[^*\\]|\*(?!/))*\*/|#[ \t]*pragma[ \t]+once[ \t]*(?=\r?\n))*")
_INCLUDE = re.compile(rb'#[ \t]*include[ \t]*(["<])([^">\n\\]+)[">][ \t]*(?=\r?\n|//|/\*)')
_PLAIN = re.compile(r'/[^"\\\n]*')
"""Paths that mean the same wherever an #include line names them."""
_PRECOMPILED = "-include-pch"
_WITH_ERRORS = ("-Xclang", "-fallow-pch-with-compiler-errors")


class Begun(NamedTuple):
    """A file whose first headers are precompiled: their lines are blank in its text."""

    flags: tuple[str, ...]
    files: Mapping[str, bytes]
    is_all: bool
    """Whether no header is left of the beginning."""


class _Line(NamedTuple):
    start: int
    end: int
    header: str


@dataclass
class _Shared:
    """The beginnings of files with the same flags, and what is precompiled of them; None: it cannot be."""

    seen: set[tuple[str, ...]] = field(default_factory=set)
    made: dict[tuple[str, ...], str | None] = field(default_factory=dict)


@functools.lru_cache(maxsize=64)
def _shared(flags: tuple[str, ...], process: int) -> _Shared:
    del flags, process
    return _Shared()


def begun(main: str, flags: tuple[str, ...], files: Mapping[str, bytes]) -> Begun | None:
    """The file after what is precompiled of its beginning; None where that is nothing.

    Only of a file that is alone: what clang is told that other files contain could be part of the beginning.
    """
    if _PRECOMPILED not in flags or "-include" in flags or files.keys() != {main}:
        return None
    lines = _first_lines(main, files[main], tuple(flag[2:] for flag in flags if flag.startswith("-I")))
    headers = tuple(line.header for line in lines)
    shared = _shared(flags, os.getpid())
    made = next((headers[:n] for n in range(len(headers), 0, -1) if shared.made.get(headers[:n])), ())
    if headers in shared.seen and headers not in shared.made:
        below = shared.made[made] if made else _copied(flags[flags.index(_PRECOMPILED) + 1])
        shared.made[headers] = _precompiled(_after(flags, below), headers[len(made) :]) if below else None
        made = headers if shared.made[headers] else made
    shared.seen.add(headers)
    if not made:
        return None
    text = bytearray(files[main])
    for line in lines[: len(made)]:
        text[line.start : line.end] = b" " * (line.end - line.start)
    return Begun(_after(flags, shared.made[made]), {main: bytes(text)}, len(made) == len(headers))


def forget(flags: tuple[str, ...]) -> None:
    """Makes the beginnings of files with these flags anew: a header changed since, and clang refuses them."""
    shared = _shared(flags, os.getpid())
    for made in filter(None, shared.made.values()):
        Path(made).unlink(missing_ok=True)
    shared.seen.clear()
    shared.made.clear()


def _first_lines(main: str, text: bytes, folders: tuple[str, ...]) -> list[_Line]:
    """The #include lines that come first, but of files that are not there: of those clang has to complain each time."""
    found: list[_Line] = []
    place = 0
    while (blank := _BLANK.match(text, place)) and (line := _INCLUDE.match(text, blank.end())):
        place = line.end()
        among = (os.path.dirname(main), *folders) if line.group(1) == b'"' else folders  # noqa: PTH120
        header = _file_in(among, os.fsdecode(line.group(2)))
        if header is not None:
            if not _PLAIN.fullmatch(header):
                break
            found.append(_Line(line.start(), line.end(), header))
    return found


def _file_in(folders: tuple[str, ...], name: str) -> str | None:
    places = (os.path.join(folder, name) for folder in folders)  # noqa: PTH118
    return next((place for place in places if os.path.isfile(place)), None)  # noqa: PTH113


def _after(flags: tuple[str, ...], precompiled: str | None) -> tuple[str, ...]:
    """The flags with another precompiled header, which has that of the stubs in it."""
    place = flags.index(_PRECOMPILED) + 1
    return (*flags[:place], precompiled or "", *flags[place + 1 :], *(() if _WITH_ERRORS[1] in flags else _WITH_ERRORS))


def _precompiled(flags: tuple[str, ...], headers: tuple[str, ...]) -> str | None:
    """A precompiled header, made by the first process that wants it; None where it does not stand for its headers."""
    text = os.fsencode("".join(f'#include "{header}"\n' for header in headers))
    return _made(repr((flags, headers)), lambda target: clang.build_beginning(f"{target}.h", text, flags, target))


def _copied(stubs: str) -> str | None:
    """A copy of the stubs' precompiled header: what clang builds upon must keep its time, and another process may make
    the stubs anew."""
    return _made(stubs, lambda target: bool(shutil.copyfile(stubs, target)))


def _made(what: str, make: Callable[[str], bool]) -> str | None:
    """A file that the processes of a run share, named by what it is; None where it cannot be made."""
    name = hashlib.sha256(what.encode(errors="surrogateescape")).hexdigest()[:24]
    target = temporary_root() / f"{name}.pch"
    own = target.with_suffix(f".{os.getpid()}.pch")
    try:
        if not target.exists():
            if not make(str(own)):
                return None
            os.link(own, target)
    except FileExistsError:
        pass
    except OSError:
        return None
    finally:
        own.unlink(missing_ok=True)
    return str(target)

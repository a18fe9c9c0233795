"""HIP's runtime header compiled once and read back: it takes four fifths of the time of a small kernel.

What is compiled with it is the same code: nothing but the header's own text, and what clang puts before it, is in it,
made by the same command. Clang itself refuses one that does not fit (another version, a header that changed since), and
then the file is compiled the long way.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.store import DEPFILE, Recipe, inputs_of, make

from porter.system.cache import kept_folder, kept_text, mark_used

PRODUCT = "runtime.pch"
_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")
_NOT_IN_IT = ("-W", "-ferror-limit", "-emit-llvm")
"""Options of the file alone: they change nothing that a header is compiled to."""
_TO_LLVM = "-mllvm"
"""The next word is for what makes machine code of what was read."""
_EMITTING = ("-fsyntax-only", "-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-Xclang", "-o", "-Xclang")
"""Without the headers' time stamps: what was made of the same text fits, however often that text was installed."""
_STANDARD = re.compile(r"-std=(?:c|gnu)\+\+(\w+)", re.ASCII)
_DEEPEST = 5
"""Parts of a name in an #include."""


@dataclass(frozen=True)
class Precompiled:
    """A precompiled header."""

    path: Path
    inputs: tuple[Path, ...]
    """All files that are in it."""

    @property
    def options(self) -> tuple[str, ...]:
        """What clang has to be told, instead of what the header was made of."""
        return ("-Xclang", "-include-pch", "-Xclang", str(self.path))


Command = Callable[[Path, tuple[str, ...]], tuple[str, ...]]
"""Source and options to a command line that compiles it."""


def precompiled(
    tool: str, header: str, command: Command, options: tuple[str, ...], seconds: float = 300.0
) -> Precompiled | None:
    """The header as it is compiled with these options; None at their first use, where making it would not pay.

    `command`: what comes before options and source. At most half of the seconds go into making it, so that a compiler
    that hangs is met in the file's own compilation.
    """
    folders, rest = _parted(options)
    if _is_refused(command(Path(header), rest)):
        return None
    made = _made(tool, header, command, rest, seconds / 2)
    return None if made is None or _shadows(folders, made.inputs) else made


def _is_refused(words: tuple[str, ...]) -> bool:
    """From C++20 on clang takes a function of the host and its overload for the device for one with two bodies, where
    it reads them from such a header."""
    standards = [found[1] for word in words if (found := _STANDARD.fullmatch(word))]
    return bool(standards) and standards[-1][0] in "23"


def _parted(options: Iterable[str]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The folders that are searched, and the options that decide what a header means."""
    folders: list[Path] = []
    rest: list[str] = []
    words = iter(options)
    for word in words:
        if word == _TO_LLVM:
            next(words, "")
            continue
        flag = next((flag for flag in _FOLDERS if word.startswith(flag)), None)
        if flag is not None:
            folders.append(Path(word.removeprefix(flag) or next(words, "")))
        elif word != "-w" and not word.startswith(_NOT_IN_IT):
            rest.append(word)
    return tuple(folders), tuple(rest)


@functools.cache
def _shadows(folders: tuple[Path, ...], inputs: tuple[Path, ...]) -> bool:
    """Whether a folder of the project's has a header that would have been taken instead of one that is in it."""
    return any(_stands_in(path, folder, names) for folder in folders for names in [_names(folder)] for path in inputs)


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))  # noqa: PTH208 - names alone
    except OSError:
        return frozenset()


def _stands_in(path: Path, folder: Path, names: frozenset[str]) -> bool:
    """By any of the names that an #include can have for a file: `types.h`, `bits/types.h`, ..."""
    for depth in range(1, min(_DEEPEST, len(path.parts)) + 1):
        parts = path.parts[-depth:]
        if parts[0] in names and folder.joinpath(*parts).is_file() and not folder.joinpath(*parts).samefile(path):
            return True
    return False


_known: dict[tuple[str, ...], Precompiled | None] = {}
"""None: it could not be made."""


def _made(tool: str, header: str, command: Command, options: tuple[str, ...], seconds: float) -> Precompiled | None:
    """From this process, from the cache, or made now."""
    key = (tool, header, *command(Path(header), options))
    if key not in _known and _is_used_again(key):
        with _alone(key):
            _known[key] = _make(tool, header, command, options, seconds)
    return _known.get(key)


@contextlib.contextmanager
def _alone(key: tuple[str, ...]) -> Iterator[None]:
    """Processes that want the same header wait for the first to make it; its compiler has a time limit."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            fcntl.flock(held.enter_context(_mark(key).open("a")), fcntl.LOCK_EX)
        yield


def _make(tool: str, header: str, command: Command, options: tuple[str, ...], seconds: float) -> Precompiled | None:
    try:
        source = kept_text("assembly", f'#include "{header}"\n'.encode(), "runtime.hip")
    except OSError:
        return None

    def compiling(folder: Path) -> tuple[str, ...]:
        return (*command(source, options), *_EMITTING, str(folder / PRODUCT), "-MD", "-MF", str(folder / DEPFILE))

    done = make(Recipe(tool, compiling, (source,), (PRODUCT,)), seconds)
    product = done.product(PRODUCT)
    inputs = inputs_of(done)
    return Precompiled(product, inputs) if done.invocation.ok and product is not None and inputs else None


def _mark(key: tuple[str, ...]) -> Path:
    """Is there once somebody compiled with these words."""
    return kept_folder("precompiled") / hashlib.sha256(os.fsencode("\0".join(key))).hexdigest()[:40]


def _is_used_again(key: tuple[str, ...]) -> bool:
    """Whether somebody compiled with these words before; from now on, one did."""
    try:
        place = _mark(key)
        if place.exists():
            mark_used(place)
            return True
        place.touch(0o600)
    except OSError:
        pass
    return False

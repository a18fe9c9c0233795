"""Compilations kept by content: the same compiler, command and inputs are never compiled twice."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from porter.validation.toolchain.invoke import Invocation, invoke

from porter.system.cache import cache_folder, is_ours, keep, kept, mark_used, temporary_root
from porter.system.reading import read_regular

DEPFILE = "inputs.d"
"""Where a command writes its dependency file (`-MD -MF`), inside its folder."""
RECORD = "porter-build-3.json"
MOST = 4 << 30
"""Bytes that all that is kept may take."""
DAY = 86_400.0
_IN_USE = 3600.0
"""Seconds for which nothing is removed, as a run may need it still."""
_ENTRIES = (
    *(
        "builds/*/*",
        "host/*",
        "translated/*",
        "ports/*",
        "units/*",
        "harness/*",
        "assembly/*",
        "precompiled/*",
        "remembered/*",
    ),
    *("bitcode/*", "torch-headers/*", "names-*", "names/*", "stubs-*"),
)
_VARIANTS = 8
_SETTLED = 2.0
"""A file younger than this at the time of the build is compared by content, never by its time stamp."""
NO_ROOM = re.compile(r"No space left on device|Disk quota exceeded|[Cc]annot allocate memory", re.ASCII)
_LEFT_TO_CHANCE = re.compile(NO_ROOM.pattern + "|Killed", re.ASCII)
_READ_BY_COMPILERS = (
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH"),
    *("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CUDA_HOME", "CUDA_PATH"),
    *("HIP_PLATFORM", "HIP_PATH", "ROCM_PATH", "HIP_CLANG_PATH", "DEVICE_LIB_PATH", "HIP_DEVICE_LIB_PATH"),
    *("HIPCC_COMPILE_FLAGS_APPEND", "HIPCC_LINK_FLAGS_APPEND", "HIP_COMPILER", "HIP_RUNTIME", "HSA_PATH"),
)


@dataclass(frozen=True)
class Shorter:
    """A command for the same products."""

    command: tuple[str, ...]
    inputs: tuple[Path, ...]
    """What it rests on, and does not write into DEPFILE."""


@dataclass(frozen=True)
class Recipe:
    """How to make something: a command that writes into a folder, and all that decides what comes out."""

    tool: str
    """The compiler and its version, as part of the key."""
    command: Callable[[Path], tuple[str, ...]]
    """The command line that writes its products, and DEPFILE, into the given folder."""
    inputs: tuple[Path, ...]
    """Files read in any case; the dependency file adds those that were included."""
    keep: tuple[str, ...]
    """Globs of the products to keep."""
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    has_depfile: bool = True
    probe: Callable[[Path], tuple[str, ...]] | None = None
    """Writes DEPFILE when the command did not, headers that are missing included, and shows the search path
    (`-M -MG -v`)."""
    shorter: Callable[[Path, float], Shorter | None] | None = None
    """Asked for when it has to be made, with the seconds that are left: a shorter way, if there is one. Where that
    fails, `command` is run, and says why."""


def probing(folder: Path) -> tuple[str, ...]:
    """Options of gcc and clang for a probe."""
    return ("-M", "-MG", "-v", "-MF", str(folder / DEPFILE))


@dataclass(frozen=True)
class Made:
    """The outcome of a recipe: products in `folder` when it is ok."""

    folder: Path
    invocation: Invocation
    reused: bool
    note: str | None = None
    """Why it could not be kept."""

    def product(self, pattern: str) -> Path | None:
        """The first product that matches a glob."""
        return next(iter(sorted(self.folder.glob(pattern))), None)


def prune(most: int = MOST, every: float = DAY) -> int:
    """Removes what was used longest ago when all that is kept takes too much room; looked at once a day."""
    root = cache_folder()
    stamp = root / ".pruned"
    try:
        if not root.is_dir() or (stamp.exists() and time.time() - stamp.stat().st_mtime < every):
            return 0
        stamp.touch()
        found = [(path.stat().st_mtime, path) for pattern in _ENTRIES for path in root.glob(pattern)]
    except OSError:
        return 0
    sizes = {path: _size(path) for _, path in found}
    total, removed = sum(sizes.values()), 0
    for used, path in sorted(found):
        if used > time.time() - _IN_USE:
            break
        is_left_over = path.name.startswith("making-") and used < time.time() - DAY
        if total > most or is_left_over:
            _remove(path)
            total -= sizes[path]
            removed += 1
    return removed


def _size(path: Path) -> int:
    try:
        return sum(found.lstat().st_size for found in (path, *path.rglob("*")))
    except OSError:
        return 0


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()  # a shelf of which this was the last


def identity(path: str, version: str) -> str:
    """A compiler as part of a key: another binary under the same name is another compiler."""
    try:
        status = Path(path).stat()
    except OSError:
        return f"{version} {path}"
    return f"{version} {path} {status.st_size} {status.st_mtime_ns}"


def roots() -> Iterator[Path]:
    """Where generated files go: the cache, and only if that cannot be written a folder that ends with this process."""
    yield cache_folder()
    yield temporary_root()


def _key(recipe: Recipe) -> str:
    parts: list[str] = [recipe.tool, *recipe.command(Path("@")), str(recipe.folder or "")]
    parts += [f"{name}={value}" for name in _READ_BY_COMPILERS if (value := os.environ.get(name)) is not None]
    parts += [f"{name}:{value}" for name, value in sorted(recipe.environment.items())]
    parts += [*recipe.keep, "depfile" if recipe.has_depfile else ""]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]


def make(recipe: Recipe, seconds: float = 300.0) -> Made:
    """Run the recipe, or take what an earlier run made of the same inputs; a full or read-only disk raises nothing."""
    shelf = cache_folder() / "builds" / _key(recipe)
    found = _find(shelf)
    if found is not None:
        return found
    note = None
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="making-", dir=shelf))
    except OSError as error:
        note = f"not kept for the next run: {shelf}: {error.strerror}"
        try:
            folder = Path(tempfile.mkdtemp(dir=temporary_root()))
        except OSError as worse:
            return Made(shelf, _unwritable(recipe, worse), False, note)
    return _run(recipe, shelf, folder, seconds, note)


def _unwritable(recipe: Recipe, error: OSError) -> Invocation:
    reason = f"{error.filename or tempfile.gettempdir()}: {error.strerror}"
    return Invocation(recipe.command(Path()), None, "", 0.0, reason)


def _run(recipe: Recipe, shelf: Path, folder: Path, seconds: float, note: str | None) -> Made:
    began = time.time()
    done, recipe = _invoked(recipe, folder, seconds)
    invocation = Invocation(recipe.command(Path()), done.code, done.output, done.seconds, done.stopped)
    try:
        read = _read(recipe, folder)
        if read is None and not invocation.ok:
            read = _probed(recipe, folder, seconds)
        _drop(folder, recipe.keep)
        if note is not None or read is None or (read.absent and invocation.ok) or not _is_settled(invocation):
            return _unkept(shelf, folder, invocation, note)
        absent = list(map(str, read.absent))
        record = {
            "inputs": _stamps(read.files, began),
            "absent": absent,
            "products": _products(folder),
            "invocation": asdict(invocation),
        }
        keep(folder / RECORD, json.dumps(record).encode())
        target = shelf / f"{time.time_ns():x}"
        folder.rename(target)
    except OSError as error:
        return _unkept(
            shelf, folder, invocation, f"not kept for the next run: {error.filename or shelf}: {error.strerror}"
        )
    return Made(target, invocation, False)


def _invoked(recipe: Recipe, folder: Path, seconds: float) -> tuple[Invocation, Recipe]:
    """The run by the shorter way where that works, and the recipe with all that was read."""
    if recipe.shorter is None:
        return invoke(recipe.command(folder), seconds, recipe.folder, recipe.environment), recipe
    end = time.monotonic() + seconds
    shorter = recipe.shorter(folder, seconds)
    left = max(round(end - time.monotonic(), 1), 0.0)
    if shorter is not None:
        done = invoke(shorter.command, left, recipe.folder, recipe.environment)
        if done.ok or done.stopped is not None:
            return done, replace(recipe, inputs=(*recipe.inputs, *shorter.inputs))
        left = max(round(end - time.monotonic(), 1), 0.0)
    return invoke(recipe.command(folder), left, recipe.folder, recipe.environment), recipe


def _unkept(shelf: Path, folder: Path, invocation: Invocation, note: str | None) -> Made:
    """Products that only this process will see; of a failure there are none."""
    if not invocation.ok:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            shelf.rmdir()
    else:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Made(folder, invocation, False, note)


def _is_settled(invocation: Invocation) -> bool:
    """Whether the same inputs would give the same outcome again: a full disk or a time limit would not."""
    if invocation.ok:
        return True
    return invocation.code == 1 and not _LEFT_TO_CHANCE.search(invocation.output)


class _Read(NamedTuple):
    """What a compiler read, and where it looked in vain."""

    files: tuple[Path, ...]
    absent: tuple[Path, ...] = ()


def _read(recipe: Recipe, folder: Path, searched: Sequence[Path] = ()) -> _Read | None:
    """All that was read, by the dependency file; None when the compiler wrote none."""
    base = recipe.folder or Path.cwd()
    named = [path.absolute() for path in recipe.inputs]
    if not recipe.has_depfile:
        return _Read(tuple(named))
    try:
        text = (folder / DEPFILE).read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    listed = [path for path in map(Path, prerequisites(text)) if folder not in path.parents]
    files = tuple(dict.fromkeys([*named, *(base / path for path in listed if (base / path).is_file())]))
    missing = [path for path in listed if not (base / path).is_file()]
    return _Read(files, tuple(_places(missing, [base, *searched, *(path.parent for path in files)])))


def _places(missing: Sequence[Path], folders: Sequence[Path]) -> Iterator[Path]:
    """Where a header would have been found, had it been there."""
    for folder in dict.fromkeys(folders):
        yield from (folder / path for path in missing if not (folder / path).exists())


def _probed(recipe: Recipe, folder: Path, seconds: float) -> _Read | None:
    """What a failed compilation read; None when that cannot be told."""
    done = None if recipe.probe is None else invoke(recipe.probe(folder), seconds, recipe.folder, recipe.environment)
    searched = _searched(done.output, recipe.folder or Path.cwd()) if done is not None and done.ok else ()
    return _read(recipe, folder, searched) if searched else None


_LISTED = re.compile(r'^#include (?:"\.\.\."|<\.\.\.>) search starts here:\n((?: .*\n)*)', re.MULTILINE)
_NOT_THERE = re.compile(r'^ignoring nonexistent directory "(.*)"$', re.MULTILINE)


def _searched(said: str, base: Path) -> tuple[Path, ...]:
    """The folders that gcc and clang list with `-v`, and those that are not there yet."""
    listed = [line.strip() for lines in _LISTED.findall(said) for line in lines.splitlines()]
    return tuple(base / folder for folder in (*listed, *_NOT_THERE.findall(said))) if listed else ()


_WORD = re.compile(r"(?:\\[ #\\]|\$\$|[^\s\\]|\\(?!\r?\n))+")


def prerequisites(text: str) -> list[str]:
    """The files to the right of each colon of a make dependency file."""
    found: list[str] = []
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        _, colon, after = line.partition(": ")
        if colon:
            found += [re.sub(r"\\([ #\\])", r"\1", word).replace("$$", "$") for word in _WORD.findall(after)]
    return found


def _drop(folder: Path, keep: tuple[str, ...]) -> None:
    for path in folder.iterdir():
        if not any(path.match(pattern) for pattern in keep):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _stamps(paths: Iterable[Path], began: float) -> list[tuple[str, int, int, str]]:
    """Path, size, time and digest; no time for a file too young to be told from a later edit."""
    rows: list[tuple[str, int, int, str]] = []
    for path in paths:
        status = path.stat()
        time_ns = status.st_mtime_ns if status.st_mtime < began - _SETTLED else 0
        rows.append((str(path), status.st_size, time_ns, _digest(str(path), status.st_mtime_ns, status.st_size)))
    return rows


@functools.lru_cache(maxsize=1 << 16)
def _digest(path: str, time_ns: int, size: int) -> str:
    del time_ns, size  # they tell versions of a file apart within this process
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _is_same(row: tuple[str, int, int, str]) -> bool:
    path, size, time_ns, digest = row
    try:
        status = os.stat(path)  # noqa: PTH116 - a pathlib.Path costs more than the call, and there are thousands
        if status.st_size != size:
            return False
        return status.st_mtime_ns == time_ns or _read_digest(path) == digest
    except OSError:
        return False


def _read_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _products(folder: Path) -> dict[str, str]:
    """Digests of all that a recipe left, but for the record."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(RECORD))
    return {path.relative_to(folder).as_posix(): _read_digest(str(path)) for path in found}


def _record(folder: Path) -> bytes:
    """The record as it was kept; those of an older porter have no digest beside them."""
    path = folder / RECORD
    if not path.with_name(f"{RECORD}.sha256").exists():
        return read_regular(path)
    return kept(path) or b""


def inputs_of(made: Made) -> tuple[Path, ...]:
    """All files that were read for it; empty where that was not kept."""
    try:
        return tuple(Path(row[0]) for row in json.loads(_record(made.folder))["inputs"])
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _find(shelf: Path) -> Made | None:
    """What an earlier run made, if every input is as it was then."""
    try:
        folders = sorted((path for path in shelf.iterdir() if not path.name.startswith("making-")), reverse=True)
    except OSError:
        return None
    for folder in folders[:_VARIANTS]:
        try:
            record = json.loads(_record(folder))
            given = record["invocation"]
            if not is_ours(folder) or record["products"] != _products(folder):
                _remove(folder)  # damaged
                continue
            if all(map(_is_same, record["inputs"])) and not any(map(os.path.exists, record["absent"])):
                mark_used(folder)
                return Made(folder, Invocation(**{**given, "command": tuple(given["command"])}), True)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None

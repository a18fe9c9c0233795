"""What a real build compiles: wrappers of the compilers stand first on PATH and write each call down, then do it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porter.cpp.include_graph import is_source
from porter.errors import Unusable
from porter.project.writing import content_of, write_atomically
from porter.system.abandoned import abandoned, hold
from porter.system.cache import is_ours, kept_folder
from porter.system.programs import found_program
from porter.system.reading import read_regular

COMPILERS = ("nvcc", "hipcc", "clang++", "clang", "g++", "gcc", "c++", "cc")
_PLACE = ("directory", "file", "output")
_Place = tuple[str, str, str]
_LOG, _PATH = "PORTER_RECORD_LOG", "PORTER_RECORD_PATH"
_WRAPPER = """#!{python} -SE
import json, os, sys
name = os.path.basename(sys.argv[0])
line = json.dumps([os.getcwd(), name, sys.argv[1:]]) + "\\n"
log = os.open(os.environ["{log}"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(log, line.encode())
os.close(log)
place = os.environ["{path}"]
for folder in place.split(os.pathsep):
    real = os.path.join(folder, name)
    if os.path.isfile(real) and os.access(real, os.X_OK):
        os.environ["PATH"] = place if name == "nvcc" else os.environ["PATH"]
        os.execv(real, [real, *sys.argv[1:]])
sys.exit(f"porter record: {{name}} is not on PATH")
"""
"""nvcc starts the host compiler itself: what it starts is no compilation of the project's, so it sees the old PATH."""


@dataclass(frozen=True)
class Recorded:
    """What came of a build."""

    code: int
    """Its exit status."""
    seen: int
    """Compilations of this run, and of those before it that were killed before they wrote the file."""
    held: int
    """Compilations that the file has now."""


def record(words: tuple[str, ...], output: Path) -> Recorded:
    """Runs a build, and adds what it compiled to the file.

    The build is the user's own command. A compiler that it calls by an absolute path is not seen; `CC`, `CXX`,
    `CUDACXX` and `NVCC` are set to the wrappers where they name a known compiler or nothing. The calls are kept in the
    cache until the file is written: what was built need not be built again when this process is killed.
    """
    key = hashlib.sha256(os.fsencode(os.path.abspath(output))).hexdigest()[:24]  # noqa: PTH100 - links stay
    place, prefix = kept_folder("record"), f"{key}-"
    left = [path for path in abandoned(place, prefix) if path.is_file() and is_ours(path)]
    log = place / f"{prefix}{os.getpid()}"
    log.unlink(missing_ok=True)
    handle = os.open(log, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        hold(handle)
        code = _build(words, log)
        calls = [call for path in (*left, log) for call in _calls(path)]
        new = {_place(entry): entry for call in calls for entry in _entries(*call)}
        known = _entries_of(output)
        if new:
            kept = {**{key: entry for key, entry in known.items() if _still_holds(entry, new)}, **new}
            text = json.dumps([kept[key] for key in sorted(kept)], indent=1) + "\n"
            write_atomically(output, content_of(text.encode()), 0o644)
            known = kept
        for path in (*left, log):
            path.unlink(missing_ok=True)
    except BaseException:  # what was built is for the next run to write down
        if not os.fstat(handle).st_size:
            log.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)
    return Recorded(code, len(new), len(known))


def _build(words: tuple[str, ...], log: Path) -> int:
    with tempfile.TemporaryDirectory(prefix="porter-record-") as made:
        folder = Path(made)
        names = [name for name in COMPILERS if found_program(name)]
        for name in names:
            wrapper = folder / name
            wrapper.write_text(_WRAPPER.format(python=sys.executable, log=_LOG, path=_PATH), "utf-8")
            wrapper.chmod(0o755)
        old = os.environ.get("PATH", os.defpath)
        environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{old}", _LOG: str(log), _PATH: old}
        for variable in ("CC", "CXX", "CUDACXX", "NVCC"):
            name = Path(environment.get(variable, "")).name
            if name in names:
                environment[variable] = str(folder / name)
        try:
            return subprocess.run(words, env=environment, check=False).returncode
        except OSError as error:
            raise Unusable(f"{words[0]}: {error.strerror}") from None


def _calls(log: Path) -> Iterator[tuple[str, str, list[str]]]:
    """What wrappers wrote down, a call per line; the last one may be half a line."""
    for line in read_regular(log).decode("utf-8", "replace").splitlines():
        with contextlib.suppress(ValueError):
            folder, name, arguments = json.loads(line)
            yield folder, name, arguments


def _entries_of(output: Path) -> dict[_Place, dict[str, Any]]:
    """What the file has; nothing where it is no compilation database."""
    try:
        entries = json.loads(read_regular(output))
    except (OSError, ValueError, RecursionError):
        return {}
    sound = (entry for entry in entries if isinstance(entry, dict)) if isinstance(entries, list) else ()
    return {_place(entry): entry for entry in sound if all(isinstance(entry.get(key), str) for key in _PLACE[:2])}


def _still_holds(entry: Mapping[str, Any], new: Mapping[_Place, Mapping[str, Any]]) -> bool:
    """Whether a source is still there, and was not compiled in another folder by now."""
    source = os.path.join(entry["directory"], entry["file"])  # noqa: PTH118
    folders = {folder for folder, file, _ in new if os.path.join(folder, file) == source}  # noqa: PTH118
    return os.path.isfile(source) and folders <= {entry["directory"]}  # noqa: PTH113 - False for any odd name


def _place(entry: Mapping[str, Any]) -> _Place:
    directory, file, output = (str(entry.get(key) or "") for key in _PLACE)
    return directory, file, output


def _entries(folder: str, name: str, arguments: list[str]) -> list[dict[str, Any]]:
    """One entry per source of a call that compiles."""
    if any(word in ("-E", "-M", "-MM", "--version", "-dumpversion") for word in arguments):
        return []
    sources = [word for word in arguments if not word.startswith("-") and is_source(word)]
    after = arguments[arguments.index("-o") + 1 : arguments.index("-o") + 2] if "-o" in arguments else []
    return [
        {
            "directory": folder,
            "file": source,
            "arguments": [name, *arguments],
            **({"output": after[0]} if after else {}),
        }
        for source in sources
    ]

"""What a real build compiles: wrappers of the compilers stand first on PATH and write each call down, then do it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from porter.errors import Unusable
from porter.project.writing import content_of, write_atomically
from porter.system.programs import found_program
from porter.system.reading import read_regular

COMPILERS = ("nvcc", "hipcc", "clang++", "clang", "g++", "gcc", "c++", "cc")
_SOURCES = (".cu", ".hip", ".c", ".cc", ".cpp", ".cxx")
_LOG, _PATH = "PORTER_RECORD_LOG", "PORTER_RECORD_PATH"
_WRAPPER = """#!{python} -SE
import json, os, sys
name = os.path.basename(sys.argv[0])
line = json.dumps([os.getcwd(), name, sys.argv[1:]]) + "\\n"
log = os.open(os.environ["{log}"], os.O_WRONLY | os.O_APPEND)
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


def record(words: tuple[str, ...], output: Path) -> tuple[int, int]:
    """Runs a build; its exit status, and how many compilations of sources were written to the file.

    The build is the user's own command. A compiler that it calls by an absolute path is not seen; `CC`, `CXX`,
    `CUDACXX` and `NVCC` are set to the wrappers where they name a known compiler or nothing.
    """
    with tempfile.TemporaryDirectory(prefix="porter-record-") as made:
        folder = Path(made)
        log = folder / "log"
        log.touch()
        names = [name for name in COMPILERS if found_program(name)]
        (folder / "bin").mkdir()
        for name in names:
            wrapper = folder / "bin" / name
            wrapper.write_text(_WRAPPER.format(python=sys.executable, log=_LOG, path=_PATH), "utf-8")
            wrapper.chmod(0o755)
        old = os.environ.get("PATH", os.defpath)
        environment = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{old}", _LOG: str(log), _PATH: old}
        for variable in ("CC", "CXX", "CUDACXX", "NVCC"):
            name = Path(environment.get(variable, "")).name
            if name in names:
                environment[variable] = str(folder / "bin" / name)
        try:
            code = subprocess.run(words, env=environment, check=False).returncode
        except OSError as error:
            raise Unusable(f"{words[0]}: {error.strerror}") from None
        found = [entry for line in log.read_text("utf-8").splitlines() for entry in _entries(json.loads(line))]
    kept = {(entry["directory"], entry["file"], entry.get("output")): entry for entry in found}
    if kept:
        text = json.dumps(list(kept.values()), indent=1) + "\n"
        write_atomically(output, content_of(text.encode()), 0o644)
    return code, len(kept)


def held(output: Path) -> int:
    """How many compilations the file has."""
    try:
        entries = json.loads(read_regular(output))
    except (OSError, ValueError, RecursionError):
        return 0
    return sum(isinstance(entry, dict) and "file" in entry for entry in entries) if isinstance(entries, list) else 0


def _entries(call: list[Any]) -> list[dict[str, Any]]:
    """One entry per source of a call that compiles."""
    folder, name, arguments = call
    if any(word in ("-E", "-M", "-MM", "--version", "-dumpversion") for word in arguments):
        return []
    sources = [word for word in arguments if not word.startswith("-") and word.lower().endswith(_SOURCES)]
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

"""Drafts `[[program]]` tables: what a Makefile's `run` target starts, ctest's tests, programs without either."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.invoke import Invocation, invoke

from porter.system.reading import is_regular

_LAUNCHERS = {"mpirun", "mpiexec", "srun", "time", "env", "nice", "taskset", "numactl"}
_TARGETS = ("run", "test", "check")
_ADD_TEST = re.compile(r"add_test\s*\(\s*NAME\s+(\S+)\s+COMMAND\s+([^)]*)\)", re.IGNORECASE)
_STOPPED = re.compile(r"^[^\s:]+(?::\d+)?: \*\*\* (.*)", re.MULTILINE)
_MOVED = re.compile(r"make\[\d+\]: (Entering|Leaving) directory ['`](.*)'")
_ELSEWHERE = ("|", ">", ">>", "<")
"""Commands with these read or write more than the program does."""
_SECONDS = 20.0


@dataclass(frozen=True)
class Drafted:
    """One table, and what the reader should know."""

    name: str
    folder: str
    build: tuple[str, ...]
    """Commands, run in the folder."""
    run: tuple[str, ...]
    note: str = ""


def makefiles(root: Path) -> list[Path]:
    """The files that `make` would take by itself."""
    names = ("Makefile", "makefile", "GNUmakefile")
    return sorted(path for name in names for path in root.rglob(name) if is_regular(path))


def draft(root: Path, *, ask_make: bool) -> tuple[Drafted, ...]:
    """Every program of a project that its build files name; `ask_make` runs what its Makefiles compute."""
    asked = makefiles(root) if ask_make else []
    found = [made for path in asked if (made := from_makefile(path, root)) is not None]
    covered = {made.folder for made in found}
    for path in sorted(root.rglob("CMakeLists.txt")):
        if path.parent.relative_to(root).as_posix() not in covered:
            found += _from_cmake(path, root)
    names: dict[str, int] = {}
    result: list[Drafted] = []
    for made in found:
        names[made.name] = names.get(made.name, 0) + 1
        name = made.name if names[made.name] == 1 else f"{made.name}-{names[made.name]}"
        result.append(Drafted(name, made.folder, made.build, made.run, made.note))
    return tuple(result)


def from_makefile(path: Path, root: Path) -> Drafted | None:
    """What `make run` (or test, check) would start, asked of make itself.

    With -n it starts no recipe, but it runs `$(shell ...)`, recipes marked with + and those that make Makefiles.
    """
    folder, root = path.parent.resolve(), root.resolve()
    for target in _TARGETS:
        shown = _asked(path, target)
        # what is built comes first, what is started last
        started = next(reversed(tuple(_started(shown.output, folder))), None) if shown.ok else None
        if started is not None and started[0].is_relative_to(root):
            where, words = started
            build = ["make"] if path.name in ("Makefile", "makefile") else ["make", "-f", path.name]
            if where != folder:
                build[1:1] = ["-C", os.path.relpath(folder, where)]
            name = words[0].rpartition("/")[2] if folder == root else folder.name
            return Drafted(name, where.relative_to(root).as_posix(), (shlex.join(build),), words)
    return None


def _asked(path: Path, target: str) -> Invocation:
    """What make would do; a make that porter itself was started by has told others to keep quiet of folders."""
    return invoke(("make", "-n", "-f", path.name, target), _SECONDS, path.parent, {"MAKEFLAGS": "", "MAKELEVEL": ""})


def refusal_of_make(path: Path) -> str:
    """What make says of a target `run` (or test, check) that it cannot make; empty where there is none, or it can."""
    for target in _TARGETS:
        shown = _asked(path, target)
        said = _STOPPED.search(shown.said)
        if not shown.ok and said is not None and not said[1].startswith(f"No rule to make target '{target}'"):
            return said[1].removesuffix(".  Stop.")
    return ""


def _started(output: str, folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Commands that start a program, and the folder where they do."""
    within = [folder]
    for line in output.replace("\\\n", " ").splitlines():
        moved = _MOVED.match(line)
        if moved is not None:
            within = [*within, Path(moved[2])] if moved[1] == "Entering" else within[:-1] or [folder]
            continue
        where = within[-1]
        for words in _commands(line):
            while words and (words[0].rpartition("/")[2] in _LAUNCHERS or "=" in words[0]):
                words = words[1:]
            if words[:1] == ["cd"] and len(words) == 2:
                where = Path(os.path.normpath(where / words[1]))
            elif words and _is_of_the_project(words[0]) and not any(word in _ELSEWHERE for word in words):
                yield where, tuple(words)


def _is_of_the_project(program: str) -> bool:
    """`./main` and `build/main`, neither `nvcc` nor `/usr/bin/nvcc`."""
    return "/" in program and not program.startswith(("/", "~", "$"))


def _commands(line: str) -> Iterator[list[str]]:
    """The words of each command of a line; what is quoted parts none."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|<>()")
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        for word in lexer:
            if word == ">&":  # of one stream to another: `2>&1`
                words = words[: -1 if words[-1:] and words[-1].isdigit() else None]
                next(lexer, None)
            elif set(word) <= set(";&()"):
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:
        return
    yield words


def _split(command: str) -> list[str]:
    """The words of a command; none where a quotation stays open."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _from_cmake(path: Path, root: Path) -> Iterator[Drafted]:
    folder = path.parent.relative_to(root).as_posix()
    for name, command in _ADD_TEST.findall(path.read_text("utf-8", "replace")):
        words = tuple(word for word in _split(command) if not word.startswith("$<"))
        if not words:
            continue
        run = (f"build/{words[0].removeprefix('./')}", *words[1:])
        yield Drafted(name, folder, ("cmake -B build", "cmake --build build"), run, "from add_test: check the path")


def as_toml(programs: tuple[Drafted, ...]) -> str:
    """The tables as text."""
    parts: list[str] = []
    for program in programs:
        lines = [f"# {program.note}"] if program.note else []
        lines += ["[[program]]", f"name = {_text(program.name)}"]
        if program.folder != ".":
            lines.append(f"folder = {_text(program.folder)}")
        if program.build != ("make",):
            lines.append(f"build = [{', '.join(map(_text, program.build))}]")
        lines.append(f"run = [{', '.join(map(_text, program.run))}]")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n" if parts else ""


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

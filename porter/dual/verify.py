"""Shows that a dual tree is the original for CUDA's compilers: the same tokens after preprocessing, file by file."""

from __future__ import annotations

import enum
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.cpp.include_graph import IncludeGraph, include_graph
from porter.cpp.lex import lex
from porter.project.records import FileRecord, Status
from porter.system.needs import need
from porter.system.process import run
from porter.system.programs import on_this_machine

_UNITS = (".cu", ".c", ".cc", ".cpp", ".cxx")
_MISSING = re.compile(rb"(?:fatal error: ([^:\n]+): No such file|fatal error: '([^'\n]+)' file not found)")
_MARKER = re.compile(r"^#(?: \d+ |line )[^\n]*\n", re.MULTILINE)
_MOST_MISSING = 40
_SECONDS = 120.0
_NEITHER = f"neither nvcc ({need('nvcc').remedy}) nor clang ({need('clang++').remedy}) was found"
_PASSES = ((), ("-D__CUDA_ARCH__=800",))
"""What the host's and the device's pass of nvcc define."""


class Outcome(enum.Enum):
    """What was found out about a translation unit."""

    SAME_BYTES = "same bytes"
    """Neither the file nor what it includes of the project was changed."""
    SAME_TOKENS = "same tokens"
    DIFFERENT = "different"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One translation unit; `detail` says where it differs, or why nothing is known."""

    path: str
    outcome: Outcome
    detail: str = ""
    missing: tuple[str, ...] = ()
    """Headers that this machine lacks; they were taken as empty on both sides."""


def verify(source: Path, output: Path, records: Iterable[FileRecord]) -> tuple[Verdict, ...]:
    """Every translation unit of a tree that was ported with --style dual."""
    ported = {r.path: r for r in records if r.status in (Status.PORTED, Status.UNCHANGED)}
    graph = include_graph({path: record.scan for path, record in ported.items()})
    changed = {path for path, record in ported.items() if record.sha256 != record.output_sha256}
    preprocessor = _preprocessor()
    return tuple(
        _verdict(source, output, path, graph, changed, preprocessor)
        for path in sorted(ported)
        if path.lower().endswith(_UNITS)
    )


def _verdict(
    source: Path, output: Path, path: str, graph: IncludeGraph, changed: set[str], preprocessor: tuple[str, ...] | None
) -> Verdict:
    if changed.isdisjoint({path, *graph.reachable(path)}):
        return Verdict(path, Outcome.SAME_BYTES)
    if preprocessor is None:
        return Verdict(path, Outcome.NOT_RUN, _NEITHER)
    folders = [f"-I{folder or '.'}" for folder in graph.search_folders(path)]
    missing: list[str] = []
    for defines in _PASSES:
        with tempfile.TemporaryDirectory(prefix="porter-verify-") as stubs:
            texts: list[list[str]] = []
            for root in (source, output):
                command = [*preprocessor, *defines, *folders, f"-I{stubs}", path]
                text, problem = _preprocessed(command, root, Path(stubs), missing)
                if text is None:
                    return Verdict(path, Outcome.NOT_RUN, problem)
                texts.append(lex(_MARKER.sub("", text)).texts)
        place = _first_difference(*texts)
        if place is not None:
            return Verdict(path, Outcome.DIFFERENT, place, tuple(dict.fromkeys(missing)))
    return Verdict(path, Outcome.SAME_TOKENS, missing=tuple(dict.fromkeys(missing)))


def _preprocessor() -> tuple[str, ...] | None:
    """A command that preprocesses CUDA; lines and times are the same everywhere: guards move lines."""
    line = ("-D__LINE__=0", "-D__TIME__=0", "-D__DATE__=0", "-D__TIMESTAMP__=0")
    if (nvcc := on_this_machine("nvcc")) is not None:
        return (nvcc, "-E", "-x", "cu", *line, "-Xcompiler", "-Wno-builtin-macro-redefined")
    for name in ("clang++", "clang++ of hipcc"):
        if (clang := on_this_machine(name)) is not None:
            cuda = ("-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-Wno-builtin-macro-redefined")
            return (clang, "-E", *cuda, *line)
    return None


def _preprocessed(command: list[str], root: Path, stubs: Path, missing: list[str]) -> tuple[str | None, str]:
    """The preprocessed text; headers that are not there are made, empty."""
    for _ in range(_MOST_MISSING):
        done = run(command, root, _SECONDS)
        if done.ok:
            return done.stdout.decode("latin-1"), ""
        found = _MISSING.search(done.stderr)
        if found is None:
            return None, done.stderr.decode("utf-8", "replace").strip()[-200:]
        name = (found[1] or found[2]).decode("utf-8", "replace")
        stub = (stubs / name).resolve()
        if stubs.resolve() not in stub.parents:
            return None, f"{name} is missing"
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.touch()
        missing.append(name)
    return None, f"more than {_MOST_MISSING} headers are missing"


def _first_difference(first: list[str], second: list[str]) -> str | None:
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return f"token {index}: {' '.join(first[index : index + 6])} / {' '.join(second[index : index + 6])}"
    if len(first) != len(second):
        return f"{len(first)} and {len(second)} tokens"
    return None


def counts(verdicts: Iterable[Verdict]) -> Mapping[Outcome, int]:
    """How many units came out how."""
    found = dict.fromkeys(Outcome, 0)
    for verdict in verdicts:
        found[verdict.outcome] += 1
    return found


def proven(verdicts: Iterable[Verdict]) -> bool:
    """Whether every unit is the same for CUDA."""
    return all(verdict.outcome in (Outcome.SAME_BYTES, Outcome.SAME_TOKENS) for verdict in verdicts)


def verdict_text(verdicts: tuple[Verdict, ...]) -> str:
    """A summary line, and a line for each unit that is not proven the same."""
    found = counts(verdicts)
    same = found[Outcome.SAME_BYTES] + found[Outcome.SAME_TOKENS]
    lines = [
        f"verify: {same} of {len(verdicts)} translation units are the same for CUDA "
        f"({found[Outcome.SAME_BYTES]} by their bytes, {found[Outcome.SAME_TOKENS]} by their preprocessed tokens)"
    ]
    lines += [
        f"  {verdict.path}: {verdict.outcome.value}: {verdict.detail}"
        for verdict in verdicts
        if verdict.outcome in (Outcome.DIFFERENT, Outcome.NOT_RUN)
    ]
    return "\n".join(lines) + "\n"

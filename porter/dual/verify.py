"""Shows that a dual tree is the original for CUDA's compilers: the same tokens after preprocessing, file by file."""

from __future__ import annotations

import enum
import functools
import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
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


@dataclass(frozen=True, slots=True)
class _Trees:
    """What all units share."""

    source: Path
    output: Path
    graph: IncludeGraph
    changed: frozenset[str]
    preprocessor: tuple[str, ...] | None
    stubs: Path
    """A folder for each thread: headers that the machine lacks, made, empty, for the first unit that asks for them.

    Between the two sides of a unit no other one adds to them, for `__has_include` would see it.
    """


def verify(
    source: Path,
    output: Path,
    records: Iterable[FileRecord],
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Verdict, ...]:
    """Every translation unit of a tree that was ported with --style dual."""
    from concurrent.futures import ThreadPoolExecutor

    ported = {r.path: r for r in records if r.status in (Status.PORTED, Status.UNCHANGED)}
    graph = include_graph({path: record.scan for path, record in ported.items()})
    changed = frozenset(path for path, record in ported.items() if record.sha256 != record.output_sha256)
    units = [path for path in sorted(ported) if path.lower().endswith(_UNITS)]
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="porter-verify-") as stubs, ThreadPoolExecutor(max(1, jobs)) as threads:
        trees = _Trees(source, output, graph, changed, _preprocessor(), Path(stubs).resolve())
        try:
            for verdict in threads.map(functools.partial(_verdict, trees), units):
                verdicts.append(verdict)
                if progress is not None:
                    progress(len(verdicts), len(units))
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise
    return tuple(verdicts)


def _verdict(trees: _Trees, path: str) -> Verdict:
    if trees.changed.isdisjoint({path, *trees.graph.reachable(path)}):
        return Verdict(path, Outcome.SAME_BYTES)
    if trees.preprocessor is None:
        return Verdict(path, Outcome.NOT_RUN, _NEITHER)
    folders = [f"-I{folder or '.'}" for folder in trees.graph.search_folders(path)]
    missing: dict[str, None] = {}
    stubs = trees.stubs / str(threading.get_ident())
    stubs.mkdir(exist_ok=True)
    for defines in _PASSES:
        texts: list[str] = []
        for root in (trees.source, trees.output):
            command = [*trees.preprocessor, *defines, *folders, f"-I{stubs}", path]
            text, problem = _preprocessed(command, root, stubs)
            if text is None:
                return Verdict(path, Outcome.NOT_RUN, problem)
            missing.update(_stubs_in(text, stubs))
            texts.append(_MARKER.sub("", text))
        place = None if _same_lines(*texts) else _first_difference(*(lex(text).texts for text in texts))
        if place is not None:
            return Verdict(path, Outcome.DIFFERENT, place, tuple(missing))
    return Verdict(path, Outcome.SAME_TOKENS, missing=tuple(missing))


def _stubs_in(text: str, stubs: Path) -> dict[str, None]:
    """The empty headers that were read, by the compiler's line markers."""
    return dict.fromkeys(re.findall(rf'^# 1 "{re.escape(str(stubs))}/([^"\n]+)"', text, re.MULTILINE))


def _same_lines(first: str, second: str) -> bool:
    """Whether texts are the same but for empty lines, which nothing but a raw string has tokens of."""
    if 'R"' in first or 'R"' in second:
        return first == second
    return list(filter(None, first.split("\n"))) == list(filter(None, second.split("\n")))


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


def _preprocessed(command: list[str], root: Path, stubs: Path) -> tuple[str | None, str]:
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
        if stubs not in stub.parents:
            return None, f"{name} is missing"
        try:
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.touch()
        except OSError as error:  # an empty header has the name of a folder
            return None, f"{name} is missing ({error.strerror})"
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

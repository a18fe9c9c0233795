"""What porter reads, each kind with its seeds, and what has to hold whatever the bytes are."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter.validation.build.units import find_tree
from porter.validation.cases.case import CaseError
from porter.validation.cases.file import load_cases
from porter.validation.draft.init import draft

from porter.buildfiles.files import port_build
from porter.buildfiles.registry import build_rules
from porter.check.baseline import baseline_text, read_baseline
from porter.dual.transform import transform
from porter.engine import edits as editing
from porter.engine.context import build_context, parser_for
from porter.engine.dialect import Dialect
from porter.engine.file import Context, port
from porter.errors import Unusable
from porter.model import Settings
from porter.project.compilation import read_database
from porter.project.manifest import NAME as MANIFEST
from porter.project.manifest import read_manifest
from porter.project.port import Request, port_to, scan
from porter.project.records import to_line
from porter.report.gap.history import append_run, past_runs
from porter.report.gap.inputs import as_written_by_porter, read_inputs
from porter.report.gap.write import written
from porter.report.render import Format, render
from porter.settings import Choices, load_choices
from porter.source import SourceFile

ROOT = Path(__file__).resolve().parents[2]
_LONGEST_SEED = 2500
Check = Callable[[bytes], None]


class Broken(Exception):
    """Something that has to hold does not; the first word says what."""


@dataclass(frozen=True)
class Target:
    """A kind of input."""

    name: str
    check: Check
    """Raises whatever is wrong."""
    seeds: Callable[[Sequence[Path]], list[bytes]]
    """From folders of other people's code, which may be none."""
    share: int
    """Of a hundred mutants."""


@functools.cache
def context_of_fuzzing(**settings: str) -> Context:
    """What a file is ported in."""
    choices = Choices(engine=Settings(**settings))  # type: ignore[arg-type]
    return build_context(choices, ("a.cu", "b.cuh"), {"a.cu": "a.hip"})


def _source(data: bytes, context: Context) -> None:
    """No crash; the edits lead to the result; porting the same bytes or the result again changes nothing."""
    source = SourceFile("a.cu", data)
    done = port(source, context, "a.hip")
    if done.crashes:
        raise Broken(f"crash: {done.crashes[0].strip().splitlines()[-1]}\n{done.crashes[0]}")
    codes = {finding.code for finding in done.findings}
    if "E002" in codes and context.unit(source).tokens.is_balanced:
        raise Broken("unsettled: the passes do not end, and the brackets match")
    if editing.apply(source.text, done.edits).encode("latin-1") != done.data:
        raise Broken("bytes: the edits do not lead to the result")
    if port(source, context, "a.hip") != done:
        raise Broken("chance: the same bytes gave another result")
    meant = context.unit(source).dialects.file
    known = replace(context, dialect=meant if meant is Dialect.HIP else Dialect.BOTH)  # as a manifest tells it
    again = port(SourceFile("a.hip", done.data), known, "a.hip")
    if again.crashes:
        raise Broken(f"crash: in the second port: {again.crashes[0]}")
    if again.data != done.data:
        raise Broken("unstable: the port of the port is another")


def _preserve(data: bytes) -> None:
    _source(data, context_of_fuzzing())


def _native(data: bytes) -> None:
    _source(data, context_of_fuzzing(warp="native", torch="standalone"))


def _with_clang(data: bytes) -> None:
    _source(data, replace(context_of_fuzzing(), parse=parser_for(ROOT, (), ())))


def _both_vendors(data: bytes) -> None:
    context = context_of_fuzzing(style="dual")
    source = SourceFile("a.cu", data)
    done = port(source, context, "a.cu")
    if done.crashes:
        raise Broken(f"crash: {done.crashes[0]}")
    if port(source, context, "a.cu") != done:
        raise Broken("chance: the same bytes gave another result")
    if done.edits:
        transform(source.data, done.edits)


def _build_file(name: str) -> Check:
    def check(data: bytes) -> None:
        done = port_build(SourceFile(name, data), context_of_fuzzing())
        if done.crashes:
            raise Broken(f"crash: {done.crashes[0]}")
        if any(finding.code == "E002" for finding in done.findings):
            raise Broken("unsettled: the passes do not end")
        if not any(finding.edits for finding in done.findings) and done.data != data:
            raise Broken("bytes: changed without a finding")
        if port_build(SourceFile(name, data), context_of_fuzzing()) != done:
            raise Broken("chance: the same bytes gave another result")
        again = port_build(SourceFile(name, done.data), context_of_fuzzing())
        if again.crashes:
            raise Broken(f"crash: in the second port: {again.crashes[0]}")
        if again.data != done.data:
            raise Broken("unstable: the port of the port is another")

    return check


def _in_folder(name: str, read: Callable[[Path], object], refused: type[Exception] = Unusable) -> Check:
    """A document under a name, and what reads it: it may be refused with a sentence, and no more."""

    def check(data: bytes) -> None:
        with tempfile.TemporaryDirectory(dir=_memory()) as folder:
            path = Path(folder) / name
            path.write_bytes(data)
            try:
                read(path)
            except refused as error:
                str(error).encode("utf-8", "backslashreplace")

    return check


def _memory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _report(path: Path) -> None:
    inputs = read_inputs([path], path.parent)
    for form in ("text", "markdown", "html"):
        with as_written_by_porter([path]):
            text = written(inputs, form)
        text.encode("utf-8", "backslashreplace")


def _manifest(path: Path) -> None:
    manifest = read_manifest(path.parent)
    if manifest is not None:
        for record in manifest.files.values():
            to_line(record)


@functools.cache
def _ported_tree() -> Path:
    """A source, its port and a bystander, which every mutant of the manifest gets a copy of."""
    made = Path(tempfile.mkdtemp(dir=_memory(), prefix="porter-fuzz-"))
    atexit.register(_remove, made, os.getpid())
    (made / "src").mkdir()
    (made / "src" / "a.cu").write_bytes(examples()[0])
    (made / "src" / "b.txt").write_bytes(b"text\n")
    (made / "victim.txt").write_bytes(b"not yours\n")
    port_to(Request(made / "src", Choices(), 1), made / "out")
    return made


def _remove(made: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(made, ignore_errors=True)


def _port_again(data: bytes) -> None:
    """Whatever the manifest of the output says: nothing outside is touched, and the port is right or refused."""
    known = _ported_tree()
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        at = Path(folder) / "t"
        shutil.copytree(known, at)
        (at / "out" / MANIFEST).write_bytes(data)
        with contextlib.suppress(Unusable):
            answer = port_to(Request(at / "src", Choices(), 1), at / "out")
            if answer.run.crashes:
                raise Broken(f"crash: {answer.run.crashes[0]}")
            kept = {path.name for path in (at / "out").iterdir()}
            said = {located.entry.code for located in answer.report.findings}
            for path in (known / "out").iterdir():
                same = path.name in kept and (at / "out" / path.name).read_bytes() == path.read_bytes()
                if path.name != MANIFEST and not same and not said & {"E106", "E107"}:
                    raise Broken(f"bytes: {path.name} is not what it should be")
        for name in ("src/a.cu", "src/b.txt", "victim.txt"):
            if (at / name).read_bytes() != (known / name).read_bytes():
                raise Broken(f"bytes: {name} was touched")


def _manifests(more: Sequence[Path]) -> list[bytes]:
    return [(_ported_tree() / "out" / MANIFEST).read_bytes()]


def _build_units(path: Path) -> None:
    (path.parent / "a.hip").write_bytes(b"__global__ void k() {}\n")
    find_tree(path.parent)


def _history(path: Path) -> None:
    for run in past_runs(path):
        append_run(path, run._replace(date="today"))
    past_runs(path)


def _database(path: Path) -> None:
    read_database(path.parent, [path.name])


def _baseline(path: Path) -> None:
    baseline_text(read_baseline(path)).encode()


def _seeds_of(
    *patterns: str, below: str = "samples", made: Iterable[bytes] = ()
) -> Callable[[Sequence[Path]], list[bytes]]:
    def seeds(more: Sequence[Path]) -> list[bytes]:
        paths = [p for root in (ROOT / below, *more) for pattern in patterns for p in sorted(root.rglob(pattern))]
        texts = [path.read_bytes() for path in paths if path.is_file()]
        pieces = [text[start : start + _LONGEST_SEED] for text in texts for start in range(0, len(text), _LONGEST_SEED)]
        return [*made, *filter(None, pieces)] or [b""]

    return seeds


@functools.cache
def examples() -> tuple[bytes, ...]:
    """What the rules show of themselves."""
    from porter.engine.registry import all_rules

    return tuple(example.before.encode("latin-1", "replace") for rule in all_rules() for example in rule.examples)


def _builds(*patterns: str) -> Callable[[Sequence[Path]], list[bytes]]:
    """The build files of the samples and of others, and what the rules for such files show of themselves."""

    def seeds(more: Sequence[Path]) -> list[bytes]:
        shown = (example for rule in build_rules() for example in rule.examples)
        names = [pattern.lstrip("*") for pattern in patterns]
        short = [example.before.encode() for example in shown if any(example.path.endswith(name) for name in names)]
        long = _seeds_of(*patterns)(more)
        return [*short, *long * max(1, len(short) // len(long))]

    return seeds


def _sources(more: Sequence[Path]) -> list[bytes]:
    """As many whole sources as examples: those are short, and there are many of them."""
    short, long = examples(), _seeds_of("*.cu", "*.cuh")(more)
    return [*short, *long * max(1, len(short) // len(long))]


@functools.cache
def _documents() -> Mapping[str, bytes]:
    """A report, a manifest and a baseline as porter writes them."""
    sample = ROOT / "samples" / "block_reduce"
    with tempfile.TemporaryDirectory() as folder:
        port_to(Request(sample, Choices(), 1), Path(folder) / "out")
        manifest = (Path(folder) / "out" / MANIFEST).read_bytes()
        report = render(scan(Request(sample, Choices(), 1)).report, Format.JSON)
    entry = {
        "path": "a.cu",
        "code": "S102",
        "effort": "manual",
        "kernel": "k",
        "name": "x",
        "context": "0123",
        "reason": "y",
    }
    baseline = json.dumps({"schema": "porter-baseline-1", "accepted": [entry, {**entry, "kernel": None}]})
    return {"manifest": manifest, "report": report.encode(), "baseline": baseline.encode()}


_SETTINGS = b"""rocm = "6.3"
warp = "native"
include = ["a/*.cu"]
exclude = ["b/**"]
names = { myMalloc = "hipMalloc" }
ignore_names = ["cudaFoo"]
include_dirs = ["include"]
defines = ["A=1"]
native_kernels = ["k"]
disable = ["W101"]
timeout = 3.5
gitignored = "copy"
vendored_folders = ["deps"]
"""
_HISTORY = b"""{"schema": "porter-history-1", "date": "2026-01-02 03:04 UTC", "commit": "0123", "states": {"built": 3},
"manual": 1, "review": 2, "failed": 0}
""".replace(b",\n", b", ")
_DATABASE = b"""[{"directory": "/tmp/x", "file": "a.cu", "command": "nvcc -Iinclude -DX=1 -c a.cu"},
 {"directory": ".", "file": "b.cu", "arguments": ["nvcc", "-I", "inc", "-isystem", "/usr/include", "b.cu"]}]"""


def _made(name: str) -> Callable[[Sequence[Path]], list[bytes]]:
    return lambda more: [_documents()[name]]


TARGETS = (
    Target("source", _preserve, _sources, 48),
    Target("native", _native, _sources, 12),
    Target("clang", _with_clang, _sources, 4),
    Target("dual", _both_vendors, _sources, 6),
    Target("cmake", _build_file("CMakeLists.txt"), _builds("CMakeLists.txt", "*.cmake"), 4),
    Target("make", _build_file("Makefile"), _builds("Makefile", "*.mk"), 4),
    Target("setup", _build_file("setup.py"), _builds("setup.py"), 4),
    Target("commands", _build_file("compile_commands.json"), _seeds_of(made=(_DATABASE,)), 1),
    Target("database", _in_folder("compile_commands.json", _database), _seeds_of(made=(_DATABASE,)), 1),
    Target("settings", _in_folder("porter.toml", load_choices), _seeds_of(made=(_SETTINGS,)), 2),
    Target("cases", _in_folder("k.case.toml", load_cases, CaseError), _seeds_of("*.case.toml"), 3),
    Target("draft", _in_folder("a.cu", draft), _sources, 3),
    Target("manifest", _in_folder(MANIFEST, _manifest), _made("manifest"), 1),
    Target("again", _port_again, _manifests, 2),
    Target("history", _in_folder("history.jsonl", _history), _seeds_of(made=(_HISTORY,)), 1),
    Target("build", _in_folder(MANIFEST, _build_units), _manifests, 1),
    Target("baseline", _in_folder("b.json", _baseline), _made("baseline"), 1),
    Target("report", _in_folder("report.json", _report), _made("report"), 2),
)  # fmt: skip
BY_NAME = {target.name: target for target in TARGETS}

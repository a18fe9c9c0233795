"""The steps of `porter all`: each leaves its document before the next, and an interrupt leaves what is done."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from porter.errors import Unusable
from porter.project.port import Request, port_to
from porter.project.progress import shown_progress
from porter.project.triton_kernels import has_triton_kernels
from porter.report.as_json import report_json
from porter.settings import Choices
from porter.whole.folder import Folder, digest, sealed, unsealed

Say = Callable[[str], None]
_SUFFIX = ".case.toml"
_BESIDE = {"report.md": "markdown", "kernels.csv": "csv", "actions.csv": "actions", "files.csv": "files"}
"""The report in other forms."""


@dataclass(frozen=True)
class Wanted:
    """What the user asked for."""

    source: Path
    choices: Choices
    jobs: int
    trying: bool = True
    """Whether drafts are tried on the virtual NVIDIA GPU, to keep the sizes that run."""
    seconds: float = 20.0
    """Limit of one launch."""
    link: str | None = None


@dataclass
class Result:
    """How far it came; filled step by step, so that an interrupt finds what is done."""

    documents: list[Path] = field(default_factory=list)
    left: str = "none"
    has_triton: bool = False
    """Whether the kernels are Triton's alone."""
    is_built: bool = True
    is_fine: bool = True
    crashes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Steps that could not be done here, and why."""


def port_step(wanted: Wanted, folder: Folder, result: Result, say: Say) -> dict[str, Any]:
    """The ported tree, and the report of it."""
    with _timed(say, f"port {wanted.source} -> {folder.port}") as told, shown_progress("porting") as progress:
        answer = port_to(Request(wanted.source, wanted.choices, wanted.jobs), folder.port, progress)
        document = report_json(answer.report)
        counts = answer.report.counts
        told.append(f"{len(answer.report.kernels):,} kernels, {counts.manual:,} by hand, {counts.review:,} to review")
    result.documents.append(folder.write_json("port.json", document))
    result.left = answer.report.left
    result.has_triton = not answer.report.kernels and has_triton_kernels(answer.run.plan.project)
    result.crashes += answer.run.crashes
    return document


def build_step(wanted: Wanted, folder: Folder, result: Result, say: Say) -> None:
    """Every unit compiled; units that did not change come from the store."""
    from porter.validation.build.hints import too_old
    from porter.validation.build.report import build_json
    from porter.validation.build.run import BuildRequest, build
    from porter.validation.build.units import NothingToBuild

    with _timed(say, "build") as told, shown_progress("building") as progress:
        try:
            report = build(BuildRequest(folder.port, jobs=wanted.jobs), progress)
        except NothingToBuild:
            told.append("nothing to compile")
            return
        built = sum(unit.status.value == "built" for unit in report.units)
        told.append(f"{built:,} of {len(report.units):,} files built")
    for note in too_old(report.units):
        say(note)
    result.documents.append(folder.write_json("build.json", build_json(report)))
    result.is_built = report.is_done


def draft_step(wanted: Wanted, folder: Folder, document: dict[str, Any], result: Result, say: Say) -> tuple[Path, ...]:
    """A case file per source with kernels; one that is there stays, for somebody may have filled it in."""
    from porter.validation.draft.init import draft
    from porter.validation.draft.trying import TriedCase, try_sizes

    root = wanted.source if wanted.source.is_dir() else wanted.source.parent
    paths = list(dict.fromkeys(kernel["path"] for kernel in document.get("kernels", ())))
    made: list[Path] = []
    for number, path in enumerate(paths, 1):
        target = folder.cases / f"{path}{_SUFFIX}"
        own = (root / path).with_suffix("")
        if target.is_file():
            made.append(target)
            continue
        if own.with_name(own.name + _SUFFIX).is_file():
            continue  # the project describes it itself
        with _timed(say, f"draft [{number}/{len(paths)}] {path}") as told:
            try:
                drafted = draft(root / path, assuming=wanted.trying)
                tried: tuple[TriedCase, ...] = ()
                if wanted.trying:
                    tried = try_sizes(drafted, wanted.seconds, wanted.jobs)
            except (Unusable, OSError) as error:
                result.missing.append(f"draft {path}: {error}")
                told.append(str(error))
                continue
            parts = [one.text for one in tried] or [part.text() for part in drafted.parts]
            text = "\n".join([drafted.head(target.parent), *parts])
            made.append(folder.write(str(target.relative_to(folder.root)), text))
            runs = f", {sum(bool(one.chosen) for one in tried):,} run as they are" if tried else ""
            told.append(f"{drafted.cases:,} case{'s' * (drafted.cases != 1)}{runs}")
    return tuple(made)


def validate_step(wanted: Wanted, folder: Folder, drafted: tuple[Path, ...], result: Result, say: Say) -> None:
    """File by file, each result kept: the next run does only those whose case file, sources or compilers changed."""
    from porter.validation.cases.file import find_case_files
    from porter.validation.cluster.identity import porter_digest
    from porter.validation.run.plan import Request as Asked
    from porter.validation.run.plan import validate
    from porter.validation.toolchain.known import known_tools
    from porter.validation.verdict.report import report_json as validate_json

    files = list(dict.fromkeys((*drafted, *find_case_files((wanted.source,)))))
    sources = digest(folder.port, _all_files(folder.port), porter_digest(), *sorted(known_tools().items()))
    parts: list[dict[str, Any]] = []
    try:
        for number, file in enumerate(files, 1):
            key = digest(folder.root, (file,), sources, wanted.seconds)
            name = f"parts/{digest(folder.root, (), os.path.relpath(file, folder.root))}.json"
            kept = unsealed(folder.read_json(name))
            with _timed(say, f"validate [{number}/{len(files)}] {file}") as told:
                if kept is None or kept.get("key") != key:
                    request = Asked((file,), jobs=wanted.jobs, launch_seconds=max(wanted.seconds, 20.0))
                    with shown_progress("cases") as progress:
                        outcome = validate(request, progress)
                    result.crashes += outcome.crashes
                    kept = {"key": key, "fine": outcome.report.is_fine(strict=False) and not outcome.report.errors}
                    kept["document"] = validate_json(outcome.report)
                    folder.write_json(name, sealed(kept))
                else:
                    told.append("as before")
                told.append(_outcome(kept["document"]))
            result.is_fine &= bool(kept["fine"])
            parts.append(kept["document"])
    finally:
        if parts:
            result.documents.append(folder.write_json("validate.json", _joined(parts)))


def _all_files(tree: Path) -> list[Path]:
    return [path for path in tree.rglob("*") if path.is_file() and not path.is_symlink()]


def _outcome(document: Mapping[str, Any]) -> str:
    counted = [f"{count:,} {status}" for status, count in document["totals"].items() if count]
    errors = document["errors"]
    if errors:
        counted.append(f"{len(errors):,} that cannot be read ({errors[0]['message']})")
    return ", ".join(counted) or "the file describes no case"


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One document of many: the cases and errors of all."""
    totals: dict[str, int] = {}
    for part in parts:
        for status, count in part["totals"].items():
            totals[status] = totals.get(status, 0) + count
    return {
        **parts[0],
        "totals": totals,
        "errors": [error for part in parts for error in part["errors"]],
        "cases": [case for part in parts for case in part["cases"]],
    }


def report_step(wanted: Wanted, folder: Folder, result: Result, say: Say) -> Path:
    """The page, the same as Markdown, and the kernels and actions for a spreadsheet."""
    from porter.report.gap.inputs import read_inputs
    from porter.report.gap.write import Wish, wished

    with _timed(say, "report"):
        inputs = read_inputs(result.documents, Path())
        wish = Wish("html", wanted.source if wanted.source.is_dir() else None, folder.port, wanted.link)
        page = folder.write("report.html", wished(inputs, replace(wish, history=folder.root / "history.jsonl")))
        for name, form in (
            ("report.md", "markdown"),
            ("kernels.csv", "csv"),
            ("actions.csv", "actions"),
            ("files.csv", "files"),
        ):
            folder.write(name, wished(inputs, replace(wish, form=form)))
    return page


@contextmanager
def _timed(say: Say, what: str) -> Iterator[list[str]]:
    """A line when it begins and one when it ends, with what came of it and the time."""
    say(f"{what} ...")
    told: list[str] = []
    began = time.monotonic()
    yield told
    came = ": " + "; ".join(told) if told else ""
    say(f"{what}{came} ({time.monotonic() - began:.1f} s)")

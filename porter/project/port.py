"""The commands `scan` and `port` without a command line: settings in, tree and report out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from porter import __version__
from porter.errors import Unusable
from porter.project.begun import kept
from porter.project.discovery import Project, below_settings, discover, is_code
from porter.project.manifest import Manifest, read_manifest, settings_json
from porter.project.naming import usual_name
from porter.project.placement import check_output
from porter.project.plan import Plan, Run
from porter.project.port_tree import Progress, port_project
from porter.project.records import FileRecord
from porter.project.task import Sink
from porter.project.unmet import kernel_notes, rule_notes
from porter.report.document import Header, Report, build_report
from porter.settings import Choices
from porter.system import git


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for."""

    source: Path
    choices: Choices
    jobs: int
    force: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it."""

    run: Run
    report: Report
    header: Header


def scan(request: Request, progress: Progress | None = None) -> Answer:
    """Looks, and writes nothing."""
    project = discover(request.source, request.choices)
    plan = Plan(project, request.choices, Sink(None), jobs=request.jobs)
    return _answer("scan", request, plan, None, progress)


def preview(request: Request, progress: Progress | None = None) -> Answer:
    """Ports in memory; the new bytes are in the run."""
    project = discover(request.source, request.choices)
    plan = Plan(project, request.choices, Sink(None, returns_data=True), jobs=request.jobs)
    return _answer("port", request, plan, None, progress)


def port_to(request: Request, output: Path, progress: Progress | None = None, project: Project | None = None) -> Answer:
    """Writes the ported tree, or for a single file the file named or a tree of one file; `project`: where the source
    is listed already."""
    source = request.source
    _require(source)
    if source.is_file() and not output.is_dir() and is_code(output.name):
        plan = _one_file(request, output)
    else:
        check_output(source, output, request.choices, force=request.force)
        project = project or discover(source, request.choices)
        previous = read_manifest(output) or Manifest()
        sink = Sink(output, force=request.force)
        plan = Plan(project, request.choices, sink, None, previous, keeps_manifest=True, jobs=request.jobs)
    return _answer("port", request, plan, output, progress)


def _require(source: Path) -> None:
    try:
        source.stat()
    except OSError as error:
        raise Unusable(f"{source}: {error.strerror}") from None


def _one_file(request: Request, output: Path) -> Plan:
    if output.exists() and output.samefile(request.source):
        raise Unusable(f"{output}: the output is the source itself; use --in-place")
    if output.exists() and not request.force:
        raise Unusable(f"{output}: exists; use --force to overwrite it")
    if request.choices.engine.style == "dual":
        raise Unusable("--style dual writes headers beside the sources: port a folder, into a folder")
    project = discover(request.source, request.choices)
    sink = Sink(output.parent, force=request.force)
    return Plan(project, request.choices, sink, output.name, jobs=request.jobs)


def port_in_place(request: Request, progress: Progress | None = None) -> Answer:
    """Changes the source itself; git must be able to bring it back, unless forced."""
    source = request.source
    _require(source)
    reason = None if request.force else git.why_not_clean(source)
    if reason is not None and source.is_dir() and kept(source):
        raise Unusable(f"{source}: a port in place was interrupted here; --force goes on with it")
    if reason is not None:
        raise Unusable(f"{source}: not ported in place, because {reason}; commit first, or use --force")
    project = discover(source, request.choices)
    sink = Sink(project.root, in_place=True)
    name = usual_name(source.name) if project.single else None
    begun = kept(project.root) if request.force and not project.single else {}
    plan = Plan(project, request.choices, sink, name, jobs=request.jobs, begun=begun)
    return _answer("port", request, plan, project.root, progress)


def _answer(command: str, request: Request, plan: Plan, output: Path | None, progress: Progress | None) -> Answer:
    run = port_project(plan, progress)
    header = _header(command, request, plan, output, run)
    return Answer(run, build_report(header, run.records, run.rules), header)


def answer_with(answer: Answer, records: tuple[FileRecord, ...]) -> Answer:
    """The same answer with other records, as when something was found out about the port afterwards."""
    run = replace(answer.run, records=records)
    return Answer(run, build_report(answer.header, records, run.rules), answer.header)


def _header(command: str, request: Request, plan: Plan, output: Path | None, run: Run) -> Header:
    return Header(
        porter=__version__,
        command=command,
        source=str(request.source),
        output=str(output) if output is not None else None,
        settings=settings_json(request.choices),
        notes=(*run.plan.project.notes, *rule_notes(request.choices), *_kernel_notes(request.choices, run)),
        left_out=plan.project.left_out,
        reused=run.reused,
    )


def _kernel_notes(choices: Choices, run: Run) -> Iterator[str]:
    project = run.plan.project
    if not project.single:
        kernels = (kernel["name"] for record in run.records for kernel in record.kernels)
        yield from kernel_notes(choices, below_settings(choices, project.root), kernels)

"""Ports a project: decides what has to be done, has it done, and leaves the tree and its manifest."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from porter.cpp.include_graph import include_graph
from porter.cpp.prescan import Scan
from porter.dual.headers import dual_headers, earlier
from porter.engine import notices
from porter.engine.context import run_key
from porter.errors import Interrupted, Unusable
from porter.names.table import is_cuda_header
from porter.project import begun, outputs
from porter.project.compilation import NO_FLAGS, flags_of, read_database
from porter.project.discovery import Entry, Kind
from porter.project.links import keep_link
from porter.project.manifest import settings_json, write_manifest
from porter.project.naming import Names, choose_names
from porter.project.plan import Plan, Run, Work
from porter.project.records import FileRecord, Status, from_line, notice_entry
from porter.project.reuse import Shown, file_keys, intact_files, is_done, shown_names
from porter.project.seen import Seen, keep_seen, read_seen
from porter.project.support_files import dual_headers_of, included, place_headers, without_own_files
from porter.project.task import Task
from porter.system.stamps import Stamp

if TYPE_CHECKING:
    from porter.project.pool import Outcome, Pool

Progress = Callable[[int, int], None]
"""Called with the number of files done and the number there are."""

_FILES_PER_WORKER = 4
"""With fewer files, starting another process takes longer than it saves."""


def port_project(plan: Plan, progress: Progress | None = None) -> Run:
    """Does everything for a plan; an interrupt or SIGTERM leaves the manifest of what was done."""
    with _termination_as_interrupt():
        return _port(plan, progress)


@contextlib.contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _port(plan: Plan, progress: Progress | None) -> Run:
    work = _begin(plan)
    goes_on = not (plan.previous.complete and plan.previous.run_key)
    try:
        if plan.sink.root is not None:
            if (
                plan.keeps_manifest and not plan.previous.files
            ):  # first, so that what a killed run leaves is known as ours
                outputs.make_root(plan.sink.root)
                _save(work, complete=False)
            if not plan.sink.in_place:
                outputs.make_way(plan.sink.root, plan.previous.files, plan.project)
            outputs.make_folders(plan.sink.root, plan.project)
            if goes_on:
                outputs.remove_temporaries(plan.sink.root, plan.project)
            if plan.sink.in_place and not plan.project.single:
                begun.keep(plan.sink.root, work.names)
        _keep_links(work)
        _do_files(work, progress)
        if plan.sink.root is not None:
            _finish(work, plan.sink.root)
            if goes_on:  # again: a process that was killed just before may have been seen to live
                outputs.remove_temporaries(plan.sink.root, plan.project)
    except (KeyboardInterrupt, Unusable) as reason:
        if plan.keeps_manifest:
            with contextlib.suppress(Unusable, OSError):
                _save(work, complete=False)
        if isinstance(reason, Unusable):
            raise
        done = f"{len(work.records)} of {len(plan.project.entries)} entries are done"
        how = "the same command with --force" if plan.sink.in_place else "the same command"
        raise Interrupted(f"interrupted: {done}; {how} goes on from there") from None
    records = tuple(work.records[path] for path in sorted(work.records))
    return Run(work.plan, records, work.data, tuple(work.crashes), work.rules, work.reused, work.stamps)


def _begin(plan: Plan) -> Work:
    dual = plan.choices.engine.style == "dual"
    before = earlier(dual_headers_of(plan.project)) if dual else ()
    project, present = without_own_files(plan.project)
    plan = replace(plan, project=project)
    project = begun.without_begun(project, plan.begun)
    plan = replace(plan, project=project)
    names = Names({}, {}, frozenset()) if dual else begun.with_begun(choose_names(project), project, plan.begun)
    if plan.output_name is not None:
        path = project.entries[0].path
        names = replace(names, renamed={path: plan.output_name} if path != plan.output_name else {})
    code = [entry.path for entry in project.entries if entry.kind is Kind.CODE]
    flags, notes = read_database(project.root, (entry.path for entry in project.entries))
    plan = replace(plan, project=replace(project, notes=(*project.notes, *notes)))
    key = run_key(settings_json(plan.choices), code, names.renamed, flags)
    work = Work(plan, names, key, present, flags, rules=plan.previous.rules, before=before)
    if plan.keeps_manifest:
        work.seen = read_seen(project)
    work.changed = key != plan.previous.run_key or not plan.previous.complete
    for entry in project.entries:
        if entry.kind is Kind.SPECIAL:
            _note(work, entry, notices.SPECIAL_FILE, "neither a file nor a folder; it is not copied")
        elif entry.kind is Kind.UNREADABLE:
            _note(work, entry, notices.UNREADABLE, "could not be read; it is not in the output")
    return work


def _note(work: Work, entry: Entry, notice: notices.Notice, message: str) -> None:
    work.add(FileRecord(entry.path, "", Status.FAILED, entries=(notice_entry(notice, message),)))


def _keep_links(work: Work) -> None:
    plan = work.plan
    for entry in plan.project.entries:
        if entry.kind is Kind.LINK:
            before = plan.previous.files.get(entry.path)
            record = keep_link(entry, plan.project.root, work.names, plan.sink, before)
            work.changed |= record != before
            work.add(record)


def _do_files(work: Work, progress: Progress | None) -> None:
    """Ports and copies what is not as it should be already."""
    files = work.files
    same_run = work.key == work.plan.previous.run_key
    intact = intact_files(work.plan, work.names, files, work.seen) if same_run else frozenset()
    if len(intact) == len(files):
        _reuse(work, intact)
        return
    from porter.buildfiles.files import build_names
    from porter.project.pool import Job, Pool

    plan = work.plan
    job = Job(plan.project.root, plan.choices, work.code, dict(work.names.renamed), plan.sink)
    workers = max(1, min(plan.jobs, len(files) // _FILES_PER_WORKER))
    with Pool(job, workers, len(files)) as pool:
        work.rules = pool.rules | (build_names() if any(f.kind is Kind.BUILD for f in files.values()) else {})
        tasks = _tasks(work, pool, intact, progress)
        _reuse(work, files.keys() - tasks.keys())
        work.changed = True
        _run(work, pool, tasks, progress)


def _reuse(work: Work, paths: frozenset[str] | set[str]) -> None:
    for path in paths:
        work.add(work.plan.previous.files[path])
    work.reused = len(paths)


def _tasks(work: Work, pool: Pool, intact: frozenset[str], progress: Progress | None) -> dict[str, Task]:
    """One task per file that has to be done."""
    from porter.project.dialects import file_dialects, told_by

    scans, digests = _scanned(work, pool, intact, progress)
    graph = include_graph(scans, is_cuda_header)
    choices = work.plan.choices
    names = shown_names(graph, scans)
    dialects = file_dialects(choices, work.plan.project.root, told_by(work.plan.project), scans, graph)
    keys = file_keys(work.key, digests, graph, names, dialects)
    flags = flags_of(work.flags, graph)
    tasks: dict[str, Task] = {}
    for number, (path, entry) in enumerate(work.files.items()):
        before = work.plan.previous.files.get(path)
        if path in intact and before is not None and before.key == keys.get(path, ""):
            continue
        output = work.names.output(path)
        told, seen = flags.get(path, NO_FLAGS), names.get(path, Shown())
        tasks[path] = Task(
            number,
            path,
            output,
            entry.kind is Kind.CODE,
            entry.mode,
            keys.get(path, ""),
            scans.get(path, Scan()),
            seen.declared,
            before.output_sha256 if before is not None and before.output == output else None,
            (*choices.include_dirs, *told.include_dirs, *graph.search_folders(path)) if path in scans else (),
            (*choices.defines, *told.defines),
            apart=path in work.names.apart,
            is_build=entry.kind is Kind.BUILD,
            dialect=dialects.get(path),
            for_amd=seen.for_amd,
            unit=(unit := graph.units.get(path, "")),
            unit_dirs=(*choices.include_dirs, *graph.search_folders(unit)) if unit else (),
        )
    return tasks


def _scanned(
    work: Work, pool: Pool, intact: frozenset[str], progress: Progress | None
) -> tuple[dict[str, Scan], dict[str, str | None]]:
    """The quick look at every C++ file, from the last run where the file is the same."""
    scans: dict[str, Scan] = {}
    digests: dict[str, str | None] = {}
    files, previous = work.files, work.plan.previous.files
    for path in work.code:
        if path in intact:
            scans[path], digests[path] = previous[path].scan, previous[path].sha256
    for found in pool.scan([(path, files[path].size) for path in work.code if path not in intact]):
        scans[found.path], digests[found.path] = found.scan, found.sha256
        if progress is not None:
            progress(0, len(files))
    if work.plan.project.single:
        for path, (digest, look) in pool.neighbours(work.code[0]).items():
            scans[path], digests[path] = look, digest
    return scans, digests


def _run(work: Work, pool: Pool, tasks: Mapping[str, Task], progress: Progress | None) -> None:
    paths = {task.number: path for path, task in tasks.items()}
    done = 0

    def deliver(outcome: Outcome) -> None:
        nonlocal done
        done += 1
        work.add(from_line(outcome.line), outcome.line)
        if outcome.data is not None:
            work.data[paths[outcome.number]] = outcome.data
        if outcome.crash is not None:
            work.crashes.append(f"{paths[outcome.number]}\n{outcome.crash}")
        if progress is not None:
            progress(done, len(tasks))

    sizes = {path: entry.size for path, entry in work.files.items()}
    pool.port([(task, sizes[path]) for path, task in tasks.items()], deliver)


def _finish(work: Work, out: Path) -> None:
    """Support headers, folders' modes, outputs without a source, and the manifest."""
    plan = work.plan
    needed = {include for record in work.records.values() for include in (*record.support, *included(record.scan))}
    needed |= work.present
    support = dict(plan.previous.support)
    written, more = dual_headers(plan.choices.engine, work.records.values(), work.before)
    work.support = place_headers(out, needed | more, support, written, force=plan.sink.force)
    stale = list(outputs.remove_stale(out, plan.previous.files, work.records, plan.project))
    for record in stale:
        work.add(record)
    outputs.set_folder_modes(out, plan.project)
    if plan.sink.in_place:
        begun.forget(out)
    gone = plan.previous.files.keys() - work.records.keys()
    if plan.keeps_manifest and (work.changed or gone or work.support != support):
        _save(work, complete=True)
    if plan.keeps_manifest:
        seen = keep_seen(plan.project, work.records, work.seen)
        work.stamps = {} if stale else _stamps(work, seen)


def _stamps(work: Work, seen: Seen) -> dict[str, Stamp]:
    """Those of the files that the next run need not do again."""
    files, names = work.files, work.names
    return {
        path: Stamp(*map(int, stamp))
        for path, (*stamp, _) in seen.items()
        if is_done(work.records[path], files[path], names.output(path))
    }


def _save(work: Work, *, complete: bool) -> None:
    assert work.plan.sink.root is not None
    records = work.records if complete else {**work.plan.previous.files, **work.records}
    write_manifest(
        work.plan.sink.root,
        work.key,
        work.plan.choices,
        work.manifest_lines(records),
        work.support if complete else {**work.plan.previous.support, **work.support},
        work.rules,
        complete=complete,
    )

"""Does one file: reads it, ports or copies it, writes the result, and records what happened."""

from __future__ import annotations

import functools
import mmap
import os
import re
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from porter.buildfiles.files import port_build
from porter.cpp.headers import Headers
from porter.cpp.lex import Tokens, lex
from porter.engine import file as engine
from porter.engine import notices
from porter.engine.context import parser_for
from porter.engine.dialect import Dialect
from porter.engine.semantics import Semantics
from porter.model import PortedFile
from porter.project.linemap import line_shifts, touched_lines
from porter.project.naming import support_path
from porter.project.records import Entry, FileRecord, Status, calls_entry, entry, kernel_json, notice_entry
from porter.project.task import Sink, Task
from porter.project.writing import Content, Placed, content_at, content_of, place, sha256
from porter.source import SourceFile
from porter.system.limits import MEMORY, PROCESSOR_SECONDS
from porter.system.reading import read_regular

_SMALL = 4 << 20
"""Larger files are not held in memory; no build file is as large."""

LARGEST_SOURCE = 8 << 20
"""Source that people write is far smaller; larger files are copied."""
_CUDA = re.compile(rb"__global__|__device__|<<<|[cC][uU][dD][aA]|__shfl|\bcu[A-Z]")
_DIED = "bug in porter: the process that ported this file died twice; the file was copied as it is"


@dataclass(frozen=True, slots=True)
class Done:
    """The record of a file, its new bytes when nobody wrote them, and the traceback of a failure of ours."""

    record: FileRecord
    data: bytes | None = None
    crash: str | None = None


def do_file(task: Task, root: Path, context: engine.Context, sink: Sink) -> Done:
    """Ports or copies one file; what goes wrong with the file itself is a finding, not an exception."""
    try:
        if task.is_build:
            return _build(task, root, context, sink)
        is_source = task.is_code and _size(_path_of(root, task)) <= LARGEST_SOURCE
        return _code(task, root, context, sink) if is_source else Done(_copy(task, root, sink))
    except MemoryError:
        return Done(_copy(task._replace(is_code=False, key=""), root, sink, (_past(_MEMORY),)))
    except FileNotFoundError:
        return Done(_failed(task, notices.VANISHED, "the file was gone when it was to be read"))
    except OSError as error:
        return Done(_failed(task, notices.UNREADABLE, f"the file could not be read: {error.strerror}"))


def _path_of(root: Path, task: Task) -> str:
    """Strings and no Path: a tree has thousands of files with little else to do."""
    return f"{root}/{task.path}"


def _size(path: str) -> int:
    return os.stat(path).st_size  # noqa: PTH116


def _record(task: Task, status: Status, **known: Any) -> FileRecord:
    """The record of a task's file."""
    dialect = task.dialect or ""
    return FileRecord(task.path, task.output, status, mode=task.mode, scan=task.scan, dialect=dialect, **known)


_MEMORY = f"the file takes more than {MEMORY >> 30} GiB of memory"
_TIME = f"the file takes more than {PROCESSOR_SECONDS:g} s of processor time"


def _past(what: str) -> Entry:
    return notice_entry(notices.PAST_LIMITS, f"{what}; it was copied as it is")


def _failed(task: Task, notice: notices.Notice, message: str) -> FileRecord:
    """The record of a file that could not be done; what an earlier run wrote stays known as ours."""
    return _record(task, Status.FAILED, output_sha256=task.ours or "", entries=(notice_entry(notice, message),))


def _code(task: Task, root: Path, context: engine.Context, sink: Sink) -> Done:
    data = read_regular(_path_of(root, task))
    source = SourceFile(task.path, data)
    crash = None
    try:
        ported = engine.port(
            _seen(source, context), _own_context(context, task, root), task.output, support_path(task.output)
        )
    except MemoryError:
        raise
    except Exception:
        crash = traceback.format_exc()
        ported = PortedFile(task.path, task.output, data, False, (), lines=source.line_count)
    needs: tuple[str, ...] = ()
    touched = touched_lines(source.text, ported.edits)
    if context.settings.style == "dual":
        ported, needs = _for_both(source, ported, context)
    elif context.settings.comments and source.problem is None:
        ported = _commented(ported)
    entries = (*_own_entries(task, crash), *(entry(finding, source.text) for finding in ported.findings))
    crash = crash or next(iter(ported.crashes), None)
    digest = sha256(data)
    content = content_of(ported.data, digest if ported.data is data else "")
    record = _record(
        task,
        Status.PORTED if ported.changed or task.output != task.path else Status.UNCHANGED,
        key=task.key if crash is None else "",
        sha256=digest,
        output_sha256=content.sha256,
        lines=ported.lines,
        touched=touched,
        support=ported.support,
        dual=needs,
        entries=entries,
        kernels=tuple(kernel_json(kernel, entries) for kernel in ported.kernels),
        shifts=line_shifts(data, ported.data) if ported.data is not data else (),
        calls=tuple(map(calls_entry, ported.calls)),
    )
    written = _written(record, task, content, root, sink)
    return Done(written, ported.data if sink.returns_data else None, crash)


def _seen(source: SourceFile, context: engine.Context) -> SourceFile:
    """In a tree for both vendors lines of CUDA's builds alone, as an earlier port leaves them, are nothing to port."""
    if context.settings.style != "dual" or (b"__HIP" not in source.data):
        return source
    from porter.dual.transform import as_amd_sees

    data = as_amd_sees(source.data)
    return source if data is source.data else SourceFile(source.path, data)


def _typed_by(source: SourceFile, seen: SourceFile, context: engine.Context) -> engine.Context:
    """Clang reads files as CUDA does: it gets the lines that the rules do not see, which have the same places."""
    parse = context.parse
    if seen is source or parse is None:
        return context

    def whole(asked: SourceFile, tokens: Tokens, bodies: bool) -> Semantics | None:
        if asked.data == seen.data:
            return parse(source, lex(source.text), bodies)
        return parse(asked, tokens, bodies)

    return replace(context, parse=whole)


def _for_both(source: SourceFile, ported: PortedFile, context: engine.Context) -> tuple[PortedFile, tuple[str, ...]]:
    """The file as a source for both vendors, and what the headers for AMD builds need for it."""
    from porter.dual.headers import pack
    from porter.dual.transform import transform

    if not ported.edits:
        return replace(ported, data=source.data, changed=False), ()
    dual = transform(source.data, ported.edits)
    device = source.path.lower().endswith((".cu", ".cuh"))
    needs = pack(dual.macros, dual.headers, dual.includes, device=device)
    inside = tuple(header for header in ported.support if header not in dual.includes)  # of texts compiled at run time
    return replace(ported, data=dual.data, changed=dual.data != source.data, support=inside), needs


def _commented(ported: PortedFile) -> PortedFile:
    """The file with a marked comment before each place that leaves work."""
    from porter.engine.remarks import closed_in_cpp, with_remarks

    before = ported.data.decode("latin-1")
    text = with_remarks(before, ported.findings, ported.edits, "//", closed_in_cpp)
    if text == before:
        return ported
    return replace(ported, data=text.encode("latin-1", "replace"), changed=True)


def _own_context(context: engine.Context, task: Task, root: Path) -> engine.Context:
    """The context of the run with what only this file needs."""
    return replace(
        context,
        declared=context.declared.union(task.declared, task.scan.hidden),
        hidden=frozenset(task.scan.hidden).difference(task.declared),
        for_amd=frozenset(task.for_amd),
        parse=parser_for(root, task.include_dirs, task.defines) if task.with_clang else None,
        included_file=_headers(context, root).reader(task.include_dirs),
        beside=functools.partial(_headers(context, root).of_unit, task.unit, task.unit_dirs) if task.unit else None,
        dialect=Dialect(task.dialect) if task.dialect is not None else None,
        defines=task.defines,
    )


def _headers(context: engine.Context, root: Path) -> Headers:
    known = context.header_files.get(root)
    if known is None:
        known = context.header_files[root] = Headers(root)
    return known


def _own_entries(task: Task, crash: str | None) -> tuple[Entry, ...]:
    found: list[Entry] = []
    if crash is not None:
        last = crash.strip().rpartition("\n")[2]
        found.append(notice_entry(notices.FILE_FAILED, f"bug in porter: {last}; the file was copied as it is"))
    if not task.with_clang:
        how = "takes too long over" if task.out_of_time else "crashed on"
        message = f"the C++ parser {how} this file; it was ported without it"
        found.append(notice_entry(notices.PARSER_CRASHED, message))
    if task.apart:
        found.append(
            notice_entry(
                notices.RENAMED_APART,
                f"the port is {task.output}: the usual name is taken, or its object file's would be",
            )
        )
    return tuple(found)


def _build(task: Task, root: Path, context: engine.Context, sink: Sink) -> Done:
    """Converts a build file that mentions CUDA; any other is copied."""
    path = _path_of(root, task)
    if _size(path) > _SMALL or not task.with_clang:
        return Done(_copy(task, root, sink))
    data = read_regular(path)
    source = SourceFile(task.path, data)
    built = port_build(source, context)
    digest = sha256(data)
    content = content_of(built.data, digest if built.data is data else "")
    record = _record(
        task,
        Status.COPIED if not built.findings else Status.UNCHANGED if built.data == data else Status.PORTED,
        sha256=digest,
        output_sha256=content.sha256,
        build=built.mentioned,
        touched=touched_lines(source.text, built.edits),
        entries=tuple(entry(finding, source.text) for finding in built.findings),
    )
    written = _written(record, task, content, root, sink)
    changed = sink.returns_data and built.data != data
    return Done(written, built.data if changed else None, next(iter(built.crashes), None))


def _copy(task: Task, root: Path, sink: Sink, entries: tuple[Entry, ...] = ()) -> FileRecord:
    source = _path_of(root, task)
    content: Content = content_of(read_regular(source)) if _size(source) <= _SMALL else content_at(Path(source))
    if not task.with_clang:
        entries = (_past(_TIME) if task.out_of_time else notice_entry(notices.FILE_FAILED, _DIED),)
    elif task.is_code and _mentions_cuda(source):
        message = f"the file has {content.size >> 20} MiB, more than the {LARGEST_SOURCE >> 20} MiB that are ported"
        entries = (notice_entry(notices.TOO_LARGE, message),)
    key = task.key if task.is_code and task.with_clang else ""
    digest = content.sha256
    record = _record(task, Status.COPIED, key=key, sha256=digest, output_sha256=digest, entries=entries)
    return _written(record, task, content, root, sink)


def _mentions_cuda(path: str) -> bool:
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return _CUDA.search(data) is not None


def _written(record: FileRecord, task: Task, content: Content, root: Path, sink: Sink) -> FileRecord:
    """Puts the result where it belongs; the record says where that could not be."""
    if sink.root is None:
        return record
    ours = record.sha256 if sink.in_place and task.output == task.path else task.ours
    placed = place(f"{sink.root}/{task.output}", content, task.mode, ours, force=sink.force, sync=sink.in_place)
    if placed is Placed.KEPT:
        message = f"{task.output} in the output was changed by hand and kept; the new port is not there"
        edited = notice_entry(notices.EDITED_OUTPUT, message)
        return replace(record, key="", output_sha256=task.ours or "", edited=True, entries=(edited, *record.entries))
    if sink.in_place and task.output != task.path:
        os.unlink(_path_of(root, task))  # noqa: PTH108
    return record

"""The port as a diff that `git apply` takes: renames included, bytes kept."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from porter.dual.headers import dual_headers
from porter.engine.support import contents
from porter.project.plan import Run
from porter.system.reading import read_regular

_UNUSUAL = re.compile(rb"[\x00-\x1f\"\\\x7f-\xff]")
_NO_NEWLINE = b"\\ No newline at end of file\n"


def write_diff(run: Run, stream: BinaryIO) -> None:
    """Writes the changes of all files, then the support headers that they need."""
    project = run.plan.project
    for record in run.records:
        new = run.data.get(record.path)
        if new is not None:
            old = read_regular(project.root / record.path)
            stream.writelines(file_diff(record.path, record.output, old, new))
    needed = {include for record in run.records for include in record.support}
    made, more = dual_headers(run.plan.choices.engine, run.records)
    for include, data in (contents(needed | more) | made).items():
        if not (project.root / include).exists():
            stream.writelines(new_file_diff(include, data))
    stream.flush()


def file_diff(path: str, output: str, old: bytes, new: bytes) -> Iterator[bytes]:
    """One file; nothing when neither its name nor its bytes change."""
    if old == new and path == output:
        return
    yield b"diff --git %s %s\n" % (_name(f"a/{path}"), _name(f"b/{output}"))
    if path != output:
        yield b"rename from %s\nrename to %s\n" % (_name(path), _name(output))
    if old != new:
        yield from _hunks(_name(f"a/{path}"), _name(f"b/{output}"), old, new)


def new_file_diff(path: str, data: bytes) -> Iterator[bytes]:
    """A file that was not there."""
    yield b"diff --git %s %s\nnew file mode 100644\n" % (_name(f"a/{path}"), _name(f"b/{path}"))
    yield from _hunks(b"/dev/null", _name(f"b/{path}"), b"", data)


def _name(path: str) -> bytes:
    """A file name as git writes it: in quotes with octal escapes when it holds more than plain characters."""
    name = os.fsencode(path)
    if not _UNUSUAL.search(name):
        return name
    return b'"%s"' % _UNUSUAL.sub(lambda match: b"\\%03o" % match[0][0], name)


def _hunks(before: bytes, after: bytes, old: bytes, new: bytes) -> Iterator[bytes]:
    lines = difflib.diff_bytes(difflib.unified_diff, _lines(old), _lines(new), before, after, lineterm=b"\n")
    for line in lines:
        yield line if line.endswith(b"\n") else line + b"\n" + _NO_NEWLINE


def _lines(data: bytes) -> list[bytes]:
    """Lines with their ends; only a line feed ends one, as git has it."""
    return (
        data.splitlines(keepends=True)
        if b"\r" not in data
        else [line + b"\n" for line in data.split(b"\n")[:-1]]
        + ([data.rpartition(b"\n")[2]] if not data.endswith(b"\n") else [])
    )

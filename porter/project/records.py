"""What is known about one file after a run: the line it gets in the manifest, and the way back."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from porter.cpp.prescan import NOTHING, Scan
from porter.engine.notices import Notice
from porter.model import Calls, Effort, Finding, Kernel, Launch
from porter.project.linemap import Shifts
from porter.project.shapes import shaped, typed


class Status(str, enum.Enum):
    """What was done with a file."""

    PORTED = "ported"
    UNCHANGED = "unchanged"
    """Looked at by the rules, and nothing to change."""
    COPIED = "copied"
    LINK = "link"
    FAILED = "failed"
    """Not in the output, or not as it should be; a finding says why."""


class Entry(NamedTuple):
    """One finding as it is stored; the file's record has the path."""

    line: int
    column: int
    code: str
    effort: str
    message: str
    kernel: str | None = None
    name: str = ""
    """The source text at the place, when it is short: the name a gap is counted under."""
    fixed: bool = False
    suppressed: str | None = None


class BuildUse(NamedTuple):
    """The first place where a build file mentions CUDA, and the code of its kind."""

    code: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file of the project."""

    path: str
    output: str
    status: Status
    key: str = ""
    """Hash of everything the result depends on; empty: do it again next time."""
    sha256: str = ""
    output_sha256: str = ""
    """Of what porter wrote, even where the user edited it since."""
    mode: int = 0
    lines: int = 0
    touched: tuple[int, int] = (0, 0)
    """Lines of the source that the rules changed, and lines that they added."""
    target: str | None = None
    edited: bool = False
    """The output was edited by hand and kept."""
    scan: Scan = NOTHING
    build: BuildUse | None = None
    support: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    kernels: tuple[Mapping[str, Any], ...] = ()
    """As the schema describes them."""
    shifts: Shifts = ()
    """Where the lines of the output drift from those of the source."""
    dual: tuple[str, ...] = ()
    """What the headers of a tree for both vendors have to supply for the file (porter.dual.headers)."""
    dialect: str = ""
    """Whose code it was (porter.engine.dialect): where the port is ported again, its names no longer tell."""
    calls: tuple[Calls, ...] = ()
    """Who calls whom in its device code, and what is left in each."""


_SHORT_NAME = 60
_PLAIN = (
    "key",
    "sha256",
    "output_sha256",
    "mode",
    "lines",
    "target",
    "edited",
    "support",
    "kernels",
    "shifts",
    "dual",
    "dialect",
)


_SCANNED = ("includes", "declares", "vendor", "hides", "declares_for_amd")
"""What the quick look found, in the order of its fields."""


def to_json(record: FileRecord) -> dict[str, Any]:
    """A record as plain JSON, what is empty left out."""
    document: dict[str, Any] = {"path": record.path, "output": record.output, "status": record.status.value}
    for name in _PLAIN:
        value = getattr(record, name)
        if value:
            document[name] = value
    if any(record.touched):
        document["touched"] = record.touched
    if record.scan.includes:
        document["includes"] = record.scan.includes
    if record.scan.declared:
        document["declares"] = record.scan.declared
    if record.scan.vendor:
        document["vendor"] = record.scan.vendor
    if record.scan.hidden:
        document["hides"] = record.scan.hidden
    if record.scan.amds:
        document["declares_for_amd"] = record.scan.amds
    if record.build:
        document["build"] = record.build
    if record.entries:
        document["findings"] = record.entries
    if record.calls:
        document["calls"] = record.calls
    return document


def from_json(document: Mapping[str, Any]) -> FileRecord:
    """The record that `to_json` wrote; KeyError, TypeError or ValueError when it did not."""
    get = document.get
    path, output = _two_texts([document["path"], document["output"]])
    key, sha256, output_sha256 = _three_texts([get("key", ""), get("sha256", ""), get("output_sha256", "")])
    return FileRecord(
        path,
        output,
        _STATUSES.get(document["status"]) or Status(document["status"]),
        key,
        sha256,
        output_sha256,
        typed(get("mode", 0), int) & 0o7777,
        typed(get("lines", 0), int),
        _two(get("touched")),
        typed(get("target"), str, type(None)),
        typed(get("edited", False), bool),
        _scan(document),
        BuildUse(*_build_use(build)) if (build := get("build")) else None,
        _strings(get("support")),
        tuple(map(_entry, get("findings", ()))),
        tuple(map(_kernel, get("kernels", ()))),
        tuple(map(_two, get("shifts", ()))),
        _strings(get("dual")),
        typed(get("dialect", ""), str),
        tuple(map(_calls, get("calls", ()))),
    )


def _scan(document: Mapping[str, Any]) -> Scan:
    found = [_strings(document.get(key)) for key in _SCANNED]
    return Scan(*found) if any(found) else NOTHING


_STATUSES: Mapping[Any, Status] = {status.value: status for status in Status}
_EFFORTS = frozenset(effort.value for effort in Effort)
_two_texts, _three_texts = shaped((str, str)), shaped((str, str, str))
_build_use = shaped((str, int, int))
_row = shaped((int, int, str, str, str, str | None, str, bool, str | None))
_calls_row = shaped((str, str, [str]))
_LAUNCH = {"line": int, "grid": str, "block": str, "shared": str, "stream": str}
_kernel = shaped({
    "name": str, "qualified": str, "line": int, "span": (int, int), "parameters": [(str, str)],
    "template_parameters": [str], "attributes": [str], "launch_bounds": [str], "shared": [(str, str, bool, int)],
    "callees": [str], "launches": [_LAUNCH], "typed": bool, "rewritten": int, "review": int, "manual": int,
})  # fmt: skip
"""What `kernel_json` makes."""
_pair, _texts = shaped((int, int)), shaped([str])


def _entry(row: Any) -> Entry:
    found = Entry._make(_row(row))
    if found.effort not in _EFFORTS:
        raise ValueError(f"{found.effort!r} is no effort")
    return found


def _calls(row: Any) -> Calls:
    name, left, callees = _calls_row(row)
    if left not in _EFFORTS:
        raise ValueError(f"{left!r} is no effort")
    return Calls(name, left, tuple(callees))


def typed_table(value: Any) -> dict[str, str]:
    """A table of texts."""
    return {key: typed(text, str) for key, text in typed(value, dict).items()}


def _two(values: Any) -> tuple[int, int]:
    if values is None:
        return 0, 0
    first, second = _pair(values)
    return first, second


def _strings(values: Any) -> tuple[str, ...]:
    return () if values is None else tuple(_texts(values))


_DENSE = json.JSONEncoder(separators=(",", ":"))


def to_line(record: FileRecord) -> str:
    """A record as one line of JSON."""
    return _DENSE.encode(to_json(record))


def from_line(line: str) -> FileRecord:
    """The record of one line."""
    return from_json(json.loads(line))


def entry(finding: Finding, text: str) -> Entry:
    """A finding in stored form; `text` is the file it was found in."""
    start, end = finding.span
    name = text[start:end] if 0 < end - start <= _SHORT_NAME else ""
    return Entry(
        finding.line,
        finding.column,
        finding.code,
        finding.effort.value,
        readable(finding.message),
        readable(finding.kernel) if finding.kernel else None,
        readable(name) if "\n" not in name else "",
        finding.fixed,
        finding.suppressed,
    )


def calls_entry(calls: Calls) -> Calls:
    """A row of calls in stored form."""
    return Calls(readable(calls.name), calls.left, tuple(map(readable, calls.callees)))


def notice_entry(notice: Notice, message: str, line: int = 1, column: int = 1) -> Entry:
    """A finding about a file as a whole."""
    return Entry(line, column, notice.code, notice.effort.value, message)


def readable(text: str) -> str:
    """Text that was cut from the latin-1 view of a file, as the author wrote it if the file is UTF-8."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def kernel_json(kernel: Kernel, entries: Iterable[Entry]) -> dict[str, Any]:
    """A kernel as the schema describes it, with what the findings of its file leave in it."""
    qualified = readable(kernel.qualified)
    inside = [one for one in entries if one.kernel == qualified and one.suppressed is None]
    return {
        "name": readable(kernel.name),
        "qualified": qualified,
        "line": kernel.line,
        "span": list(kernel.span),
        "parameters": [[readable(p.name), readable(p.type)] for p in kernel.parameters],
        "template_parameters": [readable(text) for text in kernel.template_parameters],
        "attributes": [readable(text) for text in kernel.attributes],
        "launch_bounds": [readable(text) for text in kernel.launch_bounds],
        "shared": [[readable(s.name), readable(s.type), s.dynamic, s.line] for s in kernel.shared],
        "callees": [readable(name) for name in kernel.callees],
        "launches": [_launch_json(launch) for launch in kernel.launches],
        "typed": kernel.typed,
        "rewritten": sum(one.fixed for one in inside),
        "review": sum(one.effort == "review" for one in inside),
        "manual": sum(one.effort == "manual" for one in inside),
    }


def _launch_json(launch: Launch) -> dict[str, Any]:
    return {
        "line": launch.line,
        "grid": readable(launch.grid),
        "block": readable(launch.block),
        "shared": readable(launch.shared),
        "stream": readable(launch.stream),
    }

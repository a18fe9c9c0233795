"""Frozen values that flow from the parser through the rules to the report."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Effort(str, enum.Enum):
    """The work a finding leaves for a person."""

    NONE = "none"
    REVIEW = "review"
    MANUAL = "manual"

    @property
    def rank(self) -> int:
        """0 for nothing to do, 2 for work by hand."""
        return _RANKS[self]


_RANKS = {Effort.NONE: 0, Effort.REVIEW: 1, Effort.MANUAL: 2}


class Span(NamedTuple):
    """Half-open byte range of a source file."""

    start: int
    end: int


class Edit(NamedTuple):
    """Replace the bytes [start, end) by `text` (characters are bytes: latin-1 view of the file)."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing known about one place: what it is, what was done, and what is left."""

    code: str
    rule: str
    effort: Effort
    path: str
    line: int
    column: int
    message: str
    span: Span
    kernel: str | None = None
    edits: tuple[Edit, ...] = ()
    includes: tuple[str, ...] = ()
    """Headers the edited file needs: `<hip/x.h>` as written, or `porter/x.hpp` from our support headers."""
    suppressed: str | None = None
    """The reason of a `porter: allow[CODE] reason` comment; a suppressed finding edits nothing."""

    @property
    def fixed(self) -> bool:
        """Whether the port already contains the rewrite."""
        return bool(self.edits or self.includes)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel; `type` is as clang spells it, or as written when it could not be typed."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class SharedArray:
    """One `__shared__` variable of a kernel; dynamic ones are `extern`."""

    name: str
    type: str
    dynamic: bool
    line: int


@dataclass(frozen=True, slots=True)
class Launch:
    """One `kernel<<<grid, block, shared, stream>>>(...)` site, expressions as written."""

    kernel: str
    grid: str
    block: str
    shared: str
    stream: str
    path: str
    line: int
    span: Span


@dataclass(frozen=True, slots=True)
class Kernel:
    """A `__global__` function."""

    name: str
    qualified: str
    path: str
    line: int
    span: Span
    parameters: tuple[Parameter, ...] = ()
    template_parameters: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    launch_bounds: tuple[str, ...] = ()
    shared: tuple[SharedArray, ...] = ()
    callees: tuple[str, ...] = ()
    launches: tuple[Launch, ...] = ()
    typed: bool = True
    """False when clang could not parse it and the model was read from the tokens."""


class Calls(NamedTuple):
    """What a kernel, device function or macro calls, and the most work that is left in itself."""

    name: str
    """Qualified, without template arguments."""
    left: str
    callees: tuple[str, ...]
    """Qualified as written; `.f` is called of an object, whose class the tokens do not tell."""


@dataclass(frozen=True, slots=True)
class PortedFile:
    """The outcome for one file: its new bytes, or why it was left as it was."""

    path: str
    output: str
    data: bytes
    changed: bool
    findings: tuple[Finding, ...]
    kernels: tuple[Kernel, ...] = ()
    lines: int = 0
    passes: int = 0
    support: tuple[str, ...] = ()
    """Support headers of ours that the new text includes."""
    crashes: tuple[str, ...] = ()
    """Tracebacks of rules that failed on the file: bugs of ours."""
    edits: tuple[Edit, ...] = ()
    """What makes the new bytes of the old ones."""
    calls: tuple[Calls, ...] = ()
    """Of its kernels, device functions and macros."""


class Rewrite(NamedTuple):
    """A rewrite of the user's own: a pattern (porter.cpp.patterns), and what becomes of what it fits."""

    find: str
    replace: str | None
    """None: nothing, it is reported."""
    effort: Effort = Effort.NONE
    note: str = ""
    include: str = ""
    """A header that the replacement needs, as `<name>`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose; the same settings and source give the same bytes."""

    rocm: str | None = None
    """The user's ROCm version; None: the newest one that the tables know."""
    warp: str = "preserve"
    style: str = "renamed"
    """`renamed`: HIP's names in the source; `dual`: one source that builds for both vendors."""
    torch: str = "leave"
    """`leave`: PyTorch's own names stay for its hipify at build time; `standalone`: they are HIP's as well."""
    comments: bool = False
    """Whether a marked comment stands before each place that leaves work."""
    custom_names: tuple[tuple[str, str], ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    native_kernels: tuple[str, ...] = ()
    preserve_kernels: tuple[str, ...] = ()
    disabled: frozenset[str] = field(default_factory=frozenset)


def total_effort(findings: Iterable[Finding]) -> dict[Effort, int]:
    """Number of live findings per effort."""
    totals = dict.fromkeys(Effort, 0)
    for finding in findings:
        if finding.suppressed is None:
            totals[finding.effort] += 1
    return totals

"""What a build comes to: units, diagnostics, kernels with their resources, linked programs."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from porter.validation.build.occupancy import Occupancy


class How(str, enum.Enum):
    """What a unit was compiled with."""

    HIPCC = "hipcc"
    """Device and host code, as a user's build makes it."""
    CLANG = "clang"
    """Device code by clang alone; host code is checked, not generated."""
    SYNTAX = "syntax"
    """libclang and HIP's headers: syntax and types, no code, no resources."""

    @property
    def sentence(self) -> str:
        """In words."""
        return _SENTENCES[self]


_SENTENCES = {
    How.HIPCC: "hipcc: device and host code generated",
    How.CLANG: "clang without ROCm: device code generated, host code checked",
    How.SYNTAX: "libclang with HIP's headers: syntax and types only, no code generated",
}


class Status(str, enum.Enum):
    """How a unit or a program ended."""

    BUILT = "built"
    FAILED = "failed"
    MISSING_HEADER = "missing-header"
    """A header that neither the tree nor the machine has: nothing is known about the rest of the unit."""
    TIMED_OUT = "timed-out"
    NOT_RUN = "not-run"


@dataclass(frozen=True)
class Place:
    """A line of the port, and the line of the source it came from (None where there is none)."""

    path: str
    line: int
    column: int = 0
    source: str | None = None
    source_line: int | None = None


@dataclass(frozen=True)
class Related:
    """A finding of the port at the same line of the source."""

    code: str
    effort: str
    message: str


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning of the compiler."""

    severity: str
    message: str
    place: Place | None
    within: str | None = None
    """The header outside the tree where the compiler stood; `place` is then the line that led there."""
    kernel: str | None = None
    findings: tuple[Related, ...] = ()
    hint: str | None = None


@dataclass(frozen=True)
class Resources:
    """A kernel's needs, from the metadata that the compiler wrote."""

    symbol: str
    vgprs: int
    agprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    lds_bytes: int
    scratch_bytes: int
    """Per lane."""
    largest_block: int
    """Threads that the compiler allowed for."""
    dynamic_stack: bool


@dataclass(frozen=True)
class Block:
    """A block size and where it was found."""

    threads: int
    dynamic_lds: int
    origin: str
    """`launch` (with `line`), `bounds`, or `assumed`."""
    line: int = 0
    path: str = ""
    is_certain: bool = True
    """False: launched so by name, perhaps with other template arguments."""


@dataclass(frozen=True)
class Note:
    """Something about a kernel's resources that is worth a look."""

    code: str
    message: str


_LIBRARIES = ("rocprim::", "thrust::", "hipcub::", "rocrand", "hiprand", "ck::", "at::", "c10::")


@dataclass(frozen=True)
class KernelBuild:
    """One compiled kernel (of a template: one instance) for one target."""

    name: str
    """As C++ names it, template arguments included."""
    place: Place | None
    resources: Resources
    block: Block
    occupancy: Occupancy | None
    """None where the target's figures are not known here."""
    notes: tuple[Note, ...] = ()

    @property
    def is_library(self) -> bool:
        """Whether it comes with a library's headers, not with the project."""
        return self.place is None and self.name.startswith(_LIBRARIES)


@dataclass(frozen=True)
class UnitBuild:
    """One translation unit for one target."""

    path: str
    target: str
    how: How | None
    status: Status
    reason: str | None
    command: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    kernels: tuple[KernelBuild, ...] = ()
    output: str = ""
    """What the compiler printed, when it did not succeed."""
    seconds: float = 0.0
    reused: bool = False


@dataclass(frozen=True)
class ProgramBuild:
    """Units linked to a program."""

    path: str
    """Its unit with `main`."""
    units: tuple[str, ...]
    target: str
    status: Status
    reason: str | None
    command: tuple[str, ...]
    output: str = ""


@dataclass(frozen=True)
class TargetTool:
    """What a target was built with, and why it was not more."""

    target: str
    how: How | None
    tool: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class BuildReport:
    """Everything that a rendering shows."""

    root: str
    tools: tuple[TargetTool, ...]
    units: tuple[UnitBuild, ...]
    programs: tuple[ProgramBuild, ...]
    seconds: float
    description: str
    """Where the units and their options came from."""
    notes: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether every unit was built and every program linked."""
        outcomes = [unit.status for unit in self.units] + [program.status for program in self.programs]
        return bool(outcomes) and all(status is Status.BUILT for status in outcomes)

"""What every device is, virtual or real: it compiles one kernel of one source file, and launches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from porter.validation.cases.links import Link
from porter.validation.cases.triton_source import TritonSource
from porter.validation.devices.core.memory import Argument
from porter.validation.devices.core.result import Array, Fault, NotRun, Ran


@dataclass(frozen=True)
class Program:
    """One kernel to compile: the original (`language` "cuda") or the port ("hip")."""

    source: Path
    kernel: str
    """As C++ names it, with template arguments: `reduce::block_sum<float>`."""
    language: str
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    """Other kernels of the source that will be wanted: one compilation may serve all."""
    is_object: bool = False
    """`source` is no source: it holds machine code."""
    triton: TritonSource | None = None
    """The kernel is Triton's, and Triton compiles it."""
    assumed: str = ""
    """Text in front of the source: what stands in for names that nothing defines."""


@dataclass(frozen=True)
class Launch:
    """One launch. Arrays are copied in and come back in the outcome; the arrays passed are never changed."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: Sequence[Argument]
    shared: int = 0
    """Dynamic LDS in bytes."""
    cooperative: bool = False
    schedule: int | None = None
    """Virtual devices: None runs each wave until it waits; a number interleaves waves and blocks, repeatably."""
    races: bool = False
    """Virtual devices: look for races in shared and global memory."""
    initialised: bool = True
    """Virtual devices: look for the use of values that nothing wrote."""
    again: bool = False
    """Virtual devices: begin with the module's variables as the launch before left them."""
    rounding: str = "nearest"
    """Virtual devices: `up` or `down` for all that rounds to nearest."""
    constexprs: tuple[tuple[str, bool | int | float | str], ...] = ()
    """Of a Triton kernel: what it is compiled with; types as `tl.float16`."""
    constants: tuple[tuple[str, Array], ...] = ()
    """`__constant__` and `__device__` variables to set before the launch, by their C++ names."""
    links: tuple[Link, ...] = ()
    """Where addresses of the arrays go, in other arrays and in variables that are set."""


CUT_OUT = "The kernel cut out of the file does not compile either:"
"""Between what a compiler says of a file and what it says of the kernel alone."""


@dataclass(frozen=True)
class BuildFailed:
    """A compiler refused the program."""

    command: tuple[str, ...]
    output: str


@dataclass(frozen=True)
class TimedOut:
    """The launch, or the process around it, did not end."""

    seconds: float


LaunchOutcome = Ran | Fault | TimedOut | NotRun


class Loaded(Protocol):
    """A compiled kernel on its device."""

    @property
    def command(self) -> tuple[str, ...]:
        """The compiler's command line."""

    def launch(self, launch: Launch, seconds: float) -> LaunchOutcome:
        """Run it, for at most so many seconds."""


class Device(Protocol):
    """A place where a kernel can run."""

    @property
    def name(self) -> str:
        """`ptx`, `gfx942`, `cuda` or `hip`; part of every verdict."""

    @property
    def language(self) -> str:
        """Which side it runs: `cuda` the original, `hip` the port."""

    @property
    def lanes(self) -> int:
        """Lanes of a warp or wavefront."""

    @property
    def does_not_show(self) -> tuple[str, ...]:
        """What a pass on this device leaves open; repeated in every verdict."""

    def available(self) -> str | None:
        """None, or the reason why nothing can run on it here."""

    def compile(self, program: Program, seconds: float) -> Loaded | BuildFailed | NotRun:
        """Compile one kernel, for at most so many seconds."""

"""One case to check on all its sides, and what is found out about it: values that processes hand to one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from porter.validation.cases.case import Case
from porter.validation.devices.device import Device, Program
from porter.validation.toolchain.elsewhere import Elsewhere
from porter.validation.verdict.outcome import SideResult

SideKey = tuple[str, str, str | None]
"""`original` or `port`, device, warp mode."""
Say = Callable[[SideKey | None, str, float], None]
"""Told what is about to be done, and how long it may take."""
OpenDevice = Callable[[str], Device]


@dataclass(frozen=True)
class SidePlan:
    """One kernel on one device, or why it cannot be."""

    side: str
    device: str
    program: Program | None
    warp: str | None = None
    reason: str = ""
    lanes: int = 32
    """Of a warp as the kernel's code has it."""
    left: tuple[tuple[str, str], ...] = ()
    """Manual work that is left in the port: file and what."""

    @property
    def key(self) -> SideKey:
        """What tells it from the others of a case."""
        return self.side, self.device, self.warp


@dataclass(frozen=True)
class Task:
    """One case and how to check it."""

    case: Case
    sides: tuple[SidePlan, ...]
    schedules: int = 3
    seeds: tuple[int, ...] | None = None
    build_seconds: float = 300.0
    launch_seconds: float = 60.0
    grace_seconds: float = 30.0
    """What everything around a launch may take."""
    folder: str = ""
    """What relative paths start from; empty: the folder that the process is in."""
    elsewhere: Elsewhere = field(default_factory=Elsewhere)
    """What was compiled on other machines."""
    dead: tuple[SideResult, ...] = ()
    """Sides that took the process with them: they are not tried again."""


@dataclass(frozen=True)
class Agreement:
    """How an original and a port compare over all trials."""

    original: SideKey
    port: SideKey
    trials: int = 0
    bitwise: bool = True
    ulps: int = 0
    """Most units in the last place between them."""
    where: str = ""
    """Of the elements that are so far apart."""
    integers: int = 0
    """Elements of integer outputs that differ."""


@dataclass(frozen=True)
class Checked:
    """Everything found out about one case."""

    sides: tuple[SideResult, ...]
    agreements: tuple[Agreement, ...]
    ratios: tuple[tuple[SideKey, float], ...]
    """Relative root-mean-square error per side."""
    trials: tuple[str, ...]
    seeds: tuple[int, ...]
    error: tuple[str, int, str] | None = None
    """File, line and message, when the case or its reference is at fault."""

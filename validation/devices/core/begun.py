"""A kernel begins as C that was compiled without optimising; one that runs for long gets better code, in the middle of
a launch if need be: waves are kept in memory between their turns, and both versions keep them alike."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from porter.validation.devices.core import abi
from porter.validation.devices.core.hostcc import HostBuildFailed, HostCompiler, build, built_before

_SECONDS, _SECONDS_PER_SITE = 0.2, 0.0013
"""What optimising takes: for any kernel, and for each of its instructions."""


@functools.cache
def load(library: Path) -> ctypes.CDLL:
    """A kernel's library; stays loaded."""
    return ctypes.CDLL(str(library))


def step_of(library: Path) -> int:
    """The address of `wave_step`."""
    return ctypes.cast(load(library).wave_step, ctypes.c_void_p).value or 0


@dataclass(frozen=True)
class Source:
    """The C of a kernel, and how it is compiled."""

    compiler: HostCompiler
    text: str
    include: tuple[Path, ...]
    flags: tuple[str, ...]
    level: int
    """How it is optimised if it runs for long."""
    haste: tuple[str, ...] = ()
    """Flags that leave out some of that."""
    sites: int = 0
    """Instructions of the kernel."""

    @property
    def best(self) -> tuple[str, ...]:
        """The flags for code that runs for long."""
        return (f"-O{self.level}", *self.flags, *self.haste)


@dataclass(eq=False)
class Better:
    """The code that a kernel gets as soon as it has run for as long as making it takes."""

    source: Source
    step: int | None = None
    """Its `wave_step`."""
    _left: float = 0.0
    _failed: bool = False
    _launch: abi.Launch | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._left = _SECONDS + _SECONDS_PER_SITE * self.source.sites

    def ran(self, seconds: float) -> None:
        """A launch took so much of the processor's time."""
        self._left -= seconds
        if self._left <= 0 and self.step is None:
            self._make()

    @contextlib.contextmanager
    def during(self, launch: abi.Launch) -> Iterator[None]:
        """In a launch that takes too long, waves go on by the better code at their next turn."""
        if self.step is not None or self._failed:
            yield
            return
        self._launch, over = launch, threading.Event()
        watching = threading.Thread(target=self._watch, args=(over,))
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join()  # of a compiler that was started, nothing is left behind
            self._launch = None

    def _watch(self, over: threading.Event) -> None:
        """By the processor's time: on a machine with much other work a short launch takes long, too."""
        began = time.process_time()
        while (left := self._left + began - time.process_time()) > 0:
            if over.wait(left):
                return
        self._make()

    def _make(self) -> None:
        if self._failed:
            return
        try:
            library = build(self.source.compiler, self.source.text, self.source.best, self.source.include)
        except (OSError, subprocess.SubprocessError):  # no room, no end: the kernel has code that does
            library = HostBuildFailed((), "")
        if isinstance(library, HostBuildFailed):
            self._failed = True
            return
        self.step = step_of(library)
        if self._launch is not None:
            self._launch.step = self.step


@dataclass(frozen=True)
class Begun:
    """A kernel's library, and what it may get later."""

    library: Path
    better: Better | None = None


def begin(source: Source, patient: bool = False) -> Begun | HostBuildFailed:
    """The best library of earlier runs; else one that is made quickly, or for the `patient` the best."""
    best = built_before(source.compiler, source.text, source.best, source.include)
    if best is not None:
        return Begun(best)
    is_best = patient or source.level < 2
    flags = source.best if is_best else ("-O0", *source.flags)
    made = build(source.compiler, source.text, flags, source.include)
    if isinstance(made, HostBuildFailed):
        return made
    return Begun(made, None if is_best else Better(source))

"""Compiles random kernels, ports them, runs both and compares; makes what differs smaller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter.validation.devices import gfx942
from porter.validation.devices import ptx as nvidia
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.run.blame import SUSPECTS
from porter.validation.toolchain import nvcc
from porter.validation.toolchain.clang import Assembled, assemble

from porter.engine.context import parser_for
from porter.engine.file import port
from porter.engine.support import include_folder
from porter.source import SourceFile
from porter.system.cache import kept_text
from tests.random_warps.kernels import Kernel, text_of
from tests.warp.execution import context

SIDES = ("original", "preserve", "native")


@dataclass(frozen=True)
class Disagreement:
    """A kernel whose result on a side is not the model's."""

    kernel: Kernel
    side: str
    said: str
    culprit: str = ""
    """The compiler, where it makes the right thing of the same text with other flags."""


class Broken(Exception):
    """A side does not compile or does not load."""


def ported(text: str, warp: str) -> str:
    """porter's port of a source."""
    parser = parser_for(Path("/nonexistent"), (), ())
    done = port(SourceFile("kernels.cu", text.encode()), replace(context(warp), parse=parser), "kernels.cu")
    failed = [finding for finding in done.findings if finding.code == "E005"]
    if failed:
        raise Broken(failed[0].message)
    return done.data.decode()


class Bench:
    """The virtual devices, made once."""

    def __init__(self, level: int = 2) -> None:
        opened = nvidia.open_device(), gfx942.open_device()
        for device in opened:
            if isinstance(device, NotRun):
                raise Broken(device.reason)
            device.level = level
        self.nvidia, self.amd = opened

    def load(self, side: str, text: str, flags: tuple[str, ...] = ()) -> nvidia.Module | gfx942.Module:
        """The kernels of a source for a side."""
        if side == "original":
            made = nvcc.ptx(kept_text("assembly", text.encode(), "kernels.cu"), "sm_80", ("-fmad=false", "-w"))
            device = self.nvidia
        else:
            path = kept_text("assembly", ported(text, side).encode(), "kernels.hip")
            made = assemble(path, options=("-I", str(include_folder()), "-ffp-contract=off", "-w", *flags))
            device = self.amd
        if not isinstance(made, Assembled):
            raise Broken(f"{side}: {made}")
        module = device.compile(made.text)
        if isinstance(module, NotRun):
            raise Broken(f"{side}: {module}")
        return module

    def judged(self, kernels: Sequence[Kernel], sides: Sequence[str] = SIDES[:2]) -> list[Disagreement]:
        """What is not as the model says."""
        text = text_of(kernels)
        found = []
        for side in sides:
            module = self.load(side, text)
            for kernel in kernels:
                said = problem(module, kernel)
                if said:
                    found.append(Disagreement(kernel, side, said, self.blamed(kernel, side)))
        return found

    def blamed(self, kernel: Kernel, side: str) -> str:
        """What the compiler has to leave out to make the right thing of a port."""
        for suspect in SUSPECTS if side != "original" else ():
            if not problem(self.load(side, text_of([kernel]), suspect.flags), kernel):
                return f"{' '.join(suspect.flags)} mends it: {suspect.verdict}"
        return ""

    def culprit(self, wrong: Disagreement) -> Disagreement:
        """The same disagreement with as few statements as it takes."""
        kernel, said, culprit = wrong.kernel, wrong.said, wrong.culprit
        shrunk = True
        while shrunk:
            shrunk = False
            for smaller in kernel.smaller():
                try:
                    again = self.judged([smaller], [wrong.side])
                except Broken:
                    continue
                if again and bool(again[0].culprit) == bool(culprit):
                    kernel, said, culprit, shrunk = smaller, again[0].said, again[0].culprit, True
                    break
        return Disagreement(kernel, wrong.side, said, culprit)


def problem(module: nvidia.Module | gfx942.Module, kernel: Kernel) -> str:
    """Empty when a launch leaves what the model leaves."""
    options = Options(
        schedule=kernel.seed if kernel.seed % 2 else None, races=True, threads=1, uninitialised=kernel.seed % 4 == 0
    )
    done = module.launch(kernel.name, kernel.grid, kernel.block, kernel.arrays(), options=options)
    if not isinstance(done, Ran):
        return str(done)
    return kernel.difference([done.output(place) for place in range(3)])

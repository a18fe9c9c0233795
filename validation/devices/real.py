"""What the real devices share: a harness per kernel, a child process per harness, the runtime's errors as outcomes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from porter.validation.devices.core.result import Counters, Fault, FaultKind, NotRun, Place, Ran
from porter.validation.devices.device import CUT_OUT, BuildFailed, Launch, LaunchOutcome, Loaded, Program, TimedOut
from porter.validation.harness import messages
from porter.validation.harness.build import Harness, build
from porter.validation.harness.child import Child, Died, Late
from porter.validation.harness.cutout import kind_of, units_of, with_torch
from porter.validation.harness.render import Unit
from porter.validation.toolchain.result import CompileFailed, Missing
from porter.validation.verdict.timing import Measured

_CODE = re.compile(r"\((\d+)\):")
_FAULTS = {
    700: FaultKind.OUT_OF_BOUNDS,
    714: FaultKind.TRAP,
    715: FaultKind.BAD_JUMP,
    716: FaultKind.MISALIGNED,
    717: FaultKind.OUT_OF_BOUNDS,
    718: FaultKind.BAD_JUMP,
    710: FaultKind.TRAP,
    719: FaultKind.TRAP,
}
"""Numbers that CUDA and HIP share."""
_TIMEOUT = 702
_MEMORY_FAULT = re.compile(r"[Mm]emory access fault.*|[Ii]llegal (?:address|memory).*")


@dataclass(frozen=True)
class SomeThread(Place):
    """A real device does not say which thread it was."""

    def __str__(self) -> str:
        return f"{self.kernel} (the runtime does not say where)"


def _somewhere(kernel: str) -> SomeThread:
    return SomeThread(kernel, (0, 0, 0), 0, 0, None)


@dataclass
class RealKernel:
    """One kernel in its harness; every launch may be the last of its child process."""

    device: str
    harness: Harness
    architecture: str
    seconds: float
    _child: Child | None = field(default=None, repr=False)
    _by_symbols: dict[tuple[str, ...], Harness] = field(default_factory=dict, repr=False)

    @property
    def command(self) -> tuple[str, ...]:
        """The compiler's command line."""
        return self.harness.command

    def launch(self, launch: Launch, seconds: float) -> LaunchOutcome:
        """Run it, for at most so many seconds."""
        answer = self._ask(launch, _request(launch), seconds)
        if isinstance(answer, messages.Ran):
            return Ran(answer.outputs, Counters(), (), answer.seconds)
        return self._outcome(answer)

    def time(
        self, launch: Launch, seconds: float, warmup: int = 5, repeats: int = 30, flush_bytes: int = 512 << 20
    ) -> Measured | LaunchOutcome:
        """Times by device events, the cache flushed before each; what it computes is checked before and after."""
        before = self.launch(launch, seconds)
        if not isinstance(before, Ran):
            return before
        request = messages.TimeRequest(_request(launch), warmup, repeats, flush_bytes)
        answer = self._ask(launch, request, seconds)
        if not isinstance(answer, messages.Timed):
            return self._outcome(answer)
        after = self.launch(launch, seconds)
        if not isinstance(after, Ran):
            return after
        return Measured(answer.milliseconds, answer.properties, before.outputs, after.outputs)

    def properties(self, seconds: float = 60.0) -> messages.Properties | LaunchOutcome:
        """What the runtime says of the device."""
        answer = self._open(self.harness).ask(None, seconds)
        return answer if isinstance(answer, messages.Properties) else self._outcome(answer)

    def close(self) -> None:
        """End the child process."""
        if self._child is not None:
            self._child.close()
        self._child = None

    def _open(self, harness: Harness) -> Child:
        if harness is not self.harness or self._child is None:
            self.close()
            self.harness = harness
            self._child = Child(harness.path)
        return self._child

    def _ask(self, launch: Launch, request: Any, seconds: float) -> Any:
        harness = self._with_symbols(tuple(name for name, _ in launch.constants))
        if not isinstance(harness, Harness):
            reason = harness.reason if isinstance(harness, Missing) else harness.output
            return messages.Refused(f"the variables cannot be reached: {reason}")
        return self._open(harness).ask(request, seconds)

    def _with_symbols(self, names: tuple[str, ...]) -> Harness | CompileFailed | Missing:
        """The harness that can set these variables."""
        if set(names) <= set(self.harness.unit.symbols):
            return self.harness
        if names not in self._by_symbols:
            unit = self.harness.unit
            made = build(Unit(unit.program, unit.kind, names, unit.code), self.architecture, self.seconds)
            if not isinstance(made, Harness):
                return made
            self._by_symbols[names] = made
        return self._by_symbols[names]

    def _outcome(self, answer: Any) -> LaunchOutcome:
        """What went wrong, as an outcome; the child process is not used again after a fault."""
        kernel = self.harness.unit.program.kernel
        if isinstance(answer, messages.Refused):
            return NotRun(answer.reason)
        self.close()
        if isinstance(answer, Late):
            return TimedOut(answer.seconds)
        if isinstance(answer, messages.Outside):
            near = f"written {answer.side} the memory of argument {answer.argument}"
            return Fault(FaultKind.OUT_OF_BOUNDS, _somewhere(kernel), near=near)
        if isinstance(answer, messages.Failed):
            return failure(answer.text, kernel)
        if isinstance(answer, Died):
            return died(answer, kernel)
        return NotRun(f"an answer that nobody asked for: {type(answer).__name__}")


def _request(launch: Launch) -> messages.LaunchRequest:
    constants = tuple((name, as_array(value)) for name, value in launch.constants)
    given = tuple(map(as_array, launch.arguments))
    shape = (launch.grid, launch.block, launch.shared, launch.cooperative)
    return messages.LaunchRequest(given, *shape, constants, launch.links)


def as_array(value: Any) -> Any:
    """A torch tensor, wherever it lies, as the numpy array with the same bytes; anything else as it is."""
    if type(value).__module__.partition(".")[0] != "torch" or not hasattr(value, "untyped_storage"):
        return value
    import torch

    tensor = value.detach().cpu().contiguous()
    return tensor.view(torch.uint16).numpy() if tensor.dtype is torch.bfloat16 else tensor.numpy()


def failure(text: str, kernel: str) -> LaunchOutcome:
    """An error of the runtime: a fault of the kernel, or a reason why it was not run."""
    found = _CODE.search(text)
    code = int(found[1]) if found else 0
    if code == _TIMEOUT:
        return TimedOut(0.0)
    if code in _FAULTS:
        return Fault(_FAULTS[code], _somewhere(kernel), near=text)
    return NotRun(text)


def died(answer: Died, kernel: str) -> LaunchOutcome:
    """The child process is gone: ROCm aborts it at a memory fault, host code may crash it."""
    memory = _MEMORY_FAULT.search(answer.said)
    kind = FaultKind.OUT_OF_BOUNDS if memory or answer.how == "SIGSEGV" else FaultKind.TRAP
    last = answer.said.rpartition("\n")[2]
    near = f"the process ended with {answer.how}" + (f": {memory[0] if memory else last}" if answer.said else "")
    return Fault(kind, _somewhere(kernel), near=near)


def compile_real(device: str, program: Program, architecture: str, seconds: float) -> Loaded | BuildFailed | NotRun:
    """The harness of a kernel: around its whole file, else around what is cut out of it."""
    kind = kind_of(program)
    failed: list[CompileFailed] = []
    try:
        for code in units_of(program):
            made = build(Unit(program if code is None else with_torch(program), kind, (), code), architecture, seconds)
            if isinstance(made, Missing):
                return NotRun(made.reason)
            if isinstance(made, Harness):
                return RealKernel(device, made, architecture, seconds)
            failed.append(made)
    except OSError as error:
        return NotRun(f"{error.filename or program.source}: {error.strerror or error}")
    output = f"\n\n{CUT_OUT}\n".join(one.output for one in failed)
    return BuildFailed(failed[0].command, output)

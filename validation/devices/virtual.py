"""The virtual devices behind the protocol of `porter.validation.devices.device`: source in, outcome out."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from porter.validation.devices.core.launch import Caches, Options, Sample
from porter.validation.devices.core.result import Array, Left, NotRun, Place, Ran
from porter.validation.devices.device import CUT_OUT, BuildFailed, Launch, LaunchOutcome, Loaded, Program
from porter.validation.devices.scopes import names_block_scope, narrow_in_ir, narrow_in_ptx
from porter.validation.toolchain.elsewhere import assembled, names
from porter.validation.toolchain.entry import (
    demangle,
    entry_symbol,
    entry_unit,
    find_symbol,
    refused_kernels,
    without_types,
)
from porter.validation.toolchain.result import Assembled, CompileFailed, Missing

from porter.cpp.launches import base_name
from porter.system.cache import cache_folder, kept_text, mark_used

_LANE_STEPS_PER_SECOND = 2_000_000
"""A cautious figure for how fast a wave runs, to make an instruction budget of a time limit."""

_MODULES = 4
_LEFT_OUT = "declarations of the host that do not compile are left out"
_LONGEST_PRUNING = 20.0
_PRUNINGS = 10
"""Seconds, and times, that declarations of the host are left out of what is cut out."""
"""Modules that stay loaded."""

Assembler = Callable[[Path, Program, float], Assembled | CompileFailed | Missing]


@dataclass(frozen=True)
class Backend:
    """What tells one virtual device from another."""

    name: str
    language: str
    lanes: int
    suffix: str
    """Of the unit that instantiates the kernel."""
    assemble: Assembler
    open: Callable[[], Any]
    """The device of its package, or NotRun."""
    missing: Callable[[], str | None]
    """Why its compiler cannot be used here."""
    does_not_show: tuple[str, ...]
    alignment: str = "dword"
    """What an access must be aligned to."""
    narrow: Callable[[Path, Program, float, str, str], frozenset[str]] = lambda *_: frozenset()
    """Unit, program, seconds, assembly text, kernel: atomics on global memory that are for a block alone."""


@dataclass
class VirtualDevice:
    """Compiles with the real compiler, runs on the CPU."""

    backend: Backend
    _device: Any = field(default=None, repr=False)
    _modules: dict[str, tuple[Any, tuple[tuple[int, bytes], ...]]] = field(default_factory=dict, repr=False)
    """By assembly text: the kernels of one file share a module."""
    _pruned: dict[str, str] = field(default_factory=dict, repr=False)
    """What was left of texts that were cut out, after what compilers refused."""

    @property
    def name(self) -> str:
        """`ptx`, `gfx942` or `gfx90a`."""
        return self.backend.name

    @property
    def language(self) -> str:
        """`cuda` or `hip`."""
        return self.backend.language

    @property
    def lanes(self) -> int:
        """32 or 64."""
        return self.backend.lanes

    @property
    def does_not_show(self) -> tuple[str, ...]:
        """What a pass leaves open."""
        return self.backend.does_not_show

    def available(self) -> str | None:
        """None, or the reason why nothing can run on it here."""
        missing = self.backend.missing()
        if missing is not None:
            return missing
        return self.why_not_run()

    def why_not_run(self) -> str | None:
        """None, or the reason why not even code that is compiled already can run on it here."""
        opened = self._open()
        return opened.reason if isinstance(opened, NotRun) else None

    def compile(self, program: Program, seconds: float) -> Loaded | BuildFailed | NotRun:
        """Compile one kernel, for at most so many seconds; cut out of its file where the file cannot be compiled."""
        opened = self._open()
        if not isinstance(opened, NotRun):
            opened.prepare()
        if program.is_object:
            return self._from_object(program)
        if program.triton is not None:
            load = importlib.import_module("porter.validation.triton.compiling").load_triton  # which needs this module
            loaded: Loaded | BuildFailed | NotRun = load(self, program.triton)
            return loaded
        made = self._compile_only(program, seconds)
        if isinstance(made, CompileFailed) and (others := _without_refused(program, self.backend.suffix, made)):
            made = self._compile_only(others, seconds)
        if isinstance(made, CompileFailed) and program.also:  # one of the others may be to blame
            program = replace(program, also=())
            made = self._compile_only(program, seconds)
        if isinstance(made, CompileFailed):
            return self._cut_out(program, made, seconds)
        return made

    def _compile_only(self, program: Program, seconds: float) -> VirtualKernel | CompileFailed | NotRun:
        device = self._open()
        if isinstance(device, NotRun):
            return device
        try:
            unit = _unit(program, self.backend.suffix)
            with _locked(unit):
                about = (self.name, program.include_dirs, program.defines, program.options)
                made = assembled(about, unit, lambda: self.backend.assemble(unit, program, seconds))
        except OSError as error:
            return NotRun(f"{error.filename or cache_folder()}: {error.strerror}")
        if isinstance(made, Missing):
            return NotRun(made.reason)
        if isinstance(made, CompileFailed):
            return made
        module, state = self._load(device, made.text)
        if isinstance(module, NotRun):
            return module
        symbol = entry_symbol(made.text, _names(program).index(program.kernel))
        if symbol not in module.kernels:
            symbol = find_symbol(module.kernels, program.kernel)
        if symbol is None:
            there = ", ".join(demangle(name) for name in module.kernels) or "none"
            return NotRun(f"no kernel {program.kernel} in the assembly; there are: {there}")
        translated = module.translate(symbol)
        if isinstance(translated, NotRun):
            return translated
        text, narrow_about = made.text, (*about, "narrow", symbol)
        narrow = names(narrow_about, unit, lambda: self.backend.narrow(unit, program, seconds, text, symbol))
        return VirtualKernel(made.command, module, symbol, state, self.backend.alignment, narrow=narrow)

    def _from_object(self, program: Program) -> VirtualKernel | NotRun:
        """The kernel in machine code that something else made."""
        device = self._open()
        if isinstance(device, NotRun):
            return device
        if not hasattr(device, "compile_objects"):
            return NotRun(f"machine code does not run on {self.name}")
        modules = device.compile_objects(program.source)
        if isinstance(modules, NotRun):
            return modules
        for module in modules:
            symbol = program.kernel if program.kernel in module.kernels else find_symbol(module.kernels, program.kernel)
            if symbol is not None:
                refused = module.translate(symbol)
                if isinstance(refused, NotRun):
                    return refused
                return VirtualKernel((), module, symbol, _state(device, module), self.backend.alignment)
        return NotRun(f"no kernel {program.kernel} in {program.source}, or more than one; see `porter objects`")

    def load_text(self, text: str) -> tuple[Any, tuple[tuple[int, bytes], ...]]:
        """What a compiler made, as a module (or NotRun), and its variables as they are before any launch."""
        device = self._open()
        return (device, ()) if isinstance(device, NotRun) else self._load(device, text)

    def _load(self, device: Any, text: str) -> tuple[Any, tuple[tuple[int, bytes], ...]]:
        """The module, and its variables as they are before any launch."""
        if text not in self._modules:
            while len(self._modules) >= _MODULES:
                del self._modules[next(iter(self._modules))]
            module = device.compile(text)
            state = () if isinstance(module, NotRun) else _state(device, module)
            self._modules[text] = (module, state)
        return self._modules[text]

    def _cut_out(self, program: Program, failed: CompileFailed, seconds: float) -> VirtualKernel | BuildFailed:
        """The kernel without the rest of a file that does not compile here."""
        refused = BuildFailed(failed.command, failed.output)
        from porter.validation.harness.cutout import ahead_of, cut_out, with_torch
        from porter.validation.harness.pruning import pruned

        text = cut_out(program)
        if text is None:
            return refused
        folders = (*program.include_dirs, program.source.parent)
        cut = replace(with_torch(ahead_of(program)[1]), include_dirs=folders)
        about, begun = text, time.monotonic()
        text = self._pruned.get(about, text)
        try:
            alone = self._compile_only(_with_text(cut, text), seconds)
            for _ in range(_PRUNINGS):
                if not isinstance(alone, CompileFailed) or time.monotonic() - begun > _LONGEST_PRUNING:
                    break
                less = pruned(text, alone.output, (base_name(without_types(program.kernel)),))
                if less is None:
                    break
                text = self._pruned[about] = less
                alone = self._compile_only(_with_text(cut, text), seconds)
        except OSError:
            return refused
        if isinstance(alone, CompileFailed):
            first, second = (one.output.strip() or "no output" for one in (failed, alone))
            return BuildFailed(failed.command, f"{first}\n\n{CUT_OUT}\n{second}")
        if not isinstance(alone, VirtualKernel):
            return refused
        first = next((line for line in failed.output.splitlines() if "error" in line), failed.output[:200])
        note = f"cut out of {program.source.name}, which does not compile here: {first.strip()}"
        return replace(alone, notes=(note, *([_LEFT_OUT] if about in self._pruned else [])))

    def _open(self) -> Any:
        if self._device is None or isinstance(self._device, NotRun):
            try:
                self._device = self.backend.open()
            except ModuleNotFoundError as error:
                self._device = NotRun(f"{error.name} is not installed: pip install 'porter[validation]'")
        return self._device


def _state(device: Any, module: Any) -> tuple[tuple[int, bytes], ...]:
    """Contents of the module's writable variables, to begin every launch with."""
    found: list[tuple[int, bytes]] = []
    for block in device.memory.blocks:
        if block.base in module.symbols.values() and block.size:
            found.append((block.base, device.memory.read(block.base, block.size)))
    return tuple(dict(found).items())


@dataclass
class VirtualKernel:
    """One translated kernel."""

    command: tuple[str, ...]
    module: Any
    symbol: str
    state: tuple[tuple[int, bytes], ...]
    alignment: str
    notes: tuple[str, ...] = ()
    """What is odd about how it was compiled."""
    narrow: frozenset[str] = frozenset()
    """Atomic operations on global memory that are for a block alone."""

    @property
    def mnemonics(self) -> frozenset[str]:
        """Of all instructions that it may reach."""
        image = self.module.translate(self.symbol)
        return frozenset(kind.site.text.split()[0] for kind in image.sites)

    def launch(self, launch: Launch, seconds: float) -> LaunchOutcome:
        """Run it. The limit becomes an instruction budget per wave; the process around it has the clock."""
        return self._run(launch, seconds, None)

    def who_wrote(self, launch: Launch, argument: int, offset: int, size: int, seconds: float) -> Place | None:
        """Run it again, and tell who wrote those bytes of an argument last; None when nobody did."""
        outcome = self._run(launch, seconds, (argument, offset, size))
        return outcome.writer if isinstance(outcome, Ran) else None

    def profile(self, launch: Launch, seconds: float, caches: Caches, sample: Sample | None) -> LaunchOutcome:
        """Run it, all or some of its blocks, with every counter on and no check for races or unwritten values."""
        launch = replace(launch, races=False, initialised=False, schedule=None)
        return self._run(launch, seconds, None, caches, sample)

    def _run(
        self,
        launch: Launch,
        seconds: float,
        watch: tuple[int, int, int] | None,
        caches: Caches | None = None,
        sample: Sample | None = None,
    ) -> LaunchOutcome:
        memory = self.module.device.memory
        for address, content in () if launch.again else self.state:
            memory.write(address, content)
        variables: dict[str, int] = {}
        for name, value in launch.constants:
            found = self._variable(name)
            if found is None:
                return NotRun(f"no device variable {name}; there are: {', '.join(sorted(self._variables)) or 'none'}")
            self.module.write_symbol(found, value)
            variables[name] = self.module.symbols[found]
        options = Options(
            schedule=launch.schedule,
            threads=1,
            races=launch.races,
            global_races=launch.races,
            uninitialised=launch.initialised,
            cooperative=launch.cooperative,
            allow_exited=True,
            alignment=self.alignment,
            budget=max(1_000_000, int(seconds * _LANE_STEPS_PER_SECOND)),
            watch=watch,
            rounding=launch.rounding,
            count_memory=caches is not None,
            caches=caches,
            sample=sample,
            links=launch.links,
            variables=variables,
        )
        outcome: LaunchOutcome = self.module.launch(
            self.symbol, launch.grid, launch.block, launch.arguments, launch.shared, options
        )
        return replace(outcome, left=self._left()) if isinstance(outcome, Ran) else outcome

    def _left(self) -> tuple[Left, ...]:
        """What the module's variables hold now."""
        memory = self.module.device.memory
        symbols = {self.module.symbols[symbol]: (name, symbol) for name, symbol in self._variables.items()}
        found: list[Left] = []
        for address, old in self.state:
            if address not in symbols or len(old) > _LARGE_VARIABLE:
                continue
            name, symbol = symbols[address]
            now = memory.read(address, len(old))
            found.append(Left(name, now, now != old, _kind(self.module, symbol, now)))
        return tuple(found)

    @functools.cached_property
    def _variables(self) -> dict[str, str]:
        return {demangle(symbol): symbol for symbol in self.module.symbols if " " not in symbol}

    def _variable(self, name: str) -> str | None:
        if name in self._variables:
            return self._variables[name]
        tails = [symbol for known, symbol in self._variables.items() if known.rpartition("::")[2] == name]
        return tails[0] if len(tails) == 1 else None

    def read_variable(self, name: str, like: Array) -> Array | None:
        """A device variable after a launch; None when there is none of that name."""
        found = self._variable(name)
        result: Array | None = None if found is None else self.module.read_symbol(found, like)
        return result


_LARGE_VARIABLE = 1 << 20
"""Bytes beyond which a variable is not looked at after a launch."""


def _kind(module: Any, symbol: str, content: bytes) -> str | None:
    """The numpy type of a variable's elements, where the assembly names it; addresses are no values."""
    kind: str | None = getattr(module, "variable_types", {}).get(symbol)
    is_address = kind in ("uint64", "int64") and bool((np.frombuffer(content, np.uint64) >> np.uint64(32)).any())
    return None if is_address else kind


def _with_text(program: Program, text: str) -> Program:
    """The program with a text in place of its source."""
    return replace(program, source=keep_unit(text.encode("latin-1", "replace"), program.source.name))


def _unit(program: Program, suffix: str) -> Path:
    """The file that includes the source and instantiates the kernel."""
    text = entry_unit(program, _names(program))
    return keep_unit(text.encode("utf-8", "surrogateescape"), f"{program.source.stem}{suffix}")


def _without_refused(program: Program, suffix: str, made: CompileFailed) -> Program | None:
    """The program in a unit that all the others share, where the compiler names those that are not there."""
    if not program.also:
        return None
    names = _names(program)
    refused = refused_kernels(made.output, _unit(program, suffix), entry_unit(program, names), names)
    left = tuple(name for name in program.also if name not in refused)
    return replace(program, also=left) if refused and program.kernel not in refused else None


def keep_unit(content: bytes, name: str) -> Path:
    """A file in the cache; the same content is the same file."""
    path = kept_text("units", content, name)
    mark_used(path.parent)
    return path


def _names(program: Program) -> tuple[str, ...]:
    """The kernels of one unit, in an order that does not depend on which of them is wanted."""
    return tuple(sorted({program.kernel, *program.also}))


@contextlib.contextmanager
def _locked(unit: Path) -> Iterator[None]:
    """Processes that want the same unit wait for the first to compile it."""
    with unit.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _flags(program: Program) -> tuple[str, ...]:
    return (
        *(f"-I{folder}" for folder in program.include_dirs),
        *(f"-D{name}" for name in program.defines),
        *program.options,
    )


def _assemble_amd(
    architecture: str, unit: Path, program: Program, seconds: float
) -> Assembled | CompileFailed | Missing:
    from porter.validation.toolchain.clang import assemble

    return assemble(unit, architecture, ("-Wno-everything", *_flags(program)), seconds)


def _narrow_amd(
    architecture: str, unit: Path, program: Program, seconds: float, text: str, kernel: str
) -> frozenset[str]:
    if not names_block_scope(program):
        return frozenset()
    from porter.validation.toolchain.clang import assemble

    made = assemble(unit, architecture, ("-Wno-everything", *_flags(program)), seconds, ir=True)
    return narrow_in_ir(made.text, kernel) if isinstance(made, Assembled) else frozenset()


def _missing_clang(architecture: str) -> str | None:
    from porter.validation.toolchain.clang import find_clang

    found = find_clang(architecture)
    return found.reason if isinstance(found, Missing) else None


def _open_amd() -> Any:
    from porter.validation.devices.gfx942 import open_device

    return open_device()


def _amd(architecture: str) -> VirtualDevice:
    shows_not = (
        "memory ordering between blocks",
        "last-bit accuracy of hardware transcendentals",
        "the order of summation inside matrix instructions",
        "time",
    )
    assemble = functools.partial(_assemble_amd, architecture)
    missing = functools.partial(_missing_clang, architecture)
    narrow = functools.partial(_narrow_amd, architecture)
    backend = Backend(architecture, "hip", 64, ".hip", assemble, _open_amd, missing, shows_not, narrow=narrow)
    return VirtualDevice(backend)


def gfx942() -> VirtualDevice:
    """The virtual MI300X: runs the port."""
    return _amd("gfx942")


def gfx90a() -> VirtualDevice:
    """Its older relative, MI200."""
    return _amd("gfx90a")


def _assemble_ptx(unit: Path, program: Program, seconds: float) -> Assembled | CompileFailed | Missing:
    from porter.validation.toolchain.nvcc import ptx as compile_ptx

    options = ("-w", *program.options)
    return compile_ptx(unit, "sm_80", options, seconds, program.include_dirs, program.defines)


def _missing_nvcc() -> str | None:
    from porter.validation.toolchain.nvcc import find_nvcc

    found = find_nvcc()
    return found.reason if isinstance(found, Missing) else None


def _open_ptx() -> Any:
    from porter.validation.devices.ptx import open_device

    return open_device()


def ptx() -> VirtualDevice:
    """The virtual NVIDIA GPU: runs the original."""
    shows_not = (
        "memory ordering between blocks",
        "last-bit accuracy of approximate functions (ex2, lg2, rcp, rsqrt, sin, cos, tanh)",
        "the order of summation inside matrix instructions",
        "time",
    )
    backend = Backend(
        "ptx", "cuda", 32, ".cu", _assemble_ptx, _open_ptx, _missing_nvcc, shows_not, "natural",
        lambda unit, program, seconds, text, kernel: narrow_in_ptx(text),
    )  # fmt: skip
    return VirtualDevice(backend)

"""`porter.Device`: loads code on a virtual GPU and launches its kernels on arrays. docs/python.md is its manual."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from porter.validation.devices.core.launch import Dim, Options, dim3
from porter.validation.devices.core.lending import Lending
from porter.validation.devices.core.result import Counters, Fault, NotRun, Ran
from porter.validation.run.porting import NotPorted, port_of
from porter.validation.toolchain import clang, nvcc
from porter.validation.toolchain.entry import demangle, entry_symbol, find_symbol, signature_name, unit_of
from porter.validation.toolchain.result import Assembled, CompileFailed, Missing

from porter.errors import CompileError, KernelFault, NotRunHere, Unusable
from porter.model import Effort
from porter.system.cache import kept_text

NAMES = ("gfx942", "gfx90a", "ptx")
_CUDA, _HIP, _ASSEMBLY, _PTX = (".cu", ".cuh"), (".hip", ".cpp", ".cc", ".cxx", ".hpp", ".h"), (".s",), (".ptx",)
_SECONDS = 300.0
_SHOWN = 20


@dataclass(frozen=True)
class Launched:
    """A launch that came to its end; the arrays that it was given hold the results."""

    counters: Counters
    notes: tuple[str, ...]
    """Hazards that are no faults, in words."""
    printed: str
    """What the kernel's `printf` calls wrote."""
    cpu_seconds: float


class Device:
    """A virtual GPU: `gfx942` (MI300X), `gfx90a` (MI200) or `ptx` (NVIDIA)."""

    def __init__(self, name: str = "gfx942") -> None:
        if name not in NAMES:
            raise Unusable(f"no device {name!r}; there are {', '.join(NAMES)}")
        self.name = name
        opened = _open(name)
        if isinstance(opened, NotRun):
            raise NotRunHere(opened.reason)
        self._device = opened

    def __repr__(self) -> str:
        return f"porter.Device({self.name!r})"

    @property
    def lanes(self) -> int:
        """Lanes of a warp: 32 or 64."""
        return int(self._device.lanes)

    def load(
        self,
        path: Path | str,
        *,
        kernels: Sequence[str] = (),
        include_dirs: Sequence[Path | str] = (),
        defines: Sequence[str] = (),
        options: Sequence[str] = (),
        warp: str = "preserve",
    ) -> Module:
        """Code from a file: CUDA, HIP, PTX, assembly, or a code object and whatever holds one.

        `kernels` are templates to instantiate, as C++ writes them. CUDA source for an AMD device is ported first, in
        the warp mode `warp`.
        """
        path = Path(path)
        if not path.is_file():
            raise Unusable(f"{path}: no such file")
        if path.suffix in (*_ASSEMBLY, *_PTX):
            return self._assembled(path.read_text("utf-8", "replace"), path.suffix, kernels)
        if path.suffix not in (*_CUDA, *_HIP):
            return self._object(path)
        flags = (*(f"-I{folder}" for folder in include_dirs), *(f"-D{name}" for name in defines), *options)
        return self._source(path.absolute(), tuple(kernels), flags, warp)

    def compile(
        self,
        text: str,
        *,
        language: str | None = None,
        kernels: Sequence[str] = (),
        include_dirs: Sequence[Path | str] = (),
        defines: Sequence[str] = (),
        options: Sequence[str] = (),
        warp: str = "preserve",
    ) -> Module:
        """The same from text in a `language`: `cuda`, `hip`, `ptx` or `assembly`; by default the device's own C++."""
        language = language or ("cuda" if self.name == "ptx" else "hip")
        suffix = {"cuda": ".cu", "hip": ".hip", "ptx": ".ptx", "assembly": ".s"}.get(language)
        if suffix is None:
            raise Unusable(f"language {language!r}; known are cuda, hip, ptx, assembly")
        if suffix in (*_ASSEMBLY, *_PTX):
            return self._assembled(text, suffix, kernels)
        path = kept_text("sources", text.encode("utf-8", "surrogateescape"), f"kernel{suffix}")
        return self.load(path, kernels=kernels, include_dirs=include_dirs, defines=defines, options=options, warp=warp)

    # -- how code gets here ---------------------------------------------------------------------------

    def _source(self, path: Path, kernels: tuple[str, ...], flags: tuple[str, ...], warp: str) -> Module:
        is_cuda, left = path.suffix in _CUDA, tuple[str, ...]()
        if self.name == "ptx" and not is_cuda:
            raise Unusable(f"{path}: HIP source, and this device runs CUDA's; it takes .cu and .ptx")
        if is_cuda and self.name != "ptx":
            path, left = _ported(path, warp)
        unit = kept_text("units", unit_of(path, kernels).encode("utf-8", "surrogateescape"), f"{path.stem}.unit")
        if self.name == "ptx":
            made = nvcc.ptx(unit, "sm_80", ("-w", *flags, f"-I{path.parent}"), _SECONDS)
        else:
            made = clang.assemble(unit, self.name, ("-Wno-everything", *flags, f"-I{path.parent}"), _SECONDS)
        if isinstance(made, Missing):
            raise NotRunHere(made.reason)
        if isinstance(made, CompileFailed):
            work = "".join(f"\nleft by hand in the port: {sentence}" for sentence in left)
            raise CompileError(f"{path}: {made.output.strip() or 'the compiler refused it'}{work}")
        return self._module(self._device.compile(made.text), made, kernels, left)

    def _assembled(self, text: str, suffix: str, kernels: Sequence[str]) -> Module:
        if (suffix in _PTX) != (self.name == "ptx"):
            raise Unusable(f"{'PTX' if suffix in _PTX else 'AMD assembly'} on {self.name}")
        return self._module(self._device.compile(text), Assembled(text, ()), (), ())

    def _object(self, path: Path) -> Module:
        if self.name == "ptx":
            raise Unusable(f"{path}: {self.name} takes .cu and .ptx; machine code of NVIDIA's GPUs is not run")
        loaded = self._device.compile_objects(path)
        if isinstance(loaded, NotRun):
            raise NotRunHere(loaded.reason)
        return Module(loaded, {}, ())

    def _module(self, loaded: Any, made: Assembled, kernels: Sequence[str], left: tuple[str, ...]) -> Module:
        if isinstance(loaded, NotRun):
            raise NotRunHere(loaded.reason)
        known: dict[str, str] = {}
        for index, kernel in enumerate(kernels):
            symbol = entry_symbol(made.text, index)
            if symbol is not None:
                known[kernel] = symbol
        return Module((loaded,), known, left)


class Module:
    """Loaded code: its kernels and its variables. A library may hold several code objects."""

    def __init__(self, loaded: Sequence[Any], known: Mapping[str, str], left: tuple[str, ...]) -> None:
        self._loaded, self._known = tuple(loaded), dict(known)
        self.left = left
        """Work by hand that the port of CUDA source left: file, line, code and message."""

    @functools.cached_property
    def _kernels(self) -> dict[str, Any]:
        """By symbol: the code object that has it, of several the first."""
        return {symbol: one for one in reversed(self._loaded) for symbol in one.kernels}

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels as C++ has them."""
        symbols = dict.fromkeys(symbol for one in self._loaded for symbol in one.kernels)
        return tuple(signature_name(demangle(symbol)) for symbol in symbols)

    def __getitem__(self, name: str) -> Kernel:
        """The kernel of that name: as C++ writes it, with or without template arguments, or mangled."""
        symbol = self._known.get(name)
        if symbol is None:
            symbol = name if name in self._kernels else find_symbol(self._kernels, name)
        if symbol is None:
            there = [kernel for kernel in self.kernels if name.partition("<")[0] in kernel] or list(self.kernels)
            shown = ", ".join(there[:_SHOWN]) + (f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else "")
            raise KeyError(f"no kernel {name!r}, or more than one; there are: {shown or 'none'}")
        return Kernel(self._kernels[symbol], symbol)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the `__device__` and `__constant__` variables."""
        return tuple(demangle(symbol) for one in self._loaded for symbol in one.symbols if " " not in symbol)

    def read(self, variable: str, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What a variable holds, as an array of the shape and type of `like`."""
        loaded, symbol = self._variable(variable)
        found: np.ndarray[Any, Any] = loaded.read_symbol(symbol, like)
        return found

    def write(self, variable: str, value: np.ndarray[Any, Any]) -> None:
        """Set a variable."""
        loaded, symbol = self._variable(variable)
        loaded.write_symbol(symbol, np.asarray(value))

    def _variable(self, name: str) -> tuple[Any, str]:
        for one in self._loaded:
            for symbol in one.symbols:
                if name in (symbol, demangle(symbol)):
                    return one, str(symbol)
        raise KeyError(f"no variable {name!r}; there are: {', '.join(self.variables) or 'none'}")


class Kernel:
    """One kernel: `kernel[grid, block](x, out, n)`, or `launch` for what is not usual."""

    def __init__(self, loaded: Any, symbol: str) -> None:
        self._loaded, self.symbol = loaded, symbol

    @property
    def name(self) -> str:
        """As C++ has it."""
        return signature_name(demangle(self.symbol))

    @property
    def parameter_sizes(self) -> tuple[int, ...]:
        """Bytes of each parameter."""
        return tuple(self._loaded.parameter_sizes(self.symbol))

    @property
    def resources(self) -> dict[str, int]:
        """Registers, LDS and scratch, as the compiler states them (AMD devices)."""
        image = self._loaded.translate(self.symbol)
        return {} if isinstance(image, NotRun) else dict(image.resources)

    def __getitem__(self, size: tuple[Dim, Dim]) -> _Sized:
        grid, block = size
        return _Sized(self, grid, block)

    def launch(
        self,
        grid: Dim,
        block: Dim,
        arguments: Sequence[Any],
        *,
        shared: int = 0,
        races: bool = True,
        global_races: bool = False,
        initialised: bool = True,
        cooperative: bool = False,
        schedule: int | None = None,
        budget: int = 200_000_000,
        count_memory: bool = False,
        names: Sequence[str] = (),
    ) -> Launched:
        """Run it to its end; `names` are those of the arguments, for messages.

        Raises KernelFault for what the kernel does wrong, NotRunHere for what the device does not know.
        """
        options = Options(
            schedule=schedule,
            races=races,
            global_races=global_races,
            uninitialised=initialised,
            cooperative=cooperative,
            budget=budget,
            count_memory=count_memory,
        )
        refused = self._loaded.prepare(self.symbol, options)
        if refused is not None:
            raise NotRunHere(refused.reason)
        if 0 in (*dim3(grid), *dim3(block)):
            raise ValueError(f"a launch of nothing: grid {dim3(grid)}, block {dim3(block)}")
        lent = Lending(self._loaded.device.memory, arguments, names)
        try:
            values = self._fitting(lent, arguments)
            outcome = self._loaded.launch(self.symbol, grid, block, values, shared, options)
            if isinstance(outcome, Ran):
                lent.copy_back()
        finally:
            lent.release()
        return self._launched(outcome)

    def _fitting(self, lent: Lending, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments, if each can be what the kernel takes in its place."""
        sizes = self._loaded.parameter_sizes(self.symbol)
        if len(sizes) != len(arguments):
            raise TypeError(f"{self.name} takes {len(sizes)} arguments, {len(arguments)} given")
        for index, (size, value, is_address) in enumerate(zip(sizes, arguments, lent.is_address, strict=True)):
            if is_address and size != 8:
                raise TypeError(f"{self.name}, argument {index}: an array where it takes a value of {size} bytes")
            if isinstance(value, int) and not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
                raise OverflowError(f"{self.name}, argument {index}: {value} does not fit its {size} bytes")
            if isinstance(value, float) and size not in (2, 4, 8):
                raise TypeError(f"{self.name}, argument {index}: a float where it takes {size} bytes")
        return tuple(np.uint64(0) if value is None else value for value in lent.arguments)

    def _launched(self, outcome: Ran | Fault | NotRun) -> Launched:
        if isinstance(outcome, NotRun):
            raise NotRunHere(outcome.reason)
        if isinstance(outcome, Fault):
            raise KernelFault(str(outcome).replace(self.symbol, self.name), outcome)
        return Launched(outcome.counters, outcome.notes, outcome.printed, outcome.cpu_seconds)


@dataclass(frozen=True)
class _Sized:
    """A kernel with its grid and block."""

    kernel: Kernel
    grid: Dim
    block: Dim

    def __call__(self, *arguments: Any) -> Launched:
        return self.kernel.launch(self.grid, self.block, arguments)


def _open(name: str) -> Any:
    if name == "ptx":
        from porter.validation.devices.ptx import open_device as open_ptx

        return open_ptx()
    from porter.validation.devices.gfx942 import open_device

    return open_device()


def _ported(path: Path, warp: str) -> tuple[Path, tuple[str, ...]]:
    """The port of a CUDA file with its folder, and what it leaves to be done by hand there."""
    try:
        port = port_of(path.parent, warp)
    except NotPorted as error:
        raise Unusable(f"{path}: not ported: {error}") from None
    record = port.manifest.files[path.name]
    left = tuple(
        f"{path.name}, line {entry.line}, {entry.code}: {entry.message}"
        for entry in record.entries
        if entry.effort == Effort.MANUAL.value and entry.suppressed is None
    )
    return port.tree / record.output, left

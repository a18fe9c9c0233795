"""The virtual NVIDIA GPU: takes PTX text, runs kernels of it on the CPU, 32 lanes at a time."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.validation.cases.sampling import Sampling
from porter.validation.devices.core import abi
from porter.validation.devices.core.begun import Source, begin
from porter.validation.devices.core.hostcc import HostBuildFailed, HostCompiler, find_host_compiler
from porter.validation.devices.core.image import ImageArgument, bind_with_images, place_image
from porter.validation.devices.core.launch import (
    CORE,
    Dim,
    Image,
    Options,
    dim3,
    execute,
    prepare_runtime,
    scalar_bytes,
)
from porter.validation.devices.core.memory import Argument, DeviceBuffer, Memory
from porter.validation.devices.core.module import ModuleBase
from porter.validation.devices.core.result import Array, NotRun, Outcome
from porter.validation.devices.ptx.emitter import WORKSPACE
from porter.validation.devices.ptx.model import Function, Program, Unreadable, Unsupported, Variable, layout
from porter.validation.devices.ptx.printed import spoken
from porter.validation.devices.ptx.read import read_again
from porter.validation.devices.ptx.texture import Texture, describe
from porter.validation.devices.ptx.translate import Translation, translated
from porter.validation.toolchain.result import Missing

FOLDER = Path(__file__).parent
LANES = 32
MAX_SHARED = 227 * 1024
MAX_GRID = ((1 << 31) - 1, 65535, 65535)
MAX_THREADS = 1024
SHARED_APERTURE = 0x0001000000000000
CODE_BASE = 0x0003000000000000


_TYPES = {"u8": "uint8", "s8": "int8", "u16": "uint16", "s16": "int16", "u32": "uint32", "s32": "int32",
          "u64": "uint64", "s64": "int64", "f32": "float32", "f64": "float64"}  # fmt: skip
"""What numpy calls the types that PTX names; `.b8` may be anything."""


@dataclass
class Module(ModuleBase[Translation]):
    """One PTX file, loaded: its variables are in device memory, its kernels are translated when first run."""

    device: Device
    program: Program
    symbols: dict[str, int]
    _images: dict[tuple[str, bool], tuple[Image, Translation] | NotRun] = field(default_factory=dict)

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels, mangled as in the source's object code."""
        return tuple(self.program.kernels)

    def parameter_sizes(self, kernel: str) -> tuple[int, ...]:
        """Bytes of each parameter that a caller passes."""
        return tuple(parameter.size for parameter in self.program.kernels[kernel].parameters)

    @property
    def variable_types(self) -> dict[str, str]:
        """By symbol: the numpy type of a variable's elements, where PTX names one."""
        found = {name: _TYPES.get(variable.type) for name, variable in self.program.variables.items()}
        return {name: kind for name, kind in found.items() if kind is not None}

    def _run(
        self,
        kernel: str,
        image: tuple[Image, Translation],
        grid: Dim,
        block: Dim,
        args: Sequence[Argument],
        shared: int,
        options: Options,
    ) -> Outcome:
        if options.alignment == "dword":  # what gfx942 wants; CUDA wants more
            options = replace(options, alignment="natural")
        memory = self.device.memory
        bound = bind_with_images(memory, args, describe)
        blob = _arguments(self.program.kernels[kernel], bound.values)
        segment = memory.allocate(len(blob) + 64, "kernel arguments", abi.READ_ONLY)
        memory.write(segment.base, blob)
        workspace = memory.allocate(64, "grid workspace").base
        memory.write(workspace, bytes(64))
        symbols = [workspace if name == WORKSPACE else self.symbols[name] for name in image[1].symbols]
        total = image[1].shared_bytes + shared
        return execute(
            self.device.compiler, image[0], memory, grid, block, bound, segment.base, total, symbols, options
        )

    def _refused(self, kernel: str, known: Translation, grid: Dim, block: Dim, shared: int) -> NotRun | None:
        return _refused(self.program.kernels[kernel], known, grid, block, shared)

    def _build(self, kernel: str, poison: bool) -> tuple[Image, Translation] | NotRun:
        function = self.program.kernels.get(kernel)
        if function is None:
            return NotRun(f"no kernel named {kernel}; there are: {', '.join(self.program.kernels) or 'none'}")
        try:
            translation = translated(self.program, function, poison)
        except Unsupported as error:
            return NotRun(str(error), error.instruction.opcode, error.instruction.line)
        missing = [name for name in translation.symbols if name not in self.symbols and name != WORKSPACE]
        if missing:
            return NotRun(f"undefined symbol {missing[0]}")
        flags, sites = (f"-DLANES={LANES}",), len(translation.sites)
        compiler, text, level = self.device.compiler, translation.source, self.device.level
        begun = begin(Source(compiler, text, (CORE, FOLDER), flags, level, sites=sites), self.device.patient)
        if isinstance(begun, HostBuildFailed):
            return NotRun(f"the host compiler rejected the translation: {begun.output}")
        private = (translation.private_bytes + 3) // 4 * 4
        image = Image(
            kernel=kernel,
            library=begun.library,
            better=begun.better,
            sites=translation.sites,
            segment_count=translation.segments,
            private_bytes=private,
            lanes=LANES,
            device=FOLDER,
            spoken=spoken,
            uses_heap=translation.uses_heap,
        )
        return image, translation


@dataclass
class Device:
    """A virtual NVIDIA GPU. `level` is the host compiler's optimisation level for what runs for long, and if it is
    `patient` for all."""

    compiler: HostCompiler
    memory: Memory = field(default_factory=Memory)
    level: int = 2
    patient: bool = False

    name = "ptx"
    lanes = LANES

    def prepare(self) -> None:
        """Begins what is needed before the first launch."""
        prepare_runtime(self.compiler, LANES, FOLDER)

    @staticmethod
    def available() -> str | None:
        """None, or the reason why there is no such device here."""
        found = find_host_compiler()
        return found.reason if isinstance(found, Missing) else None

    def compile(self, ptx: str) -> Module | NotRun:
        """Load one PTX module."""
        try:
            program = read_again(ptx)
        except Unreadable as error:
            return NotRun(str(error), None, error.line)
        if program.address_size != 64:
            return NotRun(f"PTX with addresses of {program.address_size} bits")
        for function in program.functions.values():
            layout(function.parameters)
        return Module(self, program, self._place(program))

    def buffer(self, array: Array, name: str = "buffer") -> DeviceBuffer:
        """Memory that outlives launches, as from cudaMalloc."""
        return DeviceBuffer(self.memory, array, name)

    def texture(
        self,
        array: Array,
        channels: int = 1,
        layered: bool = False,
        linear: bool = False,
        normalised: bool = False,
        values_normalised: bool = False,
        mode: str | tuple[str, ...] = "clamp",
    ) -> Texture:
        """A texture object over a copy of an array (its last axis holds the channels, if there are several)."""
        x, y, z = (mode,) * 3 if isinstance(mode, str) else (*mode, "clamp", "clamp")[:3]
        sampling = Sampling(channels, layered, linear, normalised, values_normalised, (x, y, z))
        return Texture(place_image(self.memory, ImageArgument(array, sampling), describe)[0])

    def _place(self, program: Program) -> dict[str, int]:
        symbols: dict[str, int] = {}
        placed: list[Variable] = [v for v in program.variables.values() if v.space in ("global", "const")]
        for variable in placed:
            state = abi.READ_ONLY if variable.space == "const" else abi.LIVE
            name = f"symbol {variable.name}"
            symbols[variable.name] = self.memory.allocate(max(variable.size, 1), name, state).base
            self.memory.write(symbols[variable.name], variable.content.ljust(variable.size, b"\0"))
        order = list(program.functions)
        for variable in placed:
            for relocation in variable.relocations:
                target = program.aliases.get(relocation.symbol, relocation.symbol)
                address = symbols.get(target, 0)
                if target in program.functions:
                    address = CODE_BASE + 16 * order.index(target)
                self.memory.write(
                    symbols[variable.name] + relocation.offset, struct.pack("<Q", address + relocation.addend)
                )
        return symbols


def open_device() -> Device | NotRun:
    """The device, or why it cannot be had."""
    compiler = find_host_compiler()
    return NotRun(compiler.reason) if isinstance(compiler, Missing) else Device(compiler)


def _times(sizes: tuple[int, ...]) -> str:
    return " x ".join(map(str, sizes))


def _refused(function: Function, translation: Translation, grid: Dim, block: Dim, shared: int) -> NotRun | None:
    blocks = dim3(grid)
    if any(count > most for count, most in zip(blocks, MAX_GRID, strict=True)):
        return NotRun(f"a grid of {_times(blocks)} blocks; NVIDIA GPUs take {_times(MAX_GRID)}")
    x, y, z = dim3(block)
    limits = function.directives.get("maxntid") or function.directives.get("reqntid") or (MAX_THREADS,)
    limit = 1
    for size in limits:
        limit *= size
    if x * y * z > min(limit, MAX_THREADS) or x * y * z == 0:
        return NotRun(f"a block of {x * y * z} threads; the kernel was compiled for 1 to {limit}")
    if translation.shared_bytes + shared > MAX_SHARED:
        return NotRun(f"{translation.shared_bytes + shared} bytes of shared memory; there are {MAX_SHARED}")
    return None


def _arguments(function: Function, values: Sequence[Argument]) -> bytes:
    if len(values) != len(function.parameters):
        raise ValueError(f"{function.name} takes {len(function.parameters)} arguments, {len(values)} given")
    blob = bytearray(layout(function.parameters))
    for parameter, value in zip(function.parameters, values, strict=True):
        blob[parameter.offset : parameter.offset + parameter.size] = scalar_bytes(value, parameter.size)
    return bytes(blob)

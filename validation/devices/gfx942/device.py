"""The virtual MI300X: takes assembly text of the device pass, runs kernels of it on the CPU."""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from porter.validation.devices.core import abi
from porter.validation.devices.core.begun import Begun, Source, begin
from porter.validation.devices.core.hostcc import HostBuildFailed, HostCompiler, find_host_compiler
from porter.validation.devices.core.image import bind_with_images
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
from porter.validation.devices.core.translated import translation as kept_translation
from porter.validation.devices.gfx942.again import read_again
from porter.validation.devices.gfx942.bundle import NoCodeObject, code_objects
from porter.validation.devices.gfx942.code import Unsupported
from porter.validation.devices.gfx942.hostcall import BOOKS_BYTES, place_buffer
from porter.validation.devices.gfx942.layout import HOSTCALL_BUFFER, IMAGE, code_address, resolve
from porter.validation.devices.gfx942.objects import read_object
from porter.validation.devices.gfx942.printed import spoken
from porter.validation.devices.gfx942.text import KernelInfo, Program, Unreadable
from porter.validation.devices.gfx942.texture import describe
from porter.validation.devices.gfx942.translate import Translation, Translator
from porter.validation.toolchain.result import Missing

FOLDER = Path(__file__).parent
LANES = 64
TARGETS = ("gfx942", "gfx90a")
STACK_BYTES = 16 * 1024  # for kernels whose stack the compiler could not bound
MAX_SHARED = 64 * 1024
MAX_WORK_ITEMS = (1 << 32) - 1
"""Threads of a grid in one dimension."""
MAX_THREADS = 1024
LARGE = 1000  # instructions


@dataclass
class Module(ModuleBase[tuple[str, ...]]):
    """One assembly file, loaded: its globals are in device memory, its kernels are translated when first run."""

    device: Device
    program: Program
    symbols: dict[str, int]
    _images: dict[tuple[str, bool], tuple[Image, tuple[str, ...]] | NotRun] = field(default_factory=dict)

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels, mangled as in the source's object code."""
        return tuple(self.program.kernels)

    def parameter_sizes(self, kernel: str) -> tuple[int, ...]:
        """Bytes of each parameter that a caller passes."""
        return tuple(parameter.size for parameter in self.program.kernels[kernel].explicit)

    def _run(
        self,
        kernel: str,
        image: tuple[Image, tuple[str, ...]],
        grid: Dim,
        block: Dim,
        args: Sequence[Argument],
        shared: int,
        options: Options,
    ) -> Outcome:
        memory, info = self.device.memory, self.program.kernels[kernel]
        bound = bind_with_images(memory, args, describe)
        places = self._service_places(image)
        if any(parameter.kind == "hidden_multigrid_sync_arg" for parameter in info.parameters):
            places["grids"] = memory.allocate(48, "the only grid", abi.LIVE).base
            memory.write(places["grids"], _one_grid(dim3(grid), dim3(block)))
        blob = _argument_segment(info, bound.values, dim3(grid), dim3(block), shared, places)
        segment = memory.allocate(len(blob) + 64, "kernel arguments", abi.READ_ONLY)  # loads may be widened
        memory.write(segment.base, blob)
        packet = memory.allocate(64, "dispatch packet", abi.READ_ONLY)
        memory.write(packet.base, _dispatch_packet(info, dim3(grid), dim3(block), shared, segment.base))
        places |= {"dispatch packet": packet.base, "queue": packet.base}
        symbols = [self._symbol(name, places) for name in image[1]]
        total = info.shared_bytes + shared
        return execute(
            self.device.compiler, image[0], memory, grid, block, bound, segment.base, total, symbols, options
        )

    def _service_places(self, image: tuple[Image, tuple[str, ...]]) -> dict[str, int]:
        """What the device libraries find in the implicit arguments, when the kernel calls on the host."""
        if not image[0].uses_heap:
            return {}
        places = {"heap": self.device.allocator_books}
        if HOSTCALL_BUFFER in image[1]:
            places[HOSTCALL_BUFFER] = place_buffer(self.device.memory)
        return places

    def _symbol(self, name: str, places: dict[str, int]) -> int:
        kind, _, symbol = name.partition(" ")
        if kind in ("data", "got"):
            return self.symbols[name if kind == "got" else symbol]
        return self.symbols[IMAGE] if name == IMAGE else places[name]

    def _make_heap(self) -> None:
        super()._make_heap()
        _ = self.device.allocator_books

    def _refused(self, kernel: str, known: tuple[str, ...], grid: Dim, block: Dim, shared: int) -> NotRun | None:
        return _refused(self.program.kernels[kernel], grid, block, shared)

    def translated(self, kernel: str, poison: bool = True) -> Translation | NotRun:
        """A kernel in C, not built."""
        info = self.program.kernels.get(kernel)
        if info is None or kernel not in self.program.functions:
            return NotRun(f"no kernel named {kernel}; there are: {', '.join(self.program.kernels) or 'none'}")
        try:
            translation = kept_translation(
                *(Translation, FOLDER, self.program.origin, kernel, poison),
                lambda: Translator(self.program, info, poison).translate(),
            )
        except Unsupported as error:
            return NotRun(str(error), error.instruction.mnemonic, error.instruction.line)
        except Unreadable as error:
            return NotRun(str(error), None, error.line)
        missing = [s for s in translation.symbols if s.startswith(("data ", "got ")) and not self._has(s)]
        if missing:
            return NotRun(f"undefined symbol {missing[0].split()[1]}")
        return translation

    def _build(self, kernel: str, poison: bool) -> tuple[Image, tuple[str, ...]] | NotRun:
        translation = self.translated(kernel, poison)
        if isinstance(translation, NotRun):
            return translation
        compiler, text, sites = self.device.compiler, translation.source, len(translation.sites)
        without = haste(compiler, translation)
        source = Source(compiler, text, (CORE, FOLDER), ("-DLANES=64",), self.device.level, without, sites)
        begun = begin(source, self.device.patient)
        if isinstance(begun, HostBuildFailed):
            return NotRun(f"the host compiler rejected the translation: {begun.output}")
        return _image(self.program.kernels[kernel], begun, translation), translation.symbols

    def _has(self, name: str) -> bool:
        kind, _, symbol = name.partition(" ")
        if kind == "got" and symbol in self.symbols and name not in self.symbols:
            slot = self.device.memory.allocate(8, f"GOT entry of {symbol}", abi.READ_ONLY)
            self.device.memory.write(slot.base, struct.pack("<Q", self.symbols[symbol]))
            self.symbols[name] = slot.base
        return (name if kind == "got" else symbol) in self.symbols


@dataclass
class Device:
    """A virtual gfx942. `level` is the host compiler's optimisation level for what runs for long, and if it is
    `patient` for all."""

    compiler: HostCompiler
    memory: Memory = field(default_factory=Memory)
    level: int = 2
    patient: bool = False

    name = "gfx942"
    lanes = LANES

    def prepare(self) -> None:
        """Begins what is needed before the first launch."""
        prepare_runtime(self.compiler, LANES, FOLDER)

    @staticmethod
    def available() -> str | None:
        """None, or the reason why there is no such device here."""
        found = find_host_compiler()
        return found.reason if isinstance(found, Missing) else None

    @functools.cached_property
    def allocator_books(self) -> int:
        """Where the device libraries' allocator keeps its books: zero at first, kept between launches."""
        return self.memory.allocate(BOOKS_BYTES, "allocator of the device libraries").base

    def compile(self, assembly: str) -> Module | NotRun:
        """Load one assembly file of the AMDGPU backend."""
        try:
            program = read_again(assembly)
        except Unreadable as error:
            return NotRun(str(error), None, error.line)
        if not program.target or not _is_ours(program.target):
            return NotRun(f"assembly for {program.target or 'an unnamed target'}, not for {' or '.join(TARGETS)}")
        return Module(self, program, self._place_data(program))

    def compile_object(self, path: Path, kernel: str | None = None) -> Module | NotRun:
        """Load a code object, or the one for this device (and with that kernel) from an offload bundle or program."""
        found = self._programs(path)
        if isinstance(found, NotRun):
            return found
        wanted = [program for program in found if kernel is None or kernel in program.kernels]
        if not wanted:
            return NotRun(f"{path}: no kernel named {kernel}")
        return Module(self, wanted[0], self._place_image(wanted[0]))

    def compile_objects(self, path: Path) -> tuple[Module, ...] | NotRun:
        """Load all code for this device from a file, the preferred target first."""
        found = self._programs(path)
        if isinstance(found, NotRun):
            return found
        return tuple(Module(self, program, self._place_image(program)) for program in found)

    @staticmethod
    def _programs(path: Path) -> list[Program] | NotRun:
        """The code objects of a file that this device can run, if there is one that can be read."""
        programs: list[Program] = []
        refused: Unreadable | None = None
        try:
            for item in code_objects(path):
                try:
                    programs += [read_object(item.content)] if _is_ours(item.target) else []
                except Unreadable as error:
                    refused = refused or error
        except (NoCodeObject, OSError) as error:
            return NotRun(str(error))
        programs = sorted((p for p in programs if _is_ours(p.target)), key=lambda p: TARGETS.index(_target(p)))
        if programs:
            return programs
        if refused is not None:
            return NotRun(f"{path}: {refused}", None, refused.line)
        return NotRun(f"{path}: no code for {' or '.join(TARGETS)}")

    def buffer(self, array: Array, name: str = "buffer") -> DeviceBuffer:
        """Memory that outlives launches, as from hipMalloc."""
        return DeviceBuffer(self.memory, array, name)

    def _place_image(self, program: Program) -> dict[str, int]:
        """The sections at their distances from each other, with the addresses stored in them."""
        assert program.image is not None
        image, memory = program.image, self.memory
        size = max((address + len(data) for address, data, _, _ in image.sections), default=0)
        base = memory.reserve(size)
        for address, data, name, writable in image.sections:
            memory.place(base + address, len(data), f"section {name}", abi.LIVE if writable else abi.READ_ONLY)
            memory.write(base + address, data)
        for place, target in image.pointers.items():
            memory.write(base + place, struct.pack("<Q", base + target))
        return {IMAGE: base, **{name: base + address for name, (address, _) in image.symbols.items()}}

    def _place_data(self, program: Program) -> dict[str, int]:
        symbols: dict[str, int] = {}
        for name, datum in program.data.items():
            state = abi.LIVE if datum.writable else abi.READ_ONLY
            symbols[name] = self.memory.allocate(max(len(datum.content), 1), f"symbol {name}", state).base
            self.memory.write(symbols[name], bytes(datum.content))
        for alias in program.aliases:
            if resolve(alias, program) in symbols:
                symbols[alias] = symbols[resolve(alias, program)]
        for name, datum in program.data.items():
            for offset, target, addend in datum.relocations:
                target = resolve(target, program)
                known = target in symbols or target in program.functions
                address = (
                    (symbols[target] if target in symbols else code_address(program, target)) if known else -addend
                )
                address += addend
                self.memory.write(symbols[name] + offset, struct.pack("<Q", address))
        return symbols


def open_device() -> Device | NotRun:
    """The device, or why it cannot be had."""
    compiler = find_host_compiler()
    return NotRun(compiler.reason) if isinstance(compiler, Missing) else Device(compiler)


def _is_ours(target: str) -> bool:
    """True for a target of this device, and for one that is not known yet."""
    return not target or any(f"-{name}" in target for name in TARGETS)


def _target(program: Program) -> str:
    return next((name for name in TARGETS if f"-{name}" in program.target), TARGETS[0])


def haste(compiler: HostCompiler, translation: Translation) -> tuple[str, ...]:
    """Large kernels (mostly library code for printf and assert) do without the passes that take longest."""
    if not compiler.is_clang or len(translation.sites) < LARGE:
        return ()
    return ("-mllvm", "-enable-gvn-memdep=false", "-mllvm", "-disable-x86-domain-reassignment")


def _image(info: KernelInfo, begun: Begun, translation: Translation) -> Image:
    private = info.private_bytes + (STACK_BYTES if info.dynamic_stack else 0)
    private = (private + 3) // 4 * 4
    return Image(
        *(info.name, begun.library, translation.sites, translation.segments, private, LANES, FOLDER),
        spoken=spoken,
        resources=tuple(resources(info)),
        uses_heap=translation.uses_heap,
        better=begun.better,
    )


def resources(info: KernelInfo) -> Iterator[tuple[str, int]]:
    """What the compiler says of a kernel: registers, spills, memory."""
    names = ("vgpr_count", "agpr_count", "sgpr_count", "vgpr_spill_count", "sgpr_spill_count",
             "private_segment_fixed_size", "group_segment_fixed_size")  # fmt: skip
    for name in names:
        if "." + name in info.metadata:
            yield name, int(str(info.metadata["." + name]))


def _refused(info: KernelInfo, grid: Dim, block: Dim, shared: int) -> NotRun | None:
    x, y, z = dim3(block)
    limit = int(str(info.metadata.get(".max_flat_workgroup_size", MAX_THREADS)))
    if x * y * z > min(limit, MAX_THREADS) or x * y * z == 0:
        return NotRun(f"a block of {x * y * z} threads; the kernel was compiled for 1 to {limit}")
    if info.shared_bytes + shared > MAX_SHARED:
        return NotRun(f"{info.shared_bytes + shared} bytes of LDS; gfx942 has {MAX_SHARED}")
    threads = max(blocks * size for blocks, size in zip(dim3(grid), dim3(block), strict=True))
    if threads > MAX_WORK_ITEMS:
        return NotRun(f"a grid of {threads} threads in one dimension; AMD GPUs take {MAX_WORK_ITEMS}")
    return None


def _hidden(
    kind: str, grid: tuple[int, int, int], block: tuple[int, int, int], shared: int, places: dict[str, int]
) -> int:
    """Implicit arguments of code object v5, by value kind; those that mean nothing here are 0."""
    axes = {"x": 0, "y": 1, "z": 2}
    name = kind.removeprefix("hidden_")
    stem, _, axis = name.rpartition("_")
    if stem == "block_count":
        return grid[axes[axis]]
    if stem == "group_size":
        return block[axes[axis]]
    if name == "grid_dims":
        return 3 if grid[2] * block[2] > 1 else 2 if grid[1] * block[1] > 1 else 1
    if name in ("shared_base", "private_base"):
        return 0x00010000 if name == "shared_base" else 0x00020000
    if name in ("hostcall_buffer", "heap_v1"):
        return places.get(HOSTCALL_BUFFER if name == "hostcall_buffer" else "heap", 0)
    if name == "multigrid_sync_arg":
        return places.get("grids", 0)
    return shared if name == "dynamic_lds_size" else 0


def _argument_segment(
    info: KernelInfo,
    values: Sequence[Argument],
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared: int,
    places: dict[str, int],
) -> bytes:
    explicit = info.explicit
    if len(values) != len(explicit):
        raise ValueError(f"{info.name} takes {len(explicit)} arguments, {len(values)} given")
    blob = bytearray(info.argument_bytes)
    for parameter, value in zip(explicit, values, strict=True):
        blob[parameter.offset : parameter.offset + parameter.size] = scalar_bytes(value, parameter.size)
    for parameter in info.parameters:
        if parameter.hidden:
            number = _hidden(parameter.kind, grid, block, shared, places)
            blob[parameter.offset : parameter.offset + parameter.size] = number.to_bytes(parameter.size, "little")
    return bytes(blob)


def _one_grid(grid: tuple[int, int, int], block: tuple[int, int, int]) -> bytes:
    """What newer runtimes hand to `grid.sync()`: this grid, number 0, is the only one."""
    blocks, threads = math.prod(grid), math.prod(grid) * math.prod(block)
    return struct.pack("<QIIQQIII", 0, 0, 1, 0, threads, 0, 0, blocks)


def _dispatch_packet(
    info: KernelInfo, grid: tuple[int, int, int], block: tuple[int, int, int], shared: int, arguments: int
) -> bytes:
    """hsa_kernel_dispatch_packet_t."""
    threads = [g * b for g, b in zip(grid, block, strict=True)]
    head = struct.pack("<HHHHHHIIIII", 0, 3, *block, 0, *threads, info.private_bytes, info.shared_bytes + shared)
    return head + struct.pack("<QQQQ", 0, arguments, 0, 0)

"""Run one translated kernel over a grid; shared by the virtual devices."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

import numpy as np
from porter.validation.cases.links import WIDTH, Link, unlinked
from porter.validation.cases.structs import Behind, StructArgument
from porter.validation.cases.views import ViewArgument
from porter.validation.devices.core import abi
from porter.validation.devices.core.begun import Better, load, step_of
from porter.validation.devices.core.counting import count
from porter.validation.devices.core.hostcc import HostBuildFailed, HostCompiler, build
from porter.validation.devices.core.memory import Argument, DeviceBuffer, Memory, Pointer
from porter.validation.devices.core.messages import Reader, Spoken, messages_of, unheard
from porter.validation.devices.core.result import (
    Array,
    Fault,
    FaultKind,
    NotRun,
    Outcome,
    Place,
    Ran,
    Site,
)

CORE = Path(__file__).parent
Dim = int | tuple[int, ...]


@dataclass(frozen=True)
class Caches:
    """Numbers of the caches of a GPU, their sets and ways; without sets the last level is none."""

    xcds: int
    cus_per_xcd: int
    l1_sets: int
    l1_ways: int
    l2_sets: int
    l2_ways: int
    last_sets: int
    last_ways: int
    line_bits: int = 7
    """Lines are of so many bytes, as a power of two."""
    write_bits: int = 6
    """Likewise what is written at once."""


@dataclass(frozen=True)
class Sample:
    """So many blocks: the first chunk of neighbours out of every `stride` chunks."""

    blocks: int
    stride: int


@dataclass(frozen=True)
class Options:
    """How to run, and what to check on the way."""

    schedule: int | None = None
    """None: each wave runs until it waits. A number: random interleaving of waves and blocks with that seed."""
    threads: int | None = None
    """Host threads; None: all cores, or one when a schedule is given, so that it repeats."""
    races: bool = False
    global_races: bool = False
    """Look for unordered accesses to global memory; one host thread then."""
    uninitialised: bool = True
    """Follow values that nothing wrote (LDS, registers, scratch) until they reach a result."""
    count_memory: bool = False
    cooperative: bool = False
    allow_exited: bool = False
    """A wave that ends while others wait at a barrier is no fault (the hardware lets the others pass)."""
    alignment: str = "dword"
    """What an access must be aligned to: none; dword (gfx942 does without: only a note); natural (what CUDA wants)."""
    budget: int = 200_000_000
    """Instructions per wave before it counts as an endless loop."""
    quantum: int = 1_000_000
    """Instructions after which another wave gets its turn."""
    watch: tuple[int, int, int] | None = None
    """Argument, offset and number of bytes whose last writer is wanted; one host thread then."""
    rounding: str = "nearest"
    """`up` or `down`: how operations round that would round to nearest, to see what rounding makes of a result."""
    caches: Caches | None = None
    """Follow addresses through caches of this shape; one host thread then."""
    sample: Sample | None = None
    """Run only some of the blocks; the arrays are then not what the kernel computes."""
    links: tuple[Link, ...] = ()
    """Where addresses of the arrays go."""
    variables: Mapping[str, int] = field(default_factory=dict)
    """Addresses of the variables that have some of them."""


@dataclass(frozen=True)
class SiteKind:
    """What the counters need to know of one instruction."""

    site: Site
    kind: str
    segment: int
    space: str | None = None
    operations: int = 0
    bytes: int = 0
    """Moved per lane; for scalar loads, per wave."""
    doubt: str = ""
    """In which way its result may differ from the hardware's."""


@dataclass(frozen=True)
class Image:
    """A translated kernel, built for this host."""

    kernel: str
    library: Path
    sites: tuple[SiteKind, ...]
    segment_count: int
    private_bytes: int
    lanes: int
    device: Path
    """Folder of the device's own C files."""
    spoken: Reader = unheard
    """How the device's messages read."""
    resources: tuple[tuple[str, int], ...] = ()
    """What the compiler says of the kernel: registers, spills, memory."""
    uses_heap: bool = False
    """The kernel calls malloc or free: ask `Memory.heap` for the heap before the launch's own allocations."""
    better: Better | None = None
    """What takes the library's place if the kernel runs for long."""

    @functools.cached_property
    def entry(self) -> tuple[ctypes.Array[ctypes.c_uint32], int, int, int]:
        """What is the same for every launch: source lines per site, `wave_init`, `wave_step`, `wave_bytes`."""
        library = load(self.library)
        lines = (ctypes.c_uint32 * max(len(self.sites), 1))(*_line_numbers(self.sites))
        init = ctypes.cast(library.wave_init, ctypes.c_void_p).value or 0
        return lines, init, step_of(self.library), ctypes.c_uint32.in_dll(library, "wave_bytes").value


@functools.cache
def prepare_runtime(compiler: HostCompiler, lanes: int, device: Path) -> None:
    """Begins to build what the first launch will ask for, and does not wait; once a process."""
    _lock(compiler, lanes, device)
    threading.Thread(target=runtime, args=(compiler, lanes, device), name="runtime").start()


def runtime(compiler: HostCompiler, lanes: int, device: Path) -> ctypes.CDLL | HostBuildFailed:
    """runtime.c and the *.c files of the device's folder as one library, loaded so that kernels find it."""
    with _lock(compiler, lanes, device):
        return _runtime(compiler, lanes, device)


@functools.cache
def _lock(compiler: HostCompiler, lanes: int, device: Path) -> threading.Lock:
    del compiler, lanes, device
    return threading.Lock()


@functools.cache
def _runtime(compiler: HostCompiler, lanes: int, device: Path) -> ctypes.CDLL | HostBuildFailed:
    files = (CORE / "runtime.c", CORE / "services.c", CORE / "order.c", CORE / "caches.c", *sorted(device.glob("*.c")))
    text = "\n".join(path.read_text() for path in files)
    built = build(compiler, text, ("-O3", f"-DLANES={lanes}"), (CORE, device))
    if isinstance(built, HostBuildFailed):
        return built
    return ctypes.CDLL(str(built), mode=ctypes.RTLD_GLOBAL)


def dim3(value: Dim) -> tuple[int, int, int]:
    """1 to 3 sizes as three."""
    sizes = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(sizes) <= 3 or any(size < 0 for size in sizes):
        raise ValueError(f"{value!r} is no launch dimension")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def scalar_bytes(value: Argument, size: int) -> bytes:
    """A by-value argument of `size` bytes; Python floats take the size's own format."""
    if isinstance(value, bytes):
        data = value
    elif isinstance(value, np.generic | np.ndarray):
        data = np.asarray(value).tobytes()
    elif isinstance(value, bool | int):
        data = (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    elif isinstance(value, float):
        formats = {2: "<f2", 4: "<f4", 8: "<f8"}
        data = np.array(value, formats[size]).tobytes() if size in formats else b""
    else:
        raise TypeError(f"{type(value).__name__} is no kernel argument")
    if len(data) != size:
        raise ValueError(f"argument of {len(data)} bytes where the kernel takes {size}")
    return data


@dataclass(frozen=True)
class Bound:
    """Arguments on the device: a value or an address for each parameter, and the arrays to read back."""

    values: tuple[Argument, ...]
    arrays: tuple[tuple[int, Array] | None, ...]


def bind(memory: Memory, arguments: Sequence[Argument]) -> Bound:
    """Copy arrays to the device; everything else stays what it is."""
    arrays = tuple(_copied(memory, value, f"argument {index}") for index, value in enumerate(arguments))
    behind = {
        index: entry[0] + value.start
        for index, (value, entry) in enumerate(zip(arguments, arrays, strict=True))
        if isinstance(value, Behind) and entry is not None
    }
    values = (
        _word(value, entry[0] if entry else 0, behind)
        for value, entry in zip(arguments, arrays, strict=True)
        if not isinstance(value, Behind)
    )
    return Bound(tuple(values), arrays)


def _copied(memory: Memory, value: Argument, name: str) -> tuple[int, Array] | None:
    """The address of an array's copy on the device, and the array; None for what is none."""
    array = value.array if isinstance(value, ViewArgument | Behind) else value
    if not isinstance(array, np.ndarray) or (array is value and not array.ndim):
        return None
    block = memory.allocate(array.nbytes, name, is_argument=True)
    memory.write(block.base, array)
    return block.base, array


def _word(value: Argument, base: int, behind: dict[int, int]) -> Argument:
    """What a parameter is given, once its array and those that a struct points to have addresses."""
    if isinstance(value, ViewArgument):
        return value.word(base)
    if isinstance(value, StructArgument):
        return value.word(behind)
    if isinstance(value, np.ndarray) and value.ndim:
        return base
    return value.address if isinstance(value, DeviceBuffer | Pointer) else value


def _link(memory: Memory, bound: Bound, options: Options) -> None:
    """Writes addresses where they go."""
    places = {index: entry[0] for index, entry in enumerate(bound.arrays) if entry is not None}
    for link in options.links:
        start = options.variables[link.holder] if isinstance(link.holder, str) else places[link.holder]
        memory.write(start + link.at, (places[link.target] + link.offset).to_bytes(WIDTH, "little"))


def _outputs(memory: Memory, bound: Bound, links: Sequence[Link]) -> tuple[Array | None, ...]:
    """The arrays as the kernel left them, without what only this launch's addresses tell."""
    found = [None if entry is None else memory.read_array(*entry) for entry in bound.arrays]
    places = {index: (entry[0], entry[1].nbytes) for index, entry in enumerate(bound.arrays) if entry is not None}
    for holder in dict.fromkeys(link.holder for link in links):
        array = found[holder] if isinstance(holder, int) else None
        if isinstance(holder, int) and array is not None:
            found[holder] = unlinked(array, [link for link in links if link.holder == holder], places)
    return tuple(found)


def host_threads(options: Options) -> int:
    """How many host threads a launch gets."""
    if options.cooperative or options.watch is not None or options.global_races or options.caches is not None:
        return 1
    if options.threads is not None:
        return max(options.threads, 1)
    if options.schedule is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _flags(options: Options) -> int:
    return (
        abi.CHECK_RACES * options.races
        | abi.COUNT_MEMORY * options.count_memory
        | abi.COOPERATIVE * options.cooperative
        | abi.CHECK_POISON * options.uninitialised
        | abi.INTERLEAVE * (options.schedule is not None)
        | abi.ALLOW_EXITED * options.allow_exited
        | abi.WATCH * (options.watch is not None)
        | abi.CHECK_GLOBAL * options.global_races
        | {"nearest": 0, "up": abi.ROUND_UP, "down": abi.ROUND_DOWN}[options.rounding]
        | abi.COUNT_CACHES * (options.caches is not None)
    )


def _resident(options: Options, blocks: int) -> int:
    if options.cooperative:
        return blocks
    return 4 if options.schedule is not None else 1


def _line_numbers(sites: Sequence[SiteKind]) -> list[int]:
    seen: dict[str, int] = {}
    return [seen.setdefault(kind.site.where, len(seen)) for kind in sites]


def execute(
    compiler: HostCompiler,
    image: Image,
    memory: Memory,
    grid: Dim,
    block: Dim,
    bound: Bound,
    argument_address: int,
    shared_bytes: int,
    symbols: Sequence[int],
    options: Options,
) -> Outcome:
    """Run the kernel; arguments and symbols are on the device already."""
    core = runtime(compiler, image.lanes, image.device)
    if isinstance(core, HostBuildFailed):
        return NotRun(f"the host compiler failed on the runtime: {core.output}")
    lines, init, step, wave_bytes = image.entry
    better = image.better
    if better is not None and better.step is not None:
        step = better.step
    _link(memory, bound, options)
    launch = abi.Launch()
    launch.grid[:] = dim3(grid)
    launch.block[:] = dim3(block)
    blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]
    launch.shared_bytes, launch.private_bytes = shared_bytes, image.private_bytes
    launch.threads, launch.flags = host_threads(options), _flags(options)
    launch.alignment, launch.resident = abi.ALIGNMENTS[options.alignment], _resident(options, blocks)
    launch.seed, launch.budget, launch.quantum = options.schedule or 0, options.budget, options.quantum
    table = memory.table()
    launch.allocation_count = len(memory.blocks)
    launch.allocations = ctypes.cast(table, ctypes.POINTER(abi.Allocation))
    launch.site_count, launch.segment_count = len(image.sites), image.segment_count
    launch.wave_bytes, launch.arguments = wave_bytes, argument_address
    launch.symbols = (ctypes.c_uint64 * max(len(symbols), 1))(*symbols)
    launch.site_lines, launch.init, launch.step = lines, init, step
    launch.sites = (abi.SiteCount * max(len(image.sites), 1))()
    launch.segments = (abi.SegmentCount * max(image.segment_count, 1))()
    launch.divergence = (ctypes.c_uint64 * max(len(image.sites), 1))()
    watched = bound.arrays[options.watch[0]] if options.watch is not None else None
    if watched is not None and options.watch is not None:
        launch.watch_base = watched[0] + options.watch[1]
        launch.watch_end = launch.watch_base + options.watch[2]
    if options.caches is not None:
        launch.cache_shape = ctypes.pointer(abi.CacheShape(*astuple(options.caches)))
    if options.sample is not None:
        launch.block_limit, launch.block_stride = options.sample.blocks, options.sample.stride
    if image.uses_heap:
        memory.heap.refused = 0
        launch.heap = ctypes.pointer(memory.heap)
    with nullcontext() if better is None else better.during(launch):
        start, cpu_start = time.perf_counter(), time.process_time()
        status = core.core_run(ctypes.byref(launch))
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    if better is not None:
        better.ran(cpu_seconds)
    if status:
        return NotRun("not enough host memory for the launch")
    spoken = image.spoken(memory, messages_of(launch))
    core.core_forget_messages(ctypes.byref(launch))
    if launch.fault.kind:
        return _explained(_fault(launch.fault, image, memory), spoken)
    outputs = _outputs(memory, bound, options.links)
    writer = _fault(launch.writer, image, memory).place if launch.writer.kind else None
    notes = _notes(launch, image, memory)
    return Ran(
        outputs,
        count(launch, image.sites, image.segment_count, image.lanes, dict(image.resources)),
        notes,
        seconds,
        cpu_seconds,
        spoken.printed,
        writer,
        str(_fault(launch.global_hazard, image, memory)) if launch.global_hazard.weight else None,
    )


TOO_MUCH_PRINTED = "too much printed"


def _notes(launch: abi.Launch, image: Image, memory: Memory) -> tuple[str, ...]:
    notes: list[str] = []
    if launch.note.kind:
        notes.append(str(_fault(launch.note, image, memory)))
    hazards = (launch.hazard, launch.no_fence, launch.global_hazard)
    notes += [str(_fault(hazard, image, memory)) for hazard in hazards if hazard.kind]
    if launch.messages_lost:
        notes.append(f"{TOO_MUCH_PRINTED}: {launch.messages_lost} messages dropped")
    if image.uses_heap and memory.heap.refused:
        notes.append(f"malloc in a kernel gave null {memory.heap.refused} times: {memory.heap.limit} bytes of heap")
    return tuple(notes)


def _explained(fault: Fault, spoken: Spoken) -> Fault:
    """A trap after an assertion's message is that assertion."""
    fault = replace(fault, printed=spoken.printed)
    place = fault.place
    said = [a for a in spoken.assertions if (a.block, a.wave) == (place.block, place.wave)] or spoken.assertions
    if fault.kind not in (FaultKind.TRAP, FaultKind.ASSERT) or not said or place.site is None:
        return fault
    site = replace(place.site, file=said[0].file, line=said[0].line)
    return replace(fault, kind=FaultKind.ASSERT, message=said[0].text, place=replace(place, site=site))


def _fault(record: abi.FaultRecord, image: Image, memory: Memory) -> Fault:
    def site(index: int) -> Site | None:
        return image.sites[index].site if index < len(image.sites) else None

    x, y, z = record.block
    kind = FaultKind(record.kind)
    place = Place(image.kernel, (x, y, z), record.wave, record.lane, site(record.site))
    other = None
    if record.other_wave != abi.NOBODY or record.other_site != abi.NOBODY:
        lane = record.other_lane if record.other_lane < image.lanes else 0
        if kind is FaultKind.GLOBAL_RACE:
            x, y, z = record.other_block
        other = Place(image.kernel, (x, y, z), record.other_wave, lane, site(record.other_site))
    is_global = kind in (FaultKind.OUT_OF_BOUNDS, FaultKind.FREED, FaultKind.READ_ONLY, FaultKind.GLOBAL_RACE)
    near = memory.describe(record.address) if is_global else None
    return Fault(kind, place, record.address, record.bytes, near, other)

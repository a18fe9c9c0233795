"""A driver for Triton: `kernel[grid](...)` on CPU tensors runs on a virtual device. docs/triton.md is the manual."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
from porter.validation.device_api import Device, Kernel, Launched
from porter.validation.triton.arguments import flattened

from porter.errors import NotRunHere, Unusable

TARGETS = {"gfx942": ("hip", "gfx942", 64), "ptx": ("cuda", 80, 32)}
"""By device: what Triton compiles for."""
TEXT = {"gfx942": "amdgcn", "ptx": "ptx"}
"""By device: the stage of Triton's that the device reads."""
_SHARED = {"gfx942": 64 * 1024, "ptx": 163 * 1024}
_UNITS = {"gfx942": 304, "ptx": 108}


@dataclass
class Checks:
    """What is looked for in every launch, and what was seen so far."""

    races: bool = True
    global_races: bool = False
    initialised: bool = True
    schedule: int | None = None
    budget: int = 200_000_000
    launches: int = 0
    notes: list[str] = field(default_factory=list)
    """Hazards that are no faults."""
    kernels: dict[str, int] = field(default_factory=dict)
    """Launches by name of the kernel."""

    def note(self, name: str, done: Launched) -> None:
        """Count a launch."""
        self.launches += 1
        self.kernels[name] = self.kernels.get(name, 0) + 1
        self.notes += [note for note in done.notes if note not in self.notes]
        if done.printed:
            print(done.printed, end="")


@dataclass(frozen=True)
class Compiled:
    """A kernel that Triton compiled, loaded on a device."""

    kernel: Kernel
    sizes: tuple[int, ...]

    def launch(self, grid: Sequence[int], values: Sequence[tuple[str, Any]], metadata: Any, checks: Checks) -> None:
        """Run it; raises KernelFault, NotRunHere."""
        if int(getattr(metadata, "num_ctas", 1)) > 1:
            raise NotRunHere(f"{metadata.name}: clusters of {metadata.num_ctas} blocks")
        scratch = self._scratch(len(values), grid, metadata)
        done = self.kernel.launch(
            tuple(grid),
            metadata.num_warps * metadata.warp_size,
            (*(value for _, value in values), *scratch),
            names=[name for name, _ in values],
            shared=metadata.shared,
            races=checks.races,
            global_races=checks.global_races,
            initialised=checks.initialised,
            cooperative=bool(getattr(metadata, "launch_cooperative_grid", False)),
            schedule=checks.schedule,
            budget=checks.budget,
        )
        checks.note(metadata.name, done)

    def _scratch(self, given: int, grid: Sequence[int], metadata: Any) -> list[Any]:
        """The memory that newer Tritons pass behind the arguments."""
        blocks = int(np.prod(grid))
        names = ("global_scratch_size", "profile_scratch_size")[: max(len(self.sizes) - given, 0)]
        sizes = [blocks * int(getattr(metadata, name, 0) or 0) for name in names]
        return [np.zeros(size, np.uint8) if size else None for size in sizes]


def load(device: Device, texts: Mapping[str, str]) -> Compiled:
    """The kernel in what Triton compiled, by stage; raises NotRunHere."""
    language = {"amdgcn": "assembly", "ptx": "ptx"}[TEXT[device.name]]
    module = device.compile(texts[TEXT[device.name]], language=language)
    name = module.kernels[0]
    kernel = module[name]
    return Compiled(kernel, kernel.parameter_sizes)


def _used(kernel: Kernel, binary: object) -> tuple[int, int]:
    """Registers per lane and spilled words, as the code object states them; of a cubin the first alone is read."""
    stated = kernel.resources
    if "vgpr_count" in stated:
        return stated["vgpr_count"], stated.get("private_segment_fixed_size", 0) // 4
    if not isinstance(binary, bytes):
        return 0, 0
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        section = ELFFile(io.BytesIO(binary)).get_section_by_name(f".text.{kernel.symbol}")
    except ELFError:
        return 0, 0
    return (section["sh_info"] >> 24 if section else 0), 0


class _Utils:
    """What Triton asks of a runtime."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.texts: dict[str, str] = {}
        """Of the kernel that is about to be loaded."""

    def get_device_properties(self, device: object) -> dict[str, Any]:
        """Of an MI300X, or an A100."""
        name = self.device.name
        return {
            "max_shared_mem": _SHARED[name],
            "multiprocessor_count": _UNITS[name],
            "sm_clock_rate": 2_100_000,
            "mem_clock_rate": 2_600_000,
            "mem_bus_width": 8192,
            "warpSize": self.device.lanes,
            "arch": str(TARGETS[name][1]),
            "max_num_regs": 65536,
            "max_threads_per_sm": 2048,
        }

    def load_binary(self, name: str, binary: object, shared: int, device: object) -> tuple[Any, Any, int, int, int]:
        """Module, function, registers, spills, most threads."""
        compiled = load(self.device, self.texts)
        registers, spilled = _used(compiled.kernel, binary)
        return compiled, compiled, registers, spilled, 1024

    def unload_module(self, module: object) -> None:
        """Nothing is held."""

    def set_printf_fifo_size(self, size: int) -> None:
        """All that is printed is kept."""


def _once(call: Callable[[], Any], *_: Any, quantiles: Sequence[float] | None = None, **__: Any) -> Any:
    """In place of triton.testing.do_bench: one run."""
    call()
    return 1.0 if quantiles is None else [1.0 for _ in quantiles]


_numbers = itertools.count(1)


class VirtualDriver:
    """Triton's driver protocol over one virtual device."""

    def __init__(self, device: Device, checks: Checks) -> None:
        from triton.backends.compiler import GPUTarget

        self._number = next(_numbers)  # an id comes again, and with it kernels that tell another's checks
        self.target = GPUTarget(*TARGETS[device.name])
        self.checks = checks
        self.utils = _Utils(device)
        self.launcher_cls = functools.partial(_Launcher, checks)

    @classmethod
    def is_active(cls) -> bool:
        """Only when it is set."""
        return False

    def get_current_target(self) -> Any:
        """What to compile for."""
        return self.target

    def get_current_device(self) -> str:
        """Compiled kernels are kept by this."""
        return f"porter {self.utils.device.name} {self._number}"

    def set_current_device(self, device: object) -> None:
        """There is one."""

    def get_current_stream(self, device: object = None) -> int:
        """Launches are done when they return."""
        return 0

    def get_device_capability(self, device: object = None) -> tuple[int, int]:
        """As torch has it."""
        return (8, 0) if self.target.backend == "cuda" else (9, 4)

    def get_active_torch_device(self) -> Any:
        """Where tensors say that they lie."""
        import torch

        return torch.empty(0).device

    def get_device_interface(self) -> Any:
        """Synchronising the CPU does nothing."""
        import torch
        from porter.validation.triton.cuda_is_cpu import Event, Stream

        return SimpleNamespace(**{**vars(torch.cpu), "Event": Event, "Stream": Stream})

    def map_python_to_cpp_type(self, kind: str) -> str:
        """No C++ is made."""
        raise NotRunHere(f"a launcher in C++ for {kind}: launches do not go through one here")

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """Times of a virtual device mean nothing, so that all that fit are alike and the first one wins."""
        return _once

    def get_empty_cache_for_benchmark(self) -> Any:
        """Nothing to flush."""
        import torch

        return torch.empty(0)

    def clear_cache(self, cache: object) -> None:
        """Nothing to flush."""

    def assemble_tensormap_to_arg(self, maps: object, args: Any) -> Any:
        """None are made for these targets."""
        return args

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: object) -> Any:
        """For kernels that are instrumented."""
        import torch

        return torch.zeros(size, dtype=torch.int8)


class _Launcher:
    """Triton makes one per compiled kernel."""

    def __init__(self, checks: Checks, src: Any, metadata: Any) -> None:
        self.checks, self.metadata = checks, metadata
        self.names, self.kinds = tuple(map(str, src.signature)), tuple(src.signature.values())

    def __call__(
        self, x: int, y: int, z: int, stream: object, function: Compiled, packed: object, launch: Any,
        enter: Callable[[Any], None] | None, leave: Callable[[Any], None] | None, *values: Any,
    ) -> None:  # fmt: skip
        if not x * y * z:
            return
        if enter is not None:
            enter(launch)
        given = tuple(flattened(self.names, self.kinds, values))
        function.launch((x, y, z), given, self.metadata, self.checks)
        if leave is not None:
            leave(launch)


@contextlib.contextmanager
def triton_device(
    name: str = "gfx942",
    *,
    cuda: bool = False,
    inductor: bool = False,
    autotune: str = "first",
    races: bool = True,
    global_races: bool = False,
    initialised: bool = True,
    schedule: int | None = None,
    budget: int = 200_000_000,
) -> Iterator[Checks]:
    """Within it, Triton compiles for and runs on a virtual device (`gfx942` or `ptx`), with tensors on the CPU.

    `cuda`: torch's device "cuda" is the CPU meanwhile. `inductor`: torch.compile makes Triton kernels of CPU tensors.
    `autotune`: `first` takes the first configuration that fits,
    `all` runs every one once. What launches do wrong is raised as porter.KernelFault.
    """
    if name not in TARGETS:
        raise Unusable(f"Triton on {name!r}: known are {', '.join(TARGETS)}")
    if autotune not in ("first", "all"):
        raise Unusable(f"autotune={autotune!r}: first or all")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="TRITON_DEFAULT_FP_FUSION")
        from triton import knobs, testing
        from triton.runtime import driver
    _unloads_nothing()
    checks = Checks(races, global_races, initialised, schedule, budget)
    ours = VirtualDriver(Device(name), checks)

    def remember(module: object, function: object, kernel: str, group: Mapping[str, str], digest: str) -> None:
        stage = TEXT[name]
        paths = [path for file, path in group.items() if file.endswith(f".{stage}")]
        ours.utils.texts = {stage: Path(paths[0]).read_text("utf-8", "replace")} if paths else {}

    before = driver._active
    hook = knobs.runtime.kernel_load_start_hook
    with contextlib.ExitStack() as stack:
        if hasattr(hook, "add"):
            hook.add(remember)
            stack.callback(hook.remove, remember)
        else:
            knobs.runtime.kernel_load_start_hook = remember
            stack.callback(setattr, knobs.runtime, "kernel_load_start_hook", hook)
        driver.set_active(ours)
        stack.callback(setattr, driver, "_active", before)
        for measure in ("do_bench", "do_bench_cudagraph"):
            stack.enter_context(mock.patch.object(testing, measure, _once))
        stack.enter_context(_own_choices())
        if autotune == "first":
            stack.enter_context(_first_configuration())
        if cuda:
            from porter.validation.triton.cuda_is_cpu import cuda_is_cpu

            stack.enter_context(cuda_is_cpu(name))
        if inductor:
            from porter.validation.triton.inductor import inductor_on

            stack.enter_context(inductor_on(name, ours.utils.get_device_properties(0)))
        yield checks


@functools.cache
def _unloads_nothing() -> None:
    """Kernels outlive the driver, and Triton would ask the next one to unload them."""
    from triton.compiler.compiler import CompiledKernel

    unload = getattr(CompiledKernel, "__del__", None)
    if unload is None:
        return

    def left(self: Any) -> None:
        if not isinstance(getattr(self, "module", None), Compiled):
            unload(self)

    CompiledKernel.__del__ = left


@contextlib.contextmanager
def _own_choices() -> Iterator[None]:
    """What autotuning chose for another device is not taken here, nor kept for others."""
    from triton.runtime.autotuner import Autotuner

    run = Autotuner.run
    caches: dict[int, dict[Any, Any]] = {}

    def own(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self.cache
        self.cache = caches.setdefault(id(self), {})
        try:
            return run(self, *args, **kwargs)
        finally:
            self.cache = before

    Autotuner.run = own
    try:
        yield
    finally:
        Autotuner.run = run


@contextlib.contextmanager
def _first_configuration() -> Iterator[None]:
    """Autotuning ends with the first configuration that Triton can launch."""
    from triton.runtime.autotuner import Autotuner

    prune, bench = Autotuner.prune_configs, Autotuner._bench
    found: dict[int, bool] = {}

    def pruned(self: Any, kwargs: Any) -> Any:
        found[id(self)] = False
        return prune(self, kwargs)

    def benched(self: Any, *args: Any, config: Any, **meta: Any) -> Any:
        if found.get(id(self)):
            return [float("inf")] * 3
        times = bench(self, *args, config=config, **meta)
        found[id(self)] = times[0] != float("inf")
        return times

    Autotuner.prune_configs, Autotuner._bench = pruned, benched
    try:
        yield
    finally:
        Autotuner.prune_configs, Autotuner._bench = prune, bench

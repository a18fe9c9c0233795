"""A case's Triton kernel on a virtual device: compiled by the installed Triton for each kind of arguments."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from porter.validation.cases import dtypes
from porter.validation.cases.triton_source import TritonSource
from porter.validation.cases.views import ViewArgument
from porter.validation.devices.core.result import Array, NotRun, Place, Ran
from porter.validation.devices.device import BuildFailed, Launch, LaunchOutcome
from porter.validation.devices.virtual import VirtualDevice, VirtualKernel
from porter.validation.triton.driver import TARGETS, TEXT

from porter.system.cache import kept_folder
from porter.system.needs import need

_CACHE = "TRITON_CACHE_DIR"
_NAMES = {"float16": "float16", "bfloat16": "bfloat16", "float32": "float32", "float64": "float64", "bool": "bool",
          **{f"int{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
          **{f"uint{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}}  # fmt: skip


def why_no_triton() -> str | None:
    """None, or why Triton cannot be used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            importlib.import_module("triton")
        except ImportError as error:
            return f"no Triton: {error} ({need('Triton').remedy})"
    return None


class _Pointer:
    """A tensor as Triton's specialisation looks at it."""

    def __init__(self, dtype: Any, offset: int) -> None:
        self.dtype, self._offset = dtype, offset

    def data_ptr(self) -> int:
        """Only its alignment is looked at."""
        return self._offset

    def ptr_range(self) -> int:
        """Fits 32 bits."""
        return 0


@contextlib.contextmanager
def _compiling_for(name: str) -> Iterator[None]:
    """Code that asks the driver for its target is told the device's."""
    from triton.runtime import driver

    before = driver._active
    driver.set_active(_target_only(name))
    try:
        yield
    finally:
        driver._active = before


@functools.cache
def _target_only(name: str) -> Any:
    from porter.validation.device_api import Device
    from porter.validation.triton.driver import Checks, VirtualDriver

    return VirtualDriver(Device(name), Checks())


def load_triton(device: VirtualDevice, source: TritonSource) -> TritonKernel | BuildFailed | NotRun:
    """The kernel, imported; it is compiled when its values are known."""
    missing = why_no_triton()
    if missing is not None:
        return NotRun(missing)
    if device.name not in TARGETS:
        return NotRun(f"Triton kernels are run on {' and '.join(TARGETS)}")
    os.environ[_CACHE] = str(kept_folder("triton"))
    with warnings.catch_warnings(), _compiling_for(device.name):
        warnings.simplefilter("ignore")
        try:
            function = _imported(source)
        except Exception as error:
            return BuildFailed(("import", source.module), f"error: {type(error).__name__}: {error}\n{_where(error)}")
    return TritonKernel(device, source, function)


def _where(error: BaseException) -> str:
    return "".join(traceback.format_tb(error.__traceback__)[-3:])


def _imported(source: TritonSource) -> Any:
    """The function that `triton.jit` made, without what wraps it."""
    root = str(source.root)
    if root not in sys.path:
        sys.path.insert(0, root)
    found = getattr(importlib.import_module(source.module), source.kernel)
    while type(found).__name__ != "JITFunction" and hasattr(found, "fn"):
        found = found.fn
    if type(found).__name__ != "JITFunction":
        raise TypeError(f"{source.module}.{source.kernel} is no kernel of triton.jit")
    return found


@dataclass
class TritonKernel:
    """One kernel, compiled for a device as often as its arguments ask for."""

    device: VirtualDevice
    source: TritonSource
    function: Any
    notes: tuple[str, ...] = ()
    _built: dict[str, VirtualKernel | NotRun] = field(default_factory=dict)

    @property
    def command(self) -> tuple[str, ...]:
        """What compiled it."""
        import triton

        return ("triton", triton.__version__, f"--target={TARGETS[self.device.name]}")

    def launch(self, launch: Launch, seconds: float) -> LaunchOutcome:
        """Compile what these values need, and run it."""
        prepared = self._prepared(launch)
        if isinstance(prepared, NotRun):
            return prepared
        kernel, ready, positions = prepared
        outcome = kernel.launch(ready, seconds)
        return (
            replace(outcome, outputs=self._in_order(outcome.outputs, positions, launch))
            if isinstance(outcome, Ran)
            else outcome
        )

    def who_wrote(self, launch: Launch, argument: int, offset: int, size: int, seconds: float) -> Place | None:
        """Who wrote those bytes last."""
        prepared = self._prepared(launch)
        if isinstance(prepared, NotRun) or argument not in prepared[2]:
            return None
        kernel, ready, positions = prepared
        return kernel.who_wrote(ready, positions.index(argument), offset, size, seconds)

    @staticmethod
    def _in_order(
        outputs: Sequence[Array | None], positions: Sequence[int], launch: Launch
    ) -> tuple[Array | None, ...]:
        """By the case's arguments: those that Triton made constants of are no arrays."""
        after: list[Array | None] = [None] * len(launch.arguments)
        for place, output in zip(positions, outputs, strict=False):
            after[place] = output
        return tuple(after)

    def _prepared(self, launch: Launch) -> tuple[VirtualKernel, Launch, tuple[int, ...]] | NotRun:
        """The kernel for these values, the launch as it takes it, and which arguments it takes."""
        try:
            compiled = self._compile(launch)
        except Exception as error:
            said = str(error).strip() or type(error).__name__
            return NotRun(f"Triton does not compile it for {self.device.name}: {said}")
        kinds = list(compiled.src.signature.values())
        named = dict(zip(compiled.src.signature, kinds, strict=True))
        positions = tuple(
            index for index, (name, _) in enumerate(self.source.parameters) if named.get(name) != "constexpr"
        )
        text = compiled.asm[TEXT[self.device.name]]
        if text not in self._built:
            self._built[text] = self._load(text, compiled.metadata.name)
        kernel = self._built[text]
        if isinstance(kernel, NotRun):
            return kernel
        metadata = compiled.metadata
        if getattr(metadata, "num_ctas", 1) > 1:
            return NotRun(f"clusters of {metadata.num_ctas} blocks")
        values = [launch.arguments[index] for index in positions]
        sizes = kernel.module.parameter_sizes(kernel.symbol)
        blocks = int(np.prod(launch.grid))
        scratch = [getattr(metadata, name, 0) or 0 for name in ("global_scratch_size", "profile_scratch_size")]
        values += [np.zeros(size * blocks, np.uint8) if size else 0 for size in scratch[: len(sizes) - len(values)]]
        block = (metadata.num_warps * metadata.warp_size, 1, 1)
        ready = replace(launch, block=block, shared=metadata.shared, arguments=tuple(values))
        return kernel, ready, positions

    def _load(self, text: str, name: str) -> VirtualKernel | NotRun:
        module, state = self.device.load_text(text)
        if isinstance(module, NotRun):
            return module
        refused = module.translate(name)
        if isinstance(refused, NotRun):
            return refused
        return VirtualKernel(self.command, module, name, state, self.device.backend.alignment)

    def _compile(self, launch: Launch) -> Any:
        import torch
        import triton.language as tl

        given: dict[str, Any] = {}
        for (name, dtype), value in zip(self.source.parameters, launch.arguments, strict=True):
            if isinstance(value, ViewArgument):
                given[name] = _Pointer(getattr(torch, _NAMES[dtype]), value.start)
            elif isinstance(value, np.ndarray) and value.ndim:
                given[name] = _Pointer(getattr(torch, _NAMES[dtype]), 0)
            elif dtype and dtypes.is_float(dtype):
                given[name] = float(np.asarray(value).astype(np.float64))
            else:
                given[name] = None if not dtype else bool(value) if dtype == "bool" else int(value)
        for name, value in launch.constexprs:
            is_type = isinstance(value, str) and value.startswith("tl.")
            given[name] = getattr(tl, str(value)[3:]) if is_type else value
        options = {"num_warps": self.source.warps}
        if self.source.stages is not None:
            options["num_stages"] = self.source.stages
        with warnings.catch_warnings(), _compiling_for(self.device.name):
            warnings.simplefilter("ignore")
            return self.function.run(grid=launch.grid, warmup=True, **given, **options)

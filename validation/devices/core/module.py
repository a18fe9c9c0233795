"""A loaded module of a virtual device, as far as it does not depend on the instruction set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from porter.validation.devices.core.launch import Dim, Image, Options
from porter.validation.devices.core.memory import Argument, Memory, OutOfDeviceMemory
from porter.validation.devices.core.result import Array, NotRun, Outcome

Known = TypeVar("Known")
"""What a device keeps of a translation beside its image."""


class HasMemory(Protocol):
    """The device a module is loaded on."""

    memory: Memory


class ModuleBase(ABC, Generic[Known]):
    """Its variables are in device memory; its kernels are translated when first run."""

    device: HasMemory
    symbols: dict[str, int]
    _images: dict[tuple[str, bool], tuple[Image, Known] | NotRun]

    @property
    @abstractmethod
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels, mangled as in the source's object code."""

    def translate(self, kernel: str, options: Options | None = None) -> Image | NotRun:
        """Translate and build one kernel."""
        found = self._image(kernel, options or Options())
        return found if isinstance(found, NotRun) else found[0]

    def prepare(self, kernel: str, options: Options) -> NotRun | None:
        """Translate a kernel, and make what outlives its launches: memory allocated after this can be released."""
        image = self._image(kernel, options)
        if isinstance(image, NotRun):
            return image
        if image[0].uses_heap:
            self._make_heap()
        return None

    @abstractmethod
    def parameter_sizes(self, kernel: str) -> tuple[int, ...]:
        """Bytes of each parameter that a caller passes."""

    def launch(
        self,
        kernel: str,
        grid: Dim,
        block: Dim,
        args: Sequence[Argument],
        shared: int = 0,
        options: Options | None = None,
    ) -> Outcome:
        """Run a kernel. Arrays are copied in, and come back in the outcome; `shared` is the dynamic LDS."""
        options = options or Options()
        image = self._image(kernel, options)
        if isinstance(image, NotRun):
            return image
        refused = self._refused(kernel, image[1], grid, block, shared)
        if refused is not None:
            return refused
        memory = self.device.memory
        if image[0].uses_heap:
            self._make_heap()
        mark = memory.mark()
        try:
            return self._run(kernel, image, grid, block, args, shared, options)
        except OutOfDeviceMemory as error:
            return NotRun(f"out of device memory: {error}")
        finally:
            memory.release(mark)

    def write_symbol(self, name: str, value: Array) -> None:
        """As hipMemcpyToSymbol."""
        self.device.memory.write(self.symbols[name], value)

    def read_symbol(self, name: str, like: Array) -> Array:
        """As hipMemcpyFromSymbol."""
        return self.device.memory.read_array(self.symbols[name], like)

    def _image(self, kernel: str, options: Options) -> tuple[Image, Known] | NotRun:
        key = (kernel, options.uninitialised)
        if key not in self._images:
            self._images[key] = self._build(kernel, options.uninitialised)
        return self._images[key]

    def _make_heap(self) -> None:
        """Before the launch's own memory is marked: what is allocated there outlives it."""
        _ = self.device.memory.heap

    @abstractmethod
    def _build(self, kernel: str, poison: bool) -> tuple[Image, Known] | NotRun:
        """Translate one kernel, and build it for this host."""

    @abstractmethod
    def _refused(self, kernel: str, known: Known, grid: Dim, block: Dim, shared: int) -> NotRun | None:
        """Why the device would refuse the launch."""

    @abstractmethod
    def _run(
        self,
        kernel: str,
        image: tuple[Image, Known],
        grid: Dim,
        block: Dim,
        args: Sequence[Argument],
        shared: int,
        options: Options,
    ) -> Outcome:
        """Place the arguments as the kernel wants them, and execute."""

"""The child process of a real device: loads a harness, launches, answers over the file descriptor it is given.

A kernel that faults or hangs takes this process down, and nothing else.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import struct
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

import numpy as np
from porter.validation.cases.links import WIDTH, Link, linked, unlinked
from porter.validation.cases.sampling import ADDRESS, MEMORY
from porter.validation.cases.structs import Behind, StructArgument
from porter.validation.cases.views import ViewArgument
from porter.validation.devices.core.image import ImageArgument
from porter.validation.harness.messages import (
    GUARD,
    PATTERN,
    Failed,
    LaunchRequest,
    Loaded,
    Outcome,
    Outside,
    Properties,
    Ran,
    Refused,
    Timed,
    TimeRequest,
)

from porter.system.limits import die_with

_FLOATS = {2: "e", 4: "f", 8: "d"}
_MODULE = "porter_harness_module"


class Session:
    """A loaded module and the memory of one launch."""

    def __init__(self, path: str) -> None:
        # Libraries that only the host code needs may be missing: their functions are looked up when called.
        sys.setdlopenflags(os.RTLD_LAZY | os.RTLD_LOCAL)
        spec = importlib.util.spec_from_file_location(_MODULE, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no module")
        self.module: ModuleType = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.parameters: list[tuple[int, bool]] = self.module.parameters()
        self.symbols: list[str] = self.module.symbols()

    def properties(self) -> Properties:
        """What the device is; raises RuntimeFailed with the runtime's reason when there is none."""
        if self.module.count() < 1:
            raise self.module.RuntimeFailed("the runtime found no device")
        return Properties(**self.module.properties())

    def launch(self, request: LaunchRequest) -> Outcome:
        """One launch, with its copies to the device and back."""
        self._count()
        memory = _Memory(self.module)
        try:
            words = self._words(request, memory)
            memory.link(request.links)
            self._set_symbols(request, memory)
            began = time.perf_counter()
            self.module.launch(words, request.grid, request.block, request.shared, request.cooperative)
            took = time.perf_counter() - began
            outside = memory.written_outside()
            if outside is not None:
                return Outside(*outside)
            return Ran(memory.outputs(request.values, request.links), took)
        finally:
            memory.release()

    def time(self, request: TimeRequest) -> Outcome:
        """Device-event times of many launches over the same memory."""
        launch = request.launch
        self._count()
        memory = _Memory(self.module)
        try:
            words = self._words(launch, memory)
            memory.link(launch.links)
            self._set_symbols(launch, memory)
            flushed = memory.raw(request.flush_bytes) if request.flush_bytes else 0
            shape = (words, launch.grid, launch.block, launch.shared, launch.cooperative)
            found = self.module.time(*shape, request.warmup, request.repeats, flushed, request.flush_bytes)
            return Timed(tuple(float(one) for one in found), self.properties())
        finally:
            memory.release()

    def _count(self) -> None:
        if self.module.count() < 1:
            raise self.module.RuntimeFailed("the runtime found no device")

    def _set_symbols(self, request: LaunchRequest, memory: _Memory) -> None:
        for name, value in request.constants:
            held = linked(value, [link for link in request.links if link.holder == name], memory.bases())
            self.module.set_symbol(self.symbols.index(name), held.reshape(-1).view(np.uint8))

    def _words(self, request: LaunchRequest, memory: _Memory) -> list[bytes]:
        values = [value for value in request.values if not isinstance(value, Behind)]
        if len(values) != len(self.parameters):
            raise Refusal(f"{self.module.kernel} has {len(self.parameters)} parameters, given are {len(values)}")
        behind = {
            index: memory.array(index, value.array) + value.start
            for index, value in enumerate(request.values)
            if isinstance(value, Behind)
        }
        values = [value.word(behind) if isinstance(value, StructArgument) else value for value in values]
        pairs = zip(values, self.parameters, strict=True)
        return [_word(index, value, size, pointer, memory) for index, (value, (size, pointer)) in enumerate(pairs)]


class Refusal(Exception):
    """A launch that cannot be: the arguments do not fit the parameters."""


class _Memory:
    """Allocations of one launch, each between two guards."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._arrays: dict[int, tuple[int, int]] = {}
        self._surfaces: dict[int, int] = {}
        self._raw: list[int] = []

    def raw(self, size: int) -> int:
        """Plain device memory."""
        address: int = self._module.allocate(size)
        self._raw.append(address)
        return address

    def array(self, index: int, value: np.ndarray[Any, Any]) -> int:
        """A copy of an array on the device."""
        data = np.ascontiguousarray(value)
        base = self.raw(data.nbytes + 2 * GUARD)
        self._module.fill(base, PATTERN, data.nbytes + 2 * GUARD)
        if data.nbytes:
            self._module.copy_in(base + GUARD, data.reshape(-1).view(np.uint8))
        self._arrays[index] = (base, data.nbytes)
        return base + GUARD

    def image(self, index: int, value: ImageArgument) -> int:
        """A texture or surface object over a copy of its texels."""
        wrong = value.wrong()
        if wrong is not None:
            raise Refusal(f"argument {index}: {wrong}")
        texels = np.ascontiguousarray(value.texels)
        handle: int = self._module.make_image(_image_numbers(value), texels.reshape(-1).view(np.uint8))
        if value.sampling.surface:
            self._surfaces[index] = handle
        return handle

    def written_outside(self) -> tuple[int, str] | None:
        """The argument around which something was written, and on which side."""
        for index, (base, size) in self._arrays.items():
            for side, start in (("before", base), ("after", base + GUARD + size)):
                found = np.empty(GUARD, np.uint8)
                self._module.copy_out(found, start)
                if not (found == PATTERN).all():
                    return index, side
        return None

    def bases(self) -> dict[int, int]:
        """Where each array begins."""
        return {index: base + GUARD for index, (base, _) in self._arrays.items()}

    def link(self, links: Sequence[Link]) -> None:
        """Writes addresses into the arrays that have some."""
        bases = self.bases()
        for link in links:
            if isinstance(link.holder, int):
                word = (bases[link.target] + link.offset).to_bytes(WIDTH, "little")
                self._module.copy_in(bases[link.holder] + link.at, np.frombuffer(word, np.uint8).copy())

    def outputs(self, values: Sequence[Any], links: Sequence[Link]) -> tuple[np.ndarray[Any, Any] | None, ...]:
        """Every array as the kernel left it, addresses in it as on no device."""
        places = {index: (base + GUARD, size) for index, (base, size) in self._arrays.items()}
        found: list[np.ndarray[Any, Any] | None] = []
        for index, value in enumerate(values):
            if index in self._surfaces:
                texels = np.empty_like(np.ascontiguousarray(value.texels))
                self._module.read_image(self._surfaces[index], texels.reshape(-1).view(np.uint8))
                found.append(texels)
                continue
            if index not in self._arrays:
                found.append(None)
                continue
            base, size = self._arrays[index]
            value = value.array if isinstance(value, ViewArgument | Behind) else value
            out = np.empty(value.shape, value.dtype)
            flat = np.empty(size, np.uint8)
            if size:
                self._module.copy_out(flat, base + GUARD)
                out.reshape(-1).view(np.uint8)[...] = flat
            held = [link for link in links if link.holder == index]
            found.append(unlinked(out, held, places) if held else out)
        return tuple(found)

    def release(self) -> None:
        """Give everything back; after a fault the runtime refuses, and the process ends anyway."""
        with contextlib.suppress(RuntimeError):
            self._module.release_images()
        for address in self._raw:
            try:
                self._module.release(address)
            except RuntimeError:
                return


def _image_numbers(image: ImageArgument) -> list[int]:
    """PorterImage of harness.h."""
    sampling, dtype = image.sampling, image.texels.dtype
    width, height, depth = image.sizes
    sides = len(image.texels.shape) - (sampling.channels > 1) - sampling.layered
    given = (width, height if sides > 1 else 0, image.layers if sampling.layered else depth if sides > 2 else 0)
    flags = (sampling.layered, sampling.linear, sampling.normalized, sampling.fractions)
    kind = ("u", "i", "f").index(dtype.kind)
    head = (8 * dtype.itemsize, sampling.channels, kind, *given, *map(int, flags))
    modes = (ADDRESS.index(mode) for mode in sampling.address)
    return [*head, *modes, MEMORY.index(sampling.memory), int(sampling.surface)]


def _word(index: int, value: Any, size: int, pointer: bool, memory: _Memory) -> bytes:
    """The bytes of one parameter."""
    if isinstance(value, ImageArgument):
        return memory.image(index, value).to_bytes(size, "little")
    if isinstance(value, ViewArgument):
        value = value.word(memory.array(index, value.array))
    if isinstance(value, np.ndarray):
        if not pointer:
            raise Refusal(f"argument {index} is an array, the parameter is no pointer")
        return memory.array(index, value).to_bytes(size, "little")
    if isinstance(value, (bytes, np.generic)):
        data = value if isinstance(value, bytes) else value.tobytes()
        if len(data) != size:
            raise Refusal(f"argument {index} has {len(data)} bytes, the parameter {size}")
        return data
    if isinstance(value, float):
        if size not in _FLOATS:
            raise Refusal(f"argument {index} is a float, the parameter has {size} bytes")
        return struct.pack(f"<{_FLOATS[size]}", value)
    if isinstance(value, int):
        try:
            return value.to_bytes(size, "little", signed=value < 0)
        except OverflowError:
            raise Refusal(f"argument {index}: {value} does not fit {size} bytes") from None
    if value is None and pointer:
        return bytes(size)
    raise Refusal(f"argument {index}: a {type(value).__name__} cannot be passed to a real device")


def serve(connection: Connection) -> None:
    """Answers requests until the other side goes away."""
    session: Session | None = None
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        if isinstance(request, str):
            session, answer = _load(request)
        elif session is None:
            answer = Refused("nothing was loaded")
        else:
            answer = _answer(session, request)
        connection.send(answer)


def _load(path: str) -> tuple[Session | None, Any]:
    try:
        session = Session(path)
    except (ImportError, OSError) as error:
        return None, Refused(f"the module cannot be loaded: {error}")
    return session, Loaded(tuple(session.parameters), tuple(session.symbols))


def _answer(session: Session, request: Any) -> Any:
    tasks: dict[type[Any], Callable[[Any], Any]] = {LaunchRequest: session.launch, TimeRequest: session.time}
    try:
        task = tasks.get(type(request))
        return session.properties() if task is None else task(request)
    except session.module.RuntimeFailed as error:
        return Failed(str(error))
    except (Refusal, ValueError, MemoryError) as error:
        return Refused(str(error) or type(error).__name__)


def main() -> None:
    """The connection is an inherited file descriptor; stdout is the kernel's (printf)."""
    die_with(os.getppid())  # a kernel that hangs must not outlive the process that waits for it
    serve(Connection(int(sys.argv[1])))


if __name__ == "__main__":
    main()

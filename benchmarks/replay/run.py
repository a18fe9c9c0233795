"""Replays recorded launches on an NVIDIA GPU and compares: `python run.py FOLDER [--report FILE.json]`.

Needs numpy and the GPU's driver, and nothing of porter: the file can be copied to a machine that has a GPU. PTX is
compiled by the driver. Arrays and variables are compared bit by bit, NaN like NaN; what differs is told with the
instructions that the virtual device calls approximate or of unknown order.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import queue
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

DRIVER = "libcuda.so.1"
LIMIT = 30
"""Seconds without a result, after which the launch in hand counts as endless."""
LOG = 4096


@dataclass(frozen=True)
class Part:
    """One array or variable that is not the same."""

    name: str
    kind: str
    count: int
    different: int
    worst: int | None
    """Units in the last place, of finite floats."""
    example: str


@dataclass(frozen=True)
class Replayed:
    """One launch."""

    file: str
    kernel: str
    test: str
    doubts: list[str]
    notes: list[str]
    problem: str = ""
    parts: list[Part] = field(default_factory=list)


class Refused(Exception):
    """The driver's error."""


class Driver:
    """The few calls of libcuda that a launch takes."""

    def __init__(self, level: int = 4) -> None:
        self._level = level
        self._library = ctypes.CDLL(DRIVER)
        self._programs: dict[str, Any] = {}
        self._device = ctypes.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(self._device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self.call("cuCtxSetCurrent", context)

    @property
    def is_lost(self) -> bool:
        """After a fault no call of the process succeeds."""
        return bool(self._library.cuCtxSynchronize())

    def call(self, name: str, *arguments: Any) -> None:
        """Raises Refused with the driver's name for the error."""
        code = getattr(self._library, name)(*arguments)
        if code:
            said = ctypes.c_char_p()
            self._library.cuGetErrorName(code, ctypes.byref(said))
            raise Refused(f"{name}: {(said.value or b'?').decode()}")

    @property
    def name(self) -> str:
        """Of the device."""
        said = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", said, 256, self._device)
        return said.value.decode()

    def module(self, path: Path) -> Any:
        """A program, compiled by the driver the first time."""
        if path.name not in self._programs:
            log, module = ctypes.create_string_buffer(LOG), ctypes.c_void_p()
            names = (ctypes.c_int * 3)(5, 6, 7)  # CU_JIT_ERROR_LOG_BUFFER, its size, CU_JIT_OPTIMIZATION_LEVEL
            values = (ctypes.c_void_p * 3)(ctypes.addressof(log), LOG, self._level)
            try:
                text = path.read_bytes() + b"\0"
                self.call("cuModuleLoadDataEx", ctypes.byref(module), text, 3, names, values)
            except Refused as error:
                raise Refused(f"{error}: {log.value.decode(errors='replace').strip()[:300]}") from error
            self._programs[path.name] = module
        return self._programs[path.name]

    def variable(self, module: Any, name: str) -> tuple[Any, int]:
        """Address and size."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, name.encode())
        return address, size.value

    def place(self, data: Any) -> Any:
        """Memory with an array's content."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(data.nbytes, 1)))
        self.write(address, data)
        return address

    def write(self, address: Any, data: Any) -> None:
        """Host to device."""
        if data.nbytes:
            self.call("cuMemcpyHtoD_v2", address, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.nbytes))

    def read(self, address: Any, like: Any) -> Any:
        """Device to host."""
        data = np.empty_like(like)
        if data.nbytes:
            self.call("cuMemcpyDtoH_v2", data.ctypes.data_as(ctypes.c_void_p), address, ctypes.c_size_t(data.nbytes))
        return data

    def release(self, address: Any) -> None:
        """Frees it."""
        self._library.cuMemFree_v2(address)

    def launch(self, module: Any, head: dict[str, Any], values: list[Any]) -> None:
        """Runs a kernel to its end."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, head["kernel"].encode())
        if head["shared"] > 48 << 10:
            self.call("cuFuncSetAttribute", function, 8, head["shared"])
        addresses = [ctypes.addressof(v) if isinstance(v, ctypes.c_uint64) else v.ctypes.data for v in values]
        pointers = (ctypes.c_void_p * max(len(values), 1))(*addresses)
        self.call("cuLaunchKernel", function, *head["grid"], *head["block"], head["shared"], None, pointers, None)
        self.call("cuCtxSynchronize")


def replay(driver: Driver, path: Path, kept: Path | None = None) -> Replayed:
    """One file; raises Refused. What differs is kept in a folder, as the GPU left it."""
    with np.load(path) as stored:
        parts = {name: stored[name] for name in stored.files}
    head = json.loads(parts["head"].tobytes())
    known = (path.name, head["kernel"], head["test"], head["doubts"], head["notes"])
    module = driver.module(path.parent / f"{head['program']}.ptx")
    variables = {name[4:]: driver.variable(module, name[4:]) for name in parts if name.startswith("var:")}
    for name, (address, _) in variables.items():
        driver.write(address, parts[f"var:{name}"])
    values = [
        driver.place(parts[f"in{n}"]) if kind == "array" else np.ascontiguousarray(parts[f"in{n}"])
        for n, kind in enumerate(head["kinds"])
    ]
    try:
        driver.launch(module, head, values)
        left = {
            name: driver.read(values[int(name[3:])] if name.startswith("out") else variables[name[5:]][0], theirs)
            for name, theirs in parts.items()
            if name.startswith(("out", "left:"))
        }
    finally:
        for value in values:
            if isinstance(value, ctypes.c_uint64):
                driver.release(value)
    found = [part for name, mine in left.items() if (part := compared(name, mine, parts[name])) is not None]
    if found and kept is not None:
        np.savez_compressed(kept / path.name, **left)
    return Replayed(*known, parts=found)


def compared(name: str, gpu: Any, virtual: Any) -> Part | None:
    """None when they are the same."""
    a, b = gpu.reshape(-1), virtual.reshape(-1)
    bits = f"u{a.itemsize}" if a.itemsize in (1, 2, 4, 8) else "u1"
    same = a.view(bits) == b.view(bits)
    if a.dtype.kind == "f":
        same |= np.isnan(a) & np.isnan(b)
    bad = np.flatnonzero(~same)
    if not len(bad):
        return None
    place = int(bad[0])
    worst = None
    if a.dtype.kind == "f":
        whole = [w.view(f"i{w.itemsize}").astype(object) for w in (a[bad], b[bad])]
        ordered = [np.where(w < 0, -(1 << (8 * a.itemsize - 1)) - w, w) for w in whole]
        finite = np.isfinite(a[bad]) & np.isfinite(b[bad])
        worst = int(abs(ordered[0] - ordered[1])[finite].max()) if finite.any() else None
    example = f"[{place}] GPU {a.view(bits)[place]:#x} ({a[place]}), virtual {b.view(bits)[place]:#x} ({b[place]})"
    return Part(name, str(a.dtype), int(same.size), len(bad), worst, example)


def _work(paths: list[Path], results: Any, level: int, kept: Path | None) -> None:
    driver = Driver(level)
    results.put(driver.name)
    for path in paths:
        results.put(path)
        try:
            results.put(replay(driver, path, kept))
        except Refused as error:
            results.put(Replayed(path.name, _kernel(path), "", [], [], str(error)))
            if driver.is_lost:
                return


def _kernel(path: Path) -> str:
    with np.load(path) as stored:
        return str(json.loads(stored["head"].tobytes())["kernel"])


def all_of(paths: list[Path], level: int = 4, kept: Path | None = None) -> Iterator[Replayed | str]:
    """The device's name, then each launch; one that faults or does not end costs the process that ran it."""
    spawned = multiprocessing.get_context("spawn")
    while paths:
        results = spawned.Queue()
        process = spawned.Process(target=_work, args=(paths, results, level, kept), daemon=True)
        process.start()
        last, before = time.monotonic(), len(paths)
        while paths:
            try:
                got = results.get(timeout=0.5)
            except queue.Empty:
                if process.is_alive() and time.monotonic() - last < LIMIT:
                    continue
                break
            last = time.monotonic()
            if isinstance(got, Replayed):
                paths = paths[1:]
            if not isinstance(got, Path):
                yield got
        if paths and (process.is_alive() or len(paths) == before):
            problem = "no end" if process.is_alive() else "the process that ran it is gone"
            yield Replayed(paths[0].name, _kernel(paths[0]), "", [], [], problem)
            paths = paths[1:]
        process.kill()
        process.join()


def _no_driver() -> str:
    try:
        ctypes.CDLL(DRIVER)
    except OSError as error:
        return f"no NVIDIA driver: {error}"
    return ""


def main() -> int:
    """Exit code 1 where something differs that no doubt explains, 2 where nothing can be replayed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--report", type=Path, help="all that is not the same, as JSON")
    parser.add_argument("--keep", type=Path, help="a folder for what the GPU leaves where it differs")
    parser.add_argument("--level", type=int, default=4, help="of the driver's compiler")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    launches = sorted(options.folder.glob("*.npz"))
    why = f"{options.folder}: no launches were recorded there" if not launches else _no_driver()
    if why:
        print(why, file=sys.stderr)
        return 2
    device, told = "", []
    count: Counter[str] = Counter()
    for one in all_of(launches, options.level, options.keep):
        if isinstance(one, str):
            device = one
            continue
        outcome = "not replayed" if one.problem else "the same"
        if one.parts:
            outcome = "differs, with doubt" if one.doubts else "differs"
        count[outcome] += 1
        if outcome != "the same":
            told.append(asdict(one))
    print(f"{device}: {sum(count.values())} launches")
    for outcome, number in count.most_common():
        print(f"  {number} {outcome}")
    if options.report:
        options.report.write_text(json.dumps({"device": device, "counts": count, "told": told}, indent=1))
    return 1 if count["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes what the virtual NVIDIA GPU is given and leaves; installed by hook/sitecustomize.py, or a plugin of pytest."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

LARGEST = 4 << 20
"""Bytes of arrays and variables of one launch; larger ones are not recorded."""
VARIABLE = "global", "const"
IMAGES = re.compile(r"\b(?:tex|tld4|txq|suld|sust|sured|suq)\.")


def pytest_configure() -> None:
    """pytest rewrites the modules that it imports, and passes by what stands behind it."""
    install(importlib.import_module("porter.validation.devices.ptx.device"))


def install(device: ModuleType) -> None:
    """Wraps the two calls of the device's module, once: a text that is loaded, a kernel that is launched."""
    if hasattr(device.Module, "replayed_text"):
        return
    device.Module.replayed_text = ""
    folder = Path(os.environ["PORTER_REPLAY"])
    load, launch = device.Device.compile, device.Module.launch

    def compile(self: Any, ptx: str) -> Any:
        made = load(self, ptx)
        if isinstance(made, device.Module):
            made.replayed_text = ptx
        return made

    def launched(
        self: Any, kernel: str, grid: Any, block: Any, args: Sequence[Any], shared: int = 0, options: Any = None
    ) -> Any:
        before = Before(self, kernel, args, options)
        done = launch(self, kernel, grid, block, args, shared, options)
        reason = before.reason or ("" if type(done).__name__ == "Ran" else type(done).__name__)
        if reason:
            _count(folder, reason)
        else:
            _write(folder, self, kernel, (device.dim3(grid), device.dim3(block), shared), before, done)
        return done

    device.Device.compile, device.Module.launch = compile, launched


class Before:
    """Arguments and variables as a launch finds them, or the reason why it cannot be replayed."""

    def __init__(self, module: Any, kernel: str, args: Sequence[Any], options: Any) -> None:
        self.parts: dict[str, Any] = {}
        self.kinds: list[str] = []
        self.reason = ""
        function = module.program.kernels.get(kernel)
        if IMAGES.search(module.replayed_text):
            self.reason = "textures or surfaces"
            return
        if function is None or len(function.parameters) != len(args):
            self.reason = "no such kernel"
        elif options is not None and (options.links or options.sample is not None or options.rounding != "nearest"):
            self.reason = "addresses inside arrays, a part of the blocks, or another rounding"
        else:
            for place, (parameter, arg) in enumerate(zip(function.parameters, args, strict=True)):
                self._argument(place, parameter.size, arg)
            self._variables(module)
        size = sum(part.nbytes for part in self.parts.values())
        if not self.reason and size > LARGEST:
            self.reason = f"more than {LARGEST} bytes"

    def _argument(self, place: int, size: int, arg: Any) -> None:
        if isinstance(arg, np.ndarray):
            self.kinds.append("array")
            self.parts[f"in{place}"] = np.ascontiguousarray(arg).copy()
        elif isinstance(arg, bool | int | float | np.generic | bytes):
            from porter.validation.devices.core.launch import scalar_bytes

            self.kinds.append("value")
            self.parts[f"in{place}"] = np.frombuffer(scalar_bytes(arg, size), np.uint8)
        else:
            self.reason = f"an argument of {type(arg).__name__}"

    def _variables(self, module: Any) -> None:
        for name, variable in module.program.variables.items():
            if variable.space in VARIABLE and variable.size and not variable.relocations:
                self.parts[f"var:{name}"] = variable_bytes(module, name)


def variable_bytes(module: Any, name: str) -> Any:
    """What a variable holds."""
    size = module.program.variables[name].size
    return np.frombuffer(module.device.memory.read(module.symbols[name], size), np.uint8)


def _write(folder: Path, module: Any, kernel: str, how: tuple[Any, ...], before: Before, done: Any) -> None:
    text = module.replayed_text.encode()
    program = hashlib.sha256(text).hexdigest()[:24]
    grid, block, shared = how
    head = {"kernel": kernel, "grid": [*grid], "block": [*block], "shared": shared, "kinds": before.kinds}
    head |= {"program": program, "notes": list(done.notes), "doubts": sorted(done.counters.uncertain)}
    head["test"] = os.environ.get("PYTEST_CURRENT_TEST", "")
    key = hashlib.sha256(json.dumps({**head, "test": "", "notes": ""}).encode())
    for name, part in before.parts.items():
        key.update(name.encode() + struct.pack("<Q", part.nbytes) + part.tobytes())
    path = folder / f"{key.hexdigest()[:24]}.npz"
    if path.exists():  # under another schedule
        return
    ptx = folder / f"{program}.ptx"
    if not ptx.exists():
        ptx.write_bytes(text)
    parts = dict(before.parts)
    for place, output in enumerate(done.outputs):
        if output is not None:
            parts[f"out{place}"] = output
    parts |= {f"left:{name[4:]}": variable_bytes(module, name[4:]) for name in before.parts if name.startswith("var:")}
    words = np.frombuffer(json.dumps(head).encode(), np.uint8)
    unfinished = path.with_suffix(f".{os.getpid()}")
    with unfinished.open("wb") as file:
        np.savez_compressed(file, head=words, **parts)
    unfinished.rename(path)


def _count(folder: Path, reason: str) -> None:
    with (folder / "left-out.txt").open("a") as file:
        file.write(f"{reason}\n")

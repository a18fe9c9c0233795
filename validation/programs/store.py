"""Where what programs need is kept: libraries by what they are built from, translations by the module's content."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from porter.validation.devices.core.hostcc import HostCompiler, fingerprint
from porter.validation.programs.sides import NAMES, RUNTIME, Side

from porter.system.cache import cache_folder
from porter.system.remembered import remembered_of

_DEVICES = Path(__file__).parent.parent / "devices"
_OWN = ("loaded.py", "fatbin.py", "store.py", "runtime_compiler.py", "translate.py")


@functools.cache
def _translators() -> str:
    """A hash of everything that decides how a kernel is translated."""
    files = [
        Path(folder, name)
        for folder, _, names in os.walk(_DEVICES)
        for name in names
        if name.endswith((".py", ".c", ".h"))
    ]
    return _digest([*files, *(Path(__file__).with_name(name) for name in _OWN)])


@functools.cache
def _device_sources(side: Side) -> str:
    headers = [path for folder in (side.device_sources[0].parent, side.folder) for path in folder.glob("*.h")]
    return _digest([*side.device_sources, *headers])


@functools.cache
def _runtime() -> str:
    return _digest([*RUNTIME.iterdir(), *NAMES.iterdir(), Path(__file__).with_name("dropin.py")])


def _digest(files: Sequence[Path]) -> str:
    """A hash of their content, which is read when one of them changed."""
    ordered = sorted(files)

    def read() -> str:
        return fingerprint(*(part for path in ordered for part in (path.name, path.read_bytes())))

    return remembered_of("digest", ordered, read)


@functools.cache
def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line for line in lines if line.startswith("flags")), os.uname().machine)


WRAPPED = "PORTER_RUN_WRAPPED"
"""Set to 1, this variable makes shifts of the virtual NVIDIA GPU take their counts modulo the width."""


def translations(side: Side, compiler: HostCompiler, *, wrapped: bool = False) -> Path:
    """The folder that holds translated modules; another one when the translator or the compiler changes.

    `wrapped`: that of modules whose shifts take their counts modulo the width.
    """
    key = fingerprint(side.name, compiler.version, _processor(), _translators())[:24]
    return cache_folder() / "programs" / f"{side.name}-{key}{'-wrapped' if wrapped else ''}"


def libraries(side: Side, compiler: HostCompiler) -> Path:
    """The folder of the drop-in libraries."""
    key = fingerprint(side.name, compiler.version, _processor(), _device_sources(side), _runtime(), *compiler.flags)[
        :24
    ]
    return cache_folder() / "programs" / f"lib-{side.name}-{key}"


def name_hash(name: str) -> str:
    """FNV-1a, as in module.c: the file of a kernel."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"

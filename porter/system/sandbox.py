"""What a process that runs other people's kernels and Python may do on Linux: read the disk, and write where we say.

Landlock (Linux 5.19 and newer) makes the rest of the disk read-only and, from 6.7 on, TCP unusable; where the kernel
allows it there is no network at all. None of it can be undone by the process or by what it starts.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""System calls, the same on all architectures."""
_VERSION, _BENEATH = 1, 1
_WRITE, _MOVE, _TRUNCATE = 0x1FF2, 0x2000, 0x4000
"""Writing, removing and making files of all kinds; renaming between folders (version 2); truncating (version 3)."""
_OF_A_FILE = 0x2 | 0x4000
"""Of those, what can be allowed for one file: writing and truncating."""
_TCP = 0x3
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "shm", "kfd", "dri", "nvidia*")
"""Below /dev: what programs write to as a matter of course, and GPUs. Disks, terminals of others, memory are not."""
_NO_NEW_PRIVILEGES, _NEW_NETWORK = 38, 0x40000000
OFF = "PORTER_SANDBOX"


def device_files() -> tuple[Path, ...]:
    """What below /dev a process with kernels may write to."""
    return tuple(path for name in _DEVICES for path in sorted(Path("/dev").glob(name)))


def confine(writable: Iterable[Path]) -> str:
    """Confines this process to writing to some files and below some folders; says what could not be had."""
    if os.environ.get(OFF) == "off":
        return f"{OFF}=off"
    if not sys.platform.startswith("linux"):
        return "no sandbox on this system"
    library = ctypes.CDLL(None, use_errno=True)
    with contextlib.suppress(AttributeError):
        library.unshare(_NEW_NETWORK)  # for root; others keep what Landlock leaves them
    version = library.syscall(_CREATE, None, 0, _VERSION)
    if version < 2:
        return "this Linux has no Landlock"
    return _restrict(library, version, [path for path in writable if path.exists()])


def _restrict(library: ctypes.CDLL, version: int, writable: Iterable[Path]) -> str:
    files = _WRITE | _MOVE | (_TRUNCATE if version >= 3 else 0)
    attributes = struct.pack("=QQ", files, _TCP) if version >= 4 else struct.pack("=Q", files)
    rules = library.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    if rules < 0:
        return f"Landlock: {os.strerror(ctypes.get_errno())}"
    try:
        for path in writable:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                allowed = files if path.is_dir() else files & _OF_A_FILE
                library.syscall(_ADD, rules, _BENEATH, struct.pack("=Qi", allowed, place), 0)
            finally:
                os.close(place)
        if library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or library.syscall(_RESTRICT, rules, 0):
            return f"Landlock: {os.strerror(ctypes.get_errno())}"
    finally:
        os.close(rules)
    return ""

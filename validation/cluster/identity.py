"""Who does the work: the version of porter, the machine, its compilers and devices, as workers say it of themselves."""

from __future__ import annotations

import functools
import hashlib
import importlib
import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from porter import __version__

_PACKAGES = ("porter.validation", "porter.rules", "porter")
_SUFFIXES = frozenset({".py", ".toml", ".c", ".h", ".hpp", ".cpp", ".j2", ".json", ".txt"})


@dataclass(frozen=True)
class Identity:
    """What a worker says of itself."""

    version: str
    porter: str
    """Digest of porter's files: two versions of the same number differ here."""
    python: str
    machine: str
    processor: str
    host: str
    devices: Mapping[str, str | None] = field(default_factory=dict)
    """Why each cannot be used; None: it can."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """Compilers and headers with their versions, or why they are not there."""
    cache: str = ""

    @property
    def shown(self) -> str:
        """The version in a sentence."""
        return f"{self.version} ({self.porter[:8]})"


@functools.cache
def package_folders() -> tuple[str, ...]:
    """Where this porter's three packages lie, the inner ones first."""
    found = [str(Path(importlib.import_module(name).__path__[0]).resolve()) for name in _PACKAGES]
    return tuple(found)


@functools.cache
def porter_digest() -> str:
    """Of all files that porter consists of."""
    digest = hashlib.sha256()
    for package in reversed(_PACKAGES):
        for folder in map(Path, importlib.import_module(package).__path__):
            for path in sorted(folder.rglob("*")):
                if path.suffix in _SUFFIXES and path.is_file():
                    digest.update(f"{package}/{path.relative_to(folder).as_posix()}\0".encode())
                    digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def machine() -> str:
    """The kind of processor: `x86_64`."""
    return platform.machine()


@functools.cache
def processor() -> str:
    """Its name, and a digest of what it can do."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return platform.processor()
    rows = dict(line.partition(":")[::2] for line in lines)
    values = {name.strip(): value.strip() for name, value in rows.items()}
    flags = values.get("flags") or values.get("Features") or ""
    name = values.get("model name", platform.machine())
    return f"{name} ({hashlib.sha256(flags.encode()).hexdigest()[:8]})"


def short_identity() -> Identity:
    """What is known without asking a compiler."""
    return Identity(
        __version__, porter_digest(), platform.python_version(), machine(), processor(), socket.gethostname()
    )


def why_refused(client: Identity, worker: Identity, needs: tuple[str, ...]) -> str | None:
    """Why a worker cannot be given tasks of this client."""
    if worker.porter != client.porter:
        return f"it has porter {worker.shown}, here is {client.shown}"
    if worker.machine != client.machine:
        return f"its processor is {worker.machine}, here is {client.machine}"
    for name in needs:
        reason = worker.devices.get(name, "it does not know this device")
        if reason is not None:
            return f"{name}: {reason}"
    return None


def differences(one: Identity, other: Identity) -> list[str]:
    """What two workers that both work have not in common, and that can make a difference."""
    found = [
        f"{name}: {one.tools.get(name, 'none')} and {other.tools.get(name, 'none')}"
        for name in sorted({*one.tools, *other.tools})
        if one.tools.get(name) != other.tools.get(name)
    ]
    if one.processor != other.processor:
        found.append(f"processor: {one.processor} and {other.processor}")
    if one.python != other.python:
        found.append(f"Python: {one.python} and {other.python}")
    return found

"""The host C compiler, and a cache of what it built, keyed by everything that went in."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from porter.caching import cache_folder

FLAGS = ("-std=gnu11", "-march=native", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-w")
CANDIDATES = ("clang-20", "clang-19", "clang-18", "clang-17", "clang", "gcc", "cc")


@dataclass(frozen=True)
class HostCompiler:
    """A C compiler for this machine."""

    path: str
    version: str

    @property
    def is_clang(self) -> bool:
        """True for clang."""
        return "clang" in self.version

    @property
    def flags(self) -> tuple[str, ...]:
        """What makes 64-wide loops fast, in this compiler's words."""
        if not re.match(r"x86_64|AMD64", platform.machine()):
            return FLAGS
        return (*FLAGS, "-mprefer-vector-width=512")


@dataclass(frozen=True)
class HostBuildFailed:
    """The host compiler rejected what we generated: our own bug, or a broken compiler."""

    command: tuple[str, ...]
    output: str


@functools.cache
def find_host_compiler(wanted: str | None = None) -> HostCompiler | None:
    """$PORTER_HOST_CC, else clang (it builds our loops fastest), else gcc or cc; None when there is none."""
    names = (wanted,) if wanted else (os.environ.get("PORTER_HOST_CC"), *CANDIDATES)
    for name in names:
        path = shutil.which(name) if name else None
        if path is None:
            continue
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if shown.returncode == 0:
            return HostCompiler(path, shown.stdout.splitlines()[0])
    return None


@functools.cache
def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor()
    return "".join(re.findall(r"^(?:model name|flags)\s*:.*$", info.read_text(), re.M)[:2])


def fingerprint(*parts: str | bytes) -> str:
    """A hash of the parts, borders included."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:40]


@functools.cache
def headers_of(folders: tuple[Path, ...]) -> str:
    """The text of every header below the include folders, as part of the key."""
    return "".join(path.read_text() for folder in folders for path in sorted(folder.glob("*.h")))


def build(
    compiler: HostCompiler, source: str, extra: tuple[str, ...] = (), include: tuple[Path, ...] = ()
) -> Path | HostBuildFailed:
    """A shared library of the C text, from the cache when it was built before."""
    key = fingerprint(compiler.version, _processor(), source, headers_of(include), *compiler.flags, *extra)
    target = cache_folder() / "host" / f"{key}.so"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        code = Path(folder) / "code.c"
        code.write_text(source)
        made = Path(folder) / "code.so"
        includes = [f"-I{path}" for path in include]
        command = (compiler.path, *compiler.flags, *extra, *includes, str(code), "-o", str(made), "-lm", "-lpthread")
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        if run.returncode:
            return HostBuildFailed(command, run.stderr[-8000:])
        made.replace(target)
    return target

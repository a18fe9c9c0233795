"""The host C compiler, and a cache of what it built, keyed by everything that went in."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.programs import find
from porter.validation.toolchain.result import Missing
from porter.validation.toolchain.store import identity

from porter.system.cache import keep, kept, kept_folder
from porter.system.reading import read_regular

FLAGS = ("-std=gnu11", "-march=native", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-w")


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
        if not re.match(r"x86_64|AMD64", _machine()):
            return FLAGS
        return (*FLAGS, "-mprefer-vector-width=512")


@dataclass(frozen=True)
class HostBuildFailed:
    """The host compiler rejected what we generated: our own bug, or a broken compiler."""

    command: tuple[str, ...]
    output: str


@functools.cache
def find_host_compiler() -> HostCompiler | Missing:
    """$PORTER_HOST_CC, else clang (it builds our loops fastest), else gcc or cc."""
    found = find("C compiler")
    return found if isinstance(found, Missing) else HostCompiler(found.path, found.said.splitlines()[0])


def _machine() -> str:
    if hasattr(os, "uname"):
        return os.uname().machine
    import platform  # a start of every program would wait for it

    return platform.machine()


@functools.cache
def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return _machine()
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


def _target(compiler: HostCompiler, source: str, extra: tuple[str, ...], include: tuple[Path, ...]) -> Path:
    key = fingerprint(compiler.version, _processor(), source, headers_of(include), *compiler.flags, *extra)
    return kept_folder("host") / f"{key}.so"


def built_before(
    compiler: HostCompiler, source: str, extra: tuple[str, ...] = (), include: tuple[Path, ...] = ()
) -> Path | None:
    """The library that `build` would give, if it is in the cache."""
    target = _target(compiler, source, extra, include)
    return target if kept(target) is not None else None


def build(
    compiler: HostCompiler, source: str, extra: tuple[str, ...] = (), include: tuple[Path, ...] = ()
) -> Path | HostBuildFailed:
    """A shared library of the C text, from the cache when it was built before."""
    target = _target(compiler, source, extra, include)
    if kept(target) is not None:
        return target
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        code, made = Path(folder) / "code.c", Path(folder) / "code.so"
        code.write_text(source)
        words = (*compiler.flags, *extra, *(f"-I{path}" for path in include))
        failed = _compiled(compiler, words, code, made)
        if failed is not None:
            return failed
        keep(target, read_regular(made))
    return target


def _compiled(compiler: HostCompiler, words: tuple[str, ...], code: Path, made: Path) -> HostBuildFailed | None:
    """From C to a shared library; clang that compiles and links starts itself twice, a fifth of a small build."""
    linker = _linker(compiler) if compiler.is_clang else ()
    if linker:
        product = made.with_suffix(".o")
        alone = (compiler.path, *(word for word in words if word != "-shared"), "-c", str(code), "-o", str(product))
        places = {_NO_OBJECT: str(product), _NO_LIBRARY: str(made)}
        failed = _failed(alone)
        if failed is not None or _failed(tuple(places.get(word, word) for word in linker)) is None:
            return failed
    return _failed((compiler.path, *words, str(code), "-o", str(made), *_LIBRARIES))


def _failed(command: tuple[str, ...]) -> HostBuildFailed | None:
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    return HostBuildFailed(command, run.stderr[-8000:]) if run.returncode else None


_LIBRARIES = ("-lm", "-lpthread")
_NO_OBJECT, _NO_LIBRARY = "/dev/null", "/dev/null.so"


@functools.cache
def _linker(compiler: HostCompiler) -> tuple[str, ...]:
    """The command by which clang would link, as it says itself; nothing where it does not say so. Kept, for it takes
    a start of clang to ask."""
    target = kept_folder("host") / f"link-{fingerprint(identity(compiler.path, compiler.version), *_ASKED_FOR)}"
    known = kept(target)
    if known is None:
        command = (compiler.path, "-###", "-shared", _NO_OBJECT, "-o", _NO_LIBRARY, *_LIBRARIES)
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        known = run.stderr.rpartition("\n ")[2].encode() if run.returncode == 0 else b""
        keep(target, known)
    try:
        words = tuple(shlex.split(known.decode("utf-8", "surrogateescape")))
    except ValueError:
        return ()
    return words if {_NO_OBJECT, _NO_LIBRARY} <= set(words) and Path(words[0]).is_file() else ()


_ASKED_FOR = (_NO_OBJECT, _NO_LIBRARY, *_LIBRARIES)

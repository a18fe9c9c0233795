"""What tests compile, kept from one run to the next as porter keeps its own: by command, text and headers."""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from porter.validation.devices.core.hostcc import fingerprint
from porter.validation.toolchain.store import DEPFILE, Recipe, Shorter, identity, make

from porter.system.cache import kept_folder, kept_text, mark_used
from tests.outside import place

Words = Callable[[tuple[str, ...]], Shorter | None]
"""From what stands behind the command to a shorter command."""


def compiled(
    command: Sequence[str],
    source: Path | str,
    product: Path,
    *,
    shorter: Words | None = None,
    inputs: tuple[Path, ...] = (),
    seconds: float = 600.0,
) -> subprocess.CompletedProcess[str]:
    """A compiler's run over a file, or over a text (a `.cu` file to nvcc, `.hip` to others); stderr has all it said.

    `inputs`: what is read besides headers, objects and libraries.
    """
    ending = "cu" if Path(command[0]).name == "nvcc" else "cpp" if product.suffix == ".so" else "hip"
    path = kept_text("assembly", source.encode(), f"unit.{ending}") if isinstance(source, str) else source

    def behind(folder: Path) -> tuple[str, ...]:
        return ("-MD", "-MF", str(folder / DEPFILE), str(path), "-o", str(folder / product.name))

    recipe = Recipe(
        identity(command[0], "tests"),
        lambda folder: (*command, *behind(folder)),
        (path, *inputs),
        (product.name,),
        shorter=None if shorter is None else lambda folder, _: shorter(behind(folder)),
    )
    made = make(recipe, seconds)
    if made.invocation.ok and (found := made.product(product.name)) is not None:
        shutil.copyfile(found, product)
    code = made.invocation.code
    return subprocess.CompletedProcess(made.invocation.command, 1 if code is None else code, "", made.invocation.said)


def program(
    command: Sequence[str], source: Path | str, product: Path, seconds: float = 600.0
) -> subprocess.CompletedProcess[str]:
    """The same of a compiler's run that links."""
    done = compiled(command, source, product, seconds=seconds)
    if done.returncode == 0:
        product.chmod(0o700)
    return done


ROOT = Path(__file__).resolve().parents[1]
_COMPILERS = ("nvcc", "clang++", "C compiler", "C++ compiler", "g++")


def folder_made_by(fill: Callable[[Path], None], *what: str | bytes) -> Path:
    """A folder that porter and compilers fill, once for all processes and runs that have the same of all of them.

    `what`: all else that decides what comes out.
    """
    shelf = kept_folder("builds") / fingerprint(str(ROOT), _porter(), _outside(), *what)
    folder, whole = shelf / "tests", shelf / "tests" / ".whole"
    shelf.mkdir(mode=0o700, exist_ok=True)
    with (shelf / "making-tests").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
            fill(folder)
            whole.touch()
    mark_used(folder)
    return folder


@functools.cache
def _porter() -> str:
    """Every file of the rewriter, its rules and what builds and runs."""
    found = (
        Path(folder, name)
        for part in ("porter", "rules", "validation")
        for folder, _, names in os.walk(ROOT / part)
        if not folder.endswith("__pycache__")
        for name in names
    )
    return fingerprint(*(word for path in sorted(found) for word in (str(path), path.read_bytes())))


@functools.cache
def _outside() -> str:
    return "".join(identity(path, name) for name in _COMPILERS if isinstance(path := place(name), str))

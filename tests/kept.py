"""Compilations for tests, kept from one run to the next as porter keeps its own: by command, text and headers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from porter.validation.toolchain.store import DEPFILE, Recipe, Shorter, identity, make

from porter.system.cache import kept_text

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

"""Triton kernels in a tree: Triton compiles them for AMD's GPUs as they are, so that there is nothing to port."""

from __future__ import annotations

import os
from pathlib import Path

_MARK = b"triton.jit"
RUN_THEM = ("pytest", "--porter-triton", "gfx942", "tests/")
"""Runs a project's own tests with its Triton kernels on the virtual MI300X."""
WHY = "Triton kernels need no port: run them in the project, without a GPU (pip install 'porter[triton]')"


def has_triton_kernels(root: Path) -> bool:
    """Whether a Python file of a tree has one; files that cannot be read have none."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if any(_has_one(Path(folder, name)) for name in sorted(names) if name.endswith(".py")):
            return True
    return False


def _has_one(file: Path) -> bool:
    try:
        return file.is_file() and _MARK in file.read_bytes()
    except OSError:
        return False

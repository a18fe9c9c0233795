"""Triton kernels in a tree: Triton compiles them for AMD's GPUs as they are, so that there is nothing to port."""

from __future__ import annotations

from pathlib import Path

from porter.project.discovery import Project

_MARK = b"triton.jit"
RUN_THEM = ("pytest", "--porter-triton", "gfx942", "tests/")
"""Runs a project's own tests with its Triton kernels on the virtual MI300X."""
WHY = "Triton kernels need no port: run them in the project, without a GPU (pip install 'porter[triton]')"


def has_triton_kernels(project: Project) -> bool:
    """Whether a Python file of a project has one; files that cannot be read have none."""
    return any(_has_one(project.root / entry.path) for entry in project.entries if entry.path.endswith(".py"))


def _has_one(file: Path) -> bool:
    try:
        return file.is_file() and _MARK in file.read_bytes()
    except OSError:
        return False

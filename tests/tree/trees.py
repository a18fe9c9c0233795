"""Small trees to port, and ports of them without a command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from porter.project.port import Answer, Request, port_to
from porter.settings import Choices

KERNEL = b"""#include <cuda_runtime.h>
__global__ void scale(float *x, float a) { x[threadIdx.x] *= a; }
void run(float *x) {
  cudaMalloc(&x, 4);
  scale<<<1, 64>>>(x, 2.0f);
  cudaFree(x);
}
"""
PORTED_KERNEL = KERNEL.replace(b"cuda_runtime.h", b"hip/hip_runtime.h").replace(b"cuda", b"hip")


def make_tree(root: Path, files: Mapping[str, bytes | str]) -> Path:
    """Writes files below a folder; text that begins with `->` is a link to what follows."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str) and content.startswith("->"):
            path.symlink_to(content[2:])
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def port(source: Path, out: Path, *, force: bool = False, jobs: int = 1, **choices: object) -> Answer:
    """Ports with settings given by name."""
    return port_to(Request(source, replace(Choices(), **choices), jobs, force), out)  # type: ignore[arg-type]


def codes(answer: Answer) -> list[tuple[str, str]]:
    """Path and code of every finding that leaves work."""
    return [(f.path, f.entry.code) for f in answer.report.findings if f.entry.effort != "none"]


def listing(root: Path) -> dict[str, bytes | str]:
    """Every file and link below a folder; a link as `->target`."""
    found: dict[str, bytes | str] = {}
    for folder, folders, names in os.walk(root):
        for name in [*names, *folders]:
            path = Path(folder, name)
            if path.is_symlink():
                found[path.relative_to(root).as_posix()] = f"->{os.readlink(path)}"  # noqa: PTH115
            elif path.is_file():
                found[path.relative_to(root).as_posix()] = path.read_bytes()
    return found

"""Which tests come first."""

from __future__ import annotations

import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIRST = (
    *("warp/test_random_warps", "validate/test_samples", "validate/test_wrong", "warp/test_ptx_cases"),
    *("validate", "programs", "torch", "harness", "cli", "cluster", "include", "devices", "warp"),
)
"""Where single tests take long: a process that begins one at the very end is waited for."""
LAST = ("names", "core", "rules")
"""Thousands of short ones."""


@functools.cache
def place(path: Path) -> int:
    """Tests of lower places come first."""
    below = path.relative_to(ROOT / "tests").as_posix() if ROOT in path.parents else ""
    first = (rank for rank, start in enumerate(FIRST) if below.startswith(start))
    folder = below.partition("/")[0]
    return 1 + LAST.index(folder) if folder in LAST else next(first, len(FIRST)) - len(FIRST)

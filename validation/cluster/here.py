"""Where the client's paths are on this machine, for the process that does its orders."""

from __future__ import annotations

from pathlib import Path

_prefix = [""]


def stand_for_root(prefix: str) -> None:
    """From now on, this folder stands for the root of the client's disk."""
    _prefix[0] = prefix


def here(path: str | Path) -> Path:
    """A path of the client's on this machine; relative ones start from the current folder, which stands for its own."""
    return Path(f"{_prefix[0]}{path}") if Path(path).is_absolute() else Path(path)

"""Whether the user wants to hear of progress and of what comes next."""

from __future__ import annotations

_quiet = [False]


def be_quiet(quiet: bool) -> None:
    """What `--quiet` says."""
    _quiet[0] = quiet


def is_quiet() -> bool:
    """Whether only errors are said."""
    return _quiet[0]

"""The children of `porter validate` and the hands of workers, as forks: the rest of porter does not see it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from porter.validation.cluster import hands
from porter.validation.run import crew
from porter.validation.toolchain.invoke import module_command

from tests.forking.asking import address, is_alike

_CHILD = Path(__file__).with_name("child.py")


def use_forks() -> None:
    """From now on in this process."""
    crew.module_command = hands.module_command = forked_command  # type: ignore[attr-defined]


def use_starts() -> None:
    """As users have it."""
    crew.module_command = hands.module_command = module_command  # type: ignore[attr-defined]


def forked_command(name: str, *words: str) -> tuple[str, ...]:
    """What `module_command` does, in a process that has imported all before."""
    if not is_alike(os.environ):
        return module_command(name, *words)
    return (sys.executable, "-I", "-S", str(_CHILD), address("children"), name, *words)

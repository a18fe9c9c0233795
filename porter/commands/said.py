"""What commands say beside their product, on stderr: how far they are and what comes next; `--quiet` leaves it out."""

from __future__ import annotations

import shlex
import sys
from pathlib import PurePath

from porter.system.quiet import is_quiet


def say(text: str) -> None:
    """One line, at once, also where stderr is a file."""
    if not is_quiet():
        print(text, file=sys.stderr, flush=True)


def next_step(*words: object, why: str = "") -> None:
    """The command that makes sense now."""
    say(f"next: {shlex.join(map(_word, words))}" + (f"   # {why}" if why else ""))


def _word(word: object) -> str:
    """A path that begins like an option is told from one."""
    return f"./{word}" if isinstance(word, PurePath) and str(word).startswith("-") else str(word)

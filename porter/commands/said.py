"""What commands say beside their product, on stderr: how far they are and what comes next; `--quiet` leaves it out."""

from __future__ import annotations

import shlex
import sys

from porter.system.quiet import is_quiet


def say(text: str) -> None:
    """One line, at once, also where stderr is a file."""
    if not is_quiet():
        print(text, file=sys.stderr, flush=True)


def next_step(*words: object, why: str = "") -> None:
    """The command that makes sense now."""
    say(f"next: {shlex.join(map(str, words))}" + (f"   # {why}" if why else ""))

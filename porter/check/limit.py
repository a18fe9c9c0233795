"""A time limit for a whole check: workers are ended and what was found so far is told."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Iterator


class Expired(Exception):
    """The time is up; the message says how long it was."""


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raises `Expired` in the block when the time is up; only the main thread of a POSIX process can be stopped."""
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not usable:
        yield
        return

    def expire(number: int, frame: object) -> None:
        for child in multiprocessing.active_children():
            child.terminate()
        raise Expired(f"not finished after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

"""Progress on stderr: a bar on a terminal; elsewhere a line every ten seconds, and none for what is done before.

Of what will take long, the first line comes at once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from porter.project.port_tree import Progress
from porter.system.quiet import is_quiet

_SECONDS_BETWEEN = 0.1
_SECONDS_BETWEEN_LINES = 10.0
_MANY = 5000
"""Files; fewer are mostly done before the first line is due."""


@contextmanager
def shown_progress(what: str = "porting") -> Iterator[Progress | None]:
    """A progress bar while files (or cases) are done; where stderr is no terminal, a line now and then.

    The bar is drawn when a file is done, never by a thread of its own: worker processes are forked while it shows.
    """
    if is_quiet():
        yield None
        return
    if not sys.stderr.isatty():
        yield _lines(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bar:
        task = bar.add_task(what, total=None)
        last = 0.0

        def advance(done: int, total: int) -> None:
            nonlocal last
            if done == total or time.monotonic() - last > _SECONDS_BETWEEN:
                last = time.monotonic()
                bar.update(task, completed=done, total=total, refresh=True)

        yield advance


TaskProgress = Callable[[int, int, "float | None"], None]
"""Called with the number of tasks done, the number there are, and the seconds that are left, where that is known."""


@contextmanager
def shown_tasks(what: str) -> Iterator[TaskProgress | None]:
    """Tasks, their rate and the time left: a line that is written over on a terminal, elsewhere one now and then."""
    if is_quiet():
        yield None
        return
    is_terminal = sys.stderr.isatty()
    between = _SECONDS_BETWEEN if is_terminal else _SECONDS_BETWEEN_LINES
    began = last = time.monotonic()
    first: int | None = None

    def advance(done: int, total: int, left: float | None) -> None:
        nonlocal last, first
        first = done if first is None else first
        now = time.monotonic()
        if now - last < between:
            return
        last = now
        line = told(what, done, total, done - first, now - began, left)
        print(f"\r\x1b[K{line}" if is_terminal else line, end="" if is_terminal else "\n", file=sys.stderr, flush=True)

    try:
        yield advance
    finally:
        if is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def told(what: str, done: int, total: int, fresh: int, elapsed: float, left: float | None) -> str:
    """`validating: 120 of 4,000, 8.1 a second, 48 s, 8 min left`."""
    rate = f", {fresh / elapsed:.2g} a second" if fresh and elapsed > 0 else ""
    rest = "" if left is None else f", {_duration(left)} left"
    return f"{what}: {done:,} of {total:,}{rate}, {_duration(elapsed)}{rest}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _lines(what: str) -> Progress:
    began = last = time.monotonic()

    def advance(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES or (total >= _MANY and last == began):
            last = now
            print(f"{what}: {done:,} of {total:,}, {now - began:.0f} s", file=sys.stderr, flush=True)

    return advance
